"""What ConRAG is measured on: claims with passages, gold stances and gold evidence."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipelines.conrag.stance import Stance
from pipelines.data.climate_fever import ClimateClaim
from pipelines.data.fool_me_twice import GameClaim
from pipelines.data.records import Document
from pipelines.data.scifact import Abstract, ScientificClaim
from pipelines.data.wice import CitedClaim
from pipelines.evidence.judgement import Relation


@dataclass(frozen=True)
class Query:
    """A claim to be checked.

    Attributes:
        id: Name of the claim, unique within its source.
        source: Data set.
        claim: The claim.
        passages: What there is to retrieve from for this claim.
        stance: The gold stance; None where the data have none.
        disputed: Whether its evidence is known to disagree; None where the data do not say.
        evidence: Alternative sets of passage ids, each enough by itself; none where there is no
            evidence to find.
        relations: Passage id -> what it says of the claim, as far as the data say.
    """

    id: str
    source: str
    claim: str
    passages: tuple[Document, ...]
    stance: Stance | None
    disputed: bool | None
    evidence: tuple[frozenset[str], ...]
    relations: Mapping[str, Relation]


_SIDE = {"SUPPORTS": Relation.SUPPORTS, "REFUTES": Relation.CONTRADICTS}
_STANCE = {"SUPPORTS": Stance.SUPPORT, "REFUTES": Stance.REFUTE}


def from_fool_me_twice(claims: Sequence[GameClaim]) -> list[Query]:
    """Sentences of the claim's page: those that were retrieved, and the gold ones.

    A sentence has one id wherever it stands, so that claims on one page share it. Whether other
    sentences than the gold ones say something of the claim is not known.
    """
    found = []
    for claim in claims:
        gold = {_sentence_id(each.text): each for each in claim.gold_evidence}
        pool = {_sentence_id(each.text): each for each in claim.retrieved_evidence} | gold
        found.append(
            Query(
                id=claim.id,
                source="fool-me-twice",
                claim=claim.text,
                passages=tuple(
                    Document(id=name, text=each.text, title=claim.wikipedia_page or None)
                    for name, each in sorted(pool.items())
                ),
                stance=_STANCE[claim.label],
                disputed=None,
                evidence=(frozenset(gold),),
                relations=dict.fromkeys(gold, _SIDE[claim.label]),
            )
        )
    return found


def from_climate_fever(claims: Sequence[ClimateClaim]) -> list[Query]:
    """The five sentences of each claim. A disputed claim has no stance but "not enough".

    Evidence to be found are the sentences on either side.
    """
    found = []
    for claim in claims:
        relations = {
            each.evidence_id: _SIDE.get(each.evidence_label, Relation.IRRELEVANT)
            for each in claim.evidences
        }
        sides = frozenset(
            name for name, relation in relations.items() if relation is not Relation.IRRELEVANT
        )
        passages = {
            each.evidence_id: Document(
                id=each.evidence_id, text=each.evidence, title=each.article or None
            )
            for each in claim.evidences
        }
        found.append(
            Query(
                id=claim.claim_id,
                source="climate-fever",
                claim=claim.claim,
                passages=tuple(passages.values()),
                stance=_STANCE.get(claim.claim_label, Stance.NOT_ENOUGH_INFO),
                disputed=claim.claim_label == "DISPUTED",
                evidence=(sides,) if sides else (),
                relations=relations,
            )
        )
    return found


def from_wice(claims: Sequence[CitedClaim]) -> list[Query]:
    """The sentences of the page that a claim cites; the first, its title, is the others' title.

    Supporting sentences are known, a stance is not: what a page does not support may be true.
    """
    found = []
    for claim in claims:
        title, *_ = claim.evidence
        names = [f"{claim.meta.id}:{number}" for number in range(len(claim.evidence))]
        sets = {
            frozenset(names[index] for index in indices)
            for indices in claim.supporting_sentences
            if indices
        }
        found.append(
            Query(
                id=claim.meta.id,
                source="wice",
                claim=claim.claim,
                passages=tuple(
                    Document(id=name, text=text, title=title.strip() or None if number else None)
                    for number, (name, text) in enumerate(zip(names, claim.evidence, strict=True))
                    if text.strip()
                ),
                stance=None,
                disputed=None,
                evidence=tuple(sorted(sets, key=sorted)),
                relations={name: Relation.SUPPORTS for names in sets for name in names},
            )
        )
    return found


def from_scifact(claims: Sequence[ScientificClaim], corpus: Mapping[str, Abstract]) -> list[Query]:
    """The sentences of the abstracts that a claim cites; rationales are its evidence.

    Cited abstracts that the corpus lacks are left out.
    """
    found = []
    for claim in claims:
        cited = dict.fromkeys([*claim.evidence, *map(str, claim.cited_doc_ids)])
        passages = tuple(
            Document(id=f"{name}:{number}", text=text.strip(), title=corpus[name].title)
            for name in cited
            if name in corpus
            for number, text in enumerate(corpus[name].abstract)
            if text.strip()
        )
        side = {"SUPPORT": Relation.SUPPORTS, "CONTRADICT": Relation.CONTRADICTS}
        sets: list[frozenset[str]] = []
        relations: dict[str, Relation] = {}
        for name, rationales in claim.evidence.items():
            for rationale in rationales:
                units = frozenset(f"{name}:{number}" for number in rationale.sentences)
                sets.append(units)
                relations |= dict.fromkeys(units, side[rationale.label])
        sides = set(relations.values())
        stance = Stance.NOT_ENOUGH_INFO
        if len(sides) == 1:
            stance = Stance.SUPPORT if Relation.SUPPORTS in sides else Stance.REFUTE
        found.append(
            Query(
                id=str(claim.id),
                source="scifact",
                claim=claim.claim,
                passages=passages,
                stance=stance,
                disputed=len(sides) > 1,
                evidence=tuple(dict.fromkeys(sets)),
                relations=relations,
            )
        )
    return found


def _sentence_id(text: str) -> str:
    plain = " ".join(text.split())
    return hashlib.sha1(plain.encode("utf-8"), usedforsecurity=False).hexdigest()[:16]
