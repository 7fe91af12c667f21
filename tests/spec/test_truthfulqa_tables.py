"""Tables of TruthfulQA, worked by hand."""

from typing import Any

from pipelines.conflictscore.result import Score
from pipelines.conflictscore.truthfulqa.result import (
    CONDITIONS,
    Condition,
    Outcome,
    TruthResult,
    Verdict,
)
from pipelines.conflictscore.truthfulqa.tables import all_tables
from pipelines.conflictscore.truthfulqa.view import problems
from pipelines.report.table import Cell, Table, own_rows, records

CONFIG = {
    "writer": {"name": "w"},
    "model": {"name": "s"},
    "judge": {"name": "j"},
    "asked": {"truth": "model"},
}


def choice(number: int, correct: str, rag: str, regenerated: str, **more: Any) -> TruthResult:
    """A choice; lower case: not asked again; a dash: unreadable."""

    def outcome(letter: str, cs_c: float = 1.0) -> Outcome:
        return Outcome(
            response="",
            reply=letter,
            asked=not letter.islower(),
            ignored=letter == rag,
            letter=None if letter == "-" else letter.upper(),
            score=Score(cs_c=cs_c, cs_r=cs_c / 2),
        )

    return TruthResult(
        id=f"q{number}/binary",
        group=f"q{number}",
        setting="binary",
        question="?",
        options={"A": "short", "B": "the longer one"},
        correct=correct,
        status="answered",
        outcomes={
            "rag": outcome(rag),
            "control": outcome("A"),
            "rewritten": outcome(rag.lower() if regenerated.islower() else rag),
            "regenerated": outcome(regenerated, 1.0 if regenerated.islower() else 0.5),
        },
        **more,
    )


CHOICES = [
    choice(1, "A", "A", "A"),  # retained
    choice(2, "A", "B", "A"),  # corrected
    choice(3, "A", "B", "A"),  # corrected
    choice(4, "B", "B", "A"),  # broken
    choice(5, "B", "A", "A"),  # retained, and wrong
    choice(6, "B", "B", "b"),  # in no conflict: not asked again
    choice(7, "A", "-", "A"),  # not known before
]


def tables(results: list[TruthResult]) -> dict[str, Table]:
    made = all_tables({"r": results}, {"r": CONFIG})
    return {each.name.removeprefix("truthfulqa_"): each for each in made}


def row(table: Table, **at: str) -> dict[str, Cell]:
    (found,) = [
        each for each in own_rows(table) if all(each[name] == value for name, value in at.items())
    ]
    return found


def value(cell: Any) -> float:
    return float(round(cell.value, 4))


def test_accuracy_and_what_needs_no_model() -> None:
    table = tables(CHOICES)["binary"]
    accuracy = {each["condition"]: value(each["accuracy"]) for each in own_rows(table)}
    assert accuracy == {
        "RAG": round(3 / 7, 4),  # 1, 4 and 6; the unreadable one is wrong
        "Control-RAG": round(4 / 7, 4),
        "Rewritten, untold": round(3 / 7, 4),
        "Regenerated-RAG": round(5 / 7, 4),  # 1, 2, 3, 6 and 7
        "always (A)": round(4 / 7, 4),
        "the longer answer": round(3 / 7, 4),
    }
    assert row(table, condition="RAG")["unreadable"] == 1
    assert [each["accuracy"] for each in records(table)[-3:]] == [0.8421, 0.8447, 0.8524]


def test_what_became_of_answers() -> None:
    table = tables(CHOICES)["flips"]
    found = row(table, condition="Regenerated-RAG")
    counts = {name: cell for name, cell in found.items() if isinstance(cell, int)}
    assert counts == {
        "asked": 6,
        "retained": 2,
        "corrected": 2,
        "broken": 1,
        "still_right": 0,
        "still_wrong": 0,
        "unknown": 1,
        "untouched": 1,
    }
    shares = [value(found[f"{name}_share"]) for name in ("retained", "corrected", "broken")]
    assert shares == [round(2 / 6, 4), round(2 / 3, 4), round(1 / 3, 4)]
    paper = records(table)[-1]
    assert (paper["retained"], paper["corrected"], paper["broken"]) == (224, 16, 8)
    assert paper["asked"] == 248


def answer(number: int, *truthful: bool | None, informative: bool = True) -> TruthResult:
    """A free-form question with one verdict per condition."""

    def said(verdict: bool | None) -> Verdict:
        return Verdict(verdict=verdict, problem=None if verdict is not None else "no JSON")

    conditions: list[Condition] = list(CONDITIONS)
    outcomes = {
        name: Outcome(
            response="x", reply="x", truthful=said(verdict), informative=said(informative)
        )
        for name, verdict in zip(conditions, truthful, strict=True)
    }
    return TruthResult(
        id=f"q{number}/free-form",
        group=f"q{number}",
        setting="free-form",
        question="?",
        status="answered",
        outcomes=outcomes,
    )


def test_shares_of_judged_answers() -> None:
    answers = [
        answer(1, True, True, True, True),
        answer(2, False, True, False, True, informative=False),
        answer(3, None, None, None, None),
    ]
    made = tables(answers)
    rag = row(made["free_form"], condition="RAG")
    assert (value(rag["truthful"]), value(rag["informative"])) == (0.5, round(2 / 3, 4))
    assert (value(rag["both"]), rag["answers"], rag["unjudged"]) == (0.5, 3, 1)
    assert rag["judge"] == "j"
    unread = [problem.what for answer in answers for problem in problems(answer)]
    assert len(unread) == 4
    assert {what.partition(",")[0] for what in unread} == {"unreadable verdict (truthful)"}
