"""The variants of answering and judging."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from pipelines.conflicts.prediction import Classifier
from pipelines.conflicts.taxonomy import ConflictType

Probability = Annotated[float, Field(ge=0.0, le=1.0)]


class ConflictsSettings(BaseModel):
    """How conflict types are predicted, and how answers are written and judged.

    Attributes:
        types: Whose prediction the Pipeline strategy is told.
        thresholds: Type -> least probability in [0, 1] at which it is predicted; see
            `prediction.decide`. They hold for classifiers that give probabilities.
        answer_tokens: Most tokens of an answer.
        dates: Whether a writer that is told of outdated information is also told the order of the
            sources by their dates; the paper's is not.
        judge: Who judges answer recall and factual grounding: the language model, as in the paper,
            or the NLI tagger.
        behaviour: How the expected behaviour is judged: with a reason, or with a probability.
        against: What a sentence must be grounded in: the sources that it cites, or any.
        cut: Whether long sources may be cut where all do not fit the model's context.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    types: Classifier = "nli"
    thresholds: dict[ConflictType, Probability] = {}
    answer_tokens: int = Field(256, ge=1)
    dates: bool = False
    judge: Literal["llm", "nli"] = "llm"
    behaviour: Literal["json", "choice"] = "json"
    against: Literal["cited", "all"] = "cited"
    cut: bool = False
