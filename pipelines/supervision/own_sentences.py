"""Pairs made of documents alone: a sentence as the claim, and the passage that it stands in.

No label is needed for these. The passage supports its own sentence; it contradicts the sentence
when a number, date or name in either of them is exchanged; and it is silent once the sentence is
taken out. The first two differ in this one part only, wherever the passage says it, so that nothing
else can tell them apart.
"""

import random
from collections.abc import Sequence

from nli.labels import Label
from nli.pairs import LabelledPair
from nli.windows import sentences
from pipelines.text.substitution import exchanged, falsified, pool

WORDS = (6, 35)
"""Fewest and most words of a sentence that becomes a claim."""

AROUND = 3
"""Most sentences of the passage on each side of it."""


def pairs(documents: Sequence[str], rng: random.Random) -> list[LabelledPair]:
    """Three pairs for a sentence of each document: supported, contradicted, and not mentioned."""
    names = pool(documents)
    made = []
    for document in dict.fromkeys(documents):
        parts = [document[span.start : span.end] for span in sentences(document)]
        able = [n for n, part in enumerate(parts) if WORDS[0] <= len(part.split()) <= WORDS[1]]
        for number in rng.sample(able, min(1, len(able))):
            claim = parts[number]
            first = max(0, number - rng.randint(0, AROUND))
            before, after = parts[first:number], parts[number + 1 : number + 1 + AROUND]
            passage = " ".join([*before, claim, *after])
            rest = " ".join([*before, *after])
            false = falsified(claim, rng, names, within=document)
            if false is None or not rest:
                continue
            text, mention, substitute = false
            other = exchanged(passage, mention.text, substitute, as_written=True)
            refuted = (passage, text) if rng.random() < 0.5 else (other, claim)
            for premise, hypothesis, label in (
                (passage, claim, Label.SUPPORT),
                (*refuted, Label.REFUTE),
                (rest, claim, Label.IRRELEVANT),
            ):
                made.append(
                    LabelledPair(
                        premise=" ".join(premise.split()),
                        hypothesis=" ".join(hypothesis.split()),
                        label=label,
                        source="own-sentences",
                    )
                )
    return made
