"""A checked response as a page and as a picture."""

from collections.abc import Sequence

from pipelines.npov.check import Checked, CheckedText, SalienceSettings
from pipelines.report.heatmap import Map, Part, Unit
from pipelines.report.heatmap import section as heatmap_section
from pipelines.report.page import Section
from salience.maps import WordMap

ANCHOR = "npov"

THRESHOLD = 0.99
"""Error from which arguments and sentences are marked: in the geometric mean their words have less
than a hundredth of a response word's salience."""


def section(
    checked: Checked, found: WordMap, settings: SalienceSettings, picture: bytes
) -> Section:
    """Arguments and response side by side, their words shaded, what is left out or added marked.

    Args:
        checked: Scores.
        found: The map they come from.
        settings: How; the threshold of the marks is one of the paper's choices alone.
        picture: The map as a PNG.
    """
    marks = marked(settings)
    return heatmap_section(
        Map(
            given=_parts(checked.arguments),
            response=_parts(checked.sentences),
            values=found.values,
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


def marked(settings: SalienceSettings) -> bool:
    """Whether scores are shares of salience, of which the threshold speaks."""
    return settings.aggregation == "max" and settings.average == "geometric"


def _parts(texts: Sequence[CheckedText]) -> tuple[Part, ...]:
    return tuple(
        Part(
            text=each.text,
            units=tuple(Unit(word.start, word.end, word.error) for word in each.words),
            label=each.side or "",
            error=each.error,
        )
        for each in texts
    )
