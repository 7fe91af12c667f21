"""Fits how tagger and language model are combined, on pairs with known labels.

Two logistic regressions (`evidence.combination`), each penalised by the squared distance of its
weights from the unfitted ones: few pairs change little. The pairs are cut in two by group. On the
first part everything is fitted, the strength of the penalty chosen by cross-validation within it;
the second gives the points from which labels keep a risk. What the fit is worth is told by
cross-validation over all pairs, in which each fold's strength is chosen without it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from nli.calibration import risk_curve
from nli.labels import Label
from nli.pairs import LabelledPair
from nli.risk import RiskCurve
from pipelines.data.released import half
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
from pipelines.evidence.nli import RELATION_OF
from pipelines.evidence.priors import likeliest

Floats = NDArray[np.float64]

STRENGTHS = (0.1, 1.0, 10.0, 100.0)
"""Penalties that are tried."""

FOLDS = 5

FEWEST = 30
"""Pairs of one part below which a fit says nothing."""


@dataclass(frozen=True)
class Answered:
    """A labelled pair with what tagger and model say; the model None where it was not asked."""

    pair: LabelledPair
    tagger: Shares
    model: Shares | None

    @property
    def group(self) -> str:
        """What must not be torn apart."""
        return self.pair.group or self.pair.premise

    def shares(self, combination: Combination) -> Shares:
        """What a combination makes of it."""
        if self.model is None:
            return self.tagger
        return combination.shares(self.tagger, self.model)

    def right(self, combination: Combination) -> bool:
        """Whether that makes the true label the likeliest."""
        found = likeliest(self.shares(combination), self.tagger)
        return found is RELATION_OF[self.pair.label]


def fit_logit(features: Floats, truth: NDArray[np.bool_], start: Logit, strength: float) -> Logit:
    """The logit that minimises -log likelihood + strength / 2 |weights - start's|^2.

    Slopes are kept at 0 or above; see `evidence.combination.Slope`. The loss is convex, so there is
    one minimum.

    Args:
        features: (n, 2), log-odds of tagger and model.
        truth: (n,), whether what they speak for is so.
        start: The weights that no pair changes.
        strength: Of the penalty, above 0.
    """
    from scipy.optimize import minimize

    anchor = np.array([start.intercept, start.tagger, start.model])
    design = np.column_stack([np.ones(len(features)), features]) * np.where(truth, 1, -1)[:, None]

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores, moved = design @ weights, weights - anchor
        value = np.logaddexp(0, -scores).sum() + strength / 2 * moved @ moved
        slope = -np.exp(-np.logaddexp(0, scores)) @ design + strength * moved
        return float(value), slope

    bounds = [(None, None), (0, None), (0, None)]
    found = minimize(loss, anchor, jac=True, method="L-BFGS-B", bounds=bounds).x
    intercept, tagger, model = (round(float(weight), 6) for weight in found)
    return Logit(intercept=intercept, tagger=tagger, model=model)


def fitted(rows: Sequence[Answered], strength: float) -> Combination:
    """Weights fitted on some pairs: relevance on those asked, the side on the relevant of them."""

    def logit(of: Sequence[Answered], start: Logit, *, sides: bool) -> Logit:
        speak, true = (polarity, {Label.SUPPORT}) if sides else (relevance, set(Label) - {_NONE})
        known = [(speak(row.tagger), speak(row.model)) for row in of if row.model is not None]
        features = np.array(known, dtype=np.float64).reshape(-1, 2)
        truth = np.array([row.pair.label in true for row in of], dtype=np.bool_)
        return fit_logit(features, truth, start, strength)

    asked = [row for row in rows if row.model is not None]
    sided = [row for row in asked if row.pair.label is not _NONE]
    return Combination(
        relevance=logit(asked, UNFITTED.relevance, sides=False),
        polarity=logit(sided, UNFITTED.polarity, sides=True),
        strength=strength,
    )


def loss(rows: Sequence[Answered], combination: Combination) -> float:
    """Sum of -log p(true label), in nats."""
    return -sum(
        log(max(row.shares(combination)[RELATION_OF[row.pair.label]], LEAST)) for row in rows
    )


def folds(rows: Sequence[Answered]) -> Iterator[tuple[list[int], list[int]]]:
    """Places to fit on and to look at, `FOLDS` times, or as often as there are groups."""
    from sklearn.model_selection import GroupKFold

    groups = [row.group for row in rows]
    parts = GroupKFold(min(FOLDS, len(set(groups)))).split(groups, groups=groups)
    yield from ((seen.tolist(), unseen.tolist()) for seen, unseen in parts)


def chosen_strength(rows: Sequence[Answered]) -> float:
    """The strength under which unseen folds are likeliest; the stronger of equals."""
    if len({row.group for row in rows}) < 2:
        return STRENGTHS[-1]
    split = [([rows[n] for n in one], [rows[n] for n in other]) for one, other in folds(rows)]
    losses = {
        strength: sum(loss(unseen, fitted(seen, strength)) for seen, unseen in split)
        for strength in reversed(STRENGTHS)
    }
    return min(losses, key=losses.__getitem__)


def cross_validated(rows: Sequence[Answered]) -> list[Combination]:
    """For each pair a combination that was fitted, strength and all, without its fold."""
    found: dict[int, Combination] = {}
    for seen, unseen in folds(rows):
        own = [rows[n] for n in seen]
        found |= dict.fromkeys(unseen, fitted(own, chosen_strength(own)))
    return [found[n] for n in range(len(rows))]


def combine(rows: Sequence[Answered]) -> tuple[Combination, int, int]:
    """Fit on one part of the pairs, count on the other what labels keep which risk.

    Returns:
        The combination with its risk curve, and the sizes of the two parts.

    Raises:
        InputError: A part is too small, or lacks a side.
    """
    # Salted as in `supervision.calibrating`: a training half has all of its questions on one side.
    parts = {
        wanted: [row for row in rows if half("check:" + row.group) == wanted]
        for wanted in ("train", "test")
    }
    fit, check = parts["train"], parts["test"]
    _refuse_small([row for row in fit if row.model is not None], "asked of the model to fit on")
    _refuse_small(check, "to count on")
    made = fitted(fit, chosen_strength(fit))
    return made.model_copy(update={"risk": curve(check, made)}), len(fit), len(check)


def curve(rows: Sequence[Answered], combination: Combination) -> RiskCurve:
    """Kept and wrong labels by their probability."""
    sure = [max(row.shares(combination).values()) for row in rows]
    return risk_curve(sure, [row.right(combination) for row in rows])


_NONE = Label.IRRELEVANT


def _refuse_small(rows: Sequence[Answered], purpose: str) -> None:
    if len(rows) < FEWEST:
        raise InputError(
            f"{len(rows)} pairs are left {purpose} (they are cut in two by group, else by premise)"
            f", and at least {FEWEST} are needed; give pairs of more of them"
        )
    for side in (Label.SUPPORT, Label.REFUTE):
        if all(row.pair.label is not side for row in rows):
            raise InputError(
                f"no pair {purpose} has the label '{side}' (they are cut in two by group, else by "
                "premise); give pairs of both sides"
            )
