"""From released data sets to training pairs: which recipe makes pairs of which release.

Two kinds of releases. FEVER, SciFact, RAGTruth and our everyday records have a split, which is kept
(`official`). The others serve both for training and for measuring here; they are cut into halves by
text (`released.half`), and what an item of the test half shows is never trained on, wherever else
it occurs.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nli.pairs import LabelledPair, read_pairs
from pipelines.data import climate_fever, conflictqa, fool_me_twice, ramdocs, wice
from pipelines.data.released import Split, split_of
from pipelines.errors import InputError
from pipelines.supervision import context, official, passages, questions
from pipelines.supervision.context import ReservedTexts
from pipelines.supervision.everyday import from_everyday
from pipelines.supervision.official import TrainingPairs
from pipelines.supervision.settings import PairSettings
from pipelines.supervision.views import views


@dataclass(frozen=True)
class Release:
    """How pairs are made of a release that is cut into halves by text.

    An item's key decides its half; `shows` gives all its other texts, `documents` those that are
    whole texts. No pair may show what the last argument of `pairs` reserves.
    """

    read: Callable[[Path], Sequence[Any]]
    key: Callable[[Any], str]
    shows: Callable[[Any], Iterable[str]]
    documents: Callable[[Any], Iterable[str]]
    pairs: Callable[[Sequence[Any], random.Random, ReservedTexts], list[LabelledPair]]


def _evidence(item: conflictqa.KnowledgeConflict) -> list[str]:
    return [" ".join(document.split()) for document, _ in questions.evidence(item)]


def _fool_me_twice(
    items: Sequence[fool_me_twice.GameClaim], rng: random.Random, reserved: ReservedTexts
) -> list[LabelledPair]:
    shuffled = passages.fool_me_twice(items, rng, reserved)
    return [*shuffled, *context.fool_me_twice(items, rng, reserved)]


HALVES: dict[str, Release] = {
    "ramdocs": Release(
        ramdocs.read,
        lambda item: item.question,
        lambda item: [document.text for document in item.documents],
        lambda item: [document.text for document in item.documents],
        questions.ramdocs,
    ),
    "conflictqa": Release(
        conflictqa.read,
        lambda item: item.question,
        lambda item: [item.memory_answer, item.counter_answer, *_evidence(item)],
        _evidence,
        lambda items, rng, _: questions.conflictqa(items, rng),
    ),
    "fool-me-twice": Release(
        fool_me_twice.read,
        lambda item: item.text,
        lambda item: [
            sentence.text for sentence in (*item.gold_evidence, *item.retrieved_evidence)
        ],
        lambda _: [],  # single sentences
        _fool_me_twice,
    ),
    "wice": Release(
        wice.read,
        lambda item: item.claim,
        lambda item: item.evidence,
        passages.wice_passages,
        lambda items, rng, _: passages.wice(items, rng),
    ),
    "climate-fever": Release(
        climate_fever.read,
        lambda item: item.claim,
        lambda item: [evidence.evidence for evidence in item.evidences],
        lambda _: [],  # single sentences
        passages.climate_fever,
    ),
}
"""Name of a release, as the command's option spells it -> its recipe."""


SPLIT: dict[str, Callable[[Path, Split, random.Random], TrainingPairs]] = {
    "fever": official.from_fever,
    "scifact": official.from_scifact,
    "ragtruth": official.from_ragtruth,
    "everyday": from_everyday,
}
"""Name of a release with its own split -> its recipe."""

KEPT_FROM: dict[Split, tuple[Split, ...]] = {"train": ("dev", "test"), "dev": ("test",)}
"""Part -> the parts whose texts its pairs may not show; other parts have none."""


def build(
    releases: Mapping[str, Path],
    settings: PairSettings,
    on_release: Callable[[str], None] = lambda _: None,
) -> TrainingPairs:
    """Pairs of several releases together.

    Each release has its own random generator, so that its pairs do not depend on which others are
    named.

    Raises:
        InputError: A release cannot be read, a named source has no pairs, or no pair is left.
        TaggerError: A file of pairs cannot be read.
    """
    part, seed = settings.half, settings.seed
    given: list[LabelledPair] = []
    pairs: list[LabelledPair] = []
    notes: list[str] = []
    for path in settings.nli or ():
        on_release(str(path))
        given += read_pairs(path)
    for name, recipe in SPLIT.items():
        if name in releases and not settings.only_given:
            on_release(name)
            built = recipe(releases[name], part, _generator(seed, name))
            pairs += built.pairs
            notes += built.notes
    items = _read_halves(releases, on_release)
    measured = [pair for path in settings.keep_from or () for pair in read_pairs(path)]
    reserved = _reserved(items, part, measured)
    if pages := settings.in_context:
        _refuse_unknown(pages, given)
        chosen = [pair for pair in reserved.trainable(given) if pair.source in pages]
        given += context.in_context(chosen, _generator(seed, "in-context"))
    documents: list[str] = []
    for name, release_items in items.items() if not settings.only_given else ():
        release, chosen = HALVES[name], _in_part(name, release_items, part)
        pairs += release.pairs(chosen, _generator(seed, name), reserved)
        whole = (text for item in chosen for text in release.documents(item))
        # Filter now: once a name is exchanged, a copy no longer matches the reserved text.
        documents += [text for text in whole if text not in reserved]
    if settings.own_sentences:
        pairs += passages.own_sentences(documents, _generator(seed, "own-sentences"))
    claims = ReservedTexts(pair.hypothesis for pair in measured)
    kept = reserved.trainable(dict.fromkeys([*given, *claims.trainable(pairs)]))
    lost = len({*given, *pairs}) - len(kept)
    if lost:
        notes.append(f"{lost:,} pairs contain a reserved text and are left out.")
    left_out = settings.leave_out or ()
    _refuse_unknown(left_out, kept)
    made = [pair for pair in kept if pair.source not in left_out]
    if not made:
        raise InputError("no pair is left; name more releases, or leave out fewer sources")
    if settings.views is not None:
        made = views(made, settings.views, seed)
    return TrainingPairs(tuple(made), tuple(notes))


def _read_halves(
    releases: Mapping[str, Path], on_release: Callable[[str], None]
) -> dict[str, Sequence[Any]]:
    """The items of all named releases that are cut into halves."""
    items = {}
    for name, release in HALVES.items():
        if name in releases:
            on_release(name)
            items[name] = release.read(releases[name])
    return items


def _reserved(
    items: Mapping[str, Sequence[Any]], part: Split, measured: Sequence[LabelledPair]
) -> ReservedTexts:
    """Texts that no pair of a part may show: other parts' texts and evaluation premises."""
    shown = [
        text
        for name, release_items in items.items()
        for other in KEPT_FROM.get(part, ())
        for item in _in_part(name, release_items, other)
        for text in (HALVES[name].key(item), *HALVES[name].shows(item))
    ]
    return ReservedTexts([*shown, *(pair.premise for pair in measured)])


def _refuse_unknown(named: Sequence[str], pairs: Iterable[LabelledPair]) -> None:
    sources = {pair.source for pair in pairs}
    for source in named:
        if source not in sources:
            raise InputError(
                f"no pair has the source '{source}'; the sources are: "
                f"{', '.join(sorted(sources)) or 'none'}"
            )


def _in_part(name: str, items: Sequence[Any], part: Split) -> list[Any]:
    """The items of a release that belong to a part."""
    key = HALVES[name].key
    return [item for item in items if part in ("all", split_of(key(item)))]


def _generator(seed: int, name: str) -> random.Random:
    return random.Random(f"{seed}:{name}")  # noqa: S311  (sampling, not secrets)
