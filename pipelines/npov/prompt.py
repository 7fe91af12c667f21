"""The curly-brace format of the NPOV Response Task (NPOV, appendix B, figure 3).

It is code and no template, since salience must know where each argument stands.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pipelines.npov.example import SIDES, NpovExample, Side

Span = tuple[int, int]
"""Characters [start, end)."""

_UNBRACED = str.maketrans("{}", "()")


@dataclass(frozen=True)
class NpovPrompt:
    """What a model reads before it writes a response.

    Attributes:
        text: Up to the brace that the response stands in.
        spans: Side -> where each of its arguments stands in the text.
    """

    text: str
    spans: Mapping[Side, tuple[Span, ...]]


def npov_prompt(example: NpovExample) -> NpovPrompt:
    """The input sequence of figure 3, and the target's opening.

    Braces in texts become parentheses, so that no argument closes its field.

    Args:
        example: Question, arguments and opening; its response is not looked at.
    """
    text = f"User question: {{{_plain(example.question)}}}\n"
    if example.topic:
        text += f"Topic: {{{_plain(example.topic)}}}\n"
    spans: dict[Side, tuple[Span, ...]] = {}
    for number, side in enumerate(SIDES, 1):
        text += f"Perspective #{number}: {{"
        found = []
        for place, argument in enumerate(map(_plain, example.arguments(side))):
            text += f"{' ' if place else ''}{side}: "
            found.append((len(text), len(text) + len(argument)))
            text += argument
        spans[side] = tuple(found)
        text += "}\n"
    text += f"Neutral response opening: {{{_plain(example.opening)}}}\nNeutral response core: {{"
    return NpovPrompt(text, spans)


def _plain(text: str) -> str:
    return " ".join(text.split()).translate(_UNBRACED)
