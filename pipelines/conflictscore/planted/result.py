"""What a labeller made of a planted example, and how answers to it were scored."""

from typing import Annotated, Final

from pydantic import Field

from pipelines.conflictscore.detection.detect import DetectionResult
from pipelines.conflictscore.result import Result

ANSWER: Final = "your answers"
COPY: Final = "the first document"
"""Who answers: the user's own pipeline, or nobody: the first document is taken for an answer."""


class PlantedResult(DetectionResult):
    """One line of `planted.LABELLER.jsonl`: labels and, of each answer given, its ConflictScore.

    Answers are by who gave them, `ANSWER` and `COPY`; there are none in a run without answers.
    """

    answers: Annotated[dict[str, Result], Field(default_factory=dict)]
