"""What the page of every experiment has in common: headline and problems."""

from dataclasses import replace
from typing import Any

import pytest

from pipelines.experiment import summary
from pipelines.experiment.summary import (
    Figure,
    Lost,
    Problem,
    headline,
    problem_table,
    truncations,
)
from pipelines.judge.judgement import Truncation
from pipelines.metrics.estimate import Estimate
from pipelines.report.table import Column, Measure, Table, own_rows

F1 = Figure("t", "f1", "method", "F1", ("data",), trivial=("copied", "random"), aside=("oracle",))
NOUN = ("claim", "claims")


def estimate(value: float, n: int = 40) -> Estimate:
    return Estimate(value, value - 0.1, value + 0.1, n)


def table(*rows: tuple[str, str, Estimate | None]) -> dict[str, Table]:
    columns = (Column[Any]("data", "Data"), Column[Any]("method", "Method"))
    return {"t": Table("t", "T", (*columns, Measure[Any]("f1", "F1")), rows)}


ROWS = (
    ("a", "ours", estimate(0.5)),
    ("a", "copied", estimate(0.25)),
    ("a", "random", estimate(0.75)),
    ("a", "oracle", estimate(1.0)),
    ("b", "ours", estimate(0.5)),
)


@pytest.mark.parametrize(
    ("figure", "sentence", "drawn", "beside"),
    [
        (
            F1,
            "F1: ours 0.50 [0.40, 0.60]; strongest baseline, random 0.75 [0.65, 0.85].",
            ["ours (a)", "ours (b)"],
            ["random (a)"],
        ),
        (
            replace(F1, better="lower", whole="a", ours=("ours",)),
            "F1 (lower is better): ours 0.50 [0.40, 0.60]; strongest baseline, copied 0.25 "
            "[0.15, 0.35].",
            ["ours"],
            ["copied"],
        ),
    ],
)
def test_the_headline_has_the_strongest_baseline_of_its_group(
    figure: Figure, sentence: str, drawn: list[str], beside: list[str]
) -> None:
    made = headline([figure], table(*ROWS), NOUN)
    assert made["found"].replace("\u00a0", " ") == sentence
    assert [name for name, _ in made["figures"]] == drawn
    assert [name for name, _ in made["baselines"]] == beside


def test_few_examples_have_no_score() -> None:
    made = headline([F1], table(("a", "ours", estimate(0.5, 4))), NOUN)
    few = "Figures rest on 4 claims: too few for a score; read the examples."
    assert made == {"found": few, "examples": 4}
    both = table(("a", "ours", estimate(0.5, 4)), ("b", "ours", estimate(0.25, 5)))
    made = headline([F1], both, NOUN)
    assert made["found"].startswith("F1: ours 0.25")
    assert [name for name, _ in made["figures"]] == ["ours"]


def test_problems_are_cut_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary, "PROBLEMS_SHOWN", 3)
    found = [
        Lost("r", "a", Problem("failed", "too\nlong " * 100)),
        Lost("r", "b", Problem("unreadable", "", "{\n}" + "x" * 300)),
        *(Lost("s", "c", one) for one in truncations([Truncation(text="d", tokens=9, kept=5)])),
        Lost("s", "d", Problem("failed")),
    ]
    made = problem_table(found, "f", "claim", several=True)
    first, second, third = own_rows(made)
    assert [row["run"] for row in (first, second, third)] == ["r", "r", "s"]
    assert str(first["reason"]).startswith("too long too long")
    assert len(str(first["reason"])) == 400
    assert (first["reply"], second["reason"]) == (None, "")
    assert len(str(second["reply"])) == 200
    assert third["reason"] == "d: the first 5 of 9 tokens were seen"
    assert made.notes == ("1 more are in the results.",)
    assert "run" not in own_rows(problem_table(found, "f", "claim", several=False))[0]
