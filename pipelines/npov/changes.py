"""Errors put into the arguments given, while the response stays as it is (NPOV, section 4.2).

An argument that was not used is given besides, which the response then leaves out; or one that was
used is taken away, which it then adds.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Final, Literal, NamedTuple

from pipelines.npov.annotation import AnnotatedExample, Omission
from pipelines.npov.example import SIDES, NpovExample, Side
from pipelines.npov.prompt import Span, unbraced

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

DESIGN_HELP: Final = (
    "How errors are made: `matched` in number, side and length of response to examples without "
    "error; or as the `paper` does, where lengths tell errors."
)

Arguments = Mapping[Side, Sequence[str]]
"""Of each side."""


class Change(NamedTuple):
    """What is done to the arguments given, to make an error or both.

    Attributes:
        name: "added", "left-out" or "both".
        taken: An argument that is taken away, by its side and place, so that the response adds it.
        extra: An argument that is given besides, which the response leaves out.
    """

    name: str
    taken: tuple[Side, int] | None
    extra: tuple[Side, str] | None


def drawn_changes(
    used: Arguments,
    unused: Arguments,
    draw: Random,
    *,
    design: Design,
    sides: tuple[Side, Side] | None = None,
) -> list[Change]:
    """One of each kind, of those that can be.

    By the `paper`'s design a side keeps an argument, and any may be left out. `matched` makes all
    kinds or none: one is taken from the first of `sides`, or given on the second, or exchanged on
    either. None stands for the side with more arguments, and the other.
    """
    if design == "matched":
        return _matched(used, unused, sides or _larger_first(used, draw), draw)
    every = [(side, each) for side in SIDES for each in unused[side]]
    extra = draw.choice(every) if every else None
    removable = [
        (side, place) for side in SIDES for place in range(len(used[side])) if len(used[side]) > 1
    ]
    taken = draw.choice(removable) if removable else None
    found = [Change("left-out", None, extra)] if extra else []
    found += [Change("added", taken, None)] if taken else []
    return found + ([Change("both", taken, extra)] if extra and taken else [])


def _matched(
    used: Arguments, unused: Arguments, sides: tuple[Side, Side], draw: Random
) -> list[Change]:
    larger, smaller = sides
    if len(used[larger]) < 2 or not unused[smaller]:
        return []
    exchanged = draw.choice([side for side in SIDES if unused[side]])
    added = Change("added", (larger, draw.randrange(len(used[larger]))), None)
    left_out = Change("left-out", None, (smaller, draw.choice(unused[smaller])))
    taken, extra = draw.randrange(len(used[exchanged])), draw.choice(unused[exchanged])
    return [left_out, added, Change("both", (exchanged, taken), (exchanged, extra))]


def _larger_first(used: Arguments, draw: Random) -> tuple[Side, Side]:
    first = draw.choice(SIDES)
    one, other = sorted(SIDES, key=lambda side: (-len(used[side]), side != first))
    return one, other


def with_errors(
    right: AnnotatedExample,
    changes: Sequence[Change],
    draw: Random,
    *,
    said: Mapping[Side, Sequence[Span]] | None = None,
) -> list[AnnotatedExample]:
    """An example without error, changed in each of these ways.

    An argument given besides comes at a place that is drawn. `said` is where the response has the
    arguments; without it nobody knows which words are wrong.
    """
    found = []
    for change in changes:
        given = {side: list(right.example.arguments(side)) for side in SIDES}
        hallucinated: tuple[Span, ...] = ()
        uncovered: tuple[Omission, ...] = ()
        if change.taken is not None:
            side, place = change.taken
            del given[side][place]
            hallucinated = () if said is None else (said[side][place],)
        if change.extra is not None:
            side, argument = change.extra
            place = draw.randrange(len(given[side]) + 1)
            given[side].insert(place, argument)
            whole = (0, len(unbraced(argument)))
            uncovered = (Omission(side=side, argument=place, span=whole),)
        found.append(
            AnnotatedExample(
                id=f"{right.id}+{change.name}",
                source=right.id,
                example=given_instead(right.example, given),
                coverage="full" if change.extra else "none",
                hallucination="full" if change.taken else "none",
                uncovered=None if said is None else uncovered,
                hallucinated=None if said is None else hallucinated,
                overlap=right.overlap,
            )
        )
    return found


def given_instead(example: NpovExample, arguments: Arguments) -> NpovExample:
    """The same response to other arguments."""
    return example.model_copy(update={side: tuple(arguments[side]) for side in SIDES})
