"""Does a text support a statement, refute it, or neither? Calibrated, with the deciding passage."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from nli import calibration
from nli.batching import distinct, in_threads
from nli.calibration import AGGREGATIONS, Calibration, softmax
from nli.errors import TaggerError
from nli.labels import LABELS, Label
from nli.model import TOKENISED_AT_ONCE, Encoder, Precision
from nli.pairs import Pair
from nli.sentences import Span, sentences
from nli.windows import windows

LEAST_PREMISE = 16
"""Tokens of premise that a hypothesis must leave room for."""

_AS_IT_IS = Calibration()
_EMPTY = "an empty text or an empty statement cannot be judged; leave the pair out"


class UnfitError(TaggerError):
    """Some pairs cannot be judged, each with its reason in one line; the others can."""

    def __init__(self, reasons: Mapping[Pair, str]) -> None:
        super().__init__(next(iter(reasons.values())))
        self.reasons = reasons


@dataclass(frozen=True)
class Tag:
    """The tag of one pair.

    Attributes:
        probabilities: In the order of `LABELS`, summing to 1.
        label, confidence: The most probable (the first of equals), and u, its probability.
        rationale: The passage of the premise that decided: the window in which the label is most
            probable, or on request its sentence. None for `irrelevant`, which no passage decides.
        windows: Number of windows that cover the premise; 0 if one of its sentences is the
            hypothesis.
    """

    probabilities: tuple[float, float, float]
    label: Label
    confidence: float
    rationale: Span | None
    windows: int


def stated(premise: str, hypothesis: str) -> Span | None:
    """The sentence of a premise that equals the hypothesis but for case, space and full stops."""
    wanted = _folded(hypothesis)
    if wanted not in _folded(premise):
        return None
    return next((s for s in sentences(premise) if _folded(premise[slice(*s)]) == wanted), None)


@lru_cache(maxsize=16)  # pairs come by premise
def _folded(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(".")


@dataclass(frozen=True)
class Reading:
    """The model's raw output for one pair: spans, (w,), and logits, (w, 3), of its windows.

    Logits are in the order of `LABELS`.
    """

    spans: tuple[Span, ...]
    logits: NDArray[np.float32]


@dataclass(frozen=True)
class Tagger:
    """A cross-encoder, with windows of premises and their aggregation into a tag."""

    encoder: Encoder
    calibration: Calibration = _AS_IT_IS

    @classmethod
    def load(
        cls, folder: Path, *, precision: Precision = "auto", device: str | None = None
    ) -> Self:
        """Load a folder's model (see `Encoder.load`) and, where it has one, its calibration.

        Raises:
            TaggerError: The folder or its calibration is refused, or the device is missing.
        """
        encoder = Encoder.load(folder, precision=precision, device=device)
        return cls(encoder, calibration.read(folder) or Calibration())

    @property
    def digest(self) -> str:
        """`folder.folder_digest` of the folder when it was loaded."""
        return self.encoder.digest

    @property
    def device(self) -> str:
        """Where it computes, as torch names it."""
        return self.encoder.device

    def tag(
        self,
        pairs: Sequence[Pair],
        on_progress: Callable[[int], None] | None = None,
        *,
        rationale: bool = False,
    ) -> list[Tag]:
        """Tag pairs, (n,), in their order. Equal pairs are scored once.

        A premise that states the hypothesis in so many words supports it, without being scored.

        Args:
            pairs: Their order has no effect on a tag.
            on_progress: Called with the number of pairs done since the last call; 0 while
                rationales are narrowed.
            rationale: Narrow the deciding window down to a sentence, for the labels support and
                refute: each sentence of the window is scored alone, and the one in which the label
                is most probable is the rationale. Probabilities stay as they were.

        Raises:
            UnfitError: A premise or hypothesis is blank or cannot be read, or a hypothesis does not
                fit. Nothing was scored.
        """
        report = on_progress or _say_nothing
        unique, index = distinct([Pair(*pair) for pair in pairs])
        verbatim = {pair: span for pair in unique if (span := stated(*pair)) is not None}
        scored = [pair for pair in unique if pair not in verbatim]
        if not scored:
            report(len(pairs))
        readings = self.read(scored, _as_pairs(len(pairs), report))
        tags = [self.conclude(reading) for reading in readings]
        if rationale:
            # All pairs are counted already, but a caller may want to stop here.
            tags = self._narrowed(scored, tags, lambda _: report(0))
        known = dict(zip(scored, tags, strict=True))
        known |= {pair: _supported(span) for pair, span in verbatim.items()}
        return [known[unique[place]] for place in index]

    def read(
        self, pairs: Sequence[Pair], on_progress: Callable[[float], None] | None = None
    ) -> list[Reading]:
        """Score every window of every pair, for fitting a calibration. Raises as `tag`.

        `on_progress` gets the share of all windows, in [0, 1], done since the last call.
        """
        spans = self._windows(pairs)
        flat = [
            Pair(pair.premise[slice(*span)], pair.hypothesis)
            for pair, parts in zip(pairs, spans, strict=True)
            for span in parts
        ]
        report = on_progress or _say_nothing
        logits = self.encoder.logits(flat, lambda done: report(done / len(flat)))
        ends = np.cumsum([len(parts) for parts in spans])
        return [
            Reading(tuple(parts), logits[end - len(parts) : end])
            for parts, end in zip(spans, ends, strict=True)
        ]

    def conclude(self, reading: Reading) -> Tag:
        """From the windows' logits to a tag: temperature, aggregation, isotonic regression."""
        fitted = self.calibration
        by_window = softmax(reading.logits, fitted.divisor)
        joined = AGGREGATIONS[fitted.aggregation](by_window)
        shares = calibration.apply(fitted, joined[np.newaxis])[0]
        best = int(np.argmax(shares))
        deciding = reading.spans[int(np.argmax(by_window[:, best]))]
        support, refute, irrelevant = (float(share) for share in shares)
        return Tag(
            probabilities=(support, refute, irrelevant),
            label=LABELS[best],
            confidence=float(shares[best]),
            rationale=None if LABELS[best] is Label.IRRELEVANT else deciding,
            windows=len(reading.spans),
        )

    def _windows(self, pairs: Sequence[Pair]) -> list[list[Span]]:
        """The windows of each premise, given the room that its hypothesis leaves."""
        room, cut = cache(self._room), cache(self._cut)
        unfit: dict[Pair, str] = {}

        def fitted(pair: Pair) -> list[Span]:
            try:
                if not (pair.premise.strip() and pair.hypothesis.strip()):
                    raise TaggerError(_EMPTY)
                return cut(pair.premise, room(pair.hypothesis))
            except TaggerError as error:
                unfit[pair] = str(error)
                return []

        chunks = in_threads(lambda some: list(map(fitted, some)), pairs, TOKENISED_AT_ONCE)
        spans = list(chain.from_iterable(chunks))
        if unfit:
            raise UnfitError({pair: unfit[pair] for pair in pairs if pair in unfit})
        return spans

    def _room(self, hypothesis: str) -> int:
        """Tokens that a hypothesis leaves for a window of the premise."""
        (length,) = self.encoder.count([hypothesis])
        both = self.encoder.max_tokens - self.encoder.special_tokens
        if length > both - LEAST_PREMISE:
            shown = f"{hypothesis[:60]}{'…' if len(hypothesis) > 60 else ''}"
            raise TaggerError(
                f"the statement '{shown}' has {length:,} tokens where at most"
                f" {both - LEAST_PREMISE:,} fit beside a text; shorten it"
            )
        return min(both - length, self.calibration.window_tokens)

    def _cut(self, premise: str, budget: int) -> list[Span]:
        return windows(premise, self.encoder.count, budget, self.calibration.overlap)

    def _narrowed(
        self, pairs: Sequence[Pair], tags: Sequence[Tag], on_batch: Callable[[int], None]
    ) -> list[Tag]:
        """The same tags with a sentence as rationale where the window has several."""
        narrowed = list(tags)
        divided: list[tuple[int, list[Span]]] = []
        for place, (pair, tag) in enumerate(zip(pairs, tags, strict=True)):
            if (window := tag.rationale) is not None:
                parts = [
                    Span(window.start + span.start, window.start + span.end)
                    for span in sentences(pair.premise[slice(*window)])
                ]
                if len(parts) > 1:
                    divided.append((place, parts))
        alone = [
            Pair(pairs[place].premise[slice(*span)], pairs[place].hypothesis)
            for place, parts in divided
            for span in parts
        ]
        shares = iter(softmax(self.encoder.logits(alone, on_batch)))
        for place, parts in divided:
            column = LABELS.index(tags[place].label)
            scores = [float(next(shares)[column]) for _ in parts]
            narrowed[place] = replace(tags[place], rationale=parts[int(np.argmax(scores))])
        return narrowed


def _supported(span: Span) -> Tag:
    return Tag((1.0, 0.0, 0.0), Label.SUPPORT, 1.0, rationale=span, windows=0)


def shipped() -> Path:
    """The folder of the tagger that comes with this package."""
    return Path(__file__).parent / "shipped"


def _say_nothing(_: float) -> None: ...


def _as_pairs(pairs: int, tell: Callable[[int], None]) -> Callable[[float], None]:
    """Turn shares done into numbers of whole pairs, which add up to all of them."""
    share, reported = 0.0, 0

    def on_share(more: float) -> None:
        nonlocal share, reported
        share += more
        done = int(share * pairs + 1e-6)
        tell(done - reported)
        reported = done

    return on_share
