"""Corrections of label probabilities: worked by hand, and what must hold of all of them."""

import random
from collections.abc import Mapping
from math import exp, log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pipelines import prompts
from pipelines.errors import InputError
from pipelines.evidence.corrected import corrected_judgement
from pipelines.evidence.fitted_priors import best, fits, fitted_bias, fitted_matrix, held_out
from pipelines.evidence.judgement import RELATIONS, Judgement, Relation
from pipelines.evidence.known_priors import known_prior, known_priors
from pipelines.evidence.priors import (
    Correction,
    HeldOut,
    Method,
    batch_prior,
    contextual_prior,
    corrected,
    likeliest,
    unchanged,
)
from pipelines.metrics.estimate import Estimate

LABELS = ("yes", "no", "perhaps")

SHARES = st.lists(st.floats(0.001, 1), min_size=3, max_size=3).map(
    lambda found: {label: each / sum(found) for label, each in zip(LABELS, found, strict=True)}
)
BIAS = st.lists(st.floats(-5, 5), min_size=3, max_size=3)
NUMBERS = st.lists(BIAS, min_size=4, max_size=4)


def of(*shares: float) -> dict[str, float]:
    return dict(zip(LABELS, shares, strict=True))


def shifted(shares: Mapping[str, float], by: Any) -> dict[str, float]:
    """Logits with a constant for each label added."""
    raised = {label: share * exp(by[place]) for place, (label, share) in enumerate(shares.items())}
    total = sum(raised.values())
    return {label: each / total for label, each in raised.items()}


def test_a_correction_by_hand() -> None:
    """exp(W log p + b), W = ((2, 0), (0, 1)), b = (0, log 3): 0.25^2 and 3 * 0.75."""
    correction = Correction(
        labels=("a", "b"), method="matrix", weights=((2, 0), (0, 1)), bias=(0, log(3))
    )
    made = corrected({"b": 0.75, "a": 0.25}, correction)
    assert list(made) == ["b", "a"]
    assert made == pytest.approx({"a": 0.0625 / 2.3125, "b": 2.25 / 2.3125})


def test_batch_calibration_by_hand() -> None:
    """Means of logarithms: a log 0.4, b log 0.1, c log 0.2 (geometric means of 0.8 and 0.2, ...).

    Divided by them, (0.8, 0.1, 0.1) becomes (2, 1, 0.5) / 3.5.
    """
    rows = [of(0.8, 0.1, 0.1), of(0.2, 0.1, 0.4)]
    made = batch_prior(rows)
    assert made.method == "batch"
    assert made.bias[0] - made.bias[1] == pytest.approx(log(0.1 / 0.4))
    assert sum(made.bias) == pytest.approx(0)
    assert corrected(rows[0], made) == pytest.approx(of(2 / 3.5, 1 / 3.5, 0.5 / 3.5))


def test_batch_calibration_as_its_paper_has_it_by_hand() -> None:
    """Mean probabilities 0.5, 0.1, 0.25: (0.8, 0.1, 0.1) becomes (1.6, 1, 0.4) / 3."""
    rows = [of(0.8, 0.1, 0.1), of(0.2, 0.1, 0.4)]
    made = batch_prior(rows, mean="probability")
    assert corrected(rows[0], made) == pytest.approx(of(1.6 / 3, 1 / 3, 0.4 / 3))


def test_contextual_calibration_by_hand() -> None:
    """What is said of nothing, 0.6, 0.3, 0.1, is made even; 0.3, 0.3, 0.4 is 1/2, 1, 4 of 5.5."""
    made = contextual_prior([of(0.7, 0.2, 0.1), of(0.5, 0.4, 0.1)])
    assert corrected(of(0.6, 0.3, 0.1), made) == pytest.approx(of(1 / 3, 1 / 3, 1 / 3))
    assert corrected(of(0.3, 0.3, 0.4), made) == pytest.approx(of(0.5 / 5.5, 1 / 5.5, 4 / 5.5))


@given(SHARES, NUMBERS)
def test_corrected_probabilities_are_probabilities(
    shares: dict[str, float], numbers: list[list[float]]
) -> None:
    *weights, bias = (tuple(each) for each in numbers)
    correction = Correction(labels=LABELS, method="matrix", weights=tuple(weights), bias=bias)
    made = corrected(shares, correction)
    assert sum(made.values()) == pytest.approx(1)
    assert all(0 <= each <= 1 for each in made.values())


@given(SHARES, st.floats(-5, 5))
def test_an_even_correction_changes_nothing(shares: dict[str, float], even: float) -> None:
    assert corrected(shares, unchanged(LABELS)) == pytest.approx(shares)
    assert corrected(shares, Correction.of_bias(LABELS, "bias", [even] * 3)) == pytest.approx(
        shares
    )


@given(st.lists(SHARES, min_size=1, max_size=6))
def test_a_judge_that_favours_nothing_is_left_alone(rows: list[dict[str, float]]) -> None:
    """Each pair's probabilities in every rotation: no label is favoured."""
    turned = [
        dict(zip(LABELS, (*values[place:], *values[:place]), strict=True))
        for row in rows
        for place in range(3)
        for values in [list(row.values())]
    ]
    for made in (
        batch_prior(turned),
        batch_prior(turned, mean="probability"),
        contextual_prior(turned),
    ):
        assert made.bias == pytest.approx((0, 0, 0), abs=1e-9)


@given(st.lists(SHARES, min_size=2, max_size=8), BIAS)
def test_a_constant_leaning_is_taken_out(
    rows: list[dict[str, float]], leaning: list[float]
) -> None:
    """Logits shifted alike for all pairs: the batch's correction gives what it gives without."""
    plain = batch_prior(rows)
    leaning_rows = [shifted(row, leaning) for row in rows]
    made = batch_prior(leaning_rows)
    for row, other in zip(rows, leaning_rows, strict=True):
        assert corrected(other, made) == pytest.approx(corrected(row, plain), rel=1e-4, abs=1e-6)


def test_a_label_of_no_probability_counts_as_one_in_a_thousand_million() -> None:
    rows = [of(1, 0, 0), of(0.5, 0.25, 0.25)]
    bias = batch_prior(rows).bias
    assert bias[0] - bias[1] == pytest.approx((log(1e-9) + log(0.25) - log(0.5)) / 2)
    assert corrected(rows[0], unchanged(LABELS)) == pytest.approx(of(1, 0, 0), abs=1e-8)


def test_a_correction_is_of_its_labels() -> None:
    with pytest.raises(ValueError, match="probabilities of yes, no, perhaps, and a correction of"):
        corrected(of(0.2, 0.3, 0.5), unchanged(("yes", "no")))
    with pytest.raises(ValidationError, match="want a bias of 2"):
        Correction(labels=("a", "b"), method="bias", weights=((1, 0),), bias=(0, 0))
    with pytest.raises(ValidationError, match="stands twice"):
        Correction.of_bias(("a", "a"), "bias", (0, 0))


def leaning_judge(count: int, seed: int = 0) -> tuple[list[dict[str, float]], list[str], list[str]]:
    """A judge that knows much and favours "no" by two nats: probabilities, truth, groups of two."""
    draw = random.Random(seed)
    rows, gold = [], []
    for _ in range(count):
        true = draw.choice(LABELS)
        known = {label: exp(draw.gauss(1.5 * (label == true), 1)) for label in LABELS}
        total = sum(known.values())
        rows.append(shifted({label: each / total for label, each in known.items()}, (0, 2, 0)))
        gold.append(true)
    return rows, gold, [str(place // 2) for place in range(count)]


def test_a_fitted_bias_undoes_a_known_leaning() -> None:
    rows, gold, _ = leaning_judge(2000)
    bias = fitted_bias(rows, gold).bias
    assert bias[0] - bias[1] == pytest.approx(2, abs=0.2)
    assert bias[0] - bias[2] == pytest.approx(0, abs=0.2)
    assert fitted_bias(rows, gold).weights == unchanged(LABELS).weights


def test_a_fitted_matrix_makes_its_own_pairs_at_least_as_likely() -> None:
    rows, gold, _ = leaning_judge(300)

    def likelihood(correction: Correction) -> float:
        return sum(
            log(corrected(row, correction)[one]) for row, one in zip(rows, gold, strict=True)
        )

    bias, matrix = fitted_bias(rows, gold), fitted_matrix(rows, gold)
    assert likelihood(unchanged(LABELS)) < likelihood(bias) <= likelihood(matrix) + 1e-6
    assert matrix.method == "matrix"


def test_a_label_that_no_pair_has_stays_possible() -> None:
    rows = [of(0.4, 0.3, 0.3)] * 20
    for made in (fitted_bias(rows, ["yes", "no"] * 10), fitted_matrix(rows, ["yes", "no"] * 10)):
        assert 0 < corrected(rows[0], made)["perhaps"] < 0.1


def test_held_out_figures_tell_a_leaning_and_choose_what_undoes_it() -> None:
    rows, gold, groups = leaning_judge(400)
    found = {each.method: each for each in held_out(rows, gold, groups, fits([of(0.1, 0.8, 0.1)]))}
    assert list(found) == ["none", "batch", "batch-mean", "contextual", "bias", "matrix"]
    plain = sum(likeliest(row) == one for row, one in zip(rows, gold, strict=True)) / 400
    assert found["none"].accuracy.value == pytest.approx(plain)
    assert found["none"].log_likelihood.value == pytest.approx(
        sum(log(row[one]) for row, one in zip(rows, gold, strict=True)) / 400
    )
    for method in ("batch", "bias", "matrix"):
        assert found[method].accuracy.value > plain + 0.1
    assert best(list(found.values()), 400) not in ("none", "contextual", "batch-mean")


def test_the_simplest_within_one_standard_error_worked_by_hand() -> None:
    """The likeliest has -0.91 in [-0.99, -0.83]: a standard error of 0.16 / 3.92 = 0.041.

    That is with many groups; of five the interval is 2 x 2.776 wide, and the error 0.029.
    """

    def way(method: Method, value: float) -> HeldOut:
        near = Estimate(value, value - 0.08, value + 0.08, 100)
        return HeldOut(method=method, log_likelihood=near, accuracy=Estimate(0.5, 0.4, 0.6, 100))

    matrix = way("matrix", -0.91)
    near = [way("none", -1.5), way("batch", -0.95), way("bias", -0.935), matrix]
    assert best(near, 10_000) == "batch"
    assert best(near, 5) == "bias"
    far = [way("none", -1.5), way("batch", -0.952), way("bias", -0.94), matrix]
    assert best(far, 10_000) == "bias"
    assert best(far, 5) == "matrix"
    assert best([way("none", -0.94), way("batch", -0.93), matrix], 10_000) == "none"


def test_no_group_is_on_both_sides() -> None:
    """Each pair is corrected by what was learned from pairs of other groups only."""
    rows, gold, groups = leaning_judge(40)
    seen: list[set[str]] = []
    place_of = {id(row): place for place, row in enumerate(rows)}

    def spy(inside: Any, _: Any) -> Correction:
        seen.append({groups[place_of[id(row)]] for row in inside})
        return unchanged(LABELS)

    held_out(rows, gold, groups, {"none": spy})
    assert len(seen) == 5
    # A group that is left out once is left out whole, and every one is.
    assert sorted(group for part in seen for group in set(groups) - part) == sorted(set(groups))


def test_one_group_can_hold_nothing_out() -> None:
    with pytest.raises(InputError, match="all pairs are of one group"):
        held_out([of(0.2, 0.3, 0.5)] * 3, ["yes"] * 3, ["g"] * 3, fits())


def test_a_judgement_keeps_its_raw_probabilities() -> None:
    raw = dict(zip(RELATIONS, (0.3, 0.6, 0.1), strict=True))
    judgement = Judgement(
        claim="c",
        document="d",
        relation=Relation.CONTRADICTS,
        probabilities=raw,
        source="llm-choice",
    )
    made = corrected_judgement(judgement, Correction.of_bias(RELATIONS, "bias", [log(4), 0, 0]))
    assert made.relation is Relation.SUPPORTS
    assert made.raw_probabilities == raw
    assert made.probabilities == pytest.approx(
        dict(zip(RELATIONS, (1.2 / 1.9, 0.6 / 1.9, 0.1 / 1.9), strict=True))
    )
    assert made.confidence == pytest.approx(1.2 / 1.9)
    unread = Judgement(claim="c", document="d", relation=Relation.INVALID, source="llm-json")
    assert corrected_judgement(unread, unchanged(RELATIONS)) == unread


def test_judgements_of_older_runs_are_read() -> None:
    line = '{"claim":"c","document":"d","relation":"SUPPORTS","source":"nli"}'
    assert Judgement.model_validate_json(line).raw_probabilities is None


# What comes with the program.


def test_known_corrections_are_of_the_prompt_as_it_is() -> None:
    """One of an earlier wording would never be taken."""
    prompt = prompts.load("evidence/relation", {"document", "claim"}).digest
    for each in known_priors():
        assert each.prompt == prompt, f"fit the correction of {each.name} again"
        assert each.correction.labels == RELATIONS
        assert each.correction.pairs >= 100
        figures = {found.method: found.log_likelihood.value for found in each.held_out}
        assert figures[each.correction.method] > figures["none"]
        assert known_prior(each.model, each.prompt) == each.correction
        assert known_prior("another", each.prompt) is None
