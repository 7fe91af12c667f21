"""Types of conflict told from numbers: thresholds and the rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.conflicts.data import Query, Source
from pipelines.conflicts.strategies import by_yes_no
from pipelines.conflicts.taxonomy import ConflictType, commonest, decide

TYPES = list(ConflictType)
NO_CONFLICT, _, OPINIONS, OUTDATED, _ = TYPES


# The rule of thresholds.

SHARES = st.lists(st.integers(0, 20), min_size=5, max_size=5).filter(any)
LEAST = st.dictionaries(st.sampled_from(TYPES), st.floats(0, 1))


@given(SHARES, LEAST)
def test_a_type_is_given_where_it_reaches_its_threshold(
    counts: list[int], thresholds: dict[ConflictType, float]
) -> None:
    shares = {each: count / sum(counts) for each, count in zip(TYPES, counts, strict=True)}
    chosen = decide(shares, thresholds)
    likely = TYPES[counts.index(max(counts))]
    if counts.count(max(counts)) > 1:
        assert chosen is decide(shares, {}) is None
        return
    assert chosen in {likely, None}
    assert (chosen is None) == (shares[likely] < thresholds.get(likely, 0))
    assert decide(shares, {}) == likely
    # More is never asked of one type by asking more of others.
    others = {each: 1.0 for each in TYPES if each != likely}
    assert decide(shares, others) == likely


def test_a_threshold_that_is_just_reached() -> None:
    shares = dict.fromkeys(TYPES, 0.0) | {OPINIONS: 0.5, OUTDATED: 0.4}
    assert decide(shares, {OPINIONS: 0.5}) is OPINIONS
    assert decide(shares, {OPINIONS: 0.51}) is None
    assert decide(shares, {OUTDATED: 0.9}) is OPINIONS


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
