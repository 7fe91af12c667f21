"""The averages of RAMDocs in appendix A of MADAM-RAG, by hand and on the release."""

from pathlib import Path

import pytest
from estimates import defined, ends

from pipelines.data.ramdocs import RamDocument, RamQuestion, read
from pipelines.madam_rag.data import Statistic, statistics


def question(supporting: int, misinfo: int, noise: int, gold: int, wrong: list[str]) -> RamQuestion:
    kinds = ["correct"] * supporting + ["misinfo"] * misinfo + ["noise"] * noise
    return RamQuestion(
        question="Who?",
        documents=tuple(
            RamDocument.model_validate({"text": "A text.", "type": kind, "answer": "x"})
            for kind in kinds
        ),
        gold_answers=tuple(f"gold {n}" for n in range(gold)),
        wrong_answers=tuple(wrong),
    )


THREE = (
    question(supporting=3, misinfo=1, noise=0, gold=1, wrong=["a", "a"]),
    question(supporting=2, misinfo=2, noise=1, gold=2, wrong=["b"]),
    question(supporting=4, misinfo=0, noise=2, gold=2, wrong=[]),
)


def by_name(found: tuple[Statistic, ...]) -> dict[str, Statistic]:
    return {each.name: each for each in found}


@pytest.mark.parametrize(
    ("name", "value", "n"),
    [
        ("documents", (4 + 5 + 6) / 3, 3),
        ("supporting documents", (3 + 2 + 4) / 3, 3),
        ("misinformation documents", (1 + 2 + 0) / 3, 3),
        ("noise documents", (0 + 1 + 2) / 3, 3),
        ("gold answers", (1 + 2 + 2) / 3, 3),
        # A wrong answer that is listed twice counts twice.
        ("wrong answers", (2 + 1 + 0) / 3, 3),
        # Mean of per-question ratios: 3/1, 2/2, 4/2. Pooled it would be 9/5.
        ("documents per gold answer", 2, 3),
        # 1/2 and 2/1; the third has no wrong answer. Pooled it would be 3/3.
        ("documents per wrong answer", 1.25, 2),
    ],
)
def test_worked_by_hand(name: str, value: float, n: int) -> None:
    found = by_name(statistics(THREE))[name]
    estimate = defined(found.estimate)
    assert (estimate.value, estimate.n) == pytest.approx((value, n))


def test_what_does_not_grow_with_gold_answers_agrees_on_half_the_release(
    released_data: Path,
) -> None:
    """The first 250 rows: 100 with one gold answer, then 150 with two."""
    released = by_name(statistics(read(released_data / "ramdocs" / "RAMDocs_250.jsonl")))
    near = set()
    for name, row in released.items():
        low, high = ends(row.estimate)
        if low <= row.paper <= high:
            near.add(name)
    assert {*released} - near == {"documents", "supporting documents", "gold answers"}
