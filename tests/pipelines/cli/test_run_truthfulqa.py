"""`contested run truthfulqa` and `contested run report-writing`, as a person meets them."""

import json
from pathlib import Path
from typing import Any

import pytest
from by_schema import reply
from commands import Contested
from scripted import Scripted, fenced_text, prompt_of

TAGGER = ("--judge", "tagger", "--claims", "sentences")
TRUTH = ("run", "truthfulqa", *TAGGER, "--truth", "tagger")
REPORTS = ("run", "report-writing", *TAGGER)
HEAD = "Question,Best Answer,Best Incorrect Answer,Correct Answers,Incorrect Answers"


def answers(request: dict[str, Any]) -> str:
    """A choice where one is asked for, else the first words of a document."""
    if "response_format" in request:
        return reply(request)
    if "(A)" in prompt_of(request):
        return "(A)"
    return fenced_text(request, "DOCUMENT 1")[:200]


def read(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def test_documents_from_a_file_and_from_an_index(contested: Contested, endpoint: Scripted) -> None:
    endpoint.reply = answers
    rows = [HEAD, "Is it flat?,No,Yes,No,Yes", "Is it green?,No,Yes,No,Yes", "Is it?,No,Yes,,"]
    Path("TruthfulQA.csv").write_text("\n".join(rows))
    found = {"question": "Is it flat?", "documents": [{"text": "It is flat."}, {"text": "No."}]}
    Path("found.jsonl").write_text(json.dumps(found))
    data = ("--data", "TruthfulQA.csv", "--documents", "found.jsonl")
    told = contested.done(*TRUTH, *data, "--dry-run").out
    assert "3 questions, 2 of them left out for want of documents; 1 are asked" in told
    Path("green.txt").write_text("Grass is green, and so is it.")
    contested.done("index", "build", "green.txt", "--out", "ix")
    contested.done(*TRUTH, *data, "--index", "ix", "--endpoint", endpoint.url)
    results = read("results/truthfulqa.scripted.jsonl")
    assert sorted(len(each["documents"]) for each in results) == [1, 1, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("lines", "more", "message"),
    [
        ([HEAD, "Is it?,No,Yes,,"], (), "none of the questions has documents"),
        ([HEAD, *["Is it?,No,Yes,,"] * 2], (), "q.csv:3: the question 'Is it?' stands already"),
        (["Question,Answer", "Is it?,No"], (), "the column 'Best Answer' is missing"),
        (None, ("--index", "lost"), "lost"),
    ],
)
def test_what_truthfulqa_cannot_do_is_said_in_a_line(
    contested: Contested, lines: list[str] | None, more: tuple[str, ...], message: str
) -> None:
    command = [*TRUTH, *more]
    if lines is not None:
        Path("q.csv").write_text("\n".join(lines))
        command += ["--data", "q.csv"]
    assert message in contested.refused(*command, "--dry-run")
    assert not Path("results").exists()


@pytest.mark.parametrize(
    ("record", "more", "message"),
    [
        ({"id": "1", "question": "Q?", "response": "x"}, (), "the field 'documents' is missing"),
        (
            {"id": "1", "documents": [{"id": "a", "text": "x"}], "response": "x"},
            (),
            "no question with documents that could disagree",
        ),
    ],
)
def test_what_report_writing_cannot_do_is_said_in_a_line(
    contested: Contested,
    record: dict[str, Any] | None,
    more: tuple[str, ...],
    message: str,
) -> None:
    command = [*REPORTS, *more]
    if record is not None:
        Path("own.jsonl").write_text(json.dumps(record))
        command += ["--data", "own.jsonl"]
    assert message in contested.refused(*command, "--dry-run")
    assert not Path("results").exists()
