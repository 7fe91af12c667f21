"""A checked response as a page and as a picture."""

from collections.abc import Sequence

from pipelines.npov.check import Checked, CheckedText
from pipelines.report.heatmap import Map, Part, Unit
from pipelines.report.heatmap import section as heatmap_section
from pipelines.report.page import Section
from salience import heatmap
from salience.maps import WordMap

ANCHOR = "npov"

THRESHOLD = 0.99
"""Error from which arguments and sentences are marked: in the geometric mean their words have less
than a hundredth of a response word's salience."""


def section(checked: Checked, found: WordMap) -> Section:
    """Arguments and response side by side, their words shaded, what is left out or added marked."""
    return heatmap_section(
        Map(
            given=_parts(checked.arguments),
            response=_parts(checked.sentences),
            values=found.values,
            left_out="left out?",
            added="added?",
            threshold=THRESHOLD,
        ),
        anchor=ANCHOR,
        title="Response",
        question=checked.question,
        facts=(
            ("coverage error", f"{checked.coverage_error:.3f}"),
            ("hallucination error", f"{checked.hallucination_error:.3f}"),
        ),
        picture=picture(checked, found),
    )


def picture(checked: Checked, found: WordMap) -> bytes:
    """The word map as a PNG."""
    rows, columns = (
        [word.text for part in parts for word in part.words]
        for parts in (checked.arguments, checked.sentences)
    )
    return heatmap.png(found.values, rows, columns, checked.question)


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
