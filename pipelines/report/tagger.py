"""A tagger's figures on labelled pairs, as tables and as views of the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from nli.curve import CurvePoint
from nli.labels import LABELS, Label
from nli.pairs import LabelledPair
from pipelines.metrics.accuracy import accuracy
from pipelines.metrics.brier import brier
from pipelines.metrics.confusion import confusion
from pipelines.metrics.ece import ece
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.f1 import f1_by_label, macro_f1
from pipelines.metrics.proportion import proportion
from pipelines.metrics.reliability import Bin, reliability
from pipelines.report.explorer import ExperimentView, Part
from pipelines.report.plots import curve, reliability_diagram
from pipelines.report.table import Cell, Column, Table

BINS = 15
"""Bins of the reliability diagram and of the ECE, as in Guo et al. 2017."""

ALL = "all"
"""Name of the row over every source."""


@dataclass(frozen=True)
class Scored:
    """Labelled pairs with what a tagger says of them.

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
        """The most probable labels; the first of equals in the order of `LABELS`."""
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
    def positions(self) -> list[int]:
        """Where each true label stands in `LABELS`."""
        return [LABELS.index(label) for label in self.gold]

    def bins(self) -> tuple[Bin, ...]:
        """Of the reliability diagram."""
        return reliability(self.confidences, self.correct, bins=BINS)

    def by_source(self) -> dict[str, "Scored"]:
        """Source -> its pairs, in order of name."""
        rows = sorted(
            zip(self.pairs, self.probabilities, strict=True), key=lambda row: row[0].source
        )
        return {
            source: Scored(*map(list, zip(*group, strict=True)))
            for source, group in groupby(rows, key=lambda row: row[0].source)
        }


def scores_table(scored: Scored, model: str, data: str) -> Table:
    """A row per source, and one over all of them."""
    groups = scored.by_source()
    rows: list[tuple[Cell, ...]] = [_scores(ALL, scored)]
    if len(groups) > 1:
        rows += [_scores(source, group) for source, group in groups.items()]
    return Table(
        "tagger",
        "Tagger by source",
        (
            Column("source", "Source"),
            Column("pairs", "Pairs"),
            Column("accuracy", "Accuracy", interval=True),
            Column("macro_f1", "Macro-F1", interval=True),
            Column("ece", "ECE"),
            Column("brier", "Brier", interval=True),
        ),
        tuple(rows),
        caption=f"{model} on {data}.",
        notes=(
            "Intervals (95 %): Wilson for accuracy, bootstrap over pairs for macro-F1, clustered "
            "by premise for Brier. Pairs of one premise are not independent, so that the first two "
            "are a little too narrow.",
            "Macro-F1 is the mean over the labels that occur in the source; ECE has "
            f"{BINS} bins; Brier is the sum over the three labels, from 0 to 2 (lower is better).",
        ),
    )


def labels_table(scored: Scored) -> Table:
    """Precision, recall and F1 of each label."""
    counts = confusion(scored.gold, scored.given, LABELS)
    scores = f1_by_label(counts)
    rows: list[tuple[Cell, ...]] = []
    for index, label in enumerate(LABELS):
        true, called = sum(counts[index]), sum(row[index] for row in counts)
        hits = counts[index][index]
        rows.append(
            (label.value, true, proportion(hits, called), proportion(hits, true), scores[index])
        )
    return Table(
        "tagger-labels",
        "Tagger by label",
        (
            Column("label", "Label"),
            Column("pairs", "Pairs"),
            Column("precision", "Precision", interval=True),
            Column("recall", "Recall", interval=True),
            Column("f1", "F1"),
        ),
        tuple(rows),
    )


def confusion_table(scored: Scored) -> Table:
    """A row per true label, a column per given one."""
    counts = confusion(scored.gold, scored.given, LABELS)
    return Table(
        "tagger-confusion",
        "What is taken for what",
        (
            Column("label", "True label"),
            *(Column(label.value, f"labelled {label.value}") for label in LABELS),
        ),
        tuple((label.value, *row) for label, row in zip(LABELS, counts, strict=True)),
    )


def reliability_table(series: Sequence[tuple[str, Scored]]) -> Table:
    """The numbers of the reliability diagram: a row per bin that holds pairs."""
    return Table(
        "tagger-reliability",
        "Confidence and accuracy",
        (
            Column("which", "Probabilities"),
            Column("bin", "Confidence"),
            Column("pairs", "Pairs"),
            Column("confidence", "Mean confidence"),
            Column("accuracy", "Accuracy", interval=True),
        ),
        tuple(
            (name, f"{one.low:.2f} to {one.high:.2f}", one.n, one.confidence, one.accuracy)
            for name, scored in series
            for one in scored.bins()
            if one.n
        ),
    )


def calibration_table(series: Sequence[tuple[str, Scored]], data: str) -> Table:
    """ECE, Brier and accuracy of the same pairs under several calibrations."""
    return Table(
        "calibration",
        "Calibration on pairs it was not fitted on",
        (
            Column("calibration", "Calibration"),
            Column("pairs", "Pairs"),
            Column("ece", "ECE"),
            Column("brier", "Brier", interval=True),
            Column("accuracy", "Accuracy", interval=True),
        ),
        tuple(
            (
                name,
                len(scored.pairs),
                ece(scored.confidences, scored.correct, bins=BINS),
                _brier(scored),
                accuracy(scored.gold, scored.given),
            )
            for name, scored in series
        ),
        caption=f"Pairs of {data} whose premises were not fitted on.",
    )


def view(
    series: Sequence[tuple[str, Scored]], tables: Sequence[Table], intro: str = ""
) -> ExperimentView:
    """The reliability diagram, then the tables.

    Args:
        series: (name, scored pairs) of at most three sets of probabilities.
        tables: Shown below the diagram, in this order.
        intro: A sentence above it.
    """
    plot = reliability_diagram([(name, scored.bins()) for name, scored in series], "Reliability")
    part = Part("Relation tagger", tuple(tables), (plot,), intro)
    return ExperimentView("tagger", part.title, parts=(part,))


def _scores(name: str, scored: Scored) -> tuple[Cell, ...]:
    return (
        name,
        len(scored.pairs),
        accuracy(scored.gold, scored.given),
        macro_f1(scored.gold, scored.given, LABELS),
        ece(scored.confidences, scored.correct, bins=BINS),
        _brier(scored),
    )


def _brier(scored: Scored) -> Estimate | None:
    premises = [pair.premise for pair in scored.pairs]
    return brier(scored.probabilities, scored.positions, premises)


def training_view(points: Sequence[CurvePoint]) -> ExperimentView:
    """The validation curve of a training run: its plots and its numbers."""
    sources = sorted({source for point in points for source in point.by_source})
    table = Table(
        "training",
        "Validation curve",
        (
            Column("pairs", "Pairs passed"),
            Column("loss", "Loss (nats)"),
            Column("accuracy", "Accuracy"),
            *(Column(source, source) for source in sources),
        ),
        tuple(
            (
                point.pairs,
                point.loss,
                point.accuracy,
                *(point.by_source.get(source) for source in sources),
            )
            for point in points
        ),
        caption="Accuracy on the development pairs, all of them and by source.",
    )
    accuracies = [(float(point.pairs), point.accuracy) for point in points]
    losses = [(float(point.pairs), point.loss) for point in points]
    plots = (
        curve([("development pairs", accuracies)], "Accuracy", "pairs passed", "accuracy"),
        curve([("development pairs", losses)], "Loss", "pairs passed", "nats"),
    )
    part = Part("Training", (table,), plots)
    return ExperimentView("training", part.title, parts=(part,))
