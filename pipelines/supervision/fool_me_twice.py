"""Pairs from FoolMeTwice: a claim and a passage that has its evidence among other sentences."""

import random
from collections.abc import Sequence

from nli.labels import Label
from nli.pairs import LabelledPair
from pipelines.data.fool_me_twice import GameClaim
from pipelines.supervision.unseen import Unseen

SOURCE = "fm2-passages"

DISTRACTORS = (2, 6)
"""Fewest and most sentences around the gold ones, and in a passage without them."""

SILENT = 1 / 3
"""Share of claims that get a passage without evidence as well."""


def pairs(claims: Sequence[GameClaim], rng: random.Random, unseen: Unseen) -> list[LabelledPair]:
    """Each claim with its gold sentences among retrieved ones, and some with others of the page.

    The latter are taken from the lowest ranks of the retrieval: they have the topic, and most
    often say nothing of the claim. Where as many are trained on as have evidence, a small model
    learns to call everything irrelevant, since what such claims need of inference is beyond it.

    Args:
        claims: Of the training half.
        rng: Chooses sentences and their order.
        unseen: Sentences that claims of the test half show as well; they are left out.
    """
    made = []
    for claim in claims:
        gold = [s.text for s in claim.gold_evidence if s.text not in unseen]
        if len(gold) < len(claim.gold_evidence):
            continue
        others = [
            s.text
            for s in claim.retrieved_evidence
            if s.text not in unseen and s.text not in set(gold)
        ]
        label = Label.SUPPORT if claim.label == "SUPPORTS" else Label.REFUTE
        around = rng.sample(others, min(rng.randint(*DISTRACTORS), len(others)))
        passage = rng.sample([*gold, *around], len(gold) + len(around))
        made.append(_pair(" ".join(passage), claim, label))
        lowest = others[-rng.randint(*DISTRACTORS) :]
        if lowest and rng.random() < SILENT:
            made.append(_pair(" ".join(lowest), claim, Label.IRRELEVANT))
    return made


def _pair(passage: str, claim: GameClaim, label: Label) -> LabelledPair:
    return LabelledPair(
        premise=passage, hypothesis=claim.text, label=label, source=SOURCE, group=claim.text
    )
