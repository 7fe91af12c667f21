"""A tagger's figures on labelled pairs, as tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from nli.labels import LABELS, Label
from nli.pairs import LabelledPair
from pipelines.metrics.calibration import brier, ece
from pipelines.metrics.estimate import Estimate, mean
from pipelines.metrics.rates import accuracy, macro_f1
from pipelines.report.table import Column, Measure, Table

BINS = 15
"""Bins of the ECE, as in Guo et al. 2017."""

ALL = "all"
"""Name of the row over all sources."""


@dataclass(frozen=True)
class Predictions:
    """Labelled pairs with a tagger's probabilities.

    Attributes:
        pairs: With their true labels.
        probabilities: (n, 3) in the order of `LABELS`; each row sums to 1.
    """

    pairs: Sequence[LabelledPair]
    probabilities: Sequence[Sequence[float]]

    @property
    def gold(self) -> list[Label]:
        """The true labels."""
        return [pair.label for pair in self.pairs]

    @property
    def given(self) -> list[Label]:
        """The most probable labels; in a tie, the first in the order of `LABELS`."""
        return [LABELS[max(range(3), key=row.__getitem__)] for row in self.probabilities]

    @property
    def confidences(self) -> list[float]:
        """The probability of each given label."""
        return [max(row) for row in self.probabilities]

    @property
    def correct(self) -> list[bool]:
        """Whether each given label is the true one."""
        return [one == other for one, other in zip(self.gold, self.given, strict=True)]

    @property
    def accuracy(self) -> Estimate | None:
        """Share of right labels."""
        return accuracy(self.gold, self.given)

    @property
    def log_likelihood(self) -> Estimate | None:
        """Mean log-probability of the true label, in nats, clustered by premise."""
        rows = zip(self.probabilities, self.gold, strict=True)
        values = [log(max(row[LABELS.index(label)], 1e-12)) for row, label in rows]
        return mean(values, [pair.premise for pair in self.pairs])

    @property
    def ece(self) -> float | None:
        """Expected calibration error."""
        return ece(self.confidences, self.correct, bins=BINS)

    @property
    def brier(self) -> Estimate | None:
        """Brier score over the three labels, clustered by premise."""
        gold = [LABELS.index(label) for label in self.gold]
        return brier(self.probabilities, gold, [pair.premise for pair in self.pairs])

    def by_source(self) -> dict[str, "Predictions"]:
        """Source -> its pairs, in order of name."""
        rows = list(zip(self.pairs, self.probabilities, strict=True))
        return {
            source: Predictions(
                [pair for pair in self.pairs if pair.source == source],
                [row for pair, row in rows if pair.source == source],
            )
            for source in sorted({pair.source for pair in self.pairs})
        }


Named = tuple[str, Predictions]

PAIRS = Column[Named]("pairs", "Pairs", lambda row: len(row[1].pairs))
ACCURACY = Measure[Named]("accuracy", "Accuracy", lambda row: row[1].accuracy)
MACRO_F1 = Measure[Named](
    "macro_f1", "Macro-F1", lambda row: macro_f1(row[1].gold, row[1].given, LABELS)
)
ECE = Column[Named]("ece", "ECE", lambda row: row[1].ece)
BRIER = Measure[Named]("brier", "Brier", lambda row: row[1].brier)


def _name(key: str, title: str) -> Column[Named]:
    return Column(key, title, lambda row: row[0])


def scores_table(predictions: Predictions, model: str, data: str) -> Table:
    """A row per source, and one over all of them."""
    groups = predictions.by_source()
    return Table.of(
        [(ALL, predictions), *(groups.items() if len(groups) > 1 else ())],
        name="tagger",
        title="Tagger by source",
        columns=[
            _name("source", "Source"),
            PAIRS,
            ACCURACY,
            MACRO_F1,
            ECE,
            BRIER,
        ],
        caption=f"{model} on {data}.",
        notes=(
            "Intervals (95 %): Wilson for accuracy, bootstrap over pairs for macro-F1, clustered "
            "by premise for Brier. Pairs with the same premise are not independent, so the first "
            "two are a little too narrow.",
            "Macro-F1 is the mean over the labels that occur in the source; ECE has "
            f"{BINS} bins; Brier is the sum over the three labels, from 0 to 2 (lower is better).",
        ),
    )


def calibration_table(series: Sequence[Named], data: str) -> Table:
    """ECE, Brier, log-likelihood and accuracy of the same pairs under several calibrations."""
    return Table.of(
        series,
        name="calibration",
        title="Calibration on pairs that it was not fitted on",
        columns=[
            _name("calibration", "Calibration"),
            PAIRS,
            ECE,
            BRIER,
            Measure("log_likelihood", "Log-likelihood", lambda row: row[1].log_likelihood),
            ACCURACY,
        ],
        caption=f"Pairs of {data}; each is measured only with what was fitted on other pairs.",
    )
