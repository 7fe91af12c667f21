"""`contested run conrag`, as a person meets it."""

import json
from pathlib import Path

import pytest
from commands import Contested, contents, table

EXAMPLE = {
    "id": "bridge",
    "source": "mine",
    "claim": "The bridge was opened in 1932.",
    "documents": [
        {"id": "guide", "text": "The bridge was opened by the mayor in 1932."},
        {"id": "study", "text": "Traffic first crossed the bridge in May 1936."},
    ],
    "relations": ["SUPPORTS", "CONTRADICTS"],
    "conflict": True,
}
WATER = {
    "id": "0",
    "text": "The watermill was built in 1902.",
    "label": "SUPPORTS",
    "wikipedia_page": "Watermill",
    "gold_evidence": [{"text": "The watermill dates from 1902."}],
    "retrieved_evidence": [{"text": "It is of stone."}],
}


@pytest.fixture
def contested(capsys: pytest.CaptureFixture[str]) -> Contested:
    return Contested(capsys)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONTESTED_HOME", str(tmp_path / "home"))
    Path("claims.jsonl").write_text(json.dumps(EXAMPLE) + "\n")
    Path("fm2.jsonl").write_text(json.dumps(WATER) + "\n")
    return tmp_path


def test_the_bundled_claims_by_the_shipped_tagger(contested: Contested, folder: Path) -> None:
    contested.done("run", "conrag", "--limit", "4", "--method", "bm25", "--out", "out")
    out = folder / "out"
    lines = (out / "conrag.claims.jsonl").read_text().splitlines()
    assert len(lines) == 4
    rows = [row for row in table(out, "conrag_stance") if row["figures"] == "this run"]
    assert [row["method"] for row in rows] == ["RelRAG", "NLI-RAG", "CiteRAG", "ConRAG", "Oracle"]
    assert {row["claims"] for row in rows} == {4}
    assert rows[-1]["accuracy"] == 1, "the rule is right where every tag is"
    page = (out / "report.html").read_text()
    assert "ConRAG, claims" in page
    assert "contested-nli" in page
    before = contents(out)
    contested.done("run", "conrag", "--limit", "4", "--method", "bm25", "--out", "out")
    assert contents(out) == before, "a finished run is left as it is"


def test_two_data_sets_in_one_folder_stand_in_one_table(contested: Contested, folder: Path) -> None:
    for arguments in (["--data", "claims.jsonl"], ["--dataset", "fool-me-twice", "--data",
                                                   "fm2.jsonl"]):  # fmt: skip
        contested.done("run", "conrag", *arguments, "--method", "bm25", "--out", "out")
    rows = table(folder / "out", "conrag_stance")
    assert {row["dataset"] for row in rows if row["figures"] == "this run"} == {
        "claims",
        "fool-me-twice",
    }
    contested.done("report", "out")
    again = ["run", "conrag", "--data", "claims.jsonl", "--method", "bm25", "--out", "out"]
    assert "holds a run with another conrag" in contested.refused(*again, "--delta", "0.2")


def test_a_dry_run_reads_the_data_and_nothing_else(contested: Contested, folder: Path) -> None:
    told = contested.done("run", "conrag", "--data", "claims.jsonl", "--dry-run", "--out", "out")
    assert told.out == (
        "1 claims from claims.jsonl, 2 passages\n"
        "about 4 pairs to be judged by nli\n"
    )  # fmt: skip
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--dataset wice", "--dataset wice needs its file; name it with --data"),
        ("--dataset scifact --data claims.jsonl", "needs its passages; name corpus.jsonl"),
        ("--data claims.jsonl --corpus claims.jsonl", "--corpus has no effect"),
        ("--data none.jsonl", "none.jsonl does not exist"),
        ("--data fm2.jsonl", "fm2.jsonl:1: the field 'source' is missing"),
        ("--dataset fool-me-twice --data fm2.jsonl --half train", "has no claim in the train half"),
        ("--dataset ladders", "is not one of"),
        ("--endpoint http://127.0.0.1:1/v1", "--endpoint has no effect with --labeller nli"),
        ("--method bm25 --embedder .", "--embedder has no effect with --method bm25"),
        ("--embedder .", "no safetensors weights"),
        ("--tau nan", "tau"),
        ("--out claims.jsonl", "cannot be written"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(
    arguments: str, said: str, contested: Contested, folder: Path
) -> None:
    assert said in contested.refused("run", "conrag", *arguments.split())
    assert not list(folder.glob("results/conrag*"))
