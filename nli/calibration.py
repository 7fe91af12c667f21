"""Calibrated probabilities: temperature, isotonic regression, and the curve for a threshold.

Everything that is fitted, rather than trained, to turn window logits into a tag is in one file
beside the weights, `calibration.json`.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from nli.errors import TaggerError
from nli.folder import CALIBRATION, weights_digest, write_whole
from nli.labels import LABELS, Label
from nli.risk import RiskCurve, RiskPoint, Share

Method = Literal["none", "temperature", "isotonic"]
Knots = tuple[tuple[Share, Share], ...]
"""A piecewise linear function from raw to calibrated probability that never falls, by its knots."""

# A temperature outside this range means broken logits, or that every label was right.
_TEMPERATURES = (0.05, 20.0)
_MOST_POINTS = 500


Aggregation = Literal["maximum", "noisy-or"]
Floats = NDArray[np.float64]

_SUPPORT, _REFUTE, _IRRELEVANT = (LABELS.index(label) for label in Label)


def softmax(logits: ArrayLike, temperature: float = 1.0) -> Floats:
    """Probabilities of logits divided by a temperature; the last axis sums to 1."""
    scaled = np.asarray(logits, dtype=np.float64) / temperature
    shares = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    result: Floats = shares / shares.sum(axis=-1, keepdims=True)
    return result


def maximum(window_probabilities: ArrayLike) -> Floats:
    """Strongest support and strongest refute over the windows; irrelevant gets the rest.

    If the two add up to more than 1 (a premise that does both), nothing is left, and they are
    normalised. This is how sentence-level NLI is commonly read at document level (SummaC_ZS, Laban
    et al. 2022, takes the maximum over the source as well).
    """
    rows = np.asarray(window_probabilities, dtype=np.float64)
    if len(rows) == 1:
        return rows.reshape(-1)
    support, refute = rows[:, _SUPPORT].max(), rows[:, _REFUTE].max()
    return _joined(support, refute, max(0.0, 1 - support - refute))


def noisy_or(window_probabilities: ArrayLike) -> Floats:
    """P(some window supports), P(some refutes) and P(all are irrelevant), normalised.

    The first two are 1 - prod(1 - p) over the windows, the third is the product of p.
    It treats windows as independent causes (Pearl, Probabilistic Reasoning in Intelligent Systems,
    1988, 4.3.2), so many weak windows add up.
    """
    rows = np.asarray(window_probabilities, dtype=np.float64)
    if len(rows) == 1:
        return rows.reshape(-1)
    support, refute = (1 - float(np.prod(1 - rows[:, place])) for place in (_SUPPORT, _REFUTE))
    return _joined(support, refute, float(np.prod(rows[:, _IRRELEVANT])))


AGGREGATIONS: dict[Aggregation, Callable[[ArrayLike], Floats]] = {
    "maximum": maximum,
    "noisy-or": noisy_or,
}
"""Each takes the (w, 3) probabilities of w >= 1 windows, in the order of `LABELS`, and gives the
(3,) probabilities of the premise, which sum to 1. A single window is returned unchanged."""


def _joined(support: float, refute: float, irrelevant: float) -> Floats:
    shares = np.empty(len(LABELS))
    shares[[_SUPPORT, _REFUTE, _IRRELEVANT]] = support, refute, irrelevant
    result: Floats = shares / shares.sum()
    return result


class Calibration(BaseModel):
    """How window logits become a tag.

    Attributes:
        method: `none` reads the logits as they are, `temperature` divides them by `temperature`,
            `isotonic` does that and sends the joined probabilities through `isotonic`.
        temperature: Divides logits before the softmax; above 1 makes probabilities less sure.
        isotonic: Per label, the knots from raw to calibrated probability.
        aggregation: How the windows of a premise are joined.
        learned: Always None; files of earlier versions have the key, for a third aggregation.
        window_tokens: Maximum tokens of a premise's window, without hypothesis and special tokens.
        overlap: Sentences that consecutive windows share.
        risk: Curve for a cascade's threshold (conformal risk control); None if there were no pairs
            for it.
        fitted_on: The data, in words.
        weights: `folder.weights_digest` of the weights it was fitted to; empty if not recorded.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: Method = "none"
    temperature: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    isotonic: dict[Label, Knots] | None = None
    aggregation: Aggregation = "maximum"
    learned: None = None
    window_tokens: Annotated[int, Field(ge=16)] = 256
    overlap: Annotated[int, Field(ge=0)] = 1
    risk: RiskCurve | None = None
    fitted_on: str = ""
    weights: str = ""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.method == "isotonic" and set(self.isotonic or ()) != set(LABELS):
            raise ValueError("the method isotonic needs knots for all three labels")
        for knots in (self.isotonic or {}).values():
            if not knots or any(np.diff(axis).min(initial=0) < 0 for axis in zip(*knots)):  # noqa: B905
                raise ValueError("the knots of an isotonic calibration must not fall")
        return self

    @property
    def divisor(self) -> float:
        """The divisor of logits: the temperature, or 1 without calibration."""
        return 1.0 if self.method == "none" else self.temperature


def negative_log_likelihood(probabilities: ArrayLike, labels: Sequence[Label]) -> float:
    """Mean of -log p(gold label), in nats: (n, 3) probabilities against (n,) labels."""
    rows = np.asarray(probabilities, dtype=np.float64)
    gold = [LABELS.index(label) for label in labels]
    return float(-np.log(np.maximum(rows[np.arange(len(rows)), gold], 1e-12)).mean())


def fit_temperature(logits: ArrayLike, labels: Sequence[Label]) -> float:
    """The temperature in [0.05, 20] that minimises the negative log-likelihood of held-out labels.

    Guo, Pleiss, Sun, Weinberger: On Calibration of Modern Neural Networks (2017), section 4.2. One
    number for all classes, so the order of a pair's probabilities, and with it the label, stays.
    Logits, (n, 3), and labels, (n,), n >= 1, must come from pairs that were not trained on.
    """
    from scipy.optimize import minimize_scalar

    low, high = np.log(_TEMPERATURES)
    result = minimize_scalar(
        lambda log: negative_log_likelihood(softmax(logits, float(np.exp(log))), labels),
        bounds=(low, high),
        method="bounded",
        options={"xatol": 1e-6},
    )
    return float(np.exp(result.x))


def fit_isotonic(probabilities: ArrayLike, labels: Sequence[Label]) -> dict[Label, Knots]:
    """A rising line per label from raw to calibrated probability, one label against the rest.

    Zadrozny and Elkan: Transforming Classifier Scores into Accurate Multiclass Probability
    Estimates (2002). Equal probabilities get their mean. No calibrated probability is nearer to 0
    or 1 than 1 / (n + 2): n pairs cannot show more. Probabilities, (n, 3), and labels, (n,), with n
    at least 1, must come from pairs not trained on; not every label need occur.
    """
    from sklearn.isotonic import IsotonicRegression

    rows = np.asarray(probabilities, dtype=np.float64)
    least = 1 / (len(rows) + 2)
    lines = {}
    for column, label in enumerate(LABELS):
        line = IsotonicRegression(y_min=least, y_max=1 - least, out_of_bounds="clip")
        line.fit(rows[:, column], [float(gold == label) for gold in labels])
        knots = zip(line.X_thresholds_, line.y_thresholds_, strict=True)
        lines[label] = tuple((round(float(x), 6), round(float(y), 6)) for x, y in knots)
    return lines


def apply(calibration: Calibration, probabilities: ArrayLike) -> Floats:
    """The isotonic step for premises' joined probabilities: (n, 3) -> (n, 3).

    Each label's probability is mapped by its line, then each row is made to sum to 1 again.
    """
    rows = np.asarray(probabilities, dtype=np.float64)
    lines = calibration.isotonic
    if calibration.method != "isotonic" or lines is None:
        return rows
    columns = [
        np.interp(rows[:, column], *np.array(lines[label]).T) for column, label in enumerate(LABELS)
    ]
    moved = np.column_stack(columns)
    total = moved.sum(axis=1, keepdims=True)
    # Lines written by hand may send all three to zero; such a row stays as it was.
    result: Floats = np.where(total > 0, moved / np.where(total > 0, total, 1), rows)
    return result


def risk_curve(confidences: Sequence[float], correct: Sequence[bool]) -> RiskCurve:
    """Count kept and wrong labels at the confidences that occur, at most 500 of them.

    The lowest and the highest confidence, in [0, 1], are always among the points; points left out
    between can only raise a threshold chosen from the curve. Nothing may have been fitted on these
    pairs; `correct` says whether each pair's label is the gold one.
    """
    ranked = sorted(zip(confidences, correct, strict=True), reverse=True)
    points: list[RiskPoint] = []
    wrong = 0
    for kept, (confidence, right) in enumerate(ranked, start=1):
        wrong += not right
        if kept == len(ranked) or ranked[kept][0] < confidence:
            points.append(RiskPoint(threshold=float(confidence), kept=kept, wrong=wrong))
    points.reverse()
    if len(points) > _MOST_POINTS:
        places = np.linspace(0, len(points) - 1, _MOST_POINTS).round().astype(int)
        points = [points[place] for place in places]
    return RiskCurve(pairs=len(ranked), points=tuple(points))


def read(folder: Path) -> Calibration | None:
    """The calibration of a tagger's folder; None without a file: probabilities then stay raw.

    Raises:
        TaggerError: The file is damaged, or was fitted to other weights than those in the folder.
    """
    file = folder / CALIBRATION
    try:
        calibration = Calibration.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise TaggerError(
            f"{file} is damaged ({place + ': ' if place else ''}{first['msg']}); calibrate again:"
            " contested lab calibrate"
        ) from error
    except OSError as error:
        raise TaggerError(f"{file} cannot be read ({error.strerror}); fix that first") from error
    if calibration.weights and calibration.weights != weights_digest(folder):
        raise TaggerError(
            f"{file} was fitted to other weights than those beside it; calibrate again:"
            " contested lab calibrate"
        )
    return calibration


def write(folder: Path, calibration: Calibration) -> None:
    """Store a calibration beside the weights, in one step, with the digest of these weights."""
    file = folder / CALIBRATION
    stored = calibration.model_copy(update={"weights": weights_digest(folder)})
    try:
        write_whole(file, f"{stored.model_dump_json(indent=1)}\n".encode())
    except OSError as error:
        raise TaggerError(
            f"{file} cannot be written ({error.strerror}); make the folder writable"
        ) from error
