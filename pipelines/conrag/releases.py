"""Released data sets as claims with passages, gold stances and gold evidence: one loader each.

Those here bring the passages of each claim; see `corpora` for the others.
"""

import hashlib
from collections.abc import Iterator, Sequence

from pipelines.conrag.query import GoldAnswer, Query
from pipelines.conrag.stance import STANCE_OF, Stance
from pipelines.conrag.tagged import SIDES
from pipelines.data import averitec
from pipelines.data.alce import Question
from pipelines.data.climate_fever import ClimateClaim
from pipelines.data.fool_me_twice import GameClaim
from pipelines.data.records import Document
from pipelines.data.wice import CitedClaim
from pipelines.evidence.examples import ContestedClaim
from pipelines.evidence.judgement import Relation
from pipelines.metrics.answer_recall import named_answers

SIDE = {"SUPPORTS": Relation.SUPPORTS, "REFUTES": Relation.CONTRADICTS}
STANCE = {label: STANCE_OF[side] for label, side in SIDE.items()}


def from_claims(claims: Sequence[ContestedClaim]) -> Iterator[Query]:
    """Claims in the unified format, with the documents of each.

    Where the relations of documents are known, the claim has the stance of the side that is there;
    with both sides it is disputed, and there is not enough information for a stance.
    """
    for claim in claims:
        # Documents of two claims may have one id and are two passages.
        passages = tuple(
            each.model_copy(update={"id": digest(f"{claim.id} {each.id}")})
            for each in claim.documents
        )
        known = () if claim.relations is None else zip(passages, claim.relations, strict=True)
        relations = {passage.id: relation for passage, relation in known}
        gold = frozenset(name for name, relation in relations.items() if relation in SIDES)
        yield Query(
            id=claim.id,
            source=claim.source,
            claim=claim.claim,
            passages=passages,
            stance=None if claim.relations is None else stance_of({*relations.values()}),
            disputed=claim.conflict,
            evidence=(gold,) if gold else (),
            relations=relations,
        )


def from_fool_me_twice(claims: Sequence[GameClaim]) -> Iterator[Query]:
    """Sentences of the claim's page: those that were retrieved, and the gold ones.

    A sentence has one id wherever it stands, so that claims on one page share it. Whether other
    sentences than the gold ones say something of the claim is not known.
    """
    for claim in claims:
        gold = {digest(each.text): each for each in claim.gold_evidence}
        pool = {digest(each.text): each for each in claim.retrieved_evidence} | gold
        yield Query(
            id=claim.id,
            source="fool-me-twice",
            claim=claim.text,
            passages=tuple(
                Document(id=name, text=each.text, title=claim.wikipedia_page or None)
                for name, each in sorted(pool.items())
            ),
            stance=STANCE[claim.label],
            evidence=(frozenset(gold),),
            relations=dict.fromkeys(gold, SIDE[claim.label]),
        )


def from_climate_fever(claims: Sequence[ClimateClaim]) -> Iterator[Query]:
    """The five sentences of each claim. A disputed claim has no stance but "not enough".

    Evidence to be found are the sentences on either side.
    """
    for claim in claims:
        found = {each.evidence_id: each for each in claim.evidences}
        relations = {
            name: SIDE.get(each.evidence_label, Relation.IRRELEVANT) for name, each in found.items()
        }
        gold = frozenset(name for name, relation in relations.items() if relation in SIDES)
        yield Query(
            id=claim.claim_id,
            source="climate-fever",
            claim=claim.claim,
            passages=tuple(
                Document(id=name, text=each.evidence, title=each.article or None)
                for name, each in found.items()
            ),
            stance=STANCE.get(claim.claim_label, Stance.NOT_ENOUGH_INFO),
            disputed=claim.claim_label == "DISPUTED",
            evidence=(gold,) if gold else (),
            relations=relations,
        )


def from_averitec(claims: Sequence[averitec.CheckedClaim]) -> Iterator[Query]:
    """What was found about each claim: an answer is a passage, and its question the title.

    A claim of conflicting evidence is disputed and has no stance but "not enough". What a single
    passage says of the claim is not known. Claims have no ids; theirs is their place in the file.
    """
    stances = {averitec.SUPPORTED: Stance.SUPPORT, averitec.REFUTED: Stance.REFUTE}
    for number, claim in enumerate(claims, start=1):
        found = [
            (each.question, answer.text)
            for each in claim.questions
            for answer in each.answers
            if answer.answer_type != "Unanswerable"
        ]
        yield Query(
            id=str(number),
            source="averitec",
            claim=claim.claim,
            passages=tuple(
                Document(id=f"{number}:{place}", text=text, title=question)
                for place, (question, text) in enumerate(found, start=1)
            ),
            stance=stances.get(claim.label, Stance.NOT_ENOUGH_INFO),
            disputed=claim.label == averitec.CONFLICTING,
        )


def from_wice(claims: Sequence[CitedClaim]) -> Iterator[Query]:
    """The sentences of the page that a claim cites; the first, its title, is the others' title.

    Supporting sentences are known, a stance is not: what a page does not support may be true.
    """
    for claim in claims:
        title, *_ = claim.evidence
        names = [f"{claim.meta.id}:{number}" for number in range(len(claim.evidence))]
        sets = {
            frozenset(names[index] for index in indices)
            for indices in claim.supporting_sentences
            if indices
        }
        yield Query(
            id=claim.meta.id,
            source="wice",
            claim=claim.claim,
            passages=tuple(
                Document(id=name, text=text, title=title.strip() or None if number else None)
                for number, (name, text) in enumerate(zip(names, claim.evidence, strict=True))
                if text.strip()
            ),
            evidence=tuple(sorted(sets, key=sorted)),
            relations={name: Relation.SUPPORTS for names in sets for name in names},
        )


def from_alce(questions: Sequence[Question]) -> Iterator[Query]:
    """Questions with what ALCE retrieved for each, the best first.

    A passage that names one of the short answers supports the answer; whether one contradicts it
    is not known. Of ELI5, whose answers are no short ones, nothing is known of passages.
    """
    for each in questions:
        own = tuple(
            passage.model_copy(update={"id": f"{each.id}/{passage.id}"})
            for passage in each.passages
        )
        names = (p.id for p in own if any(named_answers(each.answers, p.as_read())))
        yield Query(
            id=each.id,
            source=f"alce-{each.task}",
            claim=each.question,
            passages=own,
            relations=dict.fromkeys(names, Relation.SUPPORTS),
            gold_answer=GoldAnswer(each.answers, each.claims, listed=each.task == "qampari"),
        )


def stance_of(relations: set[Relation]) -> Stance:
    """The stance of the side that passages take; with none or both there is none."""
    sides = relations.intersection(SIDES)
    return STANCE_OF[sides.pop()] if len(sides) == 1 else Stance.NOT_ENOUGH_INFO


def digest(text: str) -> str:
    """What stands for a text in an id, whatever its white space."""
    plain = " ".join(text.split())
    return hashlib.sha1(plain.encode("utf-8"), usedforsecurity=False).hexdigest()[:16]
