"""`contested lab calibrate --judge model`, as a person meets it; the model is scripted.

It knows which label is right, and favours CONTRADICTS whatever it reads.
"""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from by_schema import reply
from commands import Contested, entries, records, write
from scripted import Scripted, fenced_text

from pipelines.judge.correction import read_correction
from pipelines.judge.judgement import RELATIONS

CLAIM = "Bridge {} was opened in 1932."
SAYS = {
    "SUPPORTS": "Bridge {} was opened in 1932, the plaque says.",
    "CONTRADICTS": "Traffic first crossed bridge {} in 1936.",
    "IRRELEVANT": "The toll on bridge {} is two pounds.",
}
EXAMPLES = 12


def leaning(request: dict[str, Any]) -> list[float]:
    """The right label three times as likely as each other one, times 1, 6, 1 for the leaning."""
    text = fenced_text(request, "DOCUMENT")
    begins = [says.partition(" {}")[0] for says in SAYS.values()]
    right = next((place for place, words in enumerate(begins) if text.startswith(words)), 1)
    shares = [3.0 if place == right else 1.0 for place in range(3)]
    raw = [share * favour for share, favour in zip(shares, (1, 6, 1), strict=True)]
    return [each / sum(raw) for each in raw]


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    examples = [
        {
            "id": f"bridge-{n}",
            "source": "mine",
            "claim": CLAIM.format(n),
            "documents": [
                {"id": str(place), "text": SAYS[label].format(n)}
                for place, label in enumerate(RELATIONS)
            ],
            "relations": list(RELATIONS),
            "conflict": True,
        }
        for n in range(EXAMPLES)
    ]
    write("bench.jsonl", *examples)
    pairs = [
        {
            "premise": SAYS[label].format(n),
            "hypothesis": CLAIM.format(n),
            "label": label,
            "source": "mine",
        }
        for n in range(EXAMPLES)
        for label in RELATIONS
    ]
    write("pairs.jsonl", *pairs)
    prompt = Path("prompts/judge/relation.j2")
    prompt.parent.mkdir(parents=True)
    prompt.write_text('{{ document | fenced("DOCUMENT") }} {{ claim }}?')


@pytest.fixture
def endpoint(endpoint: Scripted) -> Scripted:
    endpoint.weigh, endpoint.reply = leaning, reply
    return endpoint


RUN = ("run", "conflict-detection", "--data", "bench.jsonl", "--out")
CALIBRATE = ("lab", "calibrate", "--judge", "model", "--pairs", "pairs.jsonl", "--endpoint")
ENTRY = "conflict-detection.model-choice"


def judgements(folder: str) -> list[dict[str, Any]]:
    results = records(f"{folder}/{ENTRY}.jsonl")
    return [judgement for result in results for judgement in result["judgements"]]


def config(folder: str, entry: str = ENTRY) -> dict[str, Any]:
    found: dict[str, Any] = entries(folder)[entry]["config"]
    return found


def test_a_correction_is_fitted_stored_and_taken_by_the_next_run(
    contested: Contested, endpoint: Scripted, home: Path
) -> None:
    contested.done(*RUN, "raw", "--endpoint", endpoint.url)
    raw = judgements("raw")
    assert {each["relation"] for each in raw} == {"CONTRADICTS"}
    assert {each["raw_probabilities"] for each in raw} == {None}
    assert "correction" not in config("raw"), "nothing is known of this model"
    asked = len(endpoint.requests)

    said = contested.done(*CALIBRATE, endpoint.url, "--dry-run").out
    assert "36 of 36 pairs could be judged; correction by bias, from 36 pairs" in said
    assert not (home / "corrections").exists()
    done = contested.done(*CALIBRATE, endpoint.url, "--report", "shown")
    assert len(endpoint.requests) == asked, "pairs are judged once"
    (file,) = (home / "corrections").iterdir()
    assert file.name in done.err.replace("\n", "")
    found = read_correction(file)
    assert (found.name, found.pairs) == ("scripted", "pairs.jsonl")
    assert [(each.method, each.accuracy.value) for each in found.held_out] == [
        ("none", pytest.approx(1 / 3)),
        ("bias", 1),
    ]
    table = json.loads(Path("shown/tables/calibration.json").read_text())["rows"]
    assert [row["calibration"] for row in table] == ["none", "bias"]
    assert table[0]["log_likelihood"] < table[1]["log_likelihood"]

    contested.done(*RUN, "out", "--endpoint", endpoint.url)
    assert len(endpoint.requests) == asked, "a correction asks no model"
    made = judgements("out")
    assert [each["relation"] for each in made] == list(RELATIONS) * EXAMPLES
    assert [each["raw_probabilities"] for each in made] == [each["probabilities"] for each in raw]
    assert config("out")["correction"] == json.loads(found.correction.model_dump_json())
    assert config("out")["judge"]["identity"] != config("raw")["judge"]["identity"]
    note = "Labels use corrected probabilities: bias, from 36 pairs: SUPPORTS +"
    assert note in Path("out/tables/conflict_detection.md").read_text()
    assert "bias, from 36 pairs" in Path("out/report.html").read_text()
    assert "corrected" not in Path("raw/tables/conflict_detection.md").read_text()
    database = sqlite3.connect(home / "judgements.sqlite")
    rows = database.execute("SELECT judge, value FROM judgements").fetchall()
    assert {judge for judge, _ in rows} == {config("raw")["judge"]["identity"]}
    assert not any("raw_probabilities" in value for _, value in rows)

    # Neither what another prompt says, nor what gives no probabilities, nor a run that began raw.
    contested.done(*RUN, "own", "--endpoint", endpoint.url, "--prompts", "prompts")
    contested.done(*RUN, "paper", "--endpoint", endpoint.url, "--as-in-paper")
    assert "correction" not in config("own")
    assert "correction" not in config("paper", "conflict-detection.model-json")
    line = contested.refused(*RUN, "raw", "--endpoint", endpoint.url)
    assert "raw holds a run that differs in" in line


def test_what_does_not_help_is_not_stored(
    contested: Contested, endpoint: Scripted, home: Path
) -> None:
    """A judge that knows nothing, and two groups with other shares of labels."""
    endpoint.weigh = lambda _: [1 / 3, 1 / 3, 1 / 3]
    rows = records("pairs.jsonl")
    least = dict(zip(RELATIONS, (10, 2, 6), strict=True))
    grouped = [
        row | {"group": "one" if place // 3 < least[row["label"]] else "other"}
        for place, row in enumerate(rows)
    ]
    write("pairs.jsonl", *grouped)
    line = contested.refused(*CALIBRATE, endpoint.url)
    assert "does not raise the likelihood of held-out pairs, so it is not kept" in line
    contested.done(*CALIBRATE, endpoint.url, "--dry-run")
    assert not (home / "corrections").exists()
