"""The relations that judges see between claims and documents, for people to label as well."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pipelines.conflictscore.claims import as_cited
from pipelines.conflictscore.detection.detect import DetectionResult
from pipelines.conflictscore.result import Result
from pipelines.data.records import Document
from pipelines.experiment.experiment import Labelled, Labelling, by_name
from pipelines.judge.judgement import Judgement, Relation

LABELS: Final = {
    Relation.SUPPORTS.value: "supports the claim",
    Relation.CONTRADICTS.value: "contradicts the claim",
    Relation.IRRELEVANT.value: "says neither",
}


def of_response(result: Result) -> Iterator[Labelled]:
    """The pairs of a scored response, with documents titled as the judge read them."""
    groups = {"group": result.group} | ({"variant": result.variant} if result.variant else {})
    documents = as_cited(result.claims, result.documents)
    yield from _pairs(result.question, documents, result.judgements, groups)


def of_detection(result: DetectionResult) -> Iterator[Labelled]:
    """The pairs of an example."""
    example = result.example
    groups = {"group": example.group, "source": example.source}
    yield from _pairs(example.question, example.documents, result.judgements, groups)


def _pairs(
    question: str | None,
    documents: Sequence[Document],
    judgements: Sequence[Judgement],
    groups: Mapping[str, str],
) -> Iterator[Labelled]:
    by_id = {document.id: document for document in documents}
    claims = dict.fromkeys(judgement.claim for judgement in judgements)
    numbers = {claim: number for number, claim in enumerate(claims, 1)}
    for judgement in judgements:
        document = by_id[judgement.document]
        # Document ids may give the label away, so people do not see them.
        dated = f"Document, {document.date}" if document.date else "Document"
        yield Labelled(
            (numbers[judgement.claim], document.id),
            (
                *((("Question", question),) if question else ()),
                ("Claim", judgement.claim),
                (dated, document.as_read()),
            ),
            None if judgement.relation is Relation.INVALID else judgement.relation.value,
            by_name(judgement.probabilities),
            groups,
        )


_ASKED: Final = "What does the document say about the claim?"
_COUNTED: Final = "pairs of claim and document"

OF_RESPONSES: Final[Mapping[str, Labelling[Result]]] = {
    "relation": Labelling(_ASKED, _COUNTED, LABELS, of_response)
}
OF_EXAMPLES: Final[Mapping[str, Labelling[DetectionResult]]] = {
    "relation": Labelling(_ASKED, _COUNTED, LABELS, of_detection)
}
"""Labels to collect in experiments that judge claims by documents."""
