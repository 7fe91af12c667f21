"""The page of one response, and its map as a picture."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from pipelines.npov.check import AblationErrors, ResponseErrors, TextErrors
from pipelines.report import explorer, glance
from pipelines.report.blocks import Facts, fact
from pipelines.report.explorer import ExperimentView
from pipelines.report.heatmap import heatmap, picture
from pipelines.report.texts import Block, Heading, Note, Word, Words
from salience.heatmap import png as drawn

NAME = "npov"
CHECKED = "Is the response faithful?"
"""Title of the page of one response."""

THRESHOLD = 0.99
"""Error from which arguments and sentences are marked: in the geometric mean their words have less
than a hundredth of a response word's salience."""

LOSES_NOTHING = 1.0
"""The same threshold for ablation: an argument is marked if no sentence loses anything without it,
and a sentence if it loses nothing without any one argument."""

NATS = (
    "Nats are the log-probability that words of a sentence lose on average without an argument. A "
    "sentence is scored by the argument it rests on most, an argument by the sentence that rests "
    "on it most; an error of the response is 1 minus the lowest of these."
)
"""An explanation of scores by ablation, for readers."""


def response_view(
    checked: ResponseErrors,
    values: NDArray[np.floating],
    png: bytes | None,
    *,
    limit: float | None = 1 - THRESHOLD,
    nats: float | None = None,
    models: Sequence[glance.ModelUsed] = (),
) -> ExperimentView:
    """Arguments and response side by side, words shaded, omissions and additions marked.

    Args:
        checked: The scores, which come from the map.
        values: The map: (words of arguments, words of the response).
        png: The map as a picture.
        limit: Score up to which arguments and sentences are marked; None marks nothing. The default
            is for salience under the paper's aggregation, the maximum.
        nats: The value of the darkest cells, if the map is of an ablation.
        models: The models that were used.
    """
    darker = "the more salience" if nats is None else "the more of the word is lost without it"
    blocks: tuple[Block, ...] = (
        Heading(checked.question),
        Facts(
            (
                fact(
                    "Coverage error",
                    f"{checked.coverage_error:.3f}",
                    f"least used: “{checked.least_used.text}”",
                ),
                fact(
                    "Hallucination error",
                    f"{checked.hallucination_error:.3f}",
                    f"least grounded: “{checked.least_grounded.text}”",
                ),
            )
        ),
        *([] if nats is None else [Note(NATS)]),
        heatmap(
            _texts(checked.arguments),
            _texts(checked.sentences),
            values,
            left_out="" if limit is None else "left out?",
            added="" if limit is None else "added?",
            limit=limit or 0.0,
            nats=nats,
        ),
        *picture(png, darker),
    )
    return explorer.single(NAME, CHECKED, blocks, models)


def ablation_view(
    checked: AblationErrors, png: bytes | None, models: Sequence[glance.ModelUsed]
) -> ExperimentView:
    """The view of an ablation, with arguments and sentences marked from `LOSES_NOTHING` on."""
    return response_view(
        checked,
        np.array(checked.drops),
        png,
        limit=1 - LOSES_NOTHING,
        nats=_nats(checked),
        models=models,
    )


def ablation_picture(checked: AblationErrors) -> bytes:
    """Loss of the response's words (across) without each argument (down), as a PNG."""
    return drawn(
        np.array(checked.drops),
        [f"{argument.side}: {argument.text}" for argument in checked.arguments],
        [word.text for sentence in checked.sentences for word in sentence.words],
        checked.question,
        _nats(checked),
    )


def _nats(checked: AblationErrors) -> float:
    """The darkest value: the largest loss, but at least one nat, so that small losses stay pale."""
    return max(1.0, *map(max, checked.drops))


def _texts(checked: Iterable[TextErrors]) -> tuple[Words, ...]:
    """Arguments or sentences with their words, sides and scores, which are 1 minus the errors."""
    return tuple(
        Words(
            part.text,
            tuple(Word(word.start, word.end, 1 - word.error) for word in part.words),
            part.side or "",
            None if part.error is None else 1 - part.error,
        )
        for part in checked
    )
