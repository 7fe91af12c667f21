"""Table 3 of ConflictScore, worked by hand."""

from typing import Any

from pipelines.conflictscore.reports import all_tables
from pipelines.conflictscore.writing import ReportResult
from pipelines.data.records import Document
from pipelines.report.table import own_rows, records

CONFIG: dict[str, Any] = {
    "writer": {"name": "w"},
    "model": {"name": "j"},
    "data": {"name": "d.jsonl"},
}


def report(number: int, prompt: str, cs_c: float | None, words: int = 2) -> ReportResult:
    return ReportResult(
        id=f"{number}/{prompt}",
        group=str(number),
        variant=prompt,
        question="?",
        response="word " * words,
        documents=(Document(id="d", text="t"),),
        status="scored" if cs_c is not None else "invalid",
        claims=("a", "b"),
        cs_c=cs_c,
        cs_r=None if cs_c is None else cs_c / 2,
        entity="x",
        error=None if cs_c is not None else "no claim",
    )


RESULTS = [
    report(1, "RAG", 1.0),
    report(2, "RAG", 0.5, words=4),
    report(3, "RAG", None),
    report(1, "RAG (Balanced)", 0.5),
    report(2, "RAG (Balanced)", 0.5),
    report(1, "First document", 0.0),
]


def test_means_by_prompt() -> None:
    scores, *_ = all_tables({"r": RESULTS}, {"r": CONFIG})
    plain, balanced, copied = own_rows(scores)
    assert [each["prompting"] for each in (plain, balanced, copied)] == [
        "RAG",
        "RAG (Balanced)",
        "First document",
    ]
    means: list[Any] = [plain[name] for name in ("cs_c", "words", "claims")]
    assert [each.value for each in means] == [0.75, 3.0, 2.0]
    assert (plain["reports"], plain["scored"]) == (3, 2)
    assert len(records(scores)) == 3 + 6
