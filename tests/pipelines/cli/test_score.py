"""`contested score`, as a person meets it."""

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Contested
from scripted import Scripted, fenced_text

from pipelines.conflictscore.result import Result

SCORE = ["score", "--response", "answer.txt", "--documents", "plaque.txt", "archive.txt"]


@pytest.fixture(autouse=True)
def files() -> None:
    Path("answer.txt").write_text("The bridge was opened in 1932. Crossing costs [two] pounds.")
    Path("plaque.txt").write_text("Opened 1932.")
    Path("archive.txt").write_text("Traffic first crossed in 1936.")


def test_the_table_shows_claims_labels_and_scores(contested: Contested, endpoint: Scripted) -> None:
    endpoint.weigh = lambda r: [0.9, 0.05, 0.05] if "Opened 1932" in str(r) else [0.1, 0.8, 0.1]
    shown = contested.done(*SCORE, "--evidence", "choice", "--endpoint", endpoint.url).out
    for part in ("plaque", "archive", "supports", "contradicts", "90%", "80%", "[two]"):
        assert part in shown
    assert "CS-C 1.00  CS-R 0.50" in shown
    assert "2 claims, 2 documents" in " ".join(shown.split())


def test_an_undetermined_claim_is_not_shown_as_agreement(
    contested: Contested, endpoint: Scripted
) -> None:
    def reply(request: dict[str, Any]) -> str:
        if request["response_format"]["json_schema"]["name"] == "Claims":
            return '{"claims": ["First.", "Second."]}'
        if "First." in str(request) and "1936" in fenced_text(request, "DOCUMENT"):
            return "no JSON"
        return '{"snippet": "", "reasoning": "", "answer": "SUPPORTS"}'

    endpoint.reply = reply
    shown = " ".join(contested.done(*SCORE, "--endpoint", endpoint.url).out.split())
    assert "2 claims, 1 of them undetermined, 2 documents" in shown


def test_json_is_the_result_and_nothing_else(contested: Contested, endpoint: Scripted) -> None:
    done = contested.done(*SCORE, "--json", "--endpoint", endpoint.url)
    result = Result.model_validate_json(done.out)
    assert [document.id for document in result.documents] == ["plaque", "archive"]
    assert len(result.judgements) == 4
    assert all(judgement.snippet for judgement in result.judgements)


def test_files_of_one_name_are_told_apart_by_their_folder(
    contested: Contested, endpoint: Scripted
) -> None:
    Path("other").mkdir()
    Path("other/plaque.txt").write_text("Opened 1936.")
    asked = ["score", "--response", "answer.txt", "--documents", "plaque.txt", "other/plaque.txt"]
    documents = json.loads(contested.done(*asked, "--json", "--endpoint", endpoint.url).out)
    named = [document["id"] for document in documents["documents"]]
    assert named == ["plaque.txt", "other/plaque.txt"]
