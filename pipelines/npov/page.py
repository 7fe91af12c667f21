"""A checked response as a page and as a picture."""

from collections.abc import Sequence
from dataclasses import replace

from pipelines.npov.check import Checked, CheckedText, SalienceSettings, sentence_spans
from pipelines.npov.example import NpovExample
from pipelines.npov.prompt import argument_spans, npov_prompt
from pipelines.report.heatmap import Map, Part, parts
from pipelines.report.heatmap import section as heatmap_section
from pipelines.report.page import Section
from salience.maps import WordMap, tokens_of, word_map

ANCHOR = "npov"

THRESHOLD = 0.99
"""Error from which arguments and sentences are marked: in the geometric mean their words have less
than a hundredth of a response word's salience."""


def section(
    checked: Checked,
    example: NpovExample,
    shown: WordMap,
    settings: SalienceSettings,
    picture: bytes | None,
) -> Section:
    """Arguments and response side by side, their words shaded, what is left out or added marked.

    Args:
        checked: Scores.
        example: What was checked.
        shown: The map they come from, or its `by_token`.
        settings: How; the threshold of the marks is one of the paper's choices alone.
        picture: The map as a PNG.
    """
    marks = marked(settings)
    given, response = parts(
        shown,
        argument_spans(npov_prompt(example)),
        sentence_spans(shown.encoded),
        settings.aggregation,
    )
    return heatmap_section(
        Map(
            given=_scored(given, checked.arguments),
            response=_scored(response, checked.sentences),
            values=shown.values,
            left_out="left out?" if marks else "",
            added="added?" if marks else "",
            threshold=THRESHOLD,
        ),
        anchor=ANCHOR,
        title="Response",
        question=checked.question,
        facts=(
            ("coverage error", f"{checked.coverage_error:.3f}"),
            ("hallucination error", f"{checked.hallucination_error:.3f}"),
        ),
        picture=picture,
    )


def by_token(example: NpovExample, found: WordMap) -> WordMap:
    """The map that words' is made from, between tokens of the arguments and of the response.

    Args:
        example: What was checked.
        found: Its `argument_map`, with the gradients of every token.
    """
    encoded = found.encoded
    given = tokens_of(encoded, argument_spans(npov_prompt(example)))
    response = tokens_of(encoded, sentence_spans(encoded))
    return word_map(encoded, found.salience, given, response)


def marked(settings: SalienceSettings) -> bool:
    """Whether scores are shares of salience, of which the threshold speaks."""
    return settings.aggregation == "max" and settings.average == "geometric"


def _scored(texts: Sequence[Part], checked: Sequence[CheckedText]) -> tuple[Part, ...]:
    """Arguments and sentences with their side and their own error, which is of words always."""
    return tuple(
        replace(text, label=each.side or "", error=each.error)
        for text, each in zip(texts, checked, strict=True)
    )
