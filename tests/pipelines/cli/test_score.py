"""`contested score`, with and without `--regenerate`, as a person meets it."""

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Contested
from scripted import Scripted, fenced_text

SCORE = ["score", "--response", "answer.txt", "--documents", "plaque.txt", "archive.txt"]


@pytest.fixture(autouse=True)
def files() -> None:
    Path("answer.txt").write_text("The bridge was opened in 1932. Crossing costs [two] pounds.")
    Path("plaque.txt").write_text("Opened 1932.")
    Path("archive.txt").write_text("Traffic first crossed in 1936.")


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


# Written again; the shipped tagger judges.

ANSWER = "The mill was built in 1856."
BOTH = "The mill was built in 1856, says one guide, while another says 1902."
FILES = ["--response", "mill.txt", "--documents", "north.txt", "south.txt"]
ASKED = ["score", "--regenerate", *FILES]


@pytest.fixture
def mill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, endpoint: Scripted) -> Scripted:
    monkeypatch.setenv("COLUMNS", "120")
    Path("mill.txt").write_text(ANSWER)
    Path("north.txt").write_text("The mill was built in 1856. It grinds [red]rye[/red].")
    Path("south.txt").write_text("The mill was not built in 1856 but in 1902.")
    endpoint.reply = lambda _: BOTH
    return endpoint


def test_before_and_after_stand_side_by_side(contested: Contested, mill: Scripted) -> None:
    done = contested.done(*ASKED, "--question", "When?", "--endpoint", mill.url)
    assert (
        "writer was told\nClaim: The mill was built in 1856.\nSupported by: document 1" in done.out
    )
    assert "Contradicted by: document 2" in done.out
    assert "Before\n  CS-C 1.00" in done.out
    assert "while another" in done.out
    assert "judged by" in done.err
    assert "judges its own writing" not in done.err
    (request,) = mill.requests
    assert fenced_text(request, "QUESTION") == "When?"
    assert "[red]rye" in fenced_text(request, "DOCUMENT 1")


def test_as_in_the_paper_the_model_judges_and_is_not_asked_to_hedge(
    contested: Contested, mill: Scripted
) -> None:
    def reply(request: dict[str, Any]) -> str:
        if "response_format" not in request:
            return BOTH
        if request["response_format"]["json_schema"]["name"] == "Claims":
            return json.dumps({"claims": [ANSWER]})
        label = "CONTRADICTS" if "1902" in fenced_text(request, "DOCUMENT") else "SUPPORTS"
        return json.dumps({"snippet": "", "reasoning": "", "answer": label})

    mill.reply = reply
    done = contested.done(*ASKED, "--as-in-paper", "--json", "--endpoint", mill.url)
    asked = [request["messages"][0]["content"] for request in mill.requests]
    assert any(text.startswith("You split a text into the claims") for text in asked)
    (written,) = [text for text in asked if "Think again" in text]
    assert "name both sides" not in written
    assert json.loads(done.out)["after"]["score"]["response"] == BOTH


def test_a_model_that_judges_itself_is_told_of(contested: Contested, mill: Scripted) -> None:
    err = contested.done(
        *ASKED, "--judge", "model", "--evidence", "choice", "--endpoint", mill.url
    ).err
    assert "the model judges its own writing" in err
