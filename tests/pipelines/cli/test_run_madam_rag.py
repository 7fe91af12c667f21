"""`contested run madam-rag`, as a person meets it: figures, run folders, faults, kills."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from commands import Contested, at, contents, ours, records, table, write
from debates import readers
from scripted import Scripted
from tiny_words import word_counting


def document(text: str, kind: str, answer: str) -> dict[str, str]:
    """A document of RAMDocs."""
    return {"text": text, "type": kind, "answer": answer}


# No question nor document has four digits for its fence's mark: `readers` would take them for a
# year.
MILL = {
    "question": "When was the old mill built?",
    "documents": [
        document("The mill was built in 1803 and burnt down in 1850.", "correct", "1803"),
        document("The mill was built in 1999.", "misinfo", "1999"),
    ],
    "disambig_entity": [None],
    "gold_answers": ["1803"],
    "wrong_answers": ["1999"],
}
# Four hundred words each: one fits a small context, three together do not.
WIDE = {
    "question": "When was the wide bridge opened?",
    "documents": [
        document(f"The wide bridge was opened in {year}." + " Word" * 400, "correct", year)
        for year in ("1901", "1902", "1903")
    ],
    "disambig_entity": [None, None],
    "gold_answers": ["1901", "1902", "1903"],
    "wrong_answers": [],
}
HOUSES = {
    "question": "When was Griswold House built?",
    "ambiguous_entity": "Griswold House",
    "qid": 5,
    "documents": [
        {"title": "Griswold House (A)", "text": "Built in 1774.", "pid": 1, "answer": "1774"},
        {"title": "Griswold House (B)", "text": "Built in 1881.", "pid": 2, "answer": "1881"},
    ],
}
CANAL = {
    "qid": "c1",
    "question": "When was the canal dug?",
    "context": "Document: The canal was dug in 1932. Document: The canal was dug in 1936.",
    "answers": ["1932"],
}

RUN = ["run", "madam-rag", "--out", "out"]


@pytest.fixture(autouse=True)
def files() -> None:
    write("faith.jsonl", CANAL)
    write("wide.jsonl", MILL, WIDE)
    Path("ambig.json").write_text(json.dumps([HOUSES]))


@pytest.fixture
def endpoint(endpoint: Scripted) -> Scripted:
    """Readers, who say the years of their documents."""
    endpoint.reply = readers
    return endpoint


def results(name: str = "ramdocs", out: str = "out") -> list[dict[str, Any]]:
    return records(f"{out}/madam-rag.{name}.jsonl")


def figures(row: dict[str, Any]) -> tuple[float, ...]:
    return tuple(row[key] for key in ("exact_match", "precision", "recall", "f1", "calls"))


# What a run leaves.


def test_data_sets_stand_in_one_report(contested: Contested, endpoint: Scripted) -> None:
    contested.done(*RUN, *at(endpoint), "--dataset", "ambigdocs", "--data", "ambig.json")
    faith = [*RUN, *at(endpoint), "--dataset", "faitheval", "--data", "faith.jsonl"]
    contested.done(*faith)
    # AmbigDocs: both years are right. FaithEval: 1936 is wrong, P = 1/2, R = 1, F1 = 2/3.
    methods = {row["data"]: row for row in ours("madam_methods", method="MADAM-RAG")}
    assert figures(methods["AmbigDocs"]) == (1, 1, 1, 1, 6)
    assert figures(methods["FaithEval"]) == pytest.approx((0, 1 / 2, 1, 2 / 3, 6))
    assert set(methods) == {"AmbigDocs", "FaithEval"}
    before = contents(Path("out"))
    Path("out/report.html").unlink()
    contested.done(*faith)
    assert contents(Path("out")) == before


# What cannot be read, or cannot be asked.


@pytest.fixture
def small(endpoint: Scripted, tmp_path: Path) -> Scripted:
    """An endpoint of 1,600 tokens, whose tokenizer counts words and marks."""
    endpoint.root, endpoint.context = str(word_counting(tmp_path / "tiny")), 1600
    return endpoint


def test_documents_that_do_not_fit_one_prompt(contested: Contested, small: Scripted) -> None:
    command = [*RUN, *at(small), "--data", "wide.jsonl"]
    message = contested.refused(*command)
    assert re.match(r"'2': a prompt of 1,\d{3} tokens and \d+ for the reply do not fit", message)
    # Which question is done when the other stops the run depends on which comes first.
    assert not [result for result in results_so_far() if result["id"] == "2"]

    contested.done(*command, "--on-error", "skip")
    found = {row["method"]: row for row in ours("madam_methods")}
    assert {name: row["unreadable"] for name, row in found.items()} == {
        "No RAG": 0, "Concatenated prompt": 1, "Astute RAG": 1, "MADAM-RAG": 0,
    }  # fmt: skip
    assert {row["questions"] for row in found.values()} == {2}
    # Of the two the mill is not exact, and the wide bridge is; its agents had room enough.
    assert found["MADAM-RAG"]["exact_match"] == 0.5
    assert found["Concatenated prompt"]["calls"] == 1, "what was not asked took no call"
    failures = table(Path("out"), "madam_failures")
    assert [(row["question"], row["what"]) for row in failures] == [
        ("2", "unreadable, Concatenated prompt"),
        ("2", "unreadable, Astute RAG"),
    ]
    assert all("do not fit the context of" in row["reason"] for row in failures)
    asked, before = len(small.requests), contents(Path("out"))
    contested.done(*command, "--on-error", "skip")
    assert (len(small.requests), contents(Path("out"))) == (asked, before)


def results_so_far() -> list[dict[str, Any]]:
    return results() if Path("out/madam-rag.ramdocs.jsonl").exists() else []
