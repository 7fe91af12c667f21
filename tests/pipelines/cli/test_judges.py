"""`--judge` and `--risk`, as a person meets them; the tagger is scripted."""

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Contested, contents, results, table
from scripted import Scripted
from tagging import REFUTE, SUPPORT, ScriptedTagger, by_table, offer

from nli.calibration import risk_curve

CURVE = risk_curve(
    [0.95] * 40 + [0.85] * 40 + [0.5] * 20,
    [True] * 40 + [True] * 38 + [False] * 2 + [True] * 10 + [False] * 10,
)
"""n = 100; bounds: 13/101 at 0.5, 3/101 at 0.85, 1/101 at 0.95."""

TABLE = {
    ("Opened 1932. It is old.", "The bridge was opened in 1932."): SUPPORT,
    ("Crossed in 1936.", "The bridge was opened in 1932."): REFUTE,
}


@pytest.fixture(autouse=True)
def tagger(monkeypatch: pytest.MonkeyPatch) -> ScriptedTagger:
    """Stands in for the shipped tagger, with a curve."""
    return offer(monkeypatch, ScriptedTagger(by_table(TABLE)), CURVE)


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> Path:
    Path("answer.txt").write_text("The bridge was opened in 1932. Crossing costs [two] pounds.")
    Path("plaque.txt").write_text("Opened 1932. It is old.")
    Path("archive.txt").write_text("Crossed in 1936.")
    documents = [
        {"id": "plaque", "text": "Opened 1932. It is old."},
        {"id": "archive", "text": "Crossed in 1936."},
    ]
    sure = "The bridge was opened in 1932. Crossing costs two pounds."
    records = [
        {"id": f"r{n}", "documents": documents, "responses": {"sure": sure, "other": f"Text {n}."}}
        for n in range(3)
    ]
    Path("records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return tmp_path


SCORE = ["score", "--response", "answer.txt", "--documents", "plaque.txt", "archive.txt"]
RUN = ["run", "conflictscore", "--data", "records.jsonl", "--out", "out"]
NLI = ["--judge", "tagger", "--claims", "sentences"]


def config(folder: Path, name: str = "conflictscore") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "run.json").read_text())["pipelines"][name]
    return found


def test_a_score_needs_neither_server_nor_model(contested: Contested) -> None:
    """No model is registered in this home: with a language model it would be refused."""
    done = contested.done(*SCORE)
    shown = " ".join(done.out.split())
    for part in ("supports 90%", "contradicts 85%", "irrelevant 50%", "[two]"):
        assert part in shown
    figures = "CS-C 0.50 CS-R 0.25 Supported by any 0.50 Evidence 0.50 Both sides 0.06 2 claims"
    assert figures in shown
    assert "plaque on “The bridge was opened in 1932.”: + supports “Opened 1932.”" in shown
    assert "on “Crossing costs" not in shown  # what is irrelevant explains nothing
    assert "no language model was needed; 4 pairs tagged by scripted-nli on cpu" in done.err


def test_a_run_by_the_tagger_alone(
    contested: Contested, files: Path, tagger: ScriptedTagger
) -> None:
    announced = contested.done(*RUN, *NLI, "--dry-run").out
    assert "6 responses from records.jsonl, judged by tagger" in announced
    assert "pairs to tag: at most 18\n" in announced
    assert "no language model is asked" in announced
    assert not (files / "out").exists()
    done = contested.done(*RUN, *NLI)
    # Equal pairs of the three records are looked up three times, and tagged in one batch.
    assert len(tagger.batches) == 1
    assert "no language model was needed; 18 pairs tagged by scripted-nli" in done.err
    about = config(files / "out")
    assert about["config"]["settings"]["judge"] == "tagger"
    assert about["config"]["tagger"]["digest"] == "0123456789abcdef"
    assert about["config"]["model"]["name"] == "scripted-nli"
    assert "cascade" not in about["config"]
    assert about["store"] == {"pairs": 18, "found": 0}
    assert about["tagger_device"] == "cpu"
    labels = [
        judgement["relation"]
        for result in results(files / "out").values()
        for judgement in result["judgements"]
    ]
    assert (len(labels), labels.count("SUPPORTS")) == (18, 3)
    assert table(files / "out", "scores")[0]["model"] == "scripted-nli"

    left = contents(files / "out")
    assert contested.done(*RUN, *NLI).code == 0
    assert len(tagger.batches) == 1
    assert contents(files / "out") == left

    # Another folder: everything comes from the store.
    contested.done(*RUN[:-1], "out-2", *NLI)
    assert tagger.loads == 1
    assert config(files / "out-2")["store"] == {"pairs": 18, "found": 18}
    assert results(files / "out-2") == results(files / "out")
    line = contested.refused(*RUN, "--judge", "tagger", "--claims", "whole")
    assert 'settings.claims ("sentences" there, "whole" now); name' in line


def test_the_tagger_judges_what_a_language_model_split(
    contested: Contested, files: Path, endpoint: Scripted
) -> None:
    arguments = [*RUN, "--judge", "tagger", "--endpoint", endpoint.url]
    announced = contested.done(*arguments, "--dry-run").out
    assert "calls to scripted: " in announced
    contested.done(*arguments)
    schemas = {r["response_format"]["json_schema"]["name"] for r in endpoint.requests}
    assert schemas == {"Claims"}
    about = config(files / "out")["config"]
    assert about["model"]["name"] == "scripted-nli"
    assert about["splitter"]["name"] == "scripted"


def test_claims_that_the_data_bring_need_no_model(contested: Contested, files: Path) -> None:
    record = {
        "id": "r",
        "response": "Anything.",
        "claims": ["The bridge was opened in 1932."],
        "documents": [{"id": "plaque", "text": "Opened 1932. It is old."}],
    }
    Path("records.jsonl").write_text(json.dumps(record) + "\n")
    contested.done(*RUN, "--judge", "tagger")
    (found,) = results(files / "out").values()
    assert found["claims"] == record["claims"]
    assert found["judgements"][0]["relation"] == "SUPPORTS"
    line = contested.refused(*RUN, "--judge", "tagger", "--endpoint", "http://x/v1")
    assert "--endpoint has no effect with --judge tagger on responses that bring" in line


def test_a_risk_that_cannot_be_kept_asks_for_everything_and_says_so(
    contested: Contested, endpoint: Scripted, tagger: ScriptedTagger
) -> None:
    arguments = [*SCORE, "--judge", "cascade", "--claims", "sentences", "--risk", "0.001"]
    done = contested.done(*arguments, "--endpoint", endpoint.url)
    assert "the cascade asked for every pair: 100 calibration pairs are too few" in done.err
    assert tagger.loads == 0
    assert len(endpoint.requests) == 4
