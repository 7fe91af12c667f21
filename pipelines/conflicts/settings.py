"""Variants of predicting types, answering and judging, as options."""

from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal

from pydantic import BaseModel, Field

from pipelines.experiment.options import Overflow, RunOptions, ServerOptions, judge_model_option
from pipelines.files import SAMPLES_FOLDER
from pipelines.option import Choice, Option

Classifier = Literal["yes-no", "json", "choice"]
"""The classifiers: a rule that reads only the question, or a language model that explains its
choice, or that chooses with probabilities."""

AS_IN_PAPER: Final = (
    Choice("classifiers", ["json"]),  # section 5.1
    Choice("settings.types", "json"),  # section 5.1
    Choice("settings.against", "all"),  # section 4
    Choice("settings.judge", "model"),  # section 4
)


TYPES_PANEL = "Conflict types (CONFLICTS, Task 1)"
ANSWERS_PANEL = "Answers (CONFLICTS, Task 2)"
JUDGES_PANEL = "Judges (CONFLICTS, section 4)"


class AnswerSettings(BaseModel, frozen=True, extra="forbid"):
    """How conflict types are predicted, and how answers are written."""

    types: Annotated[
        Classifier,
        Option(
            "Who predicts the type for Pipeline: the language model, with an explanation "
            "(`json`) or with probabilities (`choice`), or a rule that only reads the question "
            "(`yes-no`): opinions for a yes-or-no question, else no conflict.",
            panel=TYPES_PANEL,
        ),
    ] = "choice"
    answer_tokens: Annotated[
        int, Field(ge=1), Option("Maximum tokens of an answer.", panel=ANSWERS_PANEL)
    ] = 768


class ConflictsSettings(AnswerSettings):
    """How answers are written and judged.

    In the paper a language model judges everything. `cut` says whether long sources may be cut if
    together they do not fit the model's context.
    """

    judge: Annotated[
        Literal["model", "tagger"],
        Option(
            "Who judges answer recall and grounding. A language model always judges behaviour.",
            panel=JUDGES_PANEL,
        ),
    ] = "model"
    against: Annotated[
        Literal["cited", "all"],
        Option(
            "Sources that must support a sentence: those it cites, or any.",
            panel=JUDGES_PANEL,
        ),
    ] = "cited"
    cut: bool = False


class ConflictsOptions(RunOptions, ServerOptions):
    """Predict the type of conflict between search results, answer, and judge the answers.

    A query is answered without its type (Vanilla), with the predicted type (Pipeline), with the
    whole taxonomy (Taxonomy-aware), and with the annotators' type (Oracle). Judges say whether an
    answer behaves as its type calls for, contains the right answer, and is grounded in its sources.
    Writes into the run folder: `conflicts.NAME.jsonl` (answers and verdicts with their evidence),
    `tables/` in the layout of the paper's Tables 2 and 4 to 7, and `report.html`.

    Examples:
        contested run conflicts --limit 2 --judge tagger --answer-tokens 96 --out results-conflicts

        contested run conflicts --data conflicts.jsonl --strategy none --out types

        contested run conflicts --data conflicts.jsonl --dry-run
    """

    ITEMS: ClassVar = "queries"
    PRESETS: ClassVar = {"as_in_paper": AS_IN_PAPER}

    data: Annotated[
        Path, Option("Queries, in the format of CONFLICTS.", shown="bundled samples")
    ] = SAMPLES_FOLDER / "conflicts.jsonl"
    name: Annotated[
        str | None,
        Option("Name of the run; several can share a folder.", shown="the model's name"),
    ] = None
    on_overflow: Overflow = "error"
    classifiers: Annotated[
        list[str] | None,
        Option(
            "Who predicts types: the model, with an explanation (`json`) or with probabilities "
            "(`choice`), or a rule that only reads the question (`yes-no`). Repeatable.",
            name="--classifier",
            metavar="NAME",
            shown="all three",
            panel=TYPES_PANEL,
        ),
    ] = None
    strategies: Annotated[
        list[str] | None,
        Option(
            "How to prompt for answers: `vanilla`, `pipeline`, `taxonomy-aware`, `oracle`; "
            "`none` only predicts types. Repeatable.",
            name="--strategy",
            metavar="NAME",
            shown="all four",
            panel=ANSWERS_PANEL,
        ),
    ] = None
    embedder: Annotated[
        Path | None,
        Option(
            "Embedding model that chooses new segments, if the file has whole pages.",
            shown="segments as released",
            panel=ANSWERS_PANEL,
        ),
    ] = None
    judge_model: Annotated[str | None, judge_model_option(JUDGES_PANEL)] = None
    settings: ConflictsSettings = ConflictsSettings()
