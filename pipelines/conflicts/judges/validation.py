"""The judge of behaviour against people (CONFLICTS, section 4).

The paper lets people judge 100 answers and reports how often its judge says the same. What a judge
says of other answers is worth no more than that, and it depends on the judging model; so whoever
uses another one can measure it, on answers of their own or on ours.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, BeforeValidator, StrictBool

from pipelines.conflicts.judges.behaviour import behaviour
from pipelines.conflicts.judges.model import ModelJudge
from pipelines.conflicts.judges.verdicts import Adherence
from pipelines.conflicts.taxonomy import ConflictType, of_label
from pipelines.data import released
from pipelines.data.records import Identifier, Text
from pipelines.errors import InputError
from pipelines.metrics.accuracy import accuracy
from pipelines.metrics.cohen_kappa import cohen_kappa
from pipelines.metrics.confusion import confusion
from pipelines.metrics.estimate import Estimate
from pipelines.runs.runner import run_examples
from serving.errors import RequestError

SAMPLES: Final = Path(released.__file__).parent / "samples" / "behaviour.jsonl"
"""Labelled answers of our own: eight per type, half of them adherent."""

PAPER_ACCURACY: Final = 0.89
"""CONFLICTS, section 4: accuracy of the paper's judge (Gemini 2.5 Flash) against people."""

PAPER_ANSWERS: Final = 100
"""CONFLICTS, section 4: answers that this was measured on."""


_OrLabel = BeforeValidator(lambda value: of_label(value) if isinstance(value, str) else value)


class LabelledAnswer(BaseModel, frozen=True, extra="forbid"):
    """An answer, with its citations, that somebody judged; the id is unique within its file.

    Attributes:
        conflict_type: Of the search results: our name or that of the released data.
        adherent: Whether it behaves as the type wants, as that person says.
        note: Why.
    """

    id: Identifier
    query: Text
    conflict_type: Annotated[ConflictType, _OrLabel]
    answer: Text
    adherent: StrictBool
    note: str = ""


class Rating(BaseModel, frozen=True):
    """A labelled answer with the judge's verdict."""

    labelled: LabelledAnswer
    adherence: Adherence


@dataclass(frozen=True)
class Agreement:
    """How far a judge agrees with people.

    Attributes:
        accuracy: Share of verdicts that are the person's, with the Wilson interval; None without
            any verdict. Unreadable replies have no part in it and are counted beside it.
        kappa: The same beyond chance; see `cohen_kappa`.
        true_positives, false_positives, false_negatives, true_negatives: Adherent to both, to the
            judge alone, to the person alone, to neither.
        unreadable: Answers that the judge gave no readable verdict of.
    """

    accuracy: Estimate | None
    kappa: Estimate | None
    true_positives: int
    false_positives: int
    false_negatives: int
    true_negatives: int
    unreadable: int


def read(path: Path) -> list[LabelledAnswer]:
    """The answers of a file: JSON Lines of `LabelledAnswer`.

    Raises:
        InputError: The file cannot be read, holds nothing, a line is of another format, or two have
            one id.
    """
    found: dict[str, LabelledAnswer] = {}
    for entry in released.entries(path):
        answer = released.record(entry, LabelledAnswer, "labelled answers")
        if answer.id in found:
            raise InputError(
                f"{entry.where}: the id '{answer.id}' stands here a second time; make ids distinct"
            )
        found[answer.id] = answer
    return list(found.values())


async def validate(
    labelled: Sequence[LabelledAnswer],
    judge: ModelJudge,
    on_result: Callable[[Rating], None] = lambda _: None,
    *,
    in_flight: int | None = None,
) -> list[Rating]:
    """Let the judge of behaviour judge answers that people have judged, which have distinct ids.

    Args:
        labelled: The answers.
        judge: The language model.
        on_result: Told of each verdict as it comes; those returned are in the answers' order.
        in_flight: At most so many at a time, at least 1; by default what the client allows.

    Raises:
        RequestError: An answer does not fit the model's context.
        ServingError: No server can be had.
    """
    ratings: dict[str, Rating] = {}

    async def rate(each: LabelledAnswer) -> Rating:
        try:
            verdict = await behaviour(each.query, each.conflict_type, each.answer, judge)
        except RequestError as error:
            raise RequestError(f"'{each.id}': {error}") from error
        ratings[each.id] = Rating(labelled=each, adherence=verdict)
        return ratings[each.id]

    places = in_flight or judge.client.concurrency
    await run_examples(labelled, rate, in_flight=places, on_result=on_result)
    return [ratings[each.id] for each in labelled]


def agreement(ratings: Sequence[Rating]) -> Agreement:
    """How far the judge agrees with people."""
    readable = [each for each in ratings if each.adherence.adheres is not None]
    people = [each.labelled.adherent for each in readable]
    judge = [bool(each.adherence.adheres) for each in readable]
    (tp, fn), (fp, tn) = confusion(people, judge, [True, False])
    return Agreement(
        accuracy=accuracy(people, judge),
        kappa=cohen_kappa(people, judge),
        true_positives=tp,
        false_positives=fp,
        false_negatives=fn,
        true_negatives=tn,
        unreadable=len(ratings) - len(readable),
    )
