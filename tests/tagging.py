"""A scripted tagger in place of a cross-encoder: known probabilities, every batch logged."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from nli.labels import LABELS
from nli.pairs import Pair
from nli.risk import RiskCurve
from nli.sentences import Span
from nli.tagger import Tag, UnfitError
from pipelines.judge.tagger import TaggerFolder

SUPPORT, REFUTE, UNSURE = (0.9, 0.06, 0.04), (0.05, 0.85, 0.1), (0.2, 0.3, 0.5)

Weigh = Callable[[Pair], tuple[float, float, float]]


@dataclass
class ScriptedTagger:
    """Tags by rule.

    Attributes:
        weigh: Probabilities of a pair, in the order of `LABELS`.
        too_long: Hypotheses that do not fit.
        delay_s: Seconds per batch.
        batches: The received pairs, by batch.
        threads: Names of the calling threads.
        loads: How often it was loaded.
        device: The device it reports.
        shows: Whether it is asked for the decisive sentence.
    """

    weigh: Weigh = lambda _: UNSURE
    too_long: tuple[str, ...] = ()
    delay_s: float = 0.0
    batches: list[list[Pair]] = field(default_factory=list)
    threads: list[str] = field(default_factory=list)
    loads: int = 0
    device: str = "cpu"
    shows: bool = True

    def tag(
        self,
        pairs: Sequence[Pair],
        on_progress: Callable[[int], None] | None = None,
        *,
        rationale: bool = False,
    ) -> list[Tag]:
        assert rationale == self.shows
        if long := [pair for pair in pairs if pair.hypothesis in self.too_long]:
            raise UnfitError({pair: f"'{pair.hypothesis}' is too long" for pair in long})
        self.batches.append(list(pairs))
        self.threads.append(threading.current_thread().name)
        for _ in range(10 if self.delay_s else 1):
            time.sleep(self.delay_s / 10)
            if on_progress is not None:
                on_progress(1)
        return [self._tag(pair) for pair in pairs]

    def _tag(self, pair: Pair) -> Tag:
        shares = self.weigh(pair)
        top = max(shares)
        told = "." in pair.premise and top != shares[2]  # no passage makes a text irrelevant
        return Tag(
            probabilities=shares,
            label=LABELS[shares.index(top)],
            confidence=top,
            rationale=Span(0, pair.premise.index(".") + 1) if told else None,
            windows=1,
        )

    def load(self) -> "ScriptedTagger":
        self.loads += 1
        return self


def by_table(table: Mapping[tuple[str, str], tuple[float, float, float]]) -> Weigh:
    """Probabilities looked up by (document text, claim); uncertain for all others."""
    return lambda pair: table.get((pair.premise, pair.hypothesis), UNSURE)


@dataclass(frozen=True)
class ScriptedFolder(TaggerFolder):
    """A tagger folder that contains a scripted tagger."""

    tagger: ScriptedTagger = field(default_factory=ScriptedTagger)

    def load(self) -> ScriptedTagger:
        return self.tagger.load()


def folder_of(
    tagger: ScriptedTagger, *, curve: RiskCurve | None = None, digest: str = "0123456789abcdef"
) -> ScriptedFolder:
    return ScriptedFolder(
        "scripted-nli", Path("nowhere"), digest, curve=curve, fitted_on="made <up>", tagger=tagger
    )


def offer(
    monkeypatch: pytest.MonkeyPatch, tagger: ScriptedTagger, curve: RiskCurve | None = None
) -> ScriptedTagger:
    """Replace the shipped tagger by a scripted one."""
    folder = folder_of(tagger, curve=curve)
    monkeypatch.setattr("pipelines.judge.tagger.shipped_tagger", lambda: folder)
    return tagger


def word_for_word(pair: Pair) -> tuple[float, float, float]:
    """A text supports what it says verbatim, and is irrelevant to anything else."""
    return SUPPORT if pair.hypothesis in pair.premise else UNSURE


def said_in(pair: Pair) -> tuple[float, float, float]:
    """A text supports what it says, whoever says it, and is irrelevant to anything else."""
    claim, text = (part.lower().strip(". ") for part in (pair.hypothesis, pair.premise))
    return SUPPORT if claim in text else UNSURE
