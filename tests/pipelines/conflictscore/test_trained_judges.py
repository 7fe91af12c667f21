"""Judges of truth and information from labelled answers, from training to a run."""

import json
from pathlib import Path

import pytest
from commands import Contested
from judged_answers import QUESTIONS, write_judged

from pipelines.conflictscore.truthfulqa.trained import read_judges
from pipelines.data.released import half


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sixteen questions; an answer is true that says what the known true one says."""
    monkeypatch.chdir(tmp_path)
    write_judged(tmp_path)
    return tmp_path


TRAIN = ("train-judges", "--data", "TruthfulQA.csv", "--labelled", "finetune_truth.jsonl")


def test_judges_are_trained_measured_and_judge_what_they_did_not_see(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    contested = Contested(capsys)
    contested.done(*TRAIN, "--labelled", "finetune_info.jsonl", "--tables", "tables")
    rows = json.loads(Path("tables/truth_judges_trained.json").read_text())["rows"]
    assert [(row["kind"], row["judge"]) for row in rows] == [
        (kind, judge)
        for kind in ("truthful", "informative")
        for judge in ("trained", "always the same", "length")
    ]
    by_judge = {(row["kind"], row["judge"]): row for row in rows}
    unseen = sum(half(question) == "test" for question in QUESTIONS)
    assert {row["questions"] for row in rows} == {unseen}
    assert by_judge["truthful", "trained"]["accuracy"] > 0.9
    assert by_judge["informative", "trained"]["accuracy"] > 0.9
    assert by_judge["truthful", "always the same"]["accuracy"] == pytest.approx(0.6)
    assert by_judge["truthful", "always the same"]["auc"] == 0.5
    first = Path("judges.json").read_bytes()
    contested.done(*TRAIN, "--labelled", "finetune_info.jsonl")
    assert Path("judges.json").read_bytes() == first, "the same answers give the same judges"

    judge = ("run", "truth-judges", "--data", "TruthfulQA.csv", "--truth", "trained")
    contested.done(*judge, "--judges", "judges.json", "--labelled", "finetune_truth.jsonl")
    (found,) = json.loads(Path("results/tables/truth_judges_agreement.json").read_text())["rows"]
    assert found["answers"] == 5 * unseen, "no answer to a question that was learned from"
    assert found["accuracy"] == pytest.approx(by_judge["truthful", "trained"]["accuracy"])
    assert found["judge"] == "judges.json"
    assert "needs --judges FILE" in contested.refused(*judge)
    refused = contested.refused(*judge[:-1], "nli", "--judges", "judges.json")
    assert "--judges has no effect with --truth nli" in refused

    answers = ("run", "truthfulqa", "--truth", "trained", "--judges", "judges.json")
    contested.done(*answers, "--limit", "1", "--dry-run")
    contested.done(*TRAIN[:-1], "finetune_info.jsonl", "--out", "info.json", "--half", "all")
    assert "has no judge of truth" in contested.refused(*answers[:-1], "info.json", "--dry-run")
    everything = contested.refused(*judge[:-1], "trained", "--judges", "info.json")
    assert "has no judge of truth" in everything


def test_a_file_of_judges_that_cannot_be_used(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    contested = Contested(capsys)
    contested.done(*TRAIN)
    judges = read_judges(Path("judges.json"))
    assert judges.judges.informative is None
    made = json.loads(Path("judges.json").read_text())
    run = ("run", "truth-judges", "--truth", "trained", "--judges", "other.json")
    for changed, problem in (
        ({"embedder": "another"}, "another embedding model"),
        ({"half": "none"}, "make it again with contested train-judges"),
        ({"truthful": None}, "there is no judge in it"),
    ):
        Path("other.json").write_text(json.dumps(made | changed))
        assert problem in contested.refused(*run)


@pytest.mark.parametrize(
    ("keep", "problem"),
    [
        (lambda row: "yes" in row, "yes and no are needed"),
        (lambda row: "yes" in row or "mill" in row, "both to several questions"),
        (lambda row: "mill" in row, "5 quest"),
    ],
)
def test_too_little_to_learn_from(
    keep: "object", problem: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert callable(keep)
    rows = Path("finetune_truth.jsonl").read_text().splitlines(keepends=True)
    Path("finetune_truth.jsonl").write_text("".join(row for row in rows if keep(row)))
    assert problem in Contested(capsys).refused(*TRAIN, "--half", "all")
    assert not Path("judges.json").exists()
