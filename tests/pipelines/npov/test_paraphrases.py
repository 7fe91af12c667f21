"""Paraphrases of arguments: read, found by their digests, and really in other words."""

import json
from pathlib import Path

import pytest

from pipelines.data.procon import read as read_topics
from pipelines.errors import InputError
from pipelines.npov.settings import SAMPLES
from pipelines.npov.synthesis import (
    argument_digest,
    read_paraphrases,
    rewording,
    synthetic_examples,
)

LINE = {"argument": "Salmon  come back.", "paraphrase": "Fish return."}


def test_an_argument_is_found_by_its_text_or_its_digest(tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    by_digest = {
        "sha1": argument_digest("They give power."),
        "paraphrase": "Current comes from them.",
    }
    file.write_text(f"{json.dumps(LINE)}\n{json.dumps(by_digest)}\n")
    reword = rewording(read_paraphrases(file))
    assert reword(" Salmon come back. ") == "Fish return."
    assert reword("They give power.") == "Current comes from them."
    assert reword("Nobody asked.") is None


@pytest.mark.parametrize(
    "line",
    [
        {"paraphrase": "x"},
        LINE | {"sha1": "0" * 12},
        {"sha1": "0", "paraphrase": "x"},
        LINE | {"paraphrase": " "},
    ],
)
def test_another_format_is_refused(tmp_path: Path, line: dict[str, str]) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text(json.dumps(line))
    with pytest.raises(InputError, match=r"own\.jsonl:1"):
        read_paraphrases(file)


def test_the_bundled_ones_reword_the_real_arguments(released_data: Path) -> None:
    topics = read_topics(released_data / "procon" / "procon_topics.json")
    known = read_paraphrases(SAMPLES / "procon_paraphrases.jsonl")
    reword = rewording(known)
    arguments = [each for topic in topics for each in (*topic.pro, *topic.con)]
    assert sum(reword(each) is not None for each in arguments) == len(known) >= 160
    examples = synthetic_examples(topics, per_topic=4, seed=0, reword=reword)
    right = [each for each in examples if each.error_free]
    assert len(right) >= 60
