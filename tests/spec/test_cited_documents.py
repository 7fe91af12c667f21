"""Claims that refer to documents by number, and documents that state their number."""

import pytest

from pipelines.conflictscore.claims import as_cited, places_named
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
    assert any(places_named([claim], 3))


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
        "It is compiled by an open source C compiler.",
        "Document 14 of the treaty was signed in Paris.",
    ],
)
def test_other_talk_of_documents_is_not(claim: str) -> None:
    assert not any(places_named([claim], 3))


@pytest.mark.parametrize(
    ("claim", "titles"),
    [
        ("Document A gives 1932.", ("Document A: The guide", "Document B")),
        ("Document 1 gives 1932.", ("Document 1: The guide", "Document 2")),
        (
            "Document 1 gives 1932, Document B 1936.",
            ("Document 1 (Document A): The guide", "Document 2 (Document B)"),
        ),
        ("It was opened in 1932.", ("The guide", None)),
    ],
)
def test_titles_name_documents_as_claims_do(claim: str, titles: tuple[str | None, ...]) -> None:
    assert tuple(each.title for each in as_cited([claim], DOCUMENTS)) == titles


def test_documents_after_the_last_letter_have_a_number() -> None:
    many = as_cited(["Document A is long."], [Document(id=str(n), text="x") for n in range(27)])
    assert (many[25].title, many[26].title) == ("Document Z", "Document 27")
