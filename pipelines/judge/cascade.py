"""Labels by a cascade: the cross-encoder where it is sure, a language model for the rest.

The threshold comes from calibration data, by conformal risk control. A. N. Angelopoulos, S. Bates,
A. Fisch, L. Lei, T. Schuster: Conformal Risk Control (2022; ICLR 2024), Theorem 1. The loss of a
pair at threshold t is 1 if its NLI label is kept (u >= t) and wrong, else 0. It falls with t, so
the threshold found on n calibration pairs keeps the expected loss of a new pair at or below alpha,
whatever the tagger and the data are, as long as that pair is exchangeable with the calibration
pairs. It promises nothing for pairs from elsewhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf, isclose, isinf
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, PlainSerializer

from nli.risk import RiskCurve, RiskPoint
from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.judge.judgement import Judgements
from pipelines.judge.protocol import Judge, identity_of, label_pairs


@dataclass(frozen=True)
class CascadeJudge:
    """Two judges; the second judges only pairs that the first is unsure of or cannot read.

    The tagger's label is kept if its probability reaches the threshold; infinity asks the model for
    everything. The model may not read documents together, since it sees only some pairs.
    """

    tagger: Judge
    model: Judge
    threshold: float

    @property
    def identity(self) -> str:
        """Both judges and the threshold."""
        return identity_of(
            "cascade",
            {
                "tagger": self.tagger.identity,
                "model": self.model.identity,
                "threshold": None if isinf(self.threshold) else self.threshold,
            },
        )

    async def __call__(self, claims: Sequence[str], documents: Sequence[Document]) -> Judgements:
        """One judgement per (claim, document), ordered by claim, then document."""
        wanted = [(claim, document) for document in documents for claim in claims]
        quick = {}
        if not isinf(self.threshold):  # no label would be kept
            quick = {
                (judgement.claim, judgement.document): judgement
                for judgement in (await self.tagger(claims, documents)).judgements
                if judgement.confidence is not None and judgement.confidence >= self.threshold
            }
        unsure = [pair for pair in wanted if (pair[0], pair[1].id) not in quick]
        slow, cut = await label_pairs(self.model, unsure)
        by_pair = {
            pair: judgement.model_copy(update={"source": source})
            for source, judged in (("cascade-tagger", quick), ("cascade-model", slow))
            for pair, judgement in judged.items()
        }
        return Judgements(
            tuple(by_pair[claim, document.id] for claim in claims for document in documents),
            tuple(cut[document.id] for document in documents if document.id in cut),
        )


POINTS_KEPT = 100
"""Points of a curve in `run.json`."""


def thinned(curve: RiskCurve, keep: float) -> RiskCurve:
    """About `POINTS_KEPT` evenly spaced points; the ends and the threshold `keep` stay."""
    step = max(1, -(-len(curve.points) // POINTS_KEPT))
    last = len(curve.points) - 1
    points = (
        point
        for number, point in enumerate(curve.points)
        if number % step == 0 or number == last or point.threshold == keep
    )
    return RiskCurve(pairs=curve.pairs, points=tuple(points))


def empirical_risk(curve: RiskCurve, point: RiskPoint) -> float:
    """R_hat(t): share of all calibration pairs that are kept with a wrong label, in [0, 1]."""
    return point.wrong / curve.pairs


def risk_bound(risk: float, n: int) -> float:
    """The bound that must not exceed alpha: n / (n + 1) R_hat + 1 / (n + 1) (Theorem 1, B = 1)."""
    return n / (n + 1) * risk + 1 / (n + 1)


def conformal_threshold(curve: RiskCurve, alpha: float) -> float:
    """The smallest threshold of the curve that keeps the expected loss at most alpha.

    A curve with fewer points than confidences can only make the threshold larger, which keeps the
    bound. If none keeps it, the result is infinity: no label is kept, and `why_nothing` says why.

    Args:
        curve: Counted on pairs that the tagger was not trained or calibrated on.
        alpha: Largest share, in (0, 1), of all pairs that may be kept with a wrong label.

    Raises:
        InputError: alpha is not a share.
    """
    if not 0 < alpha < 1:
        raise InputError(f"a risk of {alpha:g} is not a share; give a number between 0 and 1: 0.05")
    for point in sorted(curve.points, key=lambda point: point.threshold):
        bound = risk_bound(empirical_risk(curve, point), curve.pairs)
        if bound <= alpha or isclose(bound, alpha, rel_tol=1e-12):  # people write 1/20 as 0.05
            return point.threshold
    return inf


def why_nothing(curve: RiskCurve, alpha: float) -> str:
    """Why no threshold keeps a risk, in one line."""
    if not curve.points or risk_bound(0, curve.pairs) > alpha:
        return (
            f"{curve.pairs:,} calibration pairs are too few for a risk of {alpha:g}, which needs "
            f"at least {ceil(1 / alpha - 1e-9) - 1:,}"
        )
    surest = max(curve.points, key=lambda point: point.threshold)
    return (
        f"even of the {surest.kept:,} surest calibration labels {surest.wrong:,} are wrong, too "
        f"many for a risk of {alpha:g}"
    )


Threshold = Annotated[
    float,
    BeforeValidator(lambda value: inf if value is None else value),
    PlainSerializer(lambda value: None if isinf(value) else value),
]
"""In JSON, which has no infinity, an infinite threshold is null."""


class ChosenThreshold(BaseModel, frozen=True):
    """The threshold of a cascade that keeps a risk (alpha), and the curve it was chosen from.

    Infinity asks the language model for everything; the reason says why. The tagger's curve has
    about `POINTS_KEPT` points.
    """

    risk: float
    threshold: Threshold
    reason: str | None
    fitted_on: str
    curve: RiskCurve

    def in_words(self) -> str:
        """The threshold and what it keeps, in one line."""
        if self.reason:
            return f"no label of the tagger is kept: {self.reason}"
        kept = {point.threshold: point.kept for point in self.curve.points}[self.threshold]
        return (
            f"threshold {self.threshold:.3f} for a risk of {self.risk:g}; it keeps the tagger's "
            f"label of {kept / self.curve.pairs:.0%} of the calibration pairs"
        )


def choose_threshold(curve: RiskCurve, alpha: float, fitted_on: str = "") -> ChosenThreshold:
    """The threshold for a risk, with its curve; see `conformal_threshold`."""
    threshold = conformal_threshold(curve, alpha)
    return ChosenThreshold(
        risk=alpha,
        threshold=threshold,
        reason=why_nothing(curve, alpha) if isinf(threshold) else None,
        fitted_on=fitted_on,
        curve=thinned(curve, threshold),
    )
