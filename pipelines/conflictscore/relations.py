"""Relations of claims and documents that judges gave, for people to give too."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

from pydantic import BaseModel

from pipelines.conflictscore.cited import as_cited
from pipelines.conflictscore.detection.detect import DetectionResult
from pipelines.conflictscore.result import Result
from pipelines.data.records import Document
from pipelines.evidence.judgement import Judgement, Relation
from pipelines.experiment.labelled import Labelled, Labelling, by_name

ResultT = TypeVar("ResultT", bound=BaseModel)

LABELS: Final = {
    Relation.SUPPORTS.value: "supports the claim",
    Relation.CONTRADICTS.value: "contradicts the claim",
    Relation.IRRELEVANT.value: "says neither",
}


def relation_of(
    given: Callable[[ResultT], Iterable[Labelled]],
) -> Mapping[str, Labelling[ResultT]]:
    """The labelling of an experiment in which documents are judged by claims."""
    asked = "What does the document say of the claim?"
    return {"relation": Labelling(asked, "pairs of claim and document", LABELS, given)}


def of_response(result: Result) -> Iterator[Labelled]:
    """The pairs of a response that was scored, documents named as the judge read them."""
    groups = {"group": result.group} | ({"variant": result.variant} if result.variant else {})
    documents = as_cited(result.claims, result.documents)
    yield from _pairs(result.question, documents, result.judgements, groups)


def of_detection(result: DetectionResult) -> Iterator[Labelled]:
    """The pairs of an example; of a planted one, by the kind of its plant, too."""
    own = result.example
    groups = {"group": own.group, "source": own.source}
    if own.plant is not None:
        groups["kind"] = own.plant.kind
    yield from _pairs(own.question, own.documents, result.judgements, groups)


def _pairs(
    question: str | None,
    documents: Sequence[Document],
    judgements: Sequence[Judgement],
    groups: Mapping[str, str],
) -> Iterator[Labelled]:
    by_id = {document.id: document for document in documents}
    claims = list(dict.fromkeys(each.claim for each in judgements))
    for each in judgements:
        document = by_id[each.document]
        # Ids of documents may tell what they are, so people do not see them.
        dated = f"Document, {document.date}" if document.date else "Document"
        yield Labelled(
            (claims.index(each.claim) + 1, document.id),
            (
                *((("Question", question),) if question else ()),
                ("Claim", each.claim),
                (dated, document.as_read()),
            ),
            None if each.relation is Relation.INVALID else each.relation.value,
            by_name(each.probabilities),
            groups,
        )


OF_RESPONSES: Final = relation_of(of_response)
OF_EXAMPLES: Final = relation_of(of_detection)
