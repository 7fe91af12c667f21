"""Minimal pairs: a set counts only where every pair of it is right (Gardner et al. 2020)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nli.labels import LABELS, Label
from nli.pairs import LabelledPair
from pipelines.report.contrast import consistency, contrast_sets, contrast_table
from pipelines.report.tagger import Predictions

S, R, I = LABELS  # noqa: E741


def predictions(*rows: tuple[str, str, Label, Label], source: str = "wiki") -> Predictions:
    """Of (premise, hypothesis, true label, given label)."""
    return Predictions(
        [
            LabelledPair(premise=premise, hypothesis=claim, label=label, source=source)
            for premise, claim, label, _ in rows
        ],
        [[float(own is given) for own in LABELS] for *_, given in rows],
    )


def test_two_revisions_of_a_sentence() -> None:
    scored = predictions(
        ("Opened 1932.", "It opened in 1932.", S, S),
        ("Opened 1936.", "It opened in 1932.", R, R),
        ("Red.", "It is red.", S, S),
        ("Blue.", "It is red.", R, S),
        ("Old.", "It is old.", S, S),
        ("Very old.", "It is old.", S, R),
    )
    (sets,) = contrast_sets(scored, "hypothesis")
    assert sets.right == [[True, False], [True, True]], "the last two have one label: no set"
    found = consistency(sets)
    assert found is not None
    assert found.value == 0.5
    assert contrast_sets(scored, "premise") == []
    table = contrast_table(scored)
    assert table is not None
    assert [row[:4] for row in table.rows] == [("wiki", "one claim, several texts", 2, 4)]


def test_sets_are_of_one_source_and_there_need_be_none() -> None:
    one = predictions(("Red.", "It is red.", S, S))
    assert contrast_table(one) is None
    other = predictions(("Blue.", "It is red.", R, R), source="news")
    both = Predictions([*one.pairs, *other.pairs], [*one.probabilities, *other.probabilities])
    assert contrast_table(both) is None


@given(label=st.sampled_from(LABELS), claims=st.integers(1, 5))
def test_always_the_same_label_gets_no_set_right(label: Label, claims: int) -> None:
    rows = [(f"{own} text", f"claim {n}", own, label) for n in range(claims) for own in (S, R, I)]
    (sets,) = contrast_sets(predictions(*rows), "hypothesis")
    found = consistency(sets)
    assert found is not None
    assert found.value == 0
    assert sum(sets.pairs) == pytest.approx(len(rows) / 3)
