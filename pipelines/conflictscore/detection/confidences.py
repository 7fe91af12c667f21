"""How far the confidences of labellers can be trusted: stated against observed."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pipelines.conflictscore.detection.bench import HARD
from pipelines.conflictscore.detection.detect import DetectionResult
from pipelines.metrics.ece import expected_calibration_error
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.proportion import proportion
from pipelines.metrics.reliability import Bin, reliability
from pipelines.report.table import Column, Measure, Table


class Confidences(NamedTuple):
    """Of single documents: the probability of the label given, in [0, 1]; is it the true one?"""

    confidences: Sequence[float]
    correct: Sequence[bool]

    def bins(self) -> tuple[Bin, ...]:
        """Of the reliability diagram, 15 of them."""
        return reliability(self.confidences, self.correct)


def stated(results: Mapping[str, Sequence[DetectionResult]]) -> dict[str, Confidences]:
    """Labeller -> its confidences; labellers without any probability are left out.

    The harder variants of examples show the same documents again and are not counted.
    """
    found = {}
    for name, own in results.items():
        rows = [
            (judgement.confidence, judgement.relation is truth)
            for result in own
            if result.example.source != HARD
            for _, truth, judgement in result.documents()
            if judgement.confidence is not None
        ]
        if rows:
            found[name] = Confidences([share for share, _ in rows], [right for _, right in rows])
    return found


class Line(NamedTuple):
    """A bin of a reliability diagram, or all of them."""

    detector: str
    bin: str
    documents: int
    confidence: float | None
    accuracy: Estimate | None
    ece: float | None = None


def confidence_table(results: Mapping[str, Sequence[DetectionResult]]) -> Table:
    """The numbers of the reliability diagrams: a row per bin, one over all bins with the ECE."""
    lines = []
    for name, own in stated(results).items():
        bins, n = own.bins(), len(own.correct)
        right, sure = proportion(sum(own.correct), n), sum(own.confidences) / n
        lines.append(Line(name, "all", n, sure, right, expected_calibration_error(bins)))
        lines += [
            Line(name, f"{one.low:.2f} to {one.high:.2f}", one.n, one.confidence, one.accuracy)
            for one in bins
            if one.n
        ]
    return Table.of(
        lines,
        name="conflict_detection_confidences",
        title="Confidence and accuracy",
        caption="Labels of single documents: how sure the labeller was, how often it was right.",
        columns=[
            Column("detector", "Detector"),
            Column("bin", "Confidence"),
            Column("documents", "Documents"),
            Column("confidence", "Mean confidence"),
            Measure("accuracy", "Accuracy"),
            Column("ece", "ECE"),
        ],
        notes=(
            "ECE: the expected calibration error over 15 bins. A language model's probabilities "
            "are those of its first token, without calibration.",
        ),
    )
