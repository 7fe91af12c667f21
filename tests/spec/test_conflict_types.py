"""Conflict types from category numbers, and by the rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.conflicts.data import Query, Source
from pipelines.conflicts.strategies import by_yes_no
from pipelines.conflicts.taxonomy import ConflictType, commonest, decide

TYPES = list(ConflictType)
NO_CONFLICT, _, OPINIONS, OUTDATED, _ = TYPES


SHARES = st.lists(st.integers(0, 20), min_size=5, max_size=5).filter(any)


@given(SHARES)
def test_the_most_probable_type_alone_is_given(counts: list[int]) -> None:
    shares = {each: count / sum(counts) for each, count in zip(TYPES, counts, strict=True)}
    likely = TYPES[counts.index(max(counts))] if counts.count(max(counts)) == 1 else None
    assert decide(shares) is likely


def test_the_commonest_type() -> None:
    assert commonest([OUTDATED, OPINIONS, OUTDATED]) is OUTDATED
    assert commonest([OUTDATED, OPINIONS]) is OPINIONS, "of equal ones the first of the taxonomy"


# The rule.


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Is tea good for sleep?", OPINIONS), ("does it rain", OPINIONS),
        ("When did the tower open?", NO_CONFLICT), ("Who built the mill?", NO_CONFLICT),
    ],
)  # fmt: skip
def test_the_rule_reads_the_question_alone(question: str, expected: ConflictType) -> None:
    found = by_yes_no(Query(id="q", query=question, sources=(Source(text="Who knows."),)))
    assert (found.type, found.by, found.probabilities) == (expected, "yes-no", None)
