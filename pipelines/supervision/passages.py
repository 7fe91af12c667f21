"""Pairs of claims and passages: WiCE, FoolMeTwice, CLIMATE-FEVER, and documents alone."""

import random
from collections.abc import Sequence

from nli.labels import Label
from nli.pairs import LabelledPair
from nli.sentences import sentences
from pipelines.data.climate_fever import ClimateClaim
from pipelines.data.fool_me_twice import GameClaim
from pipelines.data.wice import CitedClaim
from pipelines.supervision.context import ReservedTexts
from pipelines.text.substitution import exchanged, falsified, pool

PASSAGE = 7
"""Sentences of a passage of WiCE."""

MOST = 20 * PASSAGE
"""Sentences of a page of WiCE that passages are made of; some pages are lists of thousands."""

DISTRACTORS = (2, 6)
"""Of FoolMeTwice: fewest and most sentences around the gold ones, and in a passage without them."""

WORDS = (6, 35)
"""Fewest and most words of a document's sentence that becomes a claim."""

AROUND = 3
"""Most sentences of its passage on each side of it."""

SILENT = 1 / 3
"""Share of FoolMeTwice's claims that get a passage without evidence as well."""

_CLIMATE = {"SUPPORTS": Label.SUPPORT, "REFUTES": Label.REFUTE, "NOT_ENOUGH_INFO": Label.IRRELEVANT}


def wice(claims: Sequence[CitedClaim], rng: random.Random) -> list[LabelledPair]:
    """WiCE: each claim with a passage that supports it, and with one of its page that does not.

    A claim that is supported in part counts as supported (ConflictScore, section 3). A page that
    does not support a claim does not refute it either: such pairs are irrelevant. Sentences that
    were marked for a claim which the page does not support in the end are in no passage.
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
        made += [_pair("wice", text, claim.claim, label) for text, label in labelled if text]
    return made


def wice_passages(claim: CitedClaim) -> list[str]:
    """The page of a claim in passages of consecutive sentences, its first sentences only."""
    return [_passage(claim, start) for start in range(0, min(len(claim.evidence), MOST), PASSAGE)]


def _passage(claim: CitedClaim, start: int) -> str:
    return " ".join(" ".join(claim.evidence[start : start + PASSAGE]).split())


def fool_me_twice(
    claims: Sequence[GameClaim], rng: random.Random, reserved: ReservedTexts
) -> list[LabelledPair]:
    """FoolMeTwice: each claim with its gold sentences among retrieved ones, some with others alone.

    The latter are taken from the lowest ranks of the retrieval: they have the topic, and most
    often say nothing of the claim. Where as many are trained on as have evidence, a small model
    learns to call everything irrelevant, since what such claims need of inference is beyond it.
    Sentences that claims of the test half show as well (`reserved`) are left out.
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
        label = Label.SUPPORT if claim.label == "SUPPORTS" else Label.REFUTE
        around = rng.sample(others, min(rng.randint(*DISTRACTORS), len(others)))
        passage = rng.sample([*gold, *around], len(gold) + len(around))
        made.append(_pair("fm2-passages", " ".join(passage), claim.text, label))
        lowest = others[-rng.randint(*DISTRACTORS) :]
        if lowest and rng.random() < SILENT:
            made.append(_pair("fm2-passages", " ".join(lowest), claim.text, Label.IRRELEVANT))
    return made


def climate_fever(
    claims: Sequence[ClimateClaim], rng: random.Random, reserved: ReservedTexts
) -> list[LabelledPair]:
    """CLIMATE-FEVER: each claim with a passage of one sentence that speaks of it among silent ones.

    Single sentences with their labels are part of the union of sentence-level sets already.
    Sentences that claims of the test half show as well (`reserved`) are left out.
    """
    made = []
    for claim in claims:
        shown = [
            (sentence.evidence, _CLIMATE[sentence.evidence_label])
            for sentence in claim.evidences
            if sentence.evidence not in reserved
        ]
        silent = [text for text, label in shown if label is Label.IRRELEVANT]
        labelled: list[tuple[list[str], Label]] = []
        for text, label in shown:
            if label is Label.IRRELEVANT:
                continue
            around = rng.sample(silent, min(rng.randint(1, 3), len(silent)))
            if around:
                labelled.append((rng.sample([text, *around], 1 + len(around)), label))
        if len(silent) > 2:
            labelled.append((silent[:3], Label.IRRELEVANT))
        made += [
            _pair("climate-fever-passages", " ".join(passage), claim.claim, label)
            for passage, label in labelled
        ]
    return made


def own_sentences(documents: Sequence[str], rng: random.Random) -> list[LabelledPair]:
    """Of documents alone, three pairs each: a sentence as the claim, and the passage around it.

    No label is needed for these. The passage supports its own sentence; it contradicts the sentence
    when a number, date or name in either of them is exchanged; and it is silent once the sentence
    is taken out. The first two differ in this one part only, wherever the passage says it, so that
    nothing else can tell them apart.
    """
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


def _pair(source: str, passage: str, claim: str, label: Label) -> LabelledPair:
    return LabelledPair(premise=passage, hypothesis=claim, label=label, source=source, group=claim)
