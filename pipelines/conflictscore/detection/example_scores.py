"""What a detected example comes to, for runs to be compared by."""

from collections.abc import Mapping
from typing import Final

from pipelines.conflictscore.detection.detect import DetectionResult
from pipelines.experiment.scores import Score, of_each

SCORES: Final[Mapping[str, Score[DetectionResult]]] = {
    "right": Score("Right", of_each(lambda result: result.right), test="McNemar")
}
