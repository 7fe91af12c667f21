"""Sentences of evidence among others of their page, to train on passages, not single sentences.

A tagger trained on single sentences is bad at finding a decisive one among others. Here every
sentence of evidence gets neighbours from its page, which do not change the label, and some claims
get neighbours alone, which are irrelevant to them.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

from nli.labels import Label
from nli.pairs import LabelledPair
from nli.sentences import sentences
from pipelines.data.fool_me_twice import GameClaim, Sentence
from pipelines.text.words import terms, words


def labelled_pair(
    source: str, premise: str, claim: str, label: str, group: str = ""
) -> LabelledPair:
    """A training pair; without a group, it is grouped by its claim.

    The label may have any spelling that `nli.labels.label_of` knows.
    """
    return LabelledPair(
        premise=premise, hypothesis=claim, label=label, source=source, group=group or claim
    )


ALIKE = 0.5
"""Two sentences of at least this likeness count as versions of one."""


@lru_cache(maxsize=100_000)  # a page's sentences are neighbours of many claims
def content_words(text: str) -> frozenset[str]:
    """Words that say what a text is about.

    They have four letters or more, a digit, or a letter outside ASCII.
    """
    return frozenset(
        term for term in terms(text) if len(term) > 3 or not (term.isascii() and term.isalpha())
    )


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Share, in [0, 1], of the words of two texts that both have."""
    return len(one & other) / len(one | other) if one or other else 1.0


def distinct(texts: Iterable[str]) -> list[str]:
    """The texts that are not versions of an earlier one, in order."""
    kept: list[tuple[str, frozenset[str]]] = []
    for text in texts:
        words = content_words(text)
        if all(likeness(words, other) < ALIKE for _, other in kept):
            kept.append((text, words))
    return [text for text, _ in kept]


FIRST = 6
"""Words in a row that a text must share with a reserved one to be compared with it. Shorter texts
say little, and are only compared as a whole."""


class ReservedTexts:
    """Texts that nothing may be trained on: claims, questions, documents and evidence sentences."""

    def __init__(self, texts: Iterable[str]) -> None:
        whole = list(texts)
        parts = (text[slice(*span)] for text in whole for span in sentences(text))
        self._texts = {normal(text) for text in (*whole, *parts)} - {""}
        self._by_words: dict[int, list[str]] = {}
        for text in sorted(self._texts):
            for start in dict.fromkeys(_in_a_row(text)):
                self._by_words.setdefault(start, []).append(text)

    def __contains__(self, text: str) -> bool:
        """Whether a text is, contains or is part of a reserved one."""
        plain = normal(text)
        return plain in self._texts or any(
            reserved in plain or plain in reserved
            for start in _in_a_row(plain)
            for reserved in self._by_words.get(start, ())
        )

    def trainable(self, pairs: Iterable[LabelledPair]) -> list[LabelledPair]:
        """The pairs without a reserved text on either side."""
        chosen = list(pairs)
        texts = {text for pair in chosen for text in (pair.premise, pair.hypothesis)}
        shown = {text for text in texts if text in self}
        return [pair for pair in chosen if not shown & {pair.premise, pair.hypothesis}]


def _in_a_row(plain: str) -> list[int]:
    """Hashes of all runs of `FIRST` words in a text."""
    row = words(plain)
    return [hash(tuple(row[n : n + FIRST])) for n in range(len(row) - FIRST + 1)]


def normal(text: str) -> str:
    """A text without differences of case and white space, to recognise copies."""
    return " ".join(text.split()).casefold()


AROUND = (1, 4)
"""Fewest and most sentences around the evidence, and in a passage without it."""

FEW = 1
"""Most words that a sentence of a passage without evidence may share with the claim, apart from the
page's name; with more, it may say something about the claim."""

SILENT = 1 / 3
"""Share of claims that get a passage without evidence as well."""


def in_context(pairs: Sequence[LabelledPair], rng: random.Random) -> list[LabelledPair]:
    """Pairs with their premise among other sentences of its page, which their group names.

    Sentences that are versions of the evidence, or were labelled for the same claim, may say
    something about the claim, and are not used as neighbours. For VitaminC, whose pages come in
    revisions. Pairs without a group or neighbours are skipped.
    """
    pages: dict[str | None, dict[str, None]] = defaultdict(dict)
    judged: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        pages[pair.group][pair.premise] = None
        judged[pair.hypothesis].add(pair.premise)
    words = {text: content_words(text) for page in pages.values() for text in page}
    made = []
    for pair in pairs:
        if pair.group is None:
            continue
        about = [words[text] for text in judged[pair.hypothesis]]
        others = distinct(
            text
            for text in pages[pair.group]
            if text not in judged[pair.hypothesis]
            and all(likeness(words[text], known) < ALIKE for known in about)
        )
        page = content_words(pair.group)
        made += _passages(pair, [pair.premise], others, rng, silent=_silent(pair, page, others))
    return list(dict.fromkeys(made))


def fool_me_twice(
    claims: Sequence[GameClaim], rng: random.Random, reserved: ReservedTexts
) -> list[LabelledPair]:
    """FoolMeTwice: the gold sentences among others of their section, or else of their page.

    The release has no pages, but many claims of a page, each with some ten of its sentences and
    their sections. All of them together stand for the page. Passages without evidence come from
    other sections; sentences that the test half also shows (`reserved`) are left out.
    """
    pages: dict[str, dict[str, Sentence]] = defaultdict(dict)
    for claim in claims:
        for sentence in (*claim.gold_evidence, *claim.retrieved_evidence):
            if sentence.text not in reserved:
                pages[claim.wikipedia_page].setdefault(sentence.text, sentence)
    made = []
    for claim in claims:
        gold = [sentence.text for sentence in claim.gold_evidence]
        if any(text in reserved for text in gold):
            continue
        sections = {sentence.section_header for sentence in claim.gold_evidence}
        page = [
            sentence
            for sentence in pages[claim.wikipedia_page].values()
            if sentence.text not in set(gold)
        ]
        pair = labelled_pair("fm2", " ".join(gold), claim.text, claim.label)
        near = [sentence.text for sentence in page if sentence.section_header in sections]
        far = [sentence.text for sentence in page if sentence.section_header not in sections]
        silent = _silent(pair, content_words(claim.wikipedia_page), far)
        made += _passages(pair, gold, near or far, rng, silent=silent)
    return made


def _passages(
    pair: LabelledPair,
    evidence: Sequence[str],
    neighbours: Sequence[str],
    rng: random.Random,
    *,
    silent: Sequence[str],
) -> list[LabelledPair]:
    """The evidence among neighbours and, for some claims, some of the `silent` sentences alone.

    Evidence stays together and in order; neighbours are consecutive, in the order given.
    """
    if not neighbours:
        return []
    count = min(rng.randint(*AROUND), len(neighbours))
    start = rng.randint(0, len(neighbours) - count)
    around = neighbours[start : start + count]
    place = rng.randint(0, count)
    passages: list[tuple[Sequence[str], Label]] = [
        ([*around[:place], *evidence, *around[place:]], pair.label)
    ]
    if silent and rng.random() < SILENT:
        count = min(rng.randint(*AROUND), len(silent))
        start = rng.randint(0, len(silent) - count)
        passages.append((silent[start : start + count], Label.IRRELEVANT))
    return [
        pair.model_copy(
            update={
                "premise": " ".join(" ".join(passage).split()),
                "label": label,
                "source": f"{pair.source}-context",
            }
        )
        for passage, label in passages
    ]


def _silent(pair: LabelledPair, page: frozenset[str], sentences: Sequence[str]) -> list[str]:
    """The sentences that share at most `FEW` words with a claim, apart from the page's name."""
    claim = content_words(pair.hypothesis) - page
    return [text for text in sentences if len(claim & content_words(text)) <= FEW]
