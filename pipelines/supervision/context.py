"""Sentences of evidence among others of their page: a passage is read, not a sentence alone.

A tagger that learned from single sentences finds a decisive one among others badly. Here every
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

ALIKE = 0.5
"""Likeness from which on two sentences are taken for versions of one."""


@lru_cache(maxsize=100_000)  # a page's sentences are neighbours of many claims
def content_words(text: str) -> frozenset[str]:
    """Words that say what a text is about.

    They have four letters or more, a digit, or a letter outside ASCII.
    """
    return frozenset(
        term for term in terms(text) if len(term) > 3 or not (term.isascii() and term.isalpha())
    )


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Share of words that two texts have in common, of those of either; in [0, 1]."""
    return len(one & other) / len(one | other) if one or other else 1.0


def distinct(texts: Iterable[str]) -> list[str]:
    """Texts of which none is a version of one before it, in order."""
    kept: list[tuple[str, frozenset[str]]] = []
    for text in texts:
        words = content_words(text)
        if all(likeness(words, other) < ALIKE for _, other in kept):
            kept.append((text, words))
    return [text for text, _ in kept]


FIRST = 6
"""Words by which reserved texts and others are looked for inside each other. Shorter ones say
little, and are known only as they are."""


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
        """Whether a text is a reserved one, has one of them inside, or is a part of one."""
        plain = normal(text)
        return plain in self._texts or any(
            reserved in plain or plain in reserved
            for start in _in_a_row(plain)
            for reserved in self._by_words.get(start, ())
        )

    def trainable(self, pairs: Iterable[LabelledPair]) -> list[LabelledPair]:
        """The pairs of which neither side shows a reserved text."""
        chosen = list(pairs)
        texts = {text for pair in chosen for text in (pair.premise, pair.hypothesis)}
        shown = {text for text in texts if text in self}
        return [pair for pair in chosen if not shown & {pair.premise, pair.hypothesis}]


def _in_a_row(plain: str) -> list[int]:
    """Of every place of a text, the hash of the `FIRST` words from there on."""
    row = words(plain)
    return [hash(tuple(row[n : n + FIRST])) for n in range(len(row) - FIRST + 1)]


def normal(text: str) -> str:
    """A text by which its copies are known: case and white space aside."""
    return " ".join(text.split()).casefold()


AROUND = (1, 4)
"""Fewest and most sentences around the evidence, and in a passage without it."""

FEW = 1
"""Most words that a sentence of a passage without evidence has in common with the claim, those of
the page's name aside: what has more may say something of the claim."""

SILENT = 1 / 3
"""Share of claims that get a passage without evidence as well, as in `passages.SILENT`."""


def in_context(pairs: Sequence[LabelledPair], rng: random.Random) -> list[LabelledPair]:
    """Pairs whose premise is a sentence of the page that their group names, among others of it.

    A sentence that is a version of the evidence, or was labelled for the same claim, may say
    something of the claim, and is no neighbour. For VitaminC, whose pages come in revisions.
    A premise that has no neighbour, and a pair without a group, gives nothing.
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
    """FoolMeTwice: the gold sentences among others of their section, in the order of its pages.

    The release has no pages, but many claims of a page, each with some ten of its sentences and
    their sections. All of them together stand for the page. The passage without evidence is of
    other sections; sentences that claims of the test half show as well (`reserved`) are left out.
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
        pair = LabelledPair(
            premise=" ".join(gold),
            hypothesis=claim.text,
            label=Label.SUPPORT if claim.label == "SUPPORTS" else Label.REFUTE,
            source="fm2",
            group=claim.text,
        )
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

    Evidence stays together and in order; so do the neighbours, which are sentences in a row where
    they come as such.
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
    """The sentences of a page that have next to no word of a claim, those of its name aside."""
    claim = content_words(pair.hypothesis) - page
    return [text for text in sentences if len(claim & content_words(text)) <= FEW]
