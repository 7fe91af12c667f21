"""Claims that name documents by their place, and documents that say which they are."""

import pytest

from pipelines.conflictscore.claims import as_cited, named, names_documents
from pipelines.data.records import Document

DOCUMENTS = (Document(id="guide", text="1932.", title="The guide"), Document(id="study", text="x"))


@pytest.mark.parametrize(
    "claim",
    [
        "Document A notes that the bridge was opened in 1936.",
        "According to document 2, it is closed.",
        "The year is 1932 (Doc 1).",
        "Sources [1] and [2] disagree.",
    ],
)
def test_a_document_named_by_its_place_is_seen(claim: str) -> None:
    assert names_documents([claim])


@pytest.mark.parametrize(
    "claim",
    [
        "A document from 1932 names the bridge.",
        "The article was published in 1936.",
        "Some sources give 1932, others 1936.",
        "The source a river springs from is its head.",
        "Article 1932 was repealed.",
        "Article 5 binds all members.",
        "A source I trust gives 1932.",
    ],
)
def test_other_talk_of_documents_is_not(claim: str) -> None:
    assert not names_documents([claim])


def test_documents_get_number_letter_and_keep_their_title() -> None:
    assert [each.title for each in named(DOCUMENTS)] == [
        "Document 1 (Document A): The guide",
        "Document 2 (Document B)",
    ]
    assert named(DOCUMENTS)[1].as_read() == "Document 2 (Document B)\n\nx"
    many = named([Document(id=str(n), text="x") for n in range(27)])
    assert (many[25].title, many[26].title) == ("Document 26 (Document Z)", "Document 27")


def test_documents_stay_as_they_are_where_no_claim_names_one() -> None:
    assert as_cited(["It was opened in 1932."], DOCUMENTS) == DOCUMENTS
    assert as_cited(["Document 1 gives 1932."], DOCUMENTS) == named(DOCUMENTS)
