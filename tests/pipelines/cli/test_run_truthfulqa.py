"""`contested run truthfulqa` and `contested run report-writing`, as a person meets them."""

from pathlib import Path
from typing import Any

from by_schema import reply
from commands import Contested, records, write
from scripted import Scripted, fenced_text, prompt_of

TAGGER = ("--judge", "tagger", "--claims", "sentences")
TRUTH = ("run", "truthfulqa", *TAGGER, "--truth", "tagger")
HEAD = "Question,Best Answer,Best Incorrect Answer,Correct Answers,Incorrect Answers"


def answers(request: dict[str, Any]) -> str:
    """A choice where one is asked for, else the first words of a document."""
    if "response_format" in request:
        return reply(request)
    if "(A)" in prompt_of(request):
        return "(A)"
    return fenced_text(request, "DOCUMENT 1")[:200]


def test_documents_from_a_file_and_from_an_index(contested: Contested, endpoint: Scripted) -> None:
    endpoint.reply = answers
    rows = [HEAD, "Is it flat?,No,Yes,No,Yes", "Is it green?,No,Yes,No,Yes", "Is it?,No,Yes,,"]
    Path("TruthfulQA.csv").write_text("\n".join(rows))
    found = {"question": "Is it flat?", "documents": [{"text": "It is flat."}, {"text": "No."}]}
    write("found.jsonl", found)
    data = ("--data", "TruthfulQA.csv", "--documents", "found.jsonl")
    told = contested.done(*TRUTH, *data, "--dry-run").out
    assert "3 questions, 2 of them left out because they have no documents; 1 are asked" in told
    Path("green.txt").write_text("Grass is green, and so is it.")
    contested.done("index", "build", "green.txt", "--out", "ix")
    contested.done(*TRUTH, *data, "--index", "ix", "--endpoint", endpoint.url)
    results = records("results/truthfulqa.scripted.jsonl")
    assert sorted(len(each["documents"]) for each in results) == [1, 1, 1, 1, 2, 2]
