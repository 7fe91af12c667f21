"""Annotated responses to learn from: by topic, with errors put in, and in other words."""

from collections.abc import Mapping, Sequence
from random import Random

from pipelines.data.procon import Topic
from pipelines.errors import InputError
from pipelines.npov.annotation import AnnotatedExample
from pipelines.npov.changes import Design, drawn_changes, given_instead, with_errors
from pipelines.npov.example import SIDES
from pipelines.npov.knowledge_base import in_words
from pipelines.npov.synthesis import Reword, arguments_of
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
    right: AnnotatedExample, topic: Topic, draw: Random, *, design: Design
) -> list[AnnotatedExample]:
    """An annotated response without error, given other arguments of its topic (NPOV, section 4.2).

    It has the arguments that it has, so `matched` cannot balance its sides.
    """
    given = {side: right.example.arguments(side) for side in SIDES}
    known = {in_words(each) for own in given.values() for each in own}
    unused = {
        side: [each for each in arguments if in_words(each) not in known]
        for side, arguments in arguments_of(topic).items()
    }
    return with_errors(right, drawn_changes(given, unused, draw, design=design), draw)


def paraphrased(each: AnnotatedExample, paraphrase: Reword) -> AnnotatedExample | None:
    """Its arguments in other words, the response as it is (NPOV, section 4.1).

    None unless all of them can be put so.
    """
    put = {side: [paraphrase(one) for one in each.example.arguments(side)] for side in SIDES}
    changed = {side: [one for one in own if one is not None] for side, own in put.items()}
    if any(len(changed[side]) < len(put[side]) for side in SIDES):
        return None
    return each.model_copy(update={"example": given_instead(each.example, changed)})
