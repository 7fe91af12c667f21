"""`--judge` and `--risk`, as a person meets them; the tagger is scripted."""

from pathlib import Path

import pytest
from commands import Contested, entries, results, write
from scripted import Scripted
from tagging import SUPPORT, ScriptedTagger, by_table, offer

from nli.calibration import risk_curve

CURVE = risk_curve(
    [0.95] * 40 + [0.85] * 40 + [0.5] * 20,
    [True] * 40 + [True] * 38 + [False] * 2 + [True] * 10 + [False] * 10,
)
"""n = 100; bounds: 13/101 at 0.5, 3/101 at 0.85, 1/101 at 0.95."""

PLAQUE = "Opened 1932. It is old."
CLAIM = "The bridge was opened in 1932."


@pytest.fixture(autouse=True)
def tagger(monkeypatch: pytest.MonkeyPatch) -> ScriptedTagger:
    """Stands in for the shipped tagger, with a curve."""
    return offer(monkeypatch, ScriptedTagger(by_table({(PLAQUE, CLAIM): SUPPORT})), CURVE)


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> Path:
    Path("answer.txt").write_text(f"{CLAIM} Crossing costs two pounds.")
    Path("plaque.txt").write_text(PLAQUE)
    Path("archive.txt").write_text("Crossed in 1936.")
    record = {"id": "r", "documents": [{"id": "plaque", "text": PLAQUE}], "response": CLAIM}
    write("records.jsonl", record)
    return tmp_path


SCORE = ["score", "--response", "answer.txt", "--documents", "plaque.txt", "archive.txt"]
RUN = ["run", "conflictscore", "--data", "records.jsonl", "--out", "out"]


def test_the_tagger_judges_what_a_language_model_split(
    contested: Contested, files: Path, endpoint: Scripted
) -> None:
    arguments = [*RUN, "--judge", "tagger", "--endpoint", endpoint.url]
    announced = contested.done(*arguments, "--dry-run").out
    assert "calls to scripted: " in announced
    contested.done(*arguments)
    schemas = {r["response_format"]["json_schema"]["name"] for r in endpoint.requests}
    assert schemas == {"Claims"}
    about = entries(files / "out")["conflictscore"]["config"]
    assert about["model"]["name"] == "scripted-nli"
    assert about["splitter"]["name"] == "scripted"


def test_claims_that_the_data_bring_need_no_model(contested: Contested, files: Path) -> None:
    record = {
        "id": "r",
        "response": "Anything.",
        "claims": [CLAIM],
        "documents": [{"id": "plaque", "text": PLAQUE}],
    }
    write("records.jsonl", record)
    contested.done(*RUN, "--judge", "tagger")
    (found,) = results(files / "out").values()
    assert found["claims"] == record["claims"]
    assert found["judgements"][0]["relation"] == "SUPPORTS"
    line = contested.refused(*RUN, "--judge", "tagger", "--endpoint", "http://x/v1")
    assert "--endpoint has no effect with --judge tagger on responses that come with" in line


def test_a_risk_that_cannot_be_kept_asks_for_everything_and_says_so(
    contested: Contested, endpoint: Scripted, tagger: ScriptedTagger
) -> None:
    arguments = [*SCORE, "--judge", "cascade", "--claims", "sentences", "--risk", "0.001"]
    done = contested.done(*arguments, "--endpoint", endpoint.url)
    assert "the cascade asked about every pair: 100 calibration pairs are too few" in done.err
    assert tagger.loads == 0
    assert len(endpoint.requests) == 4
