"""Pairs of claims and passages: WiCE, FoolMeTwice, CLIMATE-FEVER, and documents alone."""

import random
from collections.abc import Sequence

from nli.labels import Label
from nli.pairs import LabelledPair
from nli.sentences import sentences
from pipelines.data.climate_fever import ClimateClaim
from pipelines.data.fool_me_twice import GameClaim
from pipelines.data.wice import CitedClaim
from pipelines.supervision.context import SILENT, ReservedTexts, labelled_pair
from pipelines.text.substitution import exchanged, falsified, pool

PASSAGE = 7
"""Sentences of a passage of WiCE."""

MOST = 20 * PASSAGE
"""Number of a page's first sentences that become passages; some pages list thousands."""

DISTRACTORS = (2, 6)
"""For FoolMeTwice: fewest and most sentences around the gold ones, or in a passage without them."""

WORDS = (6, 35)
"""Fewest and most words of a sentence that becomes a claim in `own_sentences`."""

AROUND = 3
"""Most sentences of the passage on each side of that sentence."""


def wice(claims: Sequence[CitedClaim], rng: random.Random) -> list[LabelledPair]:
    """WiCE: each claim with up to three passages that support it, and up to two that do not.

    A claim that is supported in part counts as supported (ConflictScore, section 3). A page that
    does not support a claim does not refute it either: such pairs are irrelevant. If the page does
    not support a claim in the end, no passage has the sentences that were marked for it.
    """
    made = []
    for claim in claims:
        marked = {index for indices in claim.supporting_sentences for index in indices}
        supported = claim.label != "not_supported"
        labelled = []
        for indices in claim.supporting_sentences[:3] if supported else ():
            room = PASSAGE - (max(indices) - min(indices) + 1) if indices else -1
            if room >= 0:
                start = max(0, min(indices) - rng.randint(0, room))
                labelled.append((_passage(claim, start), Label.SUPPORT))
        starts = [
            start
            for start in range(0, len(claim.evidence), PASSAGE)
            if not marked & set(range(start, start + PASSAGE))
        ]
        for start in rng.sample(starts, min(2, len(starts))):
            labelled.append((_passage(claim, start), Label.IRRELEVANT))
        made += [
            labelled_pair("wice", text, claim.claim, label) for text, label in labelled if text
        ]
    return made


def wice_passages(claim: CitedClaim) -> list[str]:
    """The first `MOST` sentences of a claim's page, in passages."""
    return [_passage(claim, start) for start in range(0, min(len(claim.evidence), MOST), PASSAGE)]


def _passage(claim: CitedClaim, start: int) -> str:
    return " ".join(" ".join(claim.evidence[start : start + PASSAGE]).split())


def fool_me_twice(
    claims: Sequence[GameClaim], rng: random.Random, reserved: ReservedTexts
) -> list[LabelledPair]:
    """FoolMeTwice: each claim with its gold sentences among retrieved ones, some with others alone.

    The latter have the lowest ranks of the retrieval: they are on topic, but rarely say anything
    about the claim. With as many of these passages as with evidence, a small model learns to call
    everything irrelevant, since the inference that such claims need is beyond it. Sentences that
    the test half also shows (`reserved`) are left out, and claims with such a gold sentence.
    """
    made = []
    for claim in claims:
        gold = [s.text for s in claim.gold_evidence]
        if any(text in reserved for text in gold):
            continue
        others = [
            s.text
            for s in claim.retrieved_evidence
            if s.text not in reserved and s.text not in set(gold)
        ]
        around = rng.sample(others, min(rng.randint(*DISTRACTORS), len(others)))
        passage = rng.sample([*gold, *around], len(gold) + len(around))
        made.append(labelled_pair("fm2-passages", " ".join(passage), claim.text, claim.label))
        lowest = others[-rng.randint(*DISTRACTORS) :]
        if lowest and rng.random() < SILENT:
            alone = " ".join(lowest)
            made.append(labelled_pair("fm2-passages", alone, claim.text, Label.IRRELEVANT))
    return made


def climate_fever(
    claims: Sequence[ClimateClaim], rng: random.Random, reserved: ReservedTexts
) -> list[LabelledPair]:
    """CLIMATE-FEVER: each claim with a decisive sentence among silent ones, and with these alone.

    Single sentences with their labels are already in the union of sentence-level sets. Sentences
    that the test half also shows (`reserved`) are left out.
    """
    made = []
    for claim in claims:
        shown = [sentence for sentence in claim.evidences if sentence.evidence not in reserved]
        silent = [s.evidence for s in shown if s.evidence_label == "NOT_ENOUGH_INFO"]
        decisive = [s for s in shown if s.evidence_label != "NOT_ENOUGH_INFO"]
        labelled: list[tuple[list[str], str]] = []
        for sentence in decisive:
            around = rng.sample(silent, min(rng.randint(1, 3), len(silent)))
            if around:
                passage = rng.sample([sentence.evidence, *around], 1 + len(around))
                labelled.append((passage, sentence.evidence_label))
        if len(silent) > 2:
            labelled.append((silent[:3], Label.IRRELEVANT))
        made += [
            labelled_pair("climate-fever-passages", " ".join(passage), claim.claim, label)
            for passage, label in labelled
        ]
    return made


def own_sentences(documents: Sequence[str], rng: random.Random) -> list[LabelledPair]:
    """Three pairs per document, from its text alone: a sentence as the claim, and its passage.

    No labels are needed: the passage supports its sentence, contradicts it once a number, date or
    name in one of the two is exchanged, and is silent once the sentence is taken out. The first two
    pairs differ only in the exchanged part, wherever the passage has it, so nothing else can tell
    them apart.
    """
    names = pool(documents)
    made = []
    for document in dict.fromkeys(documents):
        parts = [document[span.start : span.end] for span in sentences(document)]
        usable = [n for n, part in enumerate(parts) if WORDS[0] <= len(part.split()) <= WORDS[1]]
        for number in rng.sample(usable, min(1, len(usable))):
            claim = parts[number]
            first = max(0, number - rng.randint(0, AROUND))
            before, after = parts[first:number], parts[number + 1 : number + 1 + AROUND]
            passage = " ".join([*before, claim, *after])
            rest = " ".join([*before, *after])
            changed = falsified(claim, rng, names, within=document)
            if changed is None or not rest:
                continue
            text, mention, substitute = changed
            altered = exchanged(passage, mention.text, substitute, as_written=True)
            refuted = (passage, text) if rng.random() < 0.5 else (altered, claim)
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
