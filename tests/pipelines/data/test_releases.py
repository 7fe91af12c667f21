"""Loaders of released data sets: their formats, their halves, and what they refuse."""

import hashlib
import json
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from releases import AMBIGDOCS, CONFLICTINGQA, MACNOISE, lines, refusal

from pipelines.data import (
    ambigdocs,
    climate_fever,
    conflictingqa,
    conflictqa,
    contraqa,
    fool_me_twice,
    macnoise,
    ramdocs,
    wice,
)
from pipelines.data.released import half

Read = Callable[[Path], Sequence[Any]]

CLIMATE: dict[str, Any] = {
    "claim_id": "0",
    "claim": "It warms.",
    "claim_label": "DISPUTED",
    "evidences": [
        {
            "evidence_id": "Ice:1",
            "evidence_label": "SUPPORTS",
            "article": "Ice",
            "evidence": "It melts.",
            "entropy": 0.0,
            "votes": ["SUPPORTS", None],
        }
    ],
}
QUERY = {
    "id": "q1",
    "title": "Old_Bridge",
    "question": "When was the bridge opened?",
    "context": "The old bridge over the river was opened in May 1932.",
    "answers": {"text": ["1932", "May 1932"], "answer_start": [40, 36]},
}
PARAGRAPHS = [
    {"id": "1:::Old_Bridge", "contents": "The old bridge over the river was opened in May 1932."},
    {"id": "9:::Toll", "contents": "Crossing costs two pounds."},
]
FAKE = "The old bridge over the river was opened in May 1936."


# Halves


def test_half_is_the_parity_of_sha1() -> None:
    text = "When was the Dallas County Courthouse built?"
    number = int(hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest(), 16)
    assert half(f" {text}\n") == ("train" if number % 2 == 0 else "test")


# Real releases


@pytest.mark.parametrize(
    ("read", "file", "count"),
    [
        (ramdocs.read, "ramdocs/RAMDocs_250.jsonl", 250),
        (conflictqa.read, "conflictqa/strategyqa_gpt4.jsonl.gz", 1356),
        (climate_fever.read, "climate_fever/climate-fever.jsonl.gz", 1535),
        (fool_me_twice.read, "fm2/dev.jsonl.gz", 1169),
        (wice.read, "wice/claim_dev.jsonl.gz", 349),
    ],
)
def test_a_real_release_is_read_whole(
    read: Read, file: str, count: int, released_data: Path
) -> None:
    assert len(read(released_data / file)) == count


def test_notes_are_stripped_and_names_stay(released_data: Path) -> None:
    records = conflictqa.read(released_data / "conflictqa/strategyqa_gpt4.jsonl.gz")
    texts = [text for each in records for text in (each.memory_answer, each.counter_answer)]
    stripped = [conflictqa.without_note(text) for text in texts]
    changed = [(text, short) for text, short in zip(texts, stripped, strict=True) if text != short]
    assert len(changed) >= 30
    assert all(text.startswith(short) and "(" in text for text, short in changed)
    assert not any("Note:" in short for short in stripped)
    assert sum("film)" in short for short in stripped) == sum("film)" in text for text in texts)


# Formats of releases that are not at hand


def test_macnoise(tmp_path: Path) -> None:
    (question,) = macnoise.read(lines(tmp_path / "m.jsonl", MACNOISE))
    (context, answers), *rest = question.contexts
    assert answers
    assert not any(found for _, found in rest)
    assert macnoise.passage(context.text) == ("Bridge", "Ada Ng built it.")
    assert macnoise.passage(context.text_pert) == ("The Old Bridge", "Bo Li built it.")
    assert macnoise.passage("No prefix.") == (None, "No prefix.")


@pytest.mark.parametrize("fake_id", ["1:::Old_Bridge-FAKE", "777:::Old_Bridge-FAKE"])
def test_contraqa_finds_the_false_paragraph(fake_id: str, tmp_path: Path) -> None:
    corpus = lines(
        tmp_path / "corpus.json",
        *PARAGRAPHS,
        {"id": "5:::Old_Bridge-FAKE", "contents": "Nothing of the kind, says the mayor."},
        {"id": fake_id, "contents": FAKE},
        {"id": "8:::Toll-FAKE", "contents": FAKE},
    )
    queries = tmp_path / "queries.json"
    queries.write_text(json.dumps([QUERY]))
    (question,) = contraqa.read(queries, corpus)
    assert question.fake == FAKE
    assert question.answers == ("1932", "May 1932")


def test_a_pickle_is_refused_and_never_loaded(tmp_path: Path) -> None:
    path = tmp_path / "data.pkl"
    path.write_bytes(pickle.dumps([CONFLICTINGQA]))
    message = refusal(conflictingqa.read, path)
    assert "is a pickle, which can run code" in message
    assert "to_json" in message


# Bad input: one line that says where


@pytest.mark.parametrize(
    ("read", "record", "wrong"),
    [
        (wice.read, {"label": "supported", "claim": "c", "evidence": ["a"], "meta": {"id": "1"}},
         {"supporting_sentences": [[1]]}),
        (macnoise.read, MACNOISE, {"pert_lbls": [1]}),
        (macnoise.read, MACNOISE, {"pert_lbls": [2, 0]}),
        (ambigdocs.read, AMBIGDOCS, {"documents": AMBIGDOCS["documents"][:1]}),
        (conflictingqa.read, CONFLICTINGQA, {"stance": "maybe"}),
        (climate_fever.read, CLIMATE,
         {"evidences": [CLIMATE["evidences"][0] | {"evidence_label": 3}]}),
    ],
)  # fmt: skip
def test_records_that_contradict_their_format(
    read: Read, record: dict[str, Any], wrong: dict[str, Any], tmp_path: Path
) -> None:
    assert read(lines(tmp_path / "good.jsonl", record))
    assert "bad.jsonl:1: " in refusal(read, lines(tmp_path / "bad.jsonl", record | wrong))
