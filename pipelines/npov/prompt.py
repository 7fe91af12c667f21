"""The curly-brace format of the NPOV Response Task (NPOV, appendix B, figure 3).

It is code and no template, since salience must know where each argument stands. Braces in texts
become parentheses, so that no argument closes its field.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pipelines.npov.example import SIDES, NpovExample, Perspectives, Side

Span = tuple[int, int]
"""Characters [start, end)."""

Spans = Mapping[Side, tuple[Span, ...]]
"""Side -> where each of its arguments stands in a text."""

_UNBRACED = str.maketrans("{}", "()")


@dataclass(frozen=True)
class NpovPrompt:
    """What a model reads before it writes a response, up to the brace that this stands in."""

    text: str
    spans: Spans


def npov_prompt(example: NpovExample) -> NpovPrompt:
    """The input sequence of figure 3 and the target's opening; the response is not looked at."""
    text, spans = _input_sequence(example)
    return NpovPrompt(f"{text}{unbraced(example.opening)}}}\nNeutral response core: {{", spans)


def input_text(given: NpovExample | Perspectives) -> str:
    """The input sequence of figure 3, up to the brace that the opening stands in."""
    return _input_sequence(given)[0]


def response_pair(example: NpovExample) -> tuple[str, str]:
    """Input and target sequence of figure 3, to tune a response generator on.

    The opening sentence is the target's, as in the figure; `npov_prompt` continues it.
    """
    given = input_text(example)
    opening = npov_prompt(example).text.removeprefix(given)
    return given, f"{opening}{unbraced(example.response)}}}"


def _input_sequence(given: NpovExample | Perspectives) -> tuple[str, Spans]:
    text = f"User question: {{{unbraced(given.question)}}}\n"
    if given.topic:
        text += f"Topic: {{{unbraced(given.topic)}}}\n"
    spans: dict[Side, tuple[Span, ...]] = {}
    for number, side in enumerate(SIDES, 1):
        text += f"Perspective #{number}: {{"
        found = []
        for place, argument in enumerate(map(unbraced, given.arguments(side))):
            text += f"{' ' if place else ''}{side}: "
            found.append((len(text), len(text) + len(argument)))
            text += argument
        spans[side] = tuple(found)
        text += "}\n"
    return f"{text}Neutral response opening: {{", spans


def unbraced(text: str) -> str:
    """A text as it stands within braces: its white space made even, its own braces parentheses."""
    return as_read(text).translate(_UNBRACED)


def as_read(response: str) -> str:
    """A response as a model reads it: its white space made even."""
    return " ".join(response.split())


def argument_spans(prompt: NpovPrompt) -> list[Span]:
    """Where the arguments of both sides stand in a prompt, those of the pro side first."""
    return [span for side in SIDES for span in prompt.spans[side]]
