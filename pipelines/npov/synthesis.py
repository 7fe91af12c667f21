"""Responses written by a template, and errors put into their arguments (NPOV, section 4.2).

A response stays as it is and the list of arguments is changed: one that was not used is added,
which the response then leaves out; or one that was used is taken away, which it then adds.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random

from pipelines.data.procon import Topic
from pipelines.npov.annotation import AnnotatedExample, Omission
from pipelines.npov.example import SIDES, NpovExample, Side
from pipelines.npov.prompt import Span, as_read, unbraced
from pipelines.npov.rouge import overlap

MOST_PER_SIDE = 3
"""Arguments of a side, at most (NPOV, section 4.1)."""

_OPENERS: Mapping[Side, tuple[str, ...]] = {
    "pro": ("Supporters say that", "Those in favour argue that", "Proponents hold that"),
    "con": ("On the other side, opponents say that", "Critics counter that", "Others object that"),
}
_LINKS = ("They also say that", "It is further argued that", "They add that")

Reword = Callable[[str], str | None]
"""Argument -> how a response puts it; None of arguments that no response may use."""


def verbatim(argument: str) -> str:
    """An argument as it is."""
    return argument


def synthetic_examples(
    topics: Sequence[Topic], *, per_topic: int, seed: int, reword: Reword = verbatim
) -> list[AnnotatedExample]:
    """Examples without error, each followed by those that are made from it.

    As many arguments are drawn for each side: one, two or three in turn, as far as the topic has
    them. Made from it are one with a coverage error, one with a hallucination, and one with both;
    there is no coverage error where all arguments are used, and no hallucination where a side would
    be left without any. Each topic has `per_topic` examples without error. The seed decides all
    that is drawn, and a topic's examples do not depend on the other topics.
    """
    found = []
    for topic in topics:
        draw = Random(f"{seed} {topic.topic}")  # noqa: S311 - nothing is kept secret
        usable = {
            side: [each for each in _arguments(topic, side) if reword(each) is not None]
            for side in SIDES
        }
        most = min(MOST_PER_SIDE, *(len(arguments) for arguments in usable.values()))
        for number in range(per_topic if most else 0):
            count = number % most + 1
            used = {side: draw.sample(usable[side], count) for side in SIDES}
            put = {side: [reword(each) or "" for each in used[side]] for side in SIDES}
            found += _family(topic, number, used, response(put, draw), draw)
    return found


def _family(
    topic: Topic,
    number: int,
    used: Mapping[Side, Sequence[str]],
    written: tuple[str, Mapping[Side, Sequence[Span]]],
    draw: Random,
) -> list[AnnotatedExample]:
    """The example without error of a response to the arguments used, and those with one or two."""
    text, said = written
    shared = [overlap(each, text) for side in SIDES for each in used[side]]
    known = [share for share in shared if share is not None]
    unused = [
        (side, each) for side in SIDES for each in _arguments(topic, side) if each not in used[side]
    ]
    extra = draw.choice(unused) if unused else None
    removable = [
        (side, place) for side in SIDES for place in range(len(used[side])) if len(used[side]) > 1
    ]
    taken = draw.choice(removable) if removable else None
    family = []
    for suffix, uncovers, hallucinates in (
        ("", False, False),
        ("+left-out", True, False),
        ("+added", False, True),
        ("+both", True, True),
    ):
        given = {side: list(used[side]) for side in SIDES}
        hallucinated: tuple[Span, ...] = ()
        uncovered: tuple[Omission, ...] = ()
        if hallucinates:
            if taken is None:
                continue
            side, place = taken
            del given[side][place]
            hallucinated = (said[side][place],)
        if uncovers:
            if extra is None:
                continue
            side, argument = extra
            place = draw.randrange(len(given[side]) + 1)
            given[side].insert(place, argument)
            whole = (0, len(unbraced(argument)))
            uncovered = (Omission(side=side, argument=place, span=whole),)
        family.append(
            AnnotatedExample(
                id=f"{topic.topic}/{number}{suffix}",
                source=f"{topic.topic}/{number}",
                example=NpovExample(
                    question=topic.question,
                    topic=topic.topic,
                    pro=tuple(given["pro"]),
                    con=tuple(given["con"]),
                    response=text,
                ),
                coverage="full" if uncovers else "none",
                hallucination="full" if hallucinates else "none",
                uncovered=uncovered,
                hallucinated=hallucinated,
                overlap=sum(known) / len(known) if known else 0.0,
            )
        )
    return family


def _arguments(topic: Topic, side: Side) -> tuple[str, ...]:
    return topic.pro if side == "pro" else topic.con


def response(
    arguments: Mapping[Side, Sequence[str]], draw: Random
) -> tuple[str, Mapping[Side, Sequence[Span]]]:
    """A neutral response by a template: each argument in its own sentence, both sides in turn.

    It comes with where it has the arguments of each side. Its phrases are drawn.
    """
    text = ""
    spans: dict[Side, list[Span]] = {side: [] for side in SIDES}
    for side in SIDES:
        for place, argument in enumerate(arguments[side]):
            text += f"{' ' if text else ''}{draw.choice(_LINKS if place else _OPENERS[side])} "
            said = as_read(_continued(argument))
            spans[side].append((len(text), len(text) + len(said)))
            text += f"{said}."
    return text, spans


def _continued(argument: str) -> str:
    """An argument within a sentence: without its full stop, in small unless a name begins it."""
    text = argument.rstrip(" .")
    first = text.split(" ", 1)[0]
    name = any(letter.isupper() or letter.isdigit() for letter in first[1:]) or len(first) == 1
    return text if name and first != "A" else text[:1].lower() + text[1:]
