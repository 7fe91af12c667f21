"""Claims beside sentences and passages that nobody labelled: what a teacher is asked about.

A teacher's probabilities are the only thing that is learned from them, so what they hold must be
like what a tagger meets: the sentences of a claim's own documents, most of which do not decide it,
and those of documents about something near it.
"""

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nli.pairs import UnlabelledPair
from nli.sentences import sentences
from pipelines.supervision.context import ReservedTexts, content_words

HANDFUL = 40
"""Other items of which the nearest to a claim is taken, as in `questions.HANDFUL`."""

PASSAGE = 4
"""Most sentences of a passage; those between them that cannot be judged are left out."""

WORDS = range(4, 80)
"""Words of a sentence that can be judged by itself."""


class Shown(NamedTuple):
    """The claims of one item of a release, and the texts that it shows beside them."""

    key: str
    claims: Sequence[str]
    texts: Sequence[str]


def unlabelled(
    source: str,
    items: Sequence[Shown],
    rng: random.Random,
    per_claim: int,
    reserved: ReservedTexts,
) -> Iterator[UnlabelledPair]:
    """So many pairs of each claim: half with its own texts, half with those of a near item.

    Half of either are single sentences, the others passages of up to `PASSAGE` in a row, but for
    those that cannot be judged by themselves and those that are `reserved`. Where an item has too
    few sentences there are fewer pairs.
    """
    cut = [[part for text in item.texts if (part := _sentences(text, reserved))] for item in items]
    words = [
        content_words(" ".join(sentence for text in texts for sentence in text)) for texts in cut
    ]
    for number, item in enumerate(items):
        for claim in dict.fromkeys(item.claims):
            near = _nearest(claim, number, words, rng)
            drawn = [
                *_drawn(cut[number], per_claim - per_claim // 2, rng),
                *(_drawn(cut[near], per_claim // 2, rng) if near is not None else ()),
            ]
            for text in drawn:
                yield UnlabelledPair(
                    premise=text,
                    hypothesis=" ".join(claim.split()),
                    source=f"{source}-unlabelled",
                    group=item.key,
                )


def _nearest(
    claim: str, number: int, words: Sequence[frozenset[str]], rng: random.Random
) -> int | None:
    """Of some other items the one that shares most words with a claim; None if it is alone."""
    others = [other for other in range(len(words)) if other != number and words[other]]
    wanted = content_words(claim)
    drawn = rng.sample(others, min(HANDFUL, len(others)))
    return max(drawn, key=lambda other: len(wanted & words[other]), default=None)


def _drawn(texts: Sequence[Sequence[str]], count: int, rng: random.Random) -> list[str]:
    """So many single sentences and passages of texts, in sentences, by turns; none twice."""
    places = [(text, n) for text in texts for n in range(len(text))]
    found: dict[str, None] = {}
    for turn, (text, n) in enumerate(rng.sample(places, min(count, len(places)))):
        length = 1 if turn % 2 == 0 else rng.randint(2, PASSAGE)
        found[" ".join(text[n : n + length])] = None
    return list(found)


def _sentences(text: str, reserved: ReservedTexts) -> list[str]:
    """The sentences of a text that can be judged by themselves and show nothing reserved."""
    found = (" ".join(text[span.start : span.end].split()) for span in sentences(text))
    return [each for each in found if len(each.split()) in WORDS and each not in reserved]
