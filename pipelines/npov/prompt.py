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
    text = f"User question: {{{unbraced(example.question)}}}\n"
    if example.topic:
        text += f"Topic: {{{unbraced(example.topic)}}}\n"
    spans: dict[Side, tuple[Span, ...]] = {}
    for number, side in enumerate(SIDES, 1):
        text += f"Perspective #{number}: {{"
        found = []
        for place, argument in enumerate(map(unbraced, example.arguments(side))):
            text += f"{' ' if place else ''}{side}: "
            found.append((len(text), len(text) + len(argument)))
            text += argument
        spans[side] = tuple(found)
        text += "}\n"
    text += f"Neutral response opening: {{{unbraced(example.opening)}}}\nNeutral response core: {{"
    return NpovPrompt(text, spans)


def unbraced(text: str) -> str:
    """A text as it stands within braces: its white space made even, its own braces parentheses."""
    return as_read(text).translate(_UNBRACED)


def as_read(response: str) -> str:
    """A response as a model reads it: its white space made even."""
    return " ".join(response.split())


def argument_spans(prompt: NpovPrompt) -> list[Span]:
    """Where the arguments of both sides stand in a prompt, those of the pro side first."""
    return [span for side in SIDES for span in prompt.spans[side]]


def response_pair(example: NpovExample) -> tuple[str, str]:
    """Input and target sequence of figure 3, to tune a response generator on.

    The opening sentence is the target's, as in the figure; `npov_prompt` continues it.

    Args:
        example: With the response to be learned.
    """
    text = npov_prompt(example).text
    # No text between braces has any, so the last but one is the opening's.
    start = text.rindex("{", 0, text.rindex("{")) + 1
    return text[:start], f"{text[start:]}{unbraced(example.response)}}}"
