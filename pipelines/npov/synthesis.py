"""Examples with known errors: by template, changed, reworded (NPOV, sections 4.1, 4.2)."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Annotated, Self

from pydantic import BaseModel, Field, model_validator

from pipelines.data.procon import Topic
from pipelines.data.records import Text
from pipelines.data.released import read_records
from pipelines.npov.example import (
    SIDES,
    AnnotatedExample,
    NpovExample,
    Omission,
    Side,
    Span,
    as_read,
    unbraced,
)
from pipelines.npov.settings import SAMPLES
from pipelines.npov.topics import in_words

Arguments = Mapping[Side, Sequence[str]]
"""Side -> its arguments."""


def with_errors(right: AnnotatedExample, topic: Topic, draw: Random) -> list[AnnotatedExample]:
    """An error-free response with other given arguments, which make errors (NPOV, section 4.2).

    An unused argument of the topic is added at a random place, so that the response leaves it out;
    a given one is taken away, so that the response adds it; or both. A side may lose its only
    argument. If the topic has no unused argument, one is only taken away. The wrong words of the
    response are known if `right.said` shows where it makes the argument that is taken away.
    """
    used = {side: right.example.arguments(side) for side in SIDES}
    known = {in_words(text) for texts in used.values() for text in texts}
    unused = [
        (side, text)
        for side, arguments in arguments_of(topic).items()
        for text in arguments
        if in_words(text) not in known
    ]
    more = draw.choice(unused) if unused else None
    fewer = draw.choice(right.example.places)
    changes: list[tuple[str, tuple[Side, int] | None, tuple[Side, str] | None]]
    changes = [("added", fewer, None)]
    if more:
        changes = [("left-out", None, more), *changes, ("both", fewer, more)]
    examples = []
    for name, taken, extra in changes:
        given = {side: list(used[side]) for side in SIDES}
        hallucinated: tuple[Span, ...] | None = ()
        uncovered: tuple[Omission, ...] = ()
        if taken is not None:
            side, place = taken
            del given[side][place]
            words = None if right.said is None else right.said[side][place]
            hallucinated = None if words is None else (words,)
        if extra is not None:
            side, argument = extra
            place = draw.randrange(len(given[side]) + 1)
            given[side].insert(place, argument)
            whole = (0, len(unbraced(argument)))
            uncovered = (Omission(side=side, argument=place, span=whole),)
        examples.append(
            AnnotatedExample(
                id=f"{right.id}+{name}",
                source=right.id,
                example=given_instead(right.example, given),
                coverage="full" if extra else "none",
                hallucination="full" if taken else "none",
                uncovered=uncovered,
                hallucinated=hallucinated,
            )
        )
    return examples


def given_instead(example: NpovExample, arguments: Arguments) -> NpovExample:
    """The same response with other given arguments."""
    return example.model_copy(update={side: tuple(arguments[side]) for side in SIDES})


MOST_PER_SIDE = 3
"""Most arguments of a side (NPOV, section 4.1)."""

_OPENERS: Mapping[Side, tuple[str, ...]] = {
    "pro": ("Supporters say that", "Those in favour argue that", "Proponents hold that"),
    "con": ("On the other side, opponents say that", "Critics counter that", "Others object that"),
}
_LINKS = ("They also say that", "It is further argued that", "They add that")

Reword = Callable[[str], str | None]
"""Argument -> its wording in a response; None for arguments that no response may use."""


def verbatim(argument: str) -> str:
    """An argument unchanged."""
    return argument


def synthetic_examples(
    topics: Sequence[Topic],
    *,
    per_topic: int,
    seed: int,
    reword: Reword = verbatim,
) -> list[AnnotatedExample]:
    """Examples without error, each followed by those made from it (NPOV, section 4.2).

    Responses take turns at one, two and three arguments per side, as far as the topic has them.
    Each is followed by examples with a coverage error, a hallucination, and both. If it uses all
    arguments of its topic, it is followed only by one with a hallucination. The seed decides all
    draws, and a topic's examples do not depend on the other topics.
    """
    examples = []
    for topic in topics:
        draw = Random(f"{seed} {topic.topic}")  # noqa: S311 - nothing is kept secret
        usable = {
            side: [argument for argument in arguments if reword(argument) is not None]
            for side, arguments in arguments_of(topic).items()
        }
        most = min(MOST_PER_SIDE, *map(len, usable.values()))
        for number in range(per_topic if most else 0):
            size = number % most + 1
            used = {side: draw.sample(usable[side], size) for side in SIDES}
            put = {side: [reword(argument) or "" for argument in used[side]] for side in SIDES}
            text, said = response(put, draw)
            name = f"{topic.topic}/{number}"
            right = AnnotatedExample(
                id=name,
                source=name,
                example=NpovExample(
                    question=topic.question,
                    topic=topic.topic,
                    pro=tuple(used["pro"]),
                    con=tuple(used["con"]),
                    response=text,
                ),
                said=said,
            )
            examples += [right, *with_errors(right, topic, draw)]
    return examples


def arguments_of(topic: Topic) -> Arguments:
    """A topic's arguments by side."""
    return {"pro": topic.pro, "con": topic.con}


def response(
    arguments: Mapping[Side, Sequence[str]], draw: Random
) -> tuple[str, dict[Side, tuple[Span, ...]]]:
    """A neutral response by a template: each argument in its own sentence, the pro side first.

    It is returned with the spans of each side's arguments. Its phrases are drawn at random.
    """
    text = ""
    spans: dict[Side, list[Span]] = {side: [] for side in SIDES}
    for side in SIDES:
        for place, argument in enumerate(arguments[side]):
            text += f"{' ' if text else ''}{draw.choice(_LINKS if place else _OPENERS[side])} "
            said = as_read(_continued(argument))
            spans[side].append((len(text), len(text) + len(said)))
            text += f"{said}."
    return text, {side: tuple(places) for side, places in spans.items()}


def _continued(argument: str) -> str:
    """An argument inside a sentence: no full stop, lower-cased unless it begins with a name."""
    text = argument.rstrip(" .")
    first = text.split(" ", 1)[0]
    name = any(letter.isupper() or letter.isdigit() for letter in first[1:]) or len(first) == 1
    return text if name and first != "A" else text[:1].lower() + text[1:]


def paraphrased(annotated: AnnotatedExample, paraphrase: Reword) -> AnnotatedExample | None:
    """The example with its arguments in other words, its response unchanged (NPOV, section 4.1).

    None unless all of them have paraphrases. An omitted part of an argument becomes the whole
    argument.
    """
    put = {
        side: [paraphrase(argument) for argument in annotated.example.arguments(side)]
        for side in SIDES
    }
    changed = {side: [text for text in texts if text is not None] for side, texts in put.items()}
    if any(len(changed[side]) < len(put[side]) for side in SIDES):
        return None
    uncovered = annotated.uncovered and tuple(
        part.model_copy(update={"span": (0, len(unbraced(changed[part.side][part.argument])))})
        for part in annotated.uncovered
    )
    example = given_instead(annotated.example, changed)
    return annotated.model_copy(update={"example": example, "uncovered": uncovered})


def family(
    right: AnnotatedExample, topic: Topic, draw: Random, paraphrase: Reword | None = None
) -> list[tuple[AnnotatedExample, bool]]:
    """An error-free response and those made from it, each with whether it is paraphrased.

    With `paraphrase`, examples whose arguments can all be put in other words are repeated in these
    words (NPOV, section 4.1).
    """
    made = [right, *with_errors(right, topic, draw)]
    again = [paraphrased(example, paraphrase) for example in made] if paraphrase else []
    return [(example, False) for example in made] + [
        (example, True) for example in again if example is not None
    ]


DIGITS = 12


class _Line(BaseModel, frozen=True, extra="forbid"):
    paraphrase: Text
    argument: Text | None = None
    sha1: Annotated[str, Field(pattern=rf"^[0-9a-f]{{{DIGITS}}}$")] | None = None

    @model_validator(mode="after")
    def _one_name(self) -> Self:
        if (self.argument is None) == (self.sha1 is None):
            raise ValueError("either 'argument' or 'sha1' must be given")
        return self


def argument_digest(argument: str) -> str:
    """An argument's key in a file: the beginning of its SHA-1, with white space normalised."""
    plain = as_read(argument).encode("utf-8")
    return hashlib.sha1(plain, usedforsecurity=False).hexdigest()[:DIGITS]


def bundled_paraphrases() -> Mapping[str, str]:
    """Bundled paraphrases: of arguments of ProCon.org, and of the bundled topics."""
    names = ("procon_paraphrases.jsonl", "topics_paraphrases.jsonl")
    return {name: text for file in names for name, text in read_paraphrases(SAMPLES / file).items()}


def read_paraphrases(path: Path) -> Mapping[str, str]:
    """Digest of an argument -> its paraphrase.

    Raises:
        InputError: The file cannot be read, or a line has another format.
    """
    lines = read_records(path, _Line, "paraphrases")
    return {line.sha1 or argument_digest(line.argument or ""): line.paraphrase for line in lines}


def rewording(paraphrases: Mapping[str, str]) -> Reword:
    """Looks arguments up in `read_paraphrases`; those without a paraphrase are not used."""
    return lambda argument: paraphrases.get(argument_digest(argument))
