"""Claim-document pairs made of the real releases: sound labels, and nothing of a test half."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from nli.labels import Label
from nli.pairs import LabelledPair, write_pairs
from pipelines.data import climate_fever, conflictqa, fool_me_twice, ramdocs, wice
from pipelines.data.ramdocs import RamDocument, RamQuestion
from pipelines.data.released import half
from pipelines.supervision import questions, recipes
from pipelines.supervision.context import ReservedTexts, normal
from pipelines.supervision.questions import relation
from pipelines.supervision.settings import PairSettings

FILES = {
    "ramdocs": "ramdocs/RAMDocs_250.jsonl",
    "conflictqa": "conflictqa/strategyqa_gpt4.jsonl.gz",
    "fool-me-twice": "fm2/dev.jsonl.gz",
    "wice": "wice/claim_dev.jsonl.gz",
    "climate-fever": "climate_fever/climate-fever.jsonl.gz",
}
CONFLICTQA_TEXTS = {
    *("question", "memory_answer", "parametric_memory", "parametric_memory_aligned_evidence"),
    *("counter_answer", "counter_memory", "counter_memory_aligned_evidence"),
}


@pytest.fixture(scope="module")
def built(released_data: Path) -> tuple[LabelledPair, ...]:
    """What the shipped tagger learns from."""
    releases = {name: released_data / file for name, file in FILES.items()}
    return recipes.build(
        releases, PairSettings(nli=[released_data / "nli" / "train.jsonl.gz"])
    ).pairs


def shown_by_test_halves(data: Path) -> Iterable[str]:
    """Written out again, apart from the code under test."""
    for question in ramdocs.read(data / FILES["ramdocs"]):
        if half(question.question) == "test":
            yield from (question.question, *(document.text for document in question.documents))
    for both in conflictqa.read(data / FILES["conflictqa"]):
        if half(both.question) == "test":
            yield from both.model_dump(include=CONFLICTQA_TEXTS).values()
    for claim in fool_me_twice.read(data / FILES["fool-me-twice"]):
        if half(claim.text) == "test":
            yield claim.text
            yield from (s.text for s in (*claim.gold_evidence, *claim.retrieved_evidence))
    for cited in wice.read(data / FILES["wice"]):
        if half(cited.claim) == "test":
            yield from (cited.claim, *cited.evidence)
    for climate in climate_fever.read(data / FILES["climate-fever"]):
        if half(climate.claim) == "test":
            yield from (climate.claim, *(each.evidence for each in climate.evidences))


def test_no_text_of_a_test_half_is_trained_on(
    built: tuple[LabelledPair, ...], released_data: Path
) -> None:
    hidden = {normal(text) for text in shown_by_test_halves(released_data)} - {""}
    assert len(hidden) > 10_000
    seen = {normal(text) for pair in built for text in (pair.premise, pair.hypothesis)}
    assert not hidden & seen
    # Passages are made of sentences: none of the hidden ones stands inside one either.
    made = "\n".join(normal(p.premise) for p in built if p.source.endswith("-passages"))
    assert not [text for text in hidden if len(text.split()) > 8 and text in made]


def test_a_claim_alone_does_not_tell_its_label(built: tuple[LabelledPair, ...]) -> None:
    for source in ("ramdocs", "conflictqa"):
        by_claim: dict[str, Counter[Label]] = defaultdict(Counter)
        for pair in built:
            if pair.source == source:
                by_claim[pair.hypothesis][pair.label] += 1
        guessed = sum(max(counts.values()) for counts in by_claim.values())
        everything = sum(sum(counts.values()) for counts in by_claim.values())
        assert guessed / everything < 0.65, source


def test_ramdocs_documents_are_labelled_by_their_answer() -> None:
    def said(answer: str, kind: str = "correct", text: str = "Some text.") -> RamDocument:
        return RamDocument.model_validate({"text": text, "type": kind, "answer": answer})

    assert relation(said("1902"), "1902") is Label.SUPPORT
    assert relation(said("1885", "misinfo"), "1902") is Label.REFUTE
    assert relation(said("unknown", "noise"), "1902") is Label.IRRELEVANT
    assert relation(said("unknown", "noise", "Built in 1902."), "1902") is None, "it may support"
    assert relation(said("American football"), "Football") is None, "one says the other"
    both = said("1885", "misinfo", "Built in 1885, others say 1902.")
    assert relation(both, "1902") is None, "it names both"
    assert relation(both, "190") is Label.REFUTE, "whole words only"


def sports(*answers: str, text: str = "{} plays {}.") -> list[RamQuestion]:
    """One question for each answer, with one document that gives it."""
    return [
        RamQuestion.model_validate(
            {
                "question": f"What sport is {name} associated with?",
                "documents": [
                    {"text": text.format(name, sport), "type": "correct", "answer": sport}
                ],
                "gold_answers": [sport],
            }
        )
        for name, sport in zip(("Ann", "Bob", "Cid"), answers, strict=False)
    ]


def ramdocs_pairs(asked: list[RamQuestion], reserved: Iterable[str] = ()) -> list[LabelledPair]:
    return questions.ramdocs(asked, random.Random(0), ReservedTexts(reserved))


def test_exchanged_answers_turn_support_into_refutation() -> None:
    asked = sports("Golf", "Chess", "Polo")
    made = {(p.premise, p.hypothesis): p.label for p in ramdocs_pairs(asked)}
    assert made["Ann plays Golf.", "Ann is associated with the sport Golf."] is Label.SUPPORT
    assert made["Ann plays Chess.", "Ann is associated with the sport Golf."] is Label.REFUTE
    assert made["Ann plays Chess.", "Ann is associated with the sport Chess."] is Label.SUPPORT
    others = [label for (text, claim), label in made.items() if text[:3] != claim[:3]]
    assert others and set(others) == {Label.IRRELEVANT}


def test_what_is_hidden_is_known_again_in_another_spelling() -> None:
    hidden = ReservedTexts(["The  Court was built\nin 1902."])
    assert "the court was built in 1902." in hidden
    assert "the court was built in 1903." not in hidden
    assert "They say the court was built in 1902. It closed." in hidden, "as a part as well"
    assert "built in the year 1902" not in hidden, "other words"
    page = ReservedTexts(["It rained. The court was built in 1902. It closed soon after."])
    assert "The court was built in 1902." in page, "a part of what is hidden"
    assert "The court was built" not in page, "too short to say anything"
    assert "yes" not in ReservedTexts(["Yes, indeed"]), "a short text is hidden only as it is"


def test_pairs_to_measure_with_are_kept_out(
    built: tuple[LabelledPair, ...], released_data: Path, tmp_path: Path
) -> None:
    """A passage of a kept claim is not made, and none with a kept sentence inside."""
    releases = {name: released_data / FILES[name] for name in ("fool-me-twice", "climate-fever")}
    claim = next(p for p in built if p.source == "fm2-passages").hypothesis
    source = climate_fever.read(releases["climate-fever"])
    passages = [p for p in built if p.source == "climate-fever-passages"]
    sentence = next(
        e.evidence
        for c in source
        for e in c.evidences
        if len(e.evidence.split()) > 8 and any(e.evidence in p.premise for p in passages)
    )
    measured, ready = tmp_path / "dev.jsonl", tmp_path / "train.jsonl"
    own = LabelledPair(premise="Own.", hypothesis=claim, label=Label.SUPPORT, source="own")
    write_pairs(measured, [own.model_copy(update={"premise": sentence})])
    write_pairs(ready, [own, own.model_copy(update={"premise": sentence})])
    kept = recipes.build(releases, PairSettings(nli=[ready], keep_from=[measured])).pairs
    assert [p for p in kept if p.source == "own"] == [own], "it may share the claim"
    made = [p for p in kept if p.source != "own"]
    assert len(made) > 1_000
    assert not [p for p in made if p.hypothesis == claim or sentence in p.premise]
