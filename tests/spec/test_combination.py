"""Tagger and language model combined: by hand, by properties, and how the weights are fitted."""

import random
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nli.labels import LABELS, Label
from nli.pairs import LabelledPair
from pipelines import prompts
from pipelines.errors import InputError
from pipelines.evidence.combination import (
    LEAST,
    UNFITTED,
    Combination,
    Logit,
    Shares,
    polarity,
    relevance,
)
from pipelines.evidence.combining import (
    STRENGTHS,
    Answered,
    combine,
    cross_validated,
    fit_logit,
    fitted,
    loss,
)
from pipelines.evidence.judgement import RELATIONS, Relation
from pipelines.evidence.known_combinations import known_combination, known_combinations
from pipelines.evidence.nli import shipped_tagger
from pipelines.evidence.priors import likeliest
from pipelines.evidence.risk import choose_threshold

S, C, N = RELATIONS


def shares(supports: float, contradicts: float, irrelevant: float) -> Shares:
    return {S: supports, C: contradicts, N: irrelevant}


def normal(weights: list[float]) -> Shares:
    return shares(*(weight / sum(weights) for weight in weights))


SHARES = st.lists(st.floats(0.001, 1), min_size=3, max_size=3).map(normal)
SLOPES = st.floats(0, 4)
LOGITS = st.builds(Logit, intercept=st.floats(-3, 3), tagger=SLOPES, model=SLOPES)
COMBINATIONS = st.builds(Combination, relevance=LOGITS, polarity=LOGITS)


def test_unfitted_by_hand() -> None:
    """0.2 is irrelevant; the other 0.8 are split 1 : 2, as the model has it."""
    found = UNFITTED.shares(shares(0.6, 0.2, 0.2), shares(0.3, 0.6, 0.1))
    assert found == pytest.approx({S: 0.8 / 3, C: 1.6 / 3, N: 0.2})


def test_fitted_by_hand() -> None:
    """Odds of relevance 4 and 9, of support 3 and 1/4; of the model's the square root.

    4 * 3 = 12 : 1 for relevance, 3 * 1/2 = 3 : 2 for support.
    """
    both = Logit(tagger=1, model=0.5)
    made = Combination(relevance=both, polarity=both)
    tagger, model = shares(0.6, 0.2, 0.2), shares(0.18, 0.72, 0.1)
    assert [exp(relevance(each)) for each in (tagger, model)] == pytest.approx([4, 9])
    assert [exp(polarity(each)) for each in (tagger, model)] == pytest.approx([3, 1 / 4])
    expected = {S: 12 / 13 * 0.6, C: 12 / 13 * 0.4, N: 1 / 13}
    assert made.shares(tagger, model) == pytest.approx(expected)


@given(COMBINATIONS, SHARES, SHARES)
def test_probabilities_sum_to_one(made: Combination, tagger: Shares, model: Shares) -> None:
    found = made.shares(tagger, model)
    assert sum(found.values()) == pytest.approx(1)
    assert all(0 <= share <= 1 for share in found.values())


@given(SHARES, st.floats(0.001, 0.999))
def test_where_relevance_is_certain_the_model_alone_decides(model: Shares, support: float) -> None:
    found = UNFITTED.shares(shares(support, 1 - support, 0), model)
    assert found[S] == pytest.approx(model[S] / (model[S] + model[C]), abs=2 * LEAST)
    assert found[N] <= 2 * LEAST


@given(COMBINATIONS, SHARES, SHARES, st.floats(0.01, 0.9))
def test_support_rises_with_the_models_odds(
    made: Combination, tagger: Shares, model: Shares, moved: float
) -> None:
    """What moves from contradiction to support leaves relevance as it is."""
    more = shares(model[S] + moved * model[C], (1 - moved) * model[C], model[N])
    before, after = made.shares(tagger, model), made.shares(tagger, more)
    assert after[S] >= before[S] - 1e-12
    assert after[N] == pytest.approx(before[N])


@given(SHARES, st.floats(0.001, 0.499), SLOPES)
def test_a_model_without_opinion_leaves_the_taggers_side(
    tagger: Shares, each: float, slope: float
) -> None:
    made = Combination(polarity=Logit(tagger=1, model=slope))
    found = made.shares(tagger, shares(each, each, 1 - 2 * each))
    assert found == pytest.approx(tagger)
    tied = UNFITTED.shares(tagger, shares(each, each, 1 - 2 * each))
    assert likeliest(tied, tagger) in {likeliest(tagger, tagger), N}


@given(SHARES, SHARES)
def test_who_is_spared_keeps_its_label_whatever_the_model_says(
    tagger: Shares, model: Shares
) -> None:
    if UNFITTED.spares(tagger):
        assert likeliest(UNFITTED.shares(tagger, model), tagger) is N


# Fitting


def test_a_logit_by_hand() -> None:
    """Three of four are so, whatever the judges say: the odds are 3, almost without a penalty."""
    found = fit_logit(np.zeros((4, 2)), np.array([True, True, True, False]), Logit(tagger=1), 1e-9)
    assert found.intercept == pytest.approx(log(3), abs=1e-4)
    assert (found.tagger, found.model) == (1, 0)


def test_a_strong_penalty_changes_nothing() -> None:
    rows = answers(60)
    made = fitted(rows, 1e9)
    assert made.relevance.model_dump() == pytest.approx(UNFITTED.relevance.model_dump(), abs=1e-4)
    assert made.polarity.model_dump() == pytest.approx(UNFITTED.polarity.model_dump(), abs=1e-4)


def test_a_judge_that_is_always_wrong_is_not_turned_round() -> None:
    """Its slope ends at 0: more of its odds may not speak against what they speak for."""
    truth = np.array([True, False] * 20)
    features = np.column_stack([np.where(truth, 1.0, -1.0), np.where(truth, -1.0, 1.0)])
    found = fit_logit(features, truth, Logit(model=1), 0.1)
    assert found.model == 0
    assert found.tagger > 1


@given(st.sampled_from(STRENGTHS), st.integers(0, 9))
def test_no_other_weights_are_better(strength: float, seed: int) -> None:
    draw = np.random.default_rng(seed)
    features, truth = draw.normal(size=(30, 2)), draw.random(30) < 0.6
    start = Logit(tagger=1)
    best = fit_logit(features, truth, start, strength)

    def objective(one: Logit) -> float:
        chances = [one.probability(*row) for row in features]
        fit = -sum(log(p if so else 1 - p) for p, so in zip(chances, truth, strict=True))
        away = np.array(list(one.model_dump().values())) - list(start.model_dump().values())
        return float(fit + strength / 2 * away @ away)

    for name in Logit.model_fields:
        for step in (-0.01, 0.01):
            moved = best.model_copy(update={name: getattr(best, name) + step})
            if name == "intercept" or getattr(moved, name) >= 0:
                assert objective(moved) >= objective(best) - 1e-6


def answers(pairs: int, *, seed: int = 0) -> list[Answered]:
    """A tagger that knows relevance, a model that knows sides and likes to contradict."""
    draw, found = random.Random(seed), []
    for number in range(pairs):
        label = LABELS[number % 3]
        relevant = label is not Label.IRRELEVANT
        sure = draw.uniform(0.4, 0.95)
        none = 1 - sure if relevant else sure
        side = draw.uniform(0.2, 0.8)
        tagger = shares((1 - none) * side, (1 - none) * (1 - side), none)
        support = {Label.SUPPORT: 0.45, Label.REFUTE: 0.05, Label.IRRELEVANT: 0.2}[label]
        support *= draw.uniform(0.5, 1.5)
        model = shares(0.9 * support, 0.9 * (1 - support), 0.1)
        pair = LabelledPair(
            premise=f"Text {number}.",
            hypothesis="A claim.",
            label=label,
            source="made",
            group=f"question {number // 2}",
        )
        found.append(Answered(pair, tagger, None if UNFITTED.spares(tagger) else model))
    return found


def test_a_fit_is_worth_something_on_pairs_it_has_not_seen() -> None:
    rows = answers(240)
    unseen = sum(loss([row], own) for row, own in zip(rows, cross_validated(rows), strict=True))
    assert unseen < 0.8 * loss(rows, UNFITTED)
    made = fitted(rows, 1.0)
    assert made.polarity.intercept > 0.5, "what the model likes too much is taken back"
    assert made.polarity.model > made.polarity.tagger


def other(row: Answered) -> Answered:
    label = Label.REFUTE if row.pair.label is Label.SUPPORT else Label.SUPPORT
    return Answered(row.pair.model_copy(update={"label": label}), row.tagger, row.model)


def test_no_pair_has_a_say_in_what_it_is_measured_with() -> None:
    """Nor has one of its group."""
    rows = answers(60)
    before = cross_validated(rows)
    for place in (0, 7, 31):
        partner = place ^ 1
        assert rows[place].group == rows[partner].group
        after = cross_validated([other(row) if n == place else row for n, row in enumerate(rows)])
        assert after[place] == before[place]
        assert after[partner] == before[partner]
        assert after != before


def test_the_risk_is_counted_on_pairs_that_were_not_fitted_on() -> None:
    rows = answers(240)
    made, fit, checked = combine(rows)
    assert fit + checked == len(rows)
    assert made.risk is not None
    assert made.risk.pairs == checked
    weights = []
    for place in range(0, 40, 2):
        again, _, _ = combine([other(row) if n == place else row for n, row in enumerate(rows)])
        same = (again.relevance, again.polarity) == (made.relevance, made.polarity)
        weights.append(same)
        assert rows[place].model is None or not same or again.risk != made.risk
    assert {True, False} == set(weights)
    chosen = choose_threshold(made.risk, 0.3)
    assert chosen.reason is None
    assert chosen.point.wrong / checked <= 0.3


def test_too_few_pairs_are_refused() -> None:
    with pytest.raises(InputError, match="at least 30 are needed"):
        combine(answers(30))
    lacking = [row for row in answers(300) if row.pair.label is not Label.REFUTE]
    with pytest.raises(InputError, match="has the label 'refute'"):
        combine(lacking)


def test_relations_are_in_the_order_of_the_taggers_labels() -> None:
    from pipelines.evidence.nli import RELATION_OF

    assert tuple(RELATION_OF[label] for label in LABELS) == RELATIONS
    assert Relation.IRRELEVANT is N


# What comes with the program.


def test_known_combinations_are_of_the_tagger_and_the_prompt_as_they_are() -> None:
    """One of an earlier tagger or wording would never be taken."""
    prompt = prompts.load("evidence/relation", {"document", "claim"}).digest
    assert known_combinations()
    for each in known_combinations():
        judging = each.fitted_for
        assert judging is not None and each.risk is not None
        assert judging.tagger == shipped_tagger().digest, "fit the combination again"
        assert judging.prompt == prompt, "fit the combination again"
        assert each.risk.pairs >= 100
        assert each.relevance.tagger > 0 and each.polarity.model > 0
        assert known_combination(judging) == each
        assert known_combination(judging._replace(model="another")) is None
