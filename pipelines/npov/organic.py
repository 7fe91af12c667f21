"""Annotated responses to learn from: by topic, with errors put in, and in other words."""

from collections.abc import Mapping, Sequence
from random import Random

from pipelines.data.procon import Topic
from pipelines.errors import InputError
from pipelines.npov.annotation import AnnotatedExample
from pipelines.npov.example import SIDES, NpovExample, Side
from pipelines.npov.knowledge_base import in_words
from pipelines.npov.synthesis import Reword
from pipelines.npov.tuned_on import Subject

Organic = Mapping[str, Sequence[AnnotatedExample]]
"""Name of a topic -> annotated responses to its question."""


def subject_of(topic: Topic) -> Subject:
    """A topic by its question and name."""
    return Subject(question=topic.question, topic=topic.topic)


def by_topic(
    organic: Sequence[AnnotatedExample], topics: Sequence[Topic]
) -> dict[str, list[AnnotatedExample]]:
    """Annotated responses by the topics that they are of, by name or question.

    Raises:
        InputError: A response is of none of the topics, so that nobody knows whether it may be
            learned from, nor which of the topic's arguments it leaves unused.
    """
    names = {key: topic.topic for topic in topics for key in subject_of(topic).keys}
    found: dict[str, list[AnnotatedExample]] = {}
    for each in organic:
        subject = Subject(question=each.example.question, topic=each.example.topic)
        name = next((names[key] for key in sorted(subject.keys) if key in names), None)
        if name is None:
            raise InputError(
                f"the annotated response '{each.id}' is of no topic of --data: its question is "
                f"'{each.example.question}'; add the topic, or leave the response out"
            )
        found.setdefault(name, []).append(each)
    return found


def with_synthetic_errors(
    right: AnnotatedExample, topic: Topic, draw: Random
) -> list[AnnotatedExample]:
    """An annotated response without error, given other arguments (NPOV, section 4.2).

    The response stays. One unused argument of the topic is given besides, which it then leaves out;
    or one of its arguments is taken away, which it then adds; or both. There is no such example
    where none is unused, or where a side would be left without any.
    """
    given = {side: right.example.arguments(side) for side in SIDES}
    known = {in_words(each) for own in given.values() for each in own}
    sides: Mapping[Side, Sequence[str]] = {"pro": topic.pro, "con": topic.con}
    unused = [(side, each) for side in SIDES for each in sides[side] if in_words(each) not in known]
    removable = [
        (side, place) for side in SIDES for place in range(len(given[side])) if len(given[side]) > 1
    ]
    extra = draw.choice(unused) if unused else None
    taken = draw.choice(removable) if removable else None
    found = []
    for suffix, uncovers, hallucinates in (
        ("left-out", True, False),
        ("added", False, True),
        ("both", True, True),
    ):
        changed = {side: list(given[side]) for side in SIDES}
        if hallucinates:
            if taken is None:
                continue
            del changed[taken[0]][taken[1]]
        if uncovers:
            if extra is None:
                continue
            own = changed[extra[0]]
            own.insert(draw.randrange(len(own) + 1), extra[1])
        found.append(
            AnnotatedExample(
                id=f"{right.id}+{suffix}",
                source=right.id,
                example=_given(right.example, changed),
                coverage="full" if uncovers else "none",
                hallucination="full" if hallucinates else "none",
                hallucinated=None,
                uncovered=None,
            )
        )
    return found


def paraphrased(each: AnnotatedExample, paraphrase: Reword) -> AnnotatedExample | None:
    """Its arguments in other words, the response as it is (NPOV, section 4.1).

    None unless all of them can be put so.
    """
    put = {side: [paraphrase(one) for one in each.example.arguments(side)] for side in SIDES}
    changed = {side: [one for one in own if one is not None] for side, own in put.items()}
    if any(len(changed[side]) < len(put[side]) for side in SIDES):
        return None
    return each.model_copy(update={"example": _given(each.example, changed)})


def _given(example: NpovExample, arguments: Mapping[Side, Sequence[str]]) -> NpovExample:
    return example.model_copy(update={side: tuple(arguments[side]) for side in SIDES})
