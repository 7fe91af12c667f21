"""Responses written by a template, and errors put into their arguments (NPOV, section 4.2).

A response stays as it is and the list of arguments is changed: one that was not used is added,
which the response then leaves out; or one that was used is taken away, which it then adds.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Literal, NamedTuple

from pipelines.data.procon import Topic
from pipelines.npov.annotation import AnnotatedExample, Omission
from pipelines.npov.example import SIDES, NpovExample, Side
from pipelines.npov.prompt import Span, as_read, unbraced
from pipelines.npov.rouge import overlap

Design = Literal["matched", "paper"]
"""How arguments are drawn, and errors made of them.

`paper` (section 4.2): responses have one, two or three arguments of either side, in turn, as far as
the topic has them. Any argument is taken away, and any unused one given besides. A response to one
argument of each side then has no hallucination and one to all arguments no coverage error, so that
lengths of responses tell errors. And an error makes sides unequal, which else they never are.

`matched`: every response has an example without error and one of each kind, so no property of
responses alone tells errors. A side has one, two or three arguments, given and said. Errors are as
often of one side as of the other, and sides as often unequal without error as with. What is left
to be counted is the argument that a hallucination has too many and a coverage error too few; where
both are, one is exchanged for another of its side, and nothing can be counted.
"""

MOST_PER_SIDE = 3
"""Arguments of a side, at most (NPOV, section 4.1)."""

MATCHED_SIZES = ((2, 1), (2, 2), (3, 2), (2, 2))
"""Arguments that matched responses have of one side and of the other, in turn. One is taken from
the one, or given besides on the other: there are still one to three, and equal sides become unequal
as often as unequal ones equal."""

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
    topics: Sequence[Topic],
    *,
    per_topic: int,
    seed: int,
    reword: Reword = verbatim,
    design: Design = "paper",
) -> list[AnnotatedExample]:
    """Examples without error, each followed by those that are made from it.

    Made from it are one with a coverage error, one with a hallucination, and one with both. Each
    topic has `per_topic` examples without error, if it has enough arguments. The seed decides all
    that is drawn, and a topic's examples do not depend on the other topics.
    """
    found = []
    for topic in topics:
        draw = Random(f"{seed} {topic.topic}")  # noqa: S311 - nothing is kept secret
        usable = {
            side: [each for each in _arguments(topic, side) if reword(each) is not None]
            for side in SIDES
        }
        ways = _matched_sizes(topic, usable, draw) if design == "matched" else _equal_sizes(usable)
        for number in range(per_topic if ways else 0):
            sizes = ways[number % len(ways)]
            used = {side: draw.sample(usable[side], sizes[side]) for side in SIDES}
            put = {side: [reword(each) or "" for each in used[side]] for side in SIDES}
            written = response(put, draw)
            if design == "matched":
                errors = _matched_errors(topic, used, tuple(sizes), draw)
            else:
                errors = _any_errors(topic, used, draw)
            found += _family(topic, number, used, written, errors, draw=draw)
    return found


class _Errors(NamedTuple):
    """What is done to the arguments given, to make each kind of error; None where it cannot be.

    Attributes:
        added: An argument that is taken away, so that the response adds it.
        left_out: An argument that is given besides, which the response leaves out.
        both: The one and the other.
    """

    added: tuple[Side, int] | None
    left_out: tuple[Side, str] | None
    both: tuple[tuple[Side, int], tuple[Side, str]] | None


_Sizes = Mapping[Side, int]
"""How many arguments of each side a response has; the first side has no fewer than the other."""


def _equal_sizes(usable: Mapping[Side, Sequence[str]]) -> list[_Sizes]:
    most = min(MOST_PER_SIDE, *(len(arguments) for arguments in usable.values()))
    return [dict.fromkeys(SIDES, number + 1) for number in range(most)]


def _matched_sizes(
    topic: Topic, usable: Mapping[Side, Sequence[str]], draw: Random
) -> list[_Sizes]:
    """Those of `MATCHED_SIZES` that a topic has enough arguments for, from one that is drawn.

    Each is there twice, for the sides to change places.
    """
    count = len(MATCHED_SIZES)
    first = draw.randrange(2 * count)
    found: list[_Sizes] = []
    for n in range(first, first + 2 * count):
        more, fewer = MATCHED_SIZES[n % count]
        one, other = SIDES if (n + n // count) % 2 else SIDES[::-1]
        said = len(usable[one]) >= more and len(usable[other]) >= fewer
        if said and len(_arguments(topic, other)) > fewer:  # one is left to be left out
            found.append({one: more, other: fewer})
    return found


def _any_errors(topic: Topic, used: Mapping[Side, Sequence[str]], draw: Random) -> _Errors:
    """An argument of any side each, where there is one."""
    unused = [(side, each) for side in SIDES for each in _unused(topic, side, used)]
    left_out = draw.choice(unused) if unused else None
    removable = [
        (side, place) for side in SIDES for place in range(len(used[side])) if len(used[side]) > 1
    ]
    added = draw.choice(removable) if removable else None
    return _Errors(added, left_out, (added, left_out) if added and left_out else None)


def _matched_errors(
    topic: Topic, used: Mapping[Side, Sequence[str]], sides: Sequence[Side], draw: Random
) -> _Errors:
    """One is taken from the first side, or given on the other, or exchanged on any."""
    larger, smaller = sides
    exchanged = draw.choice([side for side in SIDES if _unused(topic, side, used)])
    return _Errors(
        added=(larger, draw.randrange(len(used[larger]))),
        left_out=(smaller, draw.choice(_unused(topic, smaller, used))),
        both=(
            (exchanged, draw.randrange(len(used[exchanged]))),
            (exchanged, draw.choice(_unused(topic, exchanged, used))),
        ),
    )


def _unused(topic: Topic, side: Side, used: Mapping[Side, Sequence[str]]) -> list[str]:
    return [each for each in _arguments(topic, side) if each not in used[side]]


def _family(
    topic: Topic,
    number: int,
    used: Mapping[Side, Sequence[str]],
    written: tuple[str, Mapping[Side, Sequence[Span]]],
    errors: _Errors,
    *,
    draw: Random,
) -> list[AnnotatedExample]:
    """The example without error of a response to the arguments used, and those with one or two."""
    text, said = written
    shared = [overlap(each, text) for side in SIDES for each in used[side]]
    known = [share for share in shared if share is not None]
    ways: list[tuple[str, tuple[Side, int] | None, tuple[Side, str] | None]] = [("", None, None)]
    if errors.left_out:
        ways.append(("+left-out", None, errors.left_out))
    if errors.added:
        ways.append(("+added", errors.added, None))
    if errors.both:
        ways.append(("+both", *errors.both))
    family = []
    for suffix, taken, extra in ways:
        given = {side: list(used[side]) for side in SIDES}
        hallucinated: tuple[Span, ...] = ()
        uncovered: tuple[Omission, ...] = ()
        if taken is not None:
            side, place = taken
            del given[side][place]
            hallucinated = (said[side][place],)
        if extra is not None:
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
                coverage="full" if extra else "none",
                hallucination="full" if taken else "none",
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
