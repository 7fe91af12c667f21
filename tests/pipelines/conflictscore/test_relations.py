"""Which pairs of claim and document people can label, and what they see of them."""

from pipelines.conflictscore.relations import of_response
from pipelines.conflictscore.result import Result
from pipelines.data.records import Document
from pipelines.judge.judgement import Judgement, Relation

GUIDE = Document(id="guide", text="Opened 1932.", title="A guide", date="1950")
STUDY = Document(id="copy-with-error", text="Opened 1936.")


def judged(claim: str, document: Document, relation: Relation) -> Judgement:
    shares = {Relation.SUPPORTS: 0.5, Relation.CONTRADICTS: 0.3, Relation.IRRELEVANT: 0.2}
    known = None if relation is Relation.INVALID else shares
    return Judgement(
        claim=claim, document=document.id, relation=relation, probabilities=known, source="judge"
    )


def test_each_pair_of_a_response() -> None:
    result = Result(
        id="bridge/sure",
        group="bridge",
        variant="sure",
        question="When?",
        response="...",
        documents=(GUIDE, STUDY),
        status="scored",
        claims=("One.", "Two."),
        judgements=(
            judged("One.", GUIDE, Relation.SUPPORTS),
            judged("One.", STUDY, Relation.CONTRADICTS),
            judged("Two.", GUIDE, Relation.INVALID),
            judged("Two.", STUDY, Relation.IRRELEVANT),
        ),
    )
    found = list(of_response(result))
    assert [(each.part, each.label) for each in found] == [
        ((1, "guide"), "SUPPORTS"),
        ((1, "copy-with-error"), "CONTRADICTS"),
        ((2, "guide"), None),
        ((2, "copy-with-error"), "IRRELEVANT"),
    ]
    assert found[0].shown == (
        ("Question", "When?"),
        ("Claim", "One."),
        ("Document, 1950", "A guide\n\nOpened 1932."),
    )
    assert [each.confidence for each in found] == [0.5, 0.3, None, 0.2]
    assert found[0].groups == {"group": "bridge", "variant": "sure"}
    assert all("copy" not in text for each in found for _, text in each.shown)


def test_documents_are_named_where_a_claim_names_one_as_the_judge_read_them() -> None:
    claim = "Document 2 says 1936."
    result = Result(
        id="bridge",
        group="bridge",
        response=claim,
        documents=(GUIDE, STUDY),
        status="scored",
        claims=(claim,),
        judgements=(judged(claim, STUDY, Relation.SUPPORTS),),
    )
    (one,) = of_response(result)
    assert one.shown[-1] == ("Document", "Document 2\n\nOpened 1936.")
