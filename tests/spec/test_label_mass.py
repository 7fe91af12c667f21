"""Every pipeline that reads label probabilities reports the mass off the labels."""

import pytest

from pipelines.conflictscore.view import cell
from pipelines.data.records import Document
from pipelines.judge.judgement import Judgement, Relation
from pipelines.metrics.calibration import is_low, low_label_mass, mean_label_mass

DOCUMENT = Document(id="d", text="A text.")


def judgement(mass: float | None) -> Judgement:
    return Judgement(
        claim="c", document="d", relation=Relation.SUPPORTS, label_mass=mass, source="model-choice"
    )


def test_the_mean_is_over_choices_that_have_one() -> None:
    assert mean_label_mass([0.2, None, 0.4]) == pytest.approx(0.3)
    assert mean_label_mass([None]) is None
    assert low_label_mass([None]) == ()
    assert low_label_mass([0.49, 0.5], "its") == (
        "On average 50 % of its probability fell on the labels. "
        "Left to itself, it would mostly have written something else.",
    )
    assert (is_low(None), is_low(0.0), is_low(0.5)) == (False, True, False)


def test_a_cell_of_the_page_shows_a_low_one_alone() -> None:
    assert cell(judgement(0.49), DOCUMENT).mass == 0.49  # type: ignore[union-attr]
    assert cell(judgement(0.5), DOCUMENT).mass is None  # type: ignore[union-attr]
