"""What the reliability signal is worth, worked by hand."""

import pytest
from debates import question

from pipelines.madam_rag.data import Kind
from pipelines.madam_rag.debate_tables import reliability
from pipelines.madam_rag.methods import QuestionResult
from pipelines.madam_rag.replies import Reliability
from pipelines.madam_rag.scores import parts
from pipelines.metrics.estimate import Estimate
from pipelines.report.table import Table


def told(support: int, refute: int, others: int = 2) -> Reliability:
    return Reliability(support=support, refute=refute, others=others)


def result(name: str, *documents: tuple[Kind, Reliability | None]) -> QuestionResult:
    asked = question(name, [kind for kind, _ in documents])
    told = tuple(each for _, each in documents)
    return QuestionResult(id=name, asked=asked, status="answered", borne_out=told)


def made(*results: QuestionResult) -> Table:
    return reliability(parts({"ramdocs": results}, {}))


def test_by_hand() -> None:
    table = made(
        # Correct: net 1/2 and 0; misinformation: net -1. Noise gives no answer.
        result(
            "a", ("correct", told(1, 0)), ("correct", told(1, 1)), ("misinfo", told(0, 2)),
            ("noise", None),
        ),
        # Correct: net -1/2; misinformation: net 0. A document alone is left out.
        result("b", ("correct", told(0, 1)), ("misinfo", told(0, 0))),
        result("c", ("correct", told(0, 0, others=0))),
    )  # fmt: skip
    correct, misinfo = table.rows
    values = [cell.value if isinstance(cell, Estimate) else cell for cell in (*correct, *misinfo)]
    assert values == [
        # Support 1/2, 1/2, 0 and contradiction 0, 1/2, 1/2 of three documents.
        *("RAMDocs", "correct", 3, pytest.approx(1 / 3), pytest.approx(1 / 3), None),
        # Of the 3 x 2 pairs correct against misinfo, 1/2 and 0 and -1/2 all beat -1; of those with
        # 0, 1/2 wins, 0 ties, -1/2 loses: 3 + 1.5 of 6.
        *("RAMDocs", "misinfo", 2, 0, 0.5, pytest.approx(0.75)),
    ]


def test_without_the_signal_there_is_no_row() -> None:
    plain = result("a", ("correct", told(1, 0))).model_copy(update={"borne_out": ()})
    assert made(plain).rows == ()
