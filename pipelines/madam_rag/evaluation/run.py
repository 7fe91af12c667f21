"""The methods over a data set, in a run folder that may hold several data sets and experiments."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from pipelines.evidence.labeller import PairError
from pipelines.madam_rag.evaluation.constructions import MOST, misinformation, support_imbalance
from pipelines.madam_rag.evaluation.methods import Compared, Experiment, NotAskedError, outcomes
from pipelines.madam_rag.evaluation.result import Outcome, QuestionResult
from pipelines.madam_rag.question import Question
from pipelines.madam_rag.reliability import reliability
from pipelines.madam_rag.transcript import AgentReply, Conclusion, Reliability
from pipelines.runs.folder import RunFolder
from pipelines.runs.runner import IN_FLIGHT, resume_examples

NAME = "madam-rag"

CONSTRUCTED_SEED = 0
"""Chooses and orders the documents of section 6.2 and 6.3's questions."""


def run_name(dataset: str, experiment: Experiment) -> str:
    """What a run is called: the data set, and the experiment where it is not that of Table 1."""
    return dataset if experiment == "methods" else f"{dataset}.{experiment}"


def entry_name(name: str) -> str:
    """Name of a run in `run.json`, and of its results."""
    return f"{NAME}.{name}"


def runs(folder: RunFolder) -> dict[str, dict[str, Any]]:
    """Runs that a folder has results of, in order of their beginning.

    Returns:
        What the run is called -> its entry in `run.json`.

    Raises:
        InputError: `run.json` is damaged.
    """
    return folder.entries(NAME)


def posed(
    questions: Sequence[Question], experiment: Experiment, limit: int | None = None
) -> list[Question]:
    """The questions of an experiment: as they are, or one for each level of section 6.2 or 6.3.

    Args:
        questions: The data set.
        experiment: What is compared.
        limit: Most questions, before they are multiplied by their levels; None takes all, or the
            200 of section 6, which are never more.
    """
    most = MOST if limit is None else min(limit, MOST)
    match experiment:
        case "support":
            return support_imbalance(questions, most=most, seed=CONSTRUCTED_SEED)
        case "misinformation":
            return misinformation(questions, most=most, seed=CONSTRUCTED_SEED)
        case _:
            return list(questions[:limit])


async def run(
    questions: Sequence[Question],
    by: Compared,
    folder: RunFolder,
    *,
    name: str,
    on_failure: Literal["stop", "skip"] = "stop",
    in_flight: int = IN_FLIGHT,
    on_start: Callable[[int], None] = lambda _: None,
    on_result: Callable[[QuestionResult], None] = lambda _: None,
) -> list[QuestionResult]:
    """Ask every method every question that the folder has no result of yet.

    Results are kept as they come; a run that is killed goes on from there. All agents of a round
    and all methods of all questions in flight are asked at the same time.

    Args:
        questions: From `posed`.
        by: The methods.
        folder: Where results go; `RunFolder.begin` must have been called.
        name: What the run is called.
        on_failure: Whether a question that a method cannot be asked (its documents do not fit the
            context) stops the run. With "skip" that method's outcome is unreadable, with the
            reason, and the question is "incomplete"; where no method could be asked it is
            "failed". Both are tried again when the run is resumed.
        in_flight: Questions at a time.
        on_start: Told how many questions were done by an earlier run.
        on_result: Told of each result.

    Returns:
        All results, in the order of the questions.

    Raises:
        RequestError, PairError: A question cannot be asked (`stop`).
        ServingError: No server can be had.
        InputError: A line of the log is damaged.
    """

    async def work(asked: Question) -> QuestionResult:
        found = await outcomes(asked, by)
        errors = [each for each in found.values() if not isinstance(each, Outcome)]
        if errors and (on_failure == "stop" or len(errors) == len(found)):
            raise errors[0]
        return QuestionResult(
            id=asked.id,
            asked=asked,
            status="incomplete" if errors else "answered",
            outcomes={method: _kept(each) for method, each in found.items()},
            borne_out=await _borne_out(asked, by),
        )

    return await resume_examples(
        questions,
        work,
        folder.log(entry_name(name), QuestionResult),
        failed=lambda asked, reason: QuestionResult(
            id=asked.id, asked=asked, status="failed", error=reason
        ),
        on_failure=on_failure,
        in_flight=in_flight,
        on_start=on_start,
        on_result=on_result,
    )


def results(folder: RunFolder) -> dict[str, list[QuestionResult]]:
    """What a run folder has, by run.

    Raises:
        InputError: A result is damaged.
    """
    return folder.results(NAME, QuestionResult)


async def _borne_out(asked: Question, by: Compared) -> tuple[Reliability | None, ...]:
    if by.panel.labeller is None:
        return ()
    try:
        return await reliability(
            asked.question,
            [AgentReply(answer=each.answer) for each in asked.documents],
            [each.document for each in asked.documents],
            by.panel.labeller,
        )
    except PairError:  # an answer of the data is too long for the tagger
        return ()


def _kept(found: Outcome | NotAskedError) -> Outcome:
    if isinstance(found, Outcome):
        return found
    return Outcome(concluded=Conclusion(problem=str(found)), calls=0)
