"""Released data sets whose passages lie in files of their own, as claims: one loader each."""

from collections.abc import Iterator, Mapping, Sequence

from nli.sentences import Span, sentences
from pipelines.conrag.hallucination import ResponseSentence, tokens, touched
from pipelines.conrag.query import Query
from pipelines.conrag.releases import SIDE, STANCE, digest, stance_of
from pipelines.conrag.stance import Stance
from pipelines.data.fever import FeverClaim, page_key, page_title
from pipelines.data.ragtruth import CONFLICTS, Response, Source
from pipelines.data.records import Document
from pipelines.data.scifact import Abstract, ScientificClaim
from pipelines.errors import InputError
from pipelines.evidence.judgement import Relation, conflicting
from pipelines.retrieval.chunks import passages

LONGEST_PAGE = 180
"""Characters of a page's title in ids, at most: an id has 200."""


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
            (frozenset(f"{name}:{number}" for number in each.sentences), side[each.label])
            for name, own in claim.evidence.items()
            for each in own
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
    """The sentences of all abstracts, as `from_scifact` names them: a corpus to search in."""
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

    To be given the right pages is half of what FEVER asks, and a claim without evidence brings
    none; see `pipelines.conrag.search`. Where pages are to be found as well, `fever_passages` is
    what all claims are searched in, or all of Wikipedia (`pipelines.conrag.wikipedia`).
    Evidence that is not on the pages (`pipelines.data.fever.read_wikipedia`) stays: it is not
    found.
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
    """The sentences of all pages, as `from_fever` names them: a corpus to search in."""
    return [passage for page, lines in pages.items() for passage in page_passages(page, lines)]


def from_ragtruth(responses: Sequence[Response], sources: Mapping[str, Source]) -> Iterator[Query]:
    """The sentences of each response, and its source in passages.

    A sentence is supported where people marked no word of it, refuted where one of its marks
    contradicts the source, and else without enough information. Which passage says so is not known.

    Left out are responses that the release calls faulty as a whole, as its own evaluation does,
    those whose source is no prose, a table (Data2txt), and those that are blank.

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


def _source_passages(source: Source) -> tuple[Document, ...]:
    return tuple(
        part
        for number, text in enumerate(source.passages(), start=1)
        for part in passages(Document(id=f"{source.source_id}:{number}", text=text))
    )


def page_passages(page: str, lines: Mapping[int, str]) -> tuple[Document, ...]:
    """The sentences of a page (`page_key`), called as evidence calls them, with its title."""
    title = page_title(page)
    return tuple(
        Document(id=_pointer_id(page, number), text=text, title=title)
        for number, text in sorted(lines.items())
    )


def page_name(page: str) -> str:
    """A page's title as a part of ids; one that is too long is cut, and has a digest."""
    if len(page) > LONGEST_PAGE:
        # Two of them may begin alike.
        return f"{page[: LONGEST_PAGE - 17]}~{digest(page)}"
    return page


def _pointer_id(page: str, number: int) -> str:
    return f"{page_name(page)}:{number}"
