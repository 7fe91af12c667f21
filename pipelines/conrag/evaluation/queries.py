"""What ConRAG is measured on: claims with passages, gold stances and gold evidence."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from nli.windows import Span, sentences
from pipelines.conrag.evaluation.hallucination import ResponseSentence, tokens, touched
from pipelines.conrag.question import MOST, as_claim
from pipelines.conrag.stance import Stance
from pipelines.data.alce import Question
from pipelines.data.climate_fever import ClimateClaim
from pipelines.data.fever import FeverClaim, page_key, page_title
from pipelines.data.fool_me_twice import GameClaim
from pipelines.data.ragtruth import CONFLICTS, Response, Source
from pipelines.data.records import Document
from pipelines.data.scifact import Abstract, ScientificClaim
from pipelines.data.wice import CitedClaim
from pipelines.errors import InputError
from pipelines.evidence.examples import ContestedClaim
from pipelines.evidence.judgement import Relation
from pipelines.metrics.answer_recall import named_answers
from pipelines.retrieval.chunks import passages
from pipelines.retrieval.index import Retrieved


@dataclass(frozen=True)
class Asked:
    """What is known of a question's answer.

    Attributes:
        answers: Aliases of each short answer that is to be named.
        claims: What the answer is to entail.
        most: Short answers that are enough; None asks for all of them. ALCE asks for five of a
            list (QAMPARI).
    """

    answers: tuple[tuple[str, ...], ...] = ()
    claims: tuple[str, ...] = ()
    most: int | None = None

    def statements(self, question: str, found: Sequence[Retrieved]) -> tuple[str, ...]:
        """The answer in statements, as `pipelines.conrag.question` makes them.

        Args:
            question: What is asked.
            found: Passages; of short answers, the first ones that they name are taken.
        """
        text = " ".join(each.passage.as_read() for each in found)
        named = [
            as_claim(question, aliases[0])
            for aliases, there in zip(self.answers, named_answers(self.answers, text), strict=True)
            if there
        ]
        return tuple(dict.fromkeys((*named, *self.claims)))[:MOST]


@dataclass(frozen=True)
class Query:
    """A claim to be checked, or a question to be answered.

    Attributes:
        id: Name of the claim, unique within its source.
        source: Data set.
        claim: The claim, or the question.
        passages: What there is to retrieve from for this claim.
        stance: The gold stance; None where the data have none.
        disputed: Whether its evidence is known to disagree; None where the data do not say.
        evidence: Alternative sets of passage ids, each enough by itself; none where there is no
            evidence to find.
        relations: Passage id -> what it says of the claim, as far as the data say.
        response: Where the claim stands, if it is a sentence of a response.
        asked: What is known of the answer, if it is a question; then relations are to that.
    """

    id: str
    source: str
    claim: str
    passages: tuple[Document, ...]
    stance: Stance | None
    disputed: bool | None
    evidence: tuple[frozenset[str], ...]
    relations: Mapping[str, Relation]
    response: ResponseSentence | None = None
    asked: Asked | None = None


ENOUGH = 5
"""Answers of a list that ALCE takes for all of it (Gao et al. 2023, section 3.2, recall-5)."""

LONGEST_PAGE = 180
"""Characters of a page's title in ids, at most: an id has 200."""

_SIDE = {"SUPPORTS": Relation.SUPPORTS, "REFUTES": Relation.CONTRADICTS}
_STANCE = {"SUPPORTS": Stance.SUPPORT, "REFUTES": Stance.REFUTE}


def from_claims(claims: Sequence[ContestedClaim]) -> list[Query]:
    """Claims in the unified format, with the documents of each.

    Where the relations of documents are known, the claim has the stance of the side that is there;
    with both sides it is disputed, and there is not enough information for a stance.
    """
    found = []
    for claim in claims:
        # Documents of two claims may have one id and are two passages.
        passages = tuple(
            each.model_copy(update={"id": _digest(f"{claim.id} {each.id}")})
            for each in claim.documents
        )
        relations: dict[str, Relation] = {}
        stance = None
        if claim.relations is not None:
            known = zip(passages, claim.relations, strict=True)
            relations = {passage.id: relation for passage, relation in known}
            sides = set(relations.values()) & set(_SIDE.values())
            stance = Stance.NOT_ENOUGH_INFO
            if len(sides) == 1:
                stance = Stance.SUPPORT if Relation.SUPPORTS in sides else Stance.REFUTE
        gold = frozenset(name for name, relation in relations.items() if relation in _SIDE.values())
        found.append(
            Query(
                id=claim.id,
                source=claim.source,
                claim=claim.claim,
                passages=passages,
                stance=stance,
                disputed=claim.conflict,
                evidence=(gold,) if gold else (),
                relations=relations,
            )
        )
    return found


def from_fool_me_twice(claims: Sequence[GameClaim]) -> list[Query]:
    """Sentences of the claim's page: those that were retrieved, and the gold ones.

    A sentence has one id wherever it stands, so that claims on one page share it. Whether other
    sentences than the gold ones say something of the claim is not known.
    """
    found = []
    for claim in claims:
        gold = {_digest(each.text): each for each in claim.gold_evidence}
        pool = {_digest(each.text): each for each in claim.retrieved_evidence} | gold
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
        passages = tuple(scifact_passages({n: corpus[n] for n in cited if n in corpus}))
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


def scifact_passages(corpus: Mapping[str, Abstract]) -> list[Document]:
    """The sentences of all abstracts, to be indexed as the corpus that all claims are searched in.

    Their ids are those of `from_scifact`.
    """
    return [
        Document(id=f"{name}:{number}", text=text.strip(), title=abstract.title)
        for name, abstract in corpus.items()
        for number, text in enumerate(abstract.abstract)
        if text.strip()
    ]


def from_fever(
    claims: Sequence[FeverClaim],
    pages: Mapping[str, Mapping[int, str]],
    further: Mapping[int, Collection[str]] | None = None,
) -> list[Query]:
    """All sentences of the pages that a claim's evidence names; the named ones are its evidence.

    To be given the right pages is half of what FEVER asks, and a claim without evidence is given
    none. Where pages are to be found as well, `fever_passages` is what all claims are searched in.
    Evidence that is not on the pages stays: it is not found.

    Args:
        claims: Of one file.
        pages: As `pipelines.data.fever.read_wikipedia` gives them. Pages that are not there are
            passed over.
        further: Claim id -> titles of further pages to retrieve from, those that a search for pages
            found, for instance. It may name pages for claims without evidence.
    """
    sentences = {page: _page_passages(page, lines) for page, lines in pages.items()}
    found = []
    for claim in claims:
        named = [pointer.page for pointers in claim.evidence for pointer in pointers]
        keys = dict.fromkeys(map(page_key, [*named, *(further or {}).get(claim.id, ())]))
        sets = [
            frozenset(_pointer_id(page_key(page), number) for page, number in pointers)
            for pointers in claim.evidence
        ]
        side = _SIDE.get(claim.label, Relation.IRRELEVANT)
        found.append(
            Query(
                id=str(claim.id),
                source="fever",
                claim=claim.claim,
                passages=tuple(passage for key in keys for passage in sentences.get(key, ())),
                stance=_STANCE.get(claim.label, Stance.NOT_ENOUGH_INFO),
                disputed=None,
                evidence=tuple(dict.fromkeys(sets)),
                relations={name: side for units in sets for name in units},
            )
        )
    return found


def fever_passages(pages: Mapping[str, Mapping[int, str]]) -> list[Document]:
    """The sentences of all pages, to be indexed as the corpus that all claims are searched in.

    Their ids are those of `from_fever`.

    Args:
        pages: As `pipelines.data.fever.read_wikipedia` gives them.
    """
    return [passage for page, lines in pages.items() for passage in _page_passages(page, lines)]


def from_ragtruth(responses: Sequence[Response], sources: Mapping[str, Source]) -> list[Query]:
    """The sentences of each response, and its source in passages.

    A sentence is supported where people marked no word of it, refuted where one of its marks
    contradicts the source, and else without enough information. Which passage says so is not known.

    Left out are responses that the release calls faulty as a whole, as its own evaluation does,
    those whose source is no prose, a table (Data2txt), and those that are blank.

    Args:
        responses: Of one file.
        sources: Source id -> source.

    Raises:
        InputError: A response has no source.
    """
    cut: dict[str, tuple[Document, ...]] = {}
    found = []
    for response in responses:
        name = response.source_id
        if response.quality != "good":
            continue
        if name not in sources:
            raise InputError(
                f"response '{response.id}' was written from source '{name}', which is not among "
                "the sources; name the source_info.jsonl of the same release"
            )
        if name not in cut:
            cut[name] = _source_passages(sources[name])
        if cut[name]:
            found += _sentences(response, cut[name])
    return found


def _sentences(response: Response, source: tuple[Document, ...]) -> list[Query]:
    marks = [Span(label.start, label.end) for label in response.labels]
    conflicts = [
        mark
        for mark, label in zip(marks, response.labels, strict=True)
        if label.label_type in CONFLICTS
    ]
    made = []
    for number, span in enumerate(sentences(response.response), start=1):
        words = tokens(response.response, span)
        hallucinated = touched(words, marks)
        stance = Stance.NOT_ENOUGH_INFO if hallucinated else Stance.SUPPORT
        made.append(
            Query(
                id=f"{response.id}:{number}",
                source="ragtruth",
                claim=" ".join(response.response[slice(*span)].split()),
                passages=source,
                stance=Stance.REFUTE if touched(words, conflicts) else stance,
                disputed=None,
                evidence=(),
                relations={},
                response=ResponseSentence(
                    response=response.id,
                    source=response.source_id,
                    tokens=len(words),
                    hallucinated=hallucinated,
                ),
            )
        )
    return made


def from_alce(questions: Sequence[Question]) -> list[Query]:
    """Questions with what ALCE retrieved for each, the best first.

    A passage that names one of the short answers supports the answer; whether one contradicts it
    is not known. Of ELI5, whose answers are no short ones, nothing is known of passages.
    """
    found = []
    for each in questions:
        own = tuple(
            passage.model_copy(update={"id": f"{each.id}/{passage.id}"})
            for passage in each.passages
        )
        names = (p.id for p in own if any(named_answers(each.answers, p.as_read())))
        found.append(
            Query(
                id=each.id,
                source=f"alce-{each.task}",
                claim=each.question,
                passages=own,
                stance=None,
                disputed=None,
                evidence=(),
                relations=dict.fromkeys(names, Relation.SUPPORTS),
                asked=Asked(each.answers, each.claims, ENOUGH if each.task == "qampari" else None),
            )
        )
    return found


def _source_passages(source: Source) -> tuple[Document, ...]:
    return tuple(
        part
        for number, text in enumerate(source.passages(), start=1)
        for part in passages(Document(id=f"{source.source_id}:{number}", text=text))
    )


def _page_passages(page: str, lines: Mapping[int, str]) -> tuple[Document, ...]:
    title = page_title(page)
    return tuple(
        Document(id=_pointer_id(page, number), text=text, title=title)
        for number, text in sorted(lines.items())
    )


def _pointer_id(page: str, number: int) -> str:
    if len(page) > LONGEST_PAGE:
        # Some titles are longer than an id may be; two of them may begin alike.
        page = f"{page[: LONGEST_PAGE - 17]}~{_digest(page)}"
    return f"{page}:{number}"


def _digest(text: str) -> str:
    plain = " ".join(text.split())
    return hashlib.sha1(plain.encode("utf-8"), usedforsecurity=False).hexdigest()[:16]
