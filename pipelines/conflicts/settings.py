"""Variants of predicting types, answering and judging, as options."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field

from pipelines.conflicts.taxonomy import Classifier
from pipelines.option import Choice, Option

AS_IN_PAPER: Final = (
    Choice(
        "classifiers",
        ["json"],
        "section 5.1",
        "the others cost little beside it, and one gives probabilities",
    ),
    Choice(
        "settings.types",
        "json",
        "section 5.1",
        "one token, with probabilities, in place of an explanation",
    ),
    Choice(
        "settings.against",
        "all",
        "section 4",
        "a citation is to be right, and not only some source that was not cited",
    ),
    Choice("settings.judge", "model", "section 4"),
)


TYPES_PANEL = "Conflict types (CONFLICTS, Task 1)"
ANSWERS_PANEL = "Answers (CONFLICTS, Task 2)"
JUDGES_PANEL = "Judges (CONFLICTS, section 4)"


class AnswerSettings(BaseModel, frozen=True, extra="forbid"):
    """How conflict types are predicted, and how answers are written."""

    types: Annotated[
        Classifier,
        Option(
            "Who predicts the type that Pipeline is told: the language model, with an explanation "
            "(`json`) or with probabilities (`choice`), or a rule that reads the question alone: "
            "opinions where it asks for yes or no, else no conflict (`yes-no`).",
            panel=TYPES_PANEL,
        ),
    ] = "choice"
    answer_tokens: Annotated[
        int, Field(ge=1), Option("Most tokens of an answer.", panel=ANSWERS_PANEL)
    ] = 768


class ConflictsSettings(AnswerSettings):
    """How answers are written and judged.

    In the paper a language model judges everything. `cut` says whether long sources may be cut if
    together they do not fit the model's context.
    """

    judge: Annotated[
        Literal["model", "tagger"],
        Option(
            "Who judges answer recall and grounding; behaviour is always judged by a language "
            "model.",
            panel=JUDGES_PANEL,
        ),
    ] = "model"
    against: Annotated[
        Literal["cited", "all"],
        Option(
            "What a sentence must be grounded in: sources that it cites, or any.",
            panel=JUDGES_PANEL,
        ),
    ] = "cited"
    cut: bool = False
