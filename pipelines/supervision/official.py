"""Pairs from FEVER, SciFact and RAGTruth, by the recipes of ConRAG ("A-stage: relation tagging").

The releases' own splits are kept.
"""

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from nli.labels import Label
from nli.pairs import LabelledPair
from nli.sentences import sentences
from pipelines.data import fever, ragtruth, scifact
from pipelines.data.fever import FeverClaim, Pointer, Wikipedia, page_key
from pipelines.data.ragtruth import CONFLICTS, HallucinatedSpan, Response, Source
from pipelines.data.released import Split
from pipelines.data.scifact import Abstract, ScientificClaim
from pipelines.errors import InputError
from pipelines.supervision.context import content_words, labelled_pair

PASSAGE_SENTENCES = 5
"""Most sentences of a passage of a RAGTruth source."""

FEWEST_SHARED = 2
"""Fewest words that a passage must share with a claim to count as contradicted by it."""

_ORIGINAL = re.compile(r"original:(.*?)(?:\n|aigc:|generat\w+:|$)", re.IGNORECASE | re.DOTALL)


class TrainingPairs(NamedTuple):
    """Training pairs, and what a person should know about them, in sentences."""

    pairs: tuple[LabelledPair, ...]
    notes: tuple[str, ...] = ()


def from_fever(folder: Path, part: Split, rng: random.Random) -> TrainingPairs:
    """Pairs of the FEVER release: train.jsonl and shared_task_dev.jsonl, with wiki-pages/."""
    names = _files(part, "train.jsonl", "shared_task_dev.jsonl")
    claims = [claim for name in names for claim in fever.read(folder / name)]
    wanted = {page for claim in claims for pointers in claim.evidence for page, _ in pointers}
    silent = sum(claim.label == "NOT ENOUGH INFO" for claim in claims)
    wikipedia = fever.read_wikipedia(folder / "wiki-pages", wanted, silent, rng)
    sets = [pointers for claim in claims for pointers in claim.evidence]
    lost = sum(_premise(pointers, wikipedia) is None for pointers in sets)
    if sets and lost == len(sets):
        raise InputError(
            f"{folder / 'wiki-pages'} has none of the {lost:,} evidence sets that the claims of "
            "FEVER point to; unpack wiki-pages.zip of the same release there"
        )
    notes = []
    if lost:
        notes.append(
            f"{lost:,} of FEVER's {len(sets):,} evidence sets are not in wiki-pages; left out."
        )
    if len(wikipedia.sampled) < silent:
        notes.append(
            f"FEVER's pages give {len(wikipedia.sampled):,} random sentences for {silent:,} claims "
            "without evidence; the others are left out."
        )
    return TrainingPairs(tuple(fever_pairs(claims, wikipedia, rng)), tuple(notes))


def fever_pairs(
    claims: Sequence[FeverClaim], wikipedia: Wikipedia, rng: random.Random
) -> list[LabelledPair]:
    """Evidence supports or refutes its claim; a claim without any gets an irrelevant sentence.

    The sentences of one evidence set become one premise, in the order of the annotation: if there
    are several, none of them decides alone. A set whose sentences are not all in the dump
    is left out, and so is a claim without evidence for which no random sentence is left.
    """
    sampled = rng.sample(wikipedia.sampled, len(wikipedia.sampled))
    made = []
    for claim in claims:
        if claim.label == "NOT ENOUGH INFO":
            if sampled:
                made.append(labelled_pair("fever", sampled.pop(), claim.claim, claim.label))
            continue
        for pointers in claim.evidence:
            premise = _premise(pointers, wikipedia)
            if premise is not None:
                made.append(labelled_pair("fever", premise, claim.claim, claim.label))
    return list(dict.fromkeys(made))


def _premise(pointers: Sequence[Pointer], wikipedia: Wikipedia) -> str | None:
    """The sentences of an evidence set; None if one is not in the dump."""
    found = [wikipedia.pages.get(page_key(page), {}).get(number) for page, number in pointers]
    texts = [text for text in found if text is not None]
    return " ".join(texts) if len(texts) == len(pointers) else None


def from_scifact(folder: Path, part: Split, _: random.Random) -> TrainingPairs:
    """Pairs of the SciFact release: claims_train.jsonl and claims_dev.jsonl, with corpus.jsonl."""
    names = _files(part, "claims_train.jsonl", "claims_dev.jsonl")
    claims = [claim for name in names for claim in scifact.read(folder / name)]
    return TrainingPairs(tuple(scifact_pairs(claims, scifact.read_corpus(folder / "corpus.jsonl"))))


def scifact_pairs(
    claims: Sequence[ScientificClaim], corpus: Mapping[str, Abstract]
) -> list[LabelledPair]:
    """Rationales support or refute; the other sentences of the same abstract are irrelevant.

    The sentences of one rationale become one premise, in the abstract's order. Every other sentence
    is a separate premise: it has the claim's topic without deciding it, so it is harder than a
    sentence from elsewhere.
    """
    made = []
    for claim in claims:
        for document, rationales in claim.evidence.items():
            if document not in corpus:
                raise InputError(
                    f"SciFact's claim {claim.id} names the abstract {document}, which corpus.jsonl "
                    "does not have; take both from one release"
                )
            texts = [" ".join(sentence.split()) for sentence in corpus[document].abstract]
            decisive: set[int] = set()
            for rationale in rationales:
                if (last := max(rationale.sentences)) >= len(texts):
                    raise InputError(
                        f"SciFact's claim {claim.id} names sentence {last} of the abstract "
                        f"{document}, which has {len(texts)}; take claims and corpus.jsonl "
                        "from one release"
                    )
                decisive.update(rationale.sentences)
                premise = " ".join(texts[n] for n in sorted(set(rationale.sentences)))
                made.append(labelled_pair("scifact", premise, claim.claim, rationale.label))
            made += [
                labelled_pair("scifact", text, claim.claim, Label.IRRELEVANT)
                for number, text in enumerate(texts)
                if number not in decisive and text
            ]
    return list(dict.fromkeys(made))


def from_ragtruth(folder: Path, part: Split, _: random.Random) -> TrainingPairs:
    """Pairs of the RAGTruth release: response.jsonl, with source_info.jsonl."""
    splits = _files(part, "train", "test")
    released = ragtruth.read(folder / "response.jsonl")
    responses = [response for response in released.responses if response.split in splits]
    sources = ragtruth.read_sources(folder / "source_info.jsonl")
    lost = sum(response.source_id not in sources for response in responses)
    if responses and lost == len(responses):
        raise InputError(
            f"{folder / 'source_info.jsonl'} has no source of any response in response.jsonl; "
            "take both from one release"
        )
    notes = [f"{lost:,} responses of RAGTruth have no source; left out."] if lost else []
    if released.skipped:
        skipped = len(released.skipped)
        notes.append(f"{skipped:,} responses of RAGTruth skipped; {released.skipped[0]}.")
    return TrainingPairs(tuple(ragtruth_pairs(responses, sources)), tuple(notes))


def ragtruth_pairs(
    responses: Iterable[Response], sources: Mapping[str, Source]
) -> list[LabelledPair]:
    """Sentences of responses with a contradictory span, and the passages that they contradict.

    RAGTruth marks the span of a response that contradicts its source, but not the contradicted part
    of the source. A span alone ("for five days") states nothing, so the claim is the sentence that
    contains it. The premise is the passage that shares the most words with this sentence and the
    annotator's quotation of the source. Both are guesses: the label is weak.

    Responses that the release calls faulty, spans that come from an empty field or are true all the
    same, tables (Data2txt, whose sources are not prose), and spans for which no passage shares
    enough words are left out.
    """
    made = []
    for response in responses:
        source = sources.get(response.source_id)
        if source is None or source.task_type == "Data2txt" or response.quality != "good":
            continue
        passages = [part for passage in source.passages() for part in _parts(passage)]
        for span in response.labels:
            if span.label_type not in CONFLICTS or span.due_to_null or span.implicit_true:
                continue
            claim = _claim_of(response.response, span)
            premise = _nearest(f"{claim} {original(span.meta)}", passages)
            if claim and premise is not None:
                group = source.source_id
                made.append(labelled_pair("ragtruth", premise, claim, Label.REFUTE, group))
    return list(dict.fromkeys(made))


def _claim_of(response: str, span: HallucinatedSpan) -> str:
    """The sentences of a response that a span touches, usually one."""
    touched = [s for s in sentences(response) if s.start < span.end and span.start < s.end]
    return " ".join(response[touched[0].start : touched[-1].end].split()) if touched else ""


def original(remark: str) -> str:
    """What an annotator's remark quotes from the source; empty if nothing."""
    match = _ORIGINAL.search(remark)
    return " ".join(match[1].split()) if match else ""


def _parts(text: str) -> list[str]:
    """A text in passages of at most `PASSAGE_SENTENCES` sentences, without overlap."""
    spans = sentences(text)
    groups = (spans[n : n + PASSAGE_SENTENCES] for n in range(0, len(spans), PASSAGE_SENTENCES))
    return [" ".join(text[group[0].start : group[-1].end].split()) for group in groups]


def _nearest(text: str, passages: Sequence[str]) -> str | None:
    """The passage that shares the most `content_words` with a text, the first of equals.

    None if no passage shares `FEWEST_SHARED` of them.
    """
    wanted = content_words(text)
    best = max(passages, key=lambda passage: len(wanted & content_words(passage)), default="")
    return best if len(wanted & content_words(best)) >= FEWEST_SHARED else None


def _files(part: Split, train: str, test: str) -> list[str]:
    return {"train": [train], "dev": [], "test": [test], "all": [train, test]}[part]
