"""The judge of behaviour against people (CONFLICTS, section 4).

The paper lets people judge 100 answers and reports how often its judge says the same. What a judge
says of other answers is worth no more than that, and it depends on the judging model; so whoever
uses another one can measure it, on answers of their own, on WikiContradict's, or on ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, BeforeValidator, StrictBool

from pipelines.conflicts.judges.verdicts import Adherence
from pipelines.conflicts.taxonomy import ConflictType, of_label
from pipelines.data import released
from pipelines.data.records import Identifier, Text
from pipelines.data.wikicontradict import judged_answers
from pipelines.errors import InputError
from pipelines.metrics.accuracy import accuracy
from pipelines.metrics.clustered_auc import clustered_auc
from pipelines.metrics.cohen_kappa import clustered_kappa, cohen_kappa
from pipelines.metrics.confusion import confusion
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.mean import mean
from pipelines.metrics.proportion import share

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
        area: Under the ROC curve of the judge's probabilities; None where it gives none.
        always_yes: Share of answers that are adherent to people: a judge that always says yes.
        true_positives, false_positives, false_negatives, true_negatives: Adherent to both, to the
            judge alone, to the person alone, to neither.
        unreadable: Answers that the judge gave no readable verdict of.
    """

    accuracy: Estimate | None
    kappa: Estimate | None
    area: Estimate | None
    always_yes: Estimate | None
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


def read_wikicontradict(path: Path) -> list[LabelledAnswer]:
    """WikiContradict's answers from two passages: does each show both sides, by people?

    The behaviour that is asked of them is that of conflicting opinions: tell each view neutrally.

    Raises:
        InputError: As `judged_answers`.
    """
    return [
        LabelledAnswer(
            id=each.id,
            query=each.question,
            conflict_type=ConflictType.OPINIONS,
            answer=each.answer,
            adherent=each.both_sides,
            note=f"{each.model}, {each.prompt}: {each.people.lower()}",
        )
        for each in judged_answers(path)
    ]


def agreement(ratings: Sequence[Rating]) -> Agreement:
    """How far the judge agrees with people.

    Where several answers are to one question, intervals are clustered by question.
    """
    readable = [each for each in ratings if each.adherence.adheres is not None]
    people = [each.labelled.adherent for each in readable]
    judge = [bool(each.adherence.adheres) for each in readable]
    questions = [each.labelled.query for each in readable]
    clustered = len({*questions}) < len(questions)
    right = [float(one == other) for one, other in zip(people, judge, strict=True)]
    scores = [each.adherence.probability for each in readable]
    (tp, fn), (fp, tn) = confusion(people, judge, [True, False])
    return Agreement(
        accuracy=mean(right, questions, bounds=(0, 1)) if clustered else accuracy(people, judge),
        kappa=clustered_kappa(people, judge, questions)
        if clustered
        else cohen_kappa(people, judge),
        area=clustered_auc([each or 0.0 for each in scores], people, questions)
        if scores and None not in scores
        else None,
        always_yes=share(people),
        true_positives=tp,
        false_positives=fp,
        false_negatives=fn,
        true_negatives=tn,
        unreadable=len(ratings) - len(readable),
    )
