"""Data sets: released files as claims with passages, gold stances and gold evidence."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from random import Random

from pydantic import BaseModel, Field

from nli.sentences import Span, sentences
from pipelines.conrag.evidence import SIDES, STANCE_OF, Stance
from pipelines.conrag.generation import MOST, Form
from pipelines.conrag.settings import DatasetName
from pipelines.data import alce, fever, fool_me_twice, ragtruth, scifact
from pipelines.data.alce import Question
from pipelines.data.fever import FeverClaim, page_key, page_title
from pipelines.data.fool_me_twice import GameClaim
from pipelines.data.ragtruth import CONFLICTS, Response, Source
from pipelines.data.records import Document
from pipelines.data.released import Half, Part, half
from pipelines.data.scifact import Abstract, ScientificClaim
from pipelines.errors import InputError
from pipelines.files import file_digest
from pipelines.judge import examples
from pipelines.judge.examples import ContestedClaim
from pipelines.judge.judgement import Relation, conflicting
from pipelines.metrics.alce import named_answers
from pipelines.retrieval.documents import passages
from pipelines.text.declarative import as_claim

SIDE = {"SUPPORTS": Relation.SUPPORTS, "REFUTES": Relation.CONTRADICTS}
STANCE = {label: STANCE_OF[side] for label, side in SIDE.items()}

_TOKEN = re.compile(r"\S+")


class ResponseSentence(BaseModel, frozen=True):
    """The position of a claim that is a sentence of a response.

    Attributes:
        source: Id of the response's source. Responses to the same source are not independent.
        tokens: Number of the sentence's tokens.
        hallucinated: Number of tokens that people marked.
    """

    response: str
    source: str
    tokens: int = Field(ge=0)
    hallucinated: int = Field(ge=0)


@dataclass(frozen=True)
class GoldAnswer:
    """The gold answer to a question.

    Attributes:
        answers: Aliases of every short answer to be named.
        claims: Claims that the answer should entail.
        listed: Whether the answer is a list of short answers.
    """

    answers: tuple[tuple[str, ...], ...] = ()
    claims: tuple[str, ...] = ()
    listed: bool = False

    def statements(self, question: str, found: Sequence[Document]) -> tuple[str, ...]:
        """The answer in statements, as `pipelines.conrag.generation` makes them.

        Short answers count only if the passages name them; at most `MOST` statements are made.
        """
        text = " ".join(document.as_read() for document in found)
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
        id: Unique within its source, the data set.
        passages: The claim's own passages, to retrieve from.
        stance: The gold stance; None if unknown.
        disputed: Whether its evidence disagrees; None if the data do not say.
        evidence: Alternative sets of passage ids, each sufficient.
        relations: Passage id -> its gold relation, if known.
        response: Position of the claim, if it is a sentence of a response.
        split: The split of the release, if it has one.
        gold_answer: The gold answer, if it is a question; `relations` then refer to it.
    """

    id: str
    source: str
    claim: str
    passages: tuple[Document, ...]
    stance: Stance | None = None
    disputed: bool | None = None
    evidence: tuple[frozenset[str], ...] = ()
    relations: Mapping[str, Relation] = field(default_factory=dict)
    response: ResponseSentence | None = None
    split: Half | None = None
    gold_answer: GoldAnswer | None = None

    @property
    def form(self) -> Form:
        """Whether it is a claim, a question, or a question for a list."""
        if self.gold_answer is None:
            return "claim"
        return "list" if self.gold_answer.listed else "question"


def from_claims(claims: Sequence[ContestedClaim]) -> Iterator[Query]:
    """Claims in the unified format, with the documents of each.

    If the relations of documents are known, the claim has the stance of the side that they take;
    with both sides it is disputed, and there is not enough information for a stance.
    """
    for claim in claims:
        # Documents of different claims may share an id but are different passages.
        passages = tuple(
            document.model_copy(update={"id": digest(f"{claim.id} {document.id}")})
            for document in claim.documents
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
    """Sentences of the claim's page: the retrieved ones, and the gold ones.

    A sentence has the same id everywhere, so that claims on one page share it. Whether sentences
    other than the gold ones bear on the claim is unknown.
    """
    for claim in claims:
        gold = {digest(sentence.text): sentence for sentence in claim.gold_evidence}
        pool = {digest(sentence.text): sentence for sentence in claim.retrieved_evidence} | gold
        yield Query(
            id=claim.id,
            source="fool-me-twice",
            claim=claim.text,
            passages=tuple(
                Document(id=name, text=sentence.text, title=claim.wikipedia_page or None)
                for name, sentence in sorted(pool.items())
            ),
            stance=STANCE[claim.label],
            evidence=(frozenset(gold),),
            relations=dict.fromkeys(gold, SIDE[claim.label]),
        )


def from_alce(questions: Sequence[Question]) -> Iterator[Query]:
    """Questions with the passages that ALCE retrieved, the best first.

    A passage that names a short answer supports the answer; contradictions are unknown. ELI5 has no
    short answers, so its passages have no relations.
    """
    for question in questions:
        passages = tuple(
            passage.model_copy(update={"id": f"{question.id}/{passage.id}"})
            for passage in question.passages
        )
        naming = (p.id for p in passages if any(named_answers(question.answers, p.as_read())))
        listed = question.task == "qampari"
        yield Query(
            id=question.id,
            source=f"alce-{question.task}",
            claim=question.question,
            passages=passages,
            relations=dict.fromkeys(naming, Relation.SUPPORTS),
            gold_answer=GoldAnswer(question.answers, question.claims, listed=listed),
        )


def stance_of(relations: set[Relation]) -> Stance:
    """The stance of the side that passages take; with both or neither, not enough information."""
    sides = relations.intersection(SIDES)
    return STANCE_OF[sides.pop()] if len(sides) == 1 else Stance.NOT_ENOUGH_INFO


def digest(text: str) -> str:
    """A digest of a text for ids, ignoring white space."""
    plain = " ".join(text.split())
    return hashlib.sha1(plain.encode("utf-8"), usedforsecurity=False).hexdigest()[:16]


LONGEST_PAGE = 180
"""Maximum characters of a page's title in an id; an id may have 200."""


def from_scifact(
    claims: Sequence[ScientificClaim], corpus: Mapping[str, Abstract]
) -> Iterator[Query]:
    """The sentences of the abstracts that a claim cites; rationales are its evidence.

    Cited abstracts that the corpus lacks are left out.
    """
    for claim in claims:
        cited = dict.fromkeys([*claim.evidence, *map(str, claim.cited_doc_ids)])
        side = {"SUPPORT": Relation.SUPPORTS, "CONTRADICT": Relation.CONTRADICTS}
        rationales = [
            (frozenset(f"{name}:{number}" for number in marked.sentences), side[marked.label])
            for name, rationales in claim.evidence.items()
            for marked in rationales
        ]
        relations = {name: relation for units, relation in rationales for name in units}
        yield Query(
            id=str(claim.id),
            source="scifact",
            claim=claim.claim,
            passages=tuple(scifact_passages({n: corpus[n] for n in cited if n in corpus})),
            stance=stance_of({*relations.values()}),
            disputed=conflicting([*relations.values()]),
            evidence=tuple(dict.fromkeys(units for units, _ in rationales)),
            relations=relations,
        )


def scifact_passages(corpus: Mapping[str, Abstract]) -> list[Document]:
    """The sentences of all abstracts, named as in `from_scifact`: a corpus to search."""
    return [
        Document(id=f"{name}:{number}", text=text.strip(), title=abstract.title)
        for name, abstract in corpus.items()
        for number, text in enumerate(abstract.abstract)
        if text.strip()
    ]


def from_fever(
    claims: Sequence[FeverClaim], pages: Mapping[str, Mapping[int, str]]
) -> Iterator[Query]:
    """All sentences of the pages that a claim's evidence names; the named ones are its evidence.

    Finding the right pages is half of FEVER's task, and a claim without evidence names no pages.
    So search `fever_passages`, the pages of all claims. Evidence that is missing from the pages
    (`pipelines.data.fever.read_wikipedia`) is kept but never found.
    """
    sentences = {page: page_passages(page, lines) for page, lines in pages.items()}
    for claim in claims:
        named = (pointer.page for pointers in claim.evidence for pointer in pointers)
        keys = dict.fromkeys(map(page_key, named))
        sets = [
            frozenset(_pointer_id(page_key(page), number) for page, number in pointers)
            for pointers in claim.evidence
        ]
        side = SIDE.get(claim.label, Relation.IRRELEVANT)
        yield Query(
            id=str(claim.id),
            source="fever",
            claim=claim.claim,
            passages=tuple(passage for key in keys for passage in sentences.get(key, ())),
            stance=STANCE.get(claim.label, Stance.NOT_ENOUGH_INFO),
            evidence=tuple(dict.fromkeys(sets)),
            relations={name: side for units in sets for name in units},
        )


def fever_passages(pages: Mapping[str, Mapping[int, str]]) -> list[Document]:
    """The sentences of all pages, named as in `from_fever`: a corpus to search."""
    return [passage for page, lines in pages.items() for passage in page_passages(page, lines)]


def from_ragtruth(responses: Sequence[Response], sources: Mapping[str, Source]) -> Iterator[Query]:
    """The sentences of every response, and its source in passages.

    A sentence is supported if people marked no word of it, refuted if one of its marks contradicts
    the source, and otherwise lacks information. Which passage decides is unknown.

    Blank responses, and those that the release calls faulty as a whole, are left out, as in the
    release's evaluation.

    Raises:
        InputError: A response has no source.
    """
    cut: dict[str, tuple[Document, ...]] = {}
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
            yield from _sentences(response, cut[name])


def _sentences(response: Response, source: tuple[Document, ...]) -> Iterator[Query]:
    marks = [(Span(label.start, label.end), label.label_type) for label in response.labels]
    conflicts = [span for span, kind in marks if kind in CONFLICTS]
    for number, span in enumerate(sentences(response.response), start=1):
        words = tokens(response.response, span)
        hallucinated = touched(words, [mark for mark, _ in marks])
        stance = Stance.NOT_ENOUGH_INFO if hallucinated else Stance.SUPPORT
        yield Query(
            id=f"{response.id}:{number}",
            source="ragtruth",
            claim=" ".join(response.response[slice(*span)].split()),
            passages=source,
            stance=Stance.REFUTE if touched(words, conflicts) else stance,
            response=ResponseSentence(
                response=response.id,
                source=response.source_id,
                tokens=len(words),
                hallucinated=hallucinated,
            ),
            split=response.split,
        )


def tokens(text: str, within: Span) -> tuple[Span, ...]:
    """The tokens of a part of a text: words between white space, with their punctuation."""
    return tuple(Span(*match.span()) for match in _TOKEN.finditer(text, *within))


def touched(parts: Iterable[Span], marks: Sequence[Span]) -> int:
    """Number of parts of a text with a character in one of the marks, which may overlap."""
    return sum(
        any(part.start < mark.end and mark.start < part.end for mark in marks) for part in parts
    )


def _source_passages(source: Source) -> tuple[Document, ...]:
    return tuple(
        part
        for number, text in enumerate(source.passages(), start=1)
        for part in passages(Document(id=f"{source.source_id}:{number}", text=text))
    )


def page_passages(page: str, lines: Mapping[int, str]) -> tuple[Document, ...]:
    """The sentences of a page (`page_key`), named as evidence names them, with its title."""
    title = page_title(page)
    return tuple(
        Document(id=_pointer_id(page, number), text=text, title=title)
        for number, text in sorted(lines.items())
    )


def _pointer_id(page: str, number: int) -> str:
    """The id of a page's sentence; a title that is too long is cut, with a digest added."""
    if len(page) > LONGEST_PAGE:
        # Long titles may share their beginning.
        page = f"{page[: LONGEST_PAGE - 17]}~{digest(page)}"
    return f"{page}:{number}"


@dataclass(frozen=True)
class Dataset:
    """Claims to be checked or questions to be answered, with their passages.

    Attributes:
        file: Name of the file; the digest is the SHA-256 of its bytes.
        queries: The claims of the chosen half, in the file's order.
        corpus: All passages, without repeated ids: those of `--corpus`, or of the claims.
        skipped: Why rows of the file were skipped, one line each.
    """

    name: str
    file: str
    digest: str
    part: Part
    queries: tuple[Query, ...]
    corpus: tuple[Document, ...]
    skipped: tuple[str, ...] = ()

    @cached_property
    def corpus_digest(self) -> str:
        """SHA-256 over the corpus, as hex, whatever files it came from."""
        digest = hashlib.sha256()
        for passage in self.corpus:
            digest.update(passage.model_dump_json().encode("utf-8"))
        return digest.hexdigest()


Read = tuple[Iterable[Query], list[Document] | None, tuple[str, ...]]
"""Queries, the passages of a separate corpus, and why rows were skipped."""


def _fever(path: Path, corpus: Path) -> Read:
    claims = fever.read(path)
    named = {
        pointer.page for claim in claims for pointers in claim.evidence for pointer in pointers
    }
    pages = fever.read_wikipedia(corpus, named, 0, Random(0)).pages  # noqa: S311  draws nothing
    return from_fever(claims, pages), fever_passages(pages), ()


def _scifact(path: Path, corpus: Path) -> Read:
    abstracts = scifact.read_corpus(corpus)
    return from_scifact(scifact.read(path), abstracts), scifact_passages(abstracts), ()


def _ragtruth(path: Path, corpus: Path) -> Read:
    responses, skipped = ragtruth.read(path)
    return from_ragtruth(responses, ragtruth.read_sources(corpus)), None, skipped


ALONE: Mapping[DatasetName, Callable[[Path], Iterable[Query]]] = {
    "claims": lambda path: from_claims(examples.read(path).examples),
    "fool-me-twice": lambda path: from_fool_me_twice(fool_me_twice.read(path)),
    "alce": lambda path: from_alce(alce.read(path)),
}
"""Data sets whose claims come with their passages."""

WITH_CORPUS: Mapping[DatasetName, tuple[str, Callable[[Path, Path], Read]]] = {
    "scifact": ("corpus.jsonl", _scifact),
    "fever": ("the folder wiki-pages", _fever),
    "ragtruth": ("source_info.jsonl", _ragtruth),
}
"""Data sets whose passages are in separate files: the files' name, and a reader of both."""


def read(
    name: DatasetName, path: Path, *, corpus: Path | None = None, part: Part = "all"
) -> Dataset:
    """The claims of a released file; "claims" is the unified format of docs/conflict-detection.md.

    Passages in separate files are the `corpus`; see `WITH_CORPUS`. A half (`part`) is the release's
    own split, if it has one, and otherwise drawn by the claims' text, for sets whose other half
    trains the tagger.

    Raises:
        InputError: A file cannot be read or is of another format, a corpus is missing or has no
            effect, or no claim is left.
    """
    passages: list[Document] | None = None
    skipped: tuple[str, ...] = ()
    if name in WITH_CORPUS:
        needed, load = WITH_CORPUS[name]
        if corpus is None:
            raise InputError(f"--dataset {name} needs its passages; name {needed} with --corpus")
        loaded, passages, skipped = load(path, corpus)
    else:
        if corpus is not None:
            raise InputError(f"--corpus has no effect with --dataset {name}; leave it out")
        loaded = ALONE[name](path)
    queries = list(loaded)
    if not queries:
        raise InputError(f"{path} has no claim that can be checked; name another file")
    repeated, times = Counter(query.id for query in queries).most_common(1)[0]
    if times > 1:
        raise InputError(f"{path}: the id '{repeated}' appears twice; make ids distinct")
    chosen = [query for query in queries if part in ("all", query.split or half(query.claim))]
    if not chosen:
        raise InputError(f"{path} has no claim in the {part} half; choose another --half")
    return Dataset(
        chosen[0].source if name == "alce" else name,  # its three tasks are separate data sets
        path.name,
        file_digest(path),
        part,
        tuple(chosen),
        tuple(_passages_of(chosen) if passages is None else passages),
        skipped,
    )


def _passages_of(queries: Sequence[Query]) -> list[Document]:
    """The passages of all claims in a fixed order, without repeated ids."""
    by_id: dict[str, Document] = {}
    for query in queries:
        for passage in query.passages:
            by_id.setdefault(passage.id, passage)
    return list(by_id.values())
