"""`contested score` and `contested doctor`, as a person sees them."""

import json
from pathlib import Path
from typing import Any

import pytest
from scripted import Scripted, fenced_text

from pipelines.cli.app import main
from pipelines.conflictscore.result import Result


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> Path:
    Path("answer.txt").write_text("The bridge was opened in 1932. Crossing costs [two] pounds.")
    Path("plaque.txt").write_text("Opened 1932.")
    Path("archive.txt").write_text("Traffic first crossed in 1936.")
    return tmp_path


SCORE = ["score", "--response", "answer.txt", "--documents", "plaque.txt", "archive.txt"]


def test_the_table_shows_claims_labels_and_scores(
    endpoint: Scripted, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint.weigh = lambda r: [0.9, 0.05, 0.05] if "Opened 1932" in str(r) else [0.1, 0.8, 0.1]
    arguments = [*SCORE, "--evidence", "choice", "--endpoint", endpoint.url]
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    for part in ("plaque", "archive", "supports", "contradicts", "90%", "80%", "[two]"):
        assert part in shown
    assert "CS-C 1.00  CS-R 0.50" in shown
    assert "2 claims, 2 documents" in " ".join(shown.split())


def test_an_undetermined_claim_is_not_shown_as_agreement(
    endpoint: Scripted, capsys: pytest.CaptureFixture[str]
) -> None:
    def reply(request: dict[str, Any]) -> str:
        if request["response_format"]["json_schema"]["name"] == "Claims":
            return '{"claims": ["First.", "Second."]}'
        if "First." in str(request) and "1936" in fenced_text(request, "DOCUMENT"):
            return "no JSON"
        return '{"snippet": "", "reasoning": "", "answer": "SUPPORTS"}'

    endpoint.reply = reply
    assert main([*SCORE, "--endpoint", endpoint.url]) == 0
    shown = capsys.readouterr().out
    assert "undetermined" in shown
    assert "2 claims, 1 of them undetermined, 2 documents" in " ".join(shown.split())


def test_json_is_the_result_and_nothing_else(
    endpoint: Scripted, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*SCORE, "--json", "--endpoint", endpoint.url]) == 0
    result = Result.model_validate_json(capsys.readouterr().out)
    assert [document.id for document in result.documents] == ["plaque", "archive"]
    assert len(result.judgements) == 4
    assert all(judgement.snippet for judgement in result.judgements)


def test_files_of_one_name_are_told_apart_by_their_folder(
    files: Path, endpoint: Scripted, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "other").mkdir()
    (files / "other" / "plaque.txt").write_text("Opened 1936.")
    arguments = ["score", "--response", "answer.txt", "--documents", "plaque.txt"]
    assert main([*arguments, "other/plaque.txt", "--json", "--endpoint", endpoint.url]) == 0
    documents = json.loads(capsys.readouterr().out)["documents"]
    assert [document["id"] for document in documents] == ["plaque.txt", "other/plaque.txt"]


def test_the_doctor_names_what_is_missing_and_ends_with_2(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor"]) == 2
    said = capsys.readouterr()
    assert "model smollm2-135m-instruct" in said.out
    assert "contested models" in " ".join(said.out.split())
    assert said.err.startswith("contested: missing: model smollm2-135m-instruct")
