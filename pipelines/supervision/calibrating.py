"""Calibration of a tagger on held-out pairs (ConRAG, section "Training and calibration").

The pairs are cut in two by their group (a question or a claim), or by premise where they have none.
Everything is fitted on the first part; the second shows how good the fit is, and gives the points
from which a cascade takes its threshold. Pairs of one group are never on both sides.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nli import calibration as calibrations
from nli.calibration import (
    AGGREGATIONS,
    Aggregation,
    Calibration,
    Method,
    fit_isotonic,
    fit_temperature,
    negative_log_likelihood,
    risk_curve,
    softmax,
)
from nli.errors import TaggerError
from nli.folder import CALIBRATION
from nli.labels import LABELS, Label
from nli.model import Encoder
from nli.pairs import LabelledPair
from nli.tagger import Reading, Tagger
from pipelines.data.released import half
from pipelines.errors import InputError

Floats = NDArray[np.float64]

METHODS: tuple[Method, ...] = ("none", "temperature", "isotonic")

FEWEST = 30
"""Fewest pairs of a part for a meaningful calibration."""


@dataclass(frozen=True)
class Readings:
    """Labelled pairs, and what the model says of each, window by window; n of both."""

    pairs: tuple[LabelledPair, ...]
    readings: tuple[Reading, ...]

    @property
    def labels(self) -> list[Label]:
        """The true labels, (n,)."""
        return [pair.label for pair in self.pairs]

    def part(self, salt: str, wanted: Literal["train", "test"]) -> "Readings":
        """About half of the pairs, chosen by a hash of salt and group, or premise."""
        places = [
            place
            for place, pair in enumerate(self.pairs)
            if half(salt + (pair.group or pair.premise)) == wanted
        ]
        return Readings(
            tuple(self.pairs[place] for place in places),
            tuple(self.readings[place] for place in places),
        )


@dataclass(frozen=True)
class Choice:
    """The calibration chosen, with its risk curve, and how many pairs it was fitted on.

    Nothing was fitted on the n pairs of `check`, whose probabilities are (n, 3) under each method.
    """

    calibration: Calibration
    fitted: int
    check: tuple[LabelledPair, ...]
    probabilities: dict[Method, Floats]


def calibrate_folder(
    folder: Path,
    rows: Sequence[LabelledPair],
    *,
    methods: Sequence[Method],
    data: str,
    on_progress: Callable[[float], None],
) -> Choice:
    """Calibrate the tagger in a folder on pairs, and write the calibration into the folder.

    `on_progress` gets the share of all windows read since the last call.

    Raises:
        InputError: As `calibrate`.
        TaggerError: The folder has no tagger, or cannot be written.
    """
    base = Calibration()
    if (folder / CALIBRATION).exists():
        with suppress(TaggerError):  # damaged, or of other weights: it is about to be replaced
            base = calibrations.read(folder) or base
    tagger = Tagger(Encoder.load(folder), base)
    readings = tagger.read([row.pair for row in rows], on_progress)
    read = Readings(tuple(rows), tuple(readings))
    made = calibrate(read, base, methods=methods, data=data)
    calibrations.write(folder, made.calibration)
    return made


def calibrate(
    read: Readings,
    base: Calibration,
    *,
    methods: Sequence[Method] = METHODS[1:],
    data: str = "",
) -> Choice:
    """Fit temperature and isotonic regression, choose, and count what the choice keeps.

    The choice is made within the part that is fitted on, by the likelihood of each of its halves
    under a fit on the other, so the check part has no influence on it.

    The tagger must not have been trained on these pairs. `base` says how premises are cut into
    windows. If no premise to fit on has several, the aggregation of `base` is kept.

    Raises:
        InputError: A part is too small, lacks a label, or cannot be halved for the choice.
    """
    # Without a salt, questions of a release's training half would all be on one side.
    fit, check = read.part("check:", "train"), read.part("check:", "test")
    _refuse_small(fit, "to fit on")
    _refuse_small(check, "to check with")
    windowed = any(len(reading.spans) > 1 for reading in fit.readings)
    joinings = tuple(AGGREGATIONS) if windowed else (base.aggregation,)
    method, aggregation = _likeliest(fit, base, methods, joinings)
    candidates = {name: fitted(fit, base, name, aggregation) for name in METHODS}
    results = {name: probabilities(check, candidate) for name, candidate in candidates.items()}
    kept = results[method]
    correct = [
        LABELS[place] == label
        for place, label in zip(kept.argmax(axis=1), check.labels, strict=True)
    ]
    chosen = candidates[method].model_copy(
        update={
            "risk": risk_curve(kept.max(axis=1).tolist(), correct),
            "fitted_on": f"{data}: {len(fit.pairs):,} pairs; risk counted on {len(check.pairs):,} "
            "others",
        }
    )
    return Choice(chosen, len(fit.pairs), check.pairs, results)


def fitted(
    read: Readings, base: Calibration, method: Method, aggregation: Aggregation
) -> Calibration:
    """A calibration of one method and one aggregation, fitted on all of some pairs.

    A premise of several windows has several logits. To fit the temperature, the logarithms of its
    probabilities, joined by their maximum, are used instead.
    """
    windows = {"window_tokens": base.window_tokens, "overlap": base.overlap}
    made = Calibration(aggregation=aggregation, **windows)
    if method != "none":
        plain = Calibration(aggregation="maximum", **windows)
        logits = np.log(np.maximum(probabilities(read, plain), 1e-12))
        temperature = fit_temperature(logits, read.labels)
        made = made.model_copy(update={"method": "temperature", "temperature": temperature})
    if method == "isotonic":
        lines = fit_isotonic(probabilities(read, made), read.labels)
        made = made.model_copy(update={"method": "isotonic", "isotonic": lines})
    return made


def probabilities(read: Readings, calibration: Calibration) -> Floats:
    """Probabilities of readings under a calibration, (n, 3), in the order of `LABELS`."""
    join = AGGREGATIONS[calibration.aggregation]
    joined = [join(softmax(reading.logits, calibration.divisor)) for reading in read.readings]
    return calibrations.apply(calibration, np.array(joined))


def _likeliest(
    fit: Readings, base: Calibration, methods: Sequence[Method], aggregations: Sequence[Aggregation]
) -> tuple[Method, Aggregation]:
    """The method and aggregation under which unseen halves of the part are likeliest."""
    choices = list(product(methods, aggregations))
    if len(choices) == 1:
        return choices[0]
    one, other = fit.part("choice:", "train"), fit.part("choice:", "test")
    if not one.pairs or not other.pairs:
        raise InputError(
            "the pairs to fit on have too few groups or premises to choose a method; add some"
        )
    losses: dict[tuple[Method, Aggregation], float] = {}
    for method, aggregation in choices:
        losses[method, aggregation] = sum(
            negative_log_likelihood(
                probabilities(unseen, fitted(seen, base, method, aggregation)), unseen.labels
            )
            for seen, unseen in ((one, other), (other, one))
        )
    return min(losses, key=losses.__getitem__)


def _refuse_small(part: Readings, purpose: str) -> None:
    if len(part.pairs) < FEWEST:
        raise InputError(
            f"{len(part.pairs)} pairs are left {purpose} (they are cut in two by group or premise),"
            f" and at least {FEWEST} are needed; give pairs of more groups or premises"
        )
    for label in LABELS:
        if label not in part.labels:
            raise InputError(
                f"no pair {purpose} has the label '{label}' (they are cut in two by group or "
                "premise); give more pairs of all three labels"
            )
