"""Responses written by a template, and errors put into their arguments (NPOV, section 4.2)."""

from collections.abc import Callable, Mapping, Sequence
from random import Random

from pipelines.data.procon import Topic
from pipelines.npov.annotation import AnnotatedExample
from pipelines.npov.changes import Arguments, Design, drawn_changes, with_errors
from pipelines.npov.example import SIDES, NpovExample, Side
from pipelines.npov.prompt import Span, as_read
from pipelines.npov.rouge import overlap

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
    design: Design,
    reword: Reword = verbatim,
) -> list[AnnotatedExample]:
    """Examples without error, each followed by those that are made from it.

    Made from it are one with a coverage error, one with a hallucination, and one with both. Each
    topic has `per_topic` examples without error, if it has enough arguments. The seed decides all
    that is drawn, and a topic's examples do not depend on the other topics.
    """
    found = []
    for topic in topics:
        draw = Random(f"{seed} {topic.topic}")  # noqa: S311 - nothing is kept secret
        arguments = arguments_of(topic)
        usable = {
            side: [each for each in own if reword(each) is not None]
            for side, own in arguments.items()
        }
        ways = _matched_sizes(topic, usable, draw) if design == "matched" else _equal_sizes(usable)
        for number in range(per_topic if ways else 0):
            sizes = ways[number % len(ways)]
            used = {side: draw.sample(usable[side], sizes[side]) for side in SIDES}
            put = {side: [reword(each) or "" for each in used[side]] for side in SIDES}
            text, said = response(put, draw)
            right = _error_free(f"{topic.topic}/{number}", topic, used, text)
            unused = {
                side: [each for each in own if each not in used[side]]
                for side, own in arguments.items()
            }
            one, other = sizes
            changes = drawn_changes(used, unused, draw, design=design, sides=(one, other))
            found += [right, *with_errors(right, changes, draw, said=said)]
    return found


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
        if said and len(arguments_of(topic)[other]) > fewer:  # one is left to be left out
            found.append({one: more, other: fewer})
    return found


def _error_free(name: str, topic: Topic, used: Arguments, text: str) -> AnnotatedExample:
    """A response to the arguments used."""
    shared = [overlap(each, text) for side in SIDES for each in used[side]]
    known = [share for share in shared if share is not None]
    return AnnotatedExample(
        id=name,
        source=name,
        example=NpovExample(
            question=topic.question,
            topic=topic.topic,
            pro=tuple(used["pro"]),
            con=tuple(used["con"]),
            response=text,
        ),
        overlap=sum(known) / len(known) if known else 0.0,
    )


def arguments_of(topic: Topic) -> Arguments:
    """A topic's arguments of each side."""
    return {"pro": topic.pro, "con": topic.con}


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
