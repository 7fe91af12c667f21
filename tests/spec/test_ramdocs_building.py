"""Building a data set like RAMDocs from AmbigDocs and passages (MADAM-RAG, section 3)."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from pipelines.data.ambigdocs import AmbiguousQuestion
from pipelines.data.ramdocs import RamDocument, RamQuestion
from pipelines.data.records import Document
from pipelines.madam_rag import build as building
from pipelines.madam_rag.build import (
    Stated,
    stated,
    supports,
    swapped,
)
from pipelines.retrieval import index


def asked(question: str, name: str, *documents: tuple[str, str, str]) -> AmbiguousQuestion:
    """A question with documents of (title, answer, text)."""
    return AmbiguousQuestion.model_validate(
        {
            "question": question,
            "ambiguous_entity": name,
            "documents": [
                {"title": title, "answer": answer, "text": text}
                for title, answer, text in documents
            ],
        }
    )


def built(
    questions: Sequence[AmbiguousQuestion],
    passages: Sequence[Document],
    *,
    seed: int = 0,
    most: int = 500,
) -> tuple[RamQuestion, ...]:
    with searchable(passages) as search:
        return building.build(questions, search, seed=seed, most=most)


@contextmanager
def searchable(passages: Sequence[Document]) -> Iterator[index.Index]:
    with tempfile.TemporaryDirectory() as folder:
        yield index.build(passages, Path(folder))


BRIDGE = asked(
    "When was the bridge of Aldham opened?",
    "Aldham",
    ("Aldham, Essex", "1902", "The bridge of Aldham in Essex was opened in 1902."),
    ("Aldham, Nebraska", "July 14, 1856", "The bridge there was opened on 14 July 1856."),
)
LENDER = asked(
    "When was the bridge of Corby opened?",
    "Corby",
    ("Corby, Kansas", "1888", "It was opened a long time ago."),
    ("Corby (village)", "3 May 1911", "It was opened on a Wednesday."),
)
MAYOR = "In 1902 the mayor opened the bridge."
FLAG = "Aldham, in Essex, had a bridge with a flag on it, opened in 1902."
STONE = "The bridge of Aldham is made of stone."
PASSAGES = [
    Document(id="mayor", title="Aldham, Essex", text=MAYOR),
    Document(id="flag", text=FLAG),
    Document(id="both", text="Aldham, Essex: bridge opened 1902. Aldham, Nebraska: 14 July 1856."),
    Document(id="other", title="Aldham, Nebraska", text="A bridge of Aldham was opened in 1902."),
    Document(id="stone", text=STONE),
    Document(id="cheese", text="Cheese is made of milk."),
]


@pytest.mark.parametrize("seed", range(4))
def test_worked_by_hand(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    for name, number in (("ANSWERS", 2), ("SUPPORTING", 2), ("MISINFORMATION", 1), ("NOISE", 1)):
        monkeypatch.setattr(building, name, (number, number))
    (made,) = built([BRIDGE, LENDER], PASSAGES, seed=seed)
    assert made.question == BRIDGE.question
    assert made.gold_answers == ("1902", "July 14, 1856")
    assert made.disambig_entity == ("Aldham, Essex", "Aldham, Nebraska")

    # Essex has its own document and one of the two passages that name it. The other passage is
    # changed. The day is written differently from the answer, so it cannot be swapped. Of the other
    # questions' answers to when a bridge was opened, only 1888 is a year.
    own, found, wrong, other, noise = made.documents
    assert own == RamDocument(text=BRIDGE.documents[0].text, type="correct", answer="1902")
    assert (found.type, found.answer, found.text in {MAYOR, FLAG}) == ("correct", "1902", True)
    (further,) = {MAYOR, FLAG} - {found.text}
    changed = further.replace("1902", "1888")
    assert wrong == RamDocument(text=changed, type="misinfo", answer="1888")
    assert other == RamDocument(
        text=BRIDGE.documents[1].text, type="correct", answer="July 14, 1856"
    )
    # A passage that states both answers, or one of another entity, supports none and is not noise.
    assert noise == RamDocument(text=STONE, type="noise", answer="unknown")
    assert made.wrong_answers == ("1888",)


@pytest.mark.parametrize(
    ("right", "text", "lent"),
    [
        ("14 July 1856", "On July 14, 1856.", "3 May 1911"),  # not verbatim
        ("14 July 1856", "On 14 July 1856.", "1911"),  # not a day
        # The other spelling would still give the right day.
        ("14 July 1856", "On 14 July 1856 (1856-07-14).", "3 May 1911"),
    ],
)
def test_what_cannot_be_changed_is_left_out(
    monkeypatch: pytest.MonkeyPatch, right: str, text: str, lent: str
) -> None:
    monkeypatch.setattr(building, "MISINFORMATION", (1, 1))
    question = asked("When was Aldham founded?", "Aldham", ("A", right, text), ("B", "?", "No."))
    lender = asked("When was Corby founded?", "Corby", ("C", lent, "-"), ("D", lent, "-"))
    (made,) = built([question, lender], PASSAGES)
    assert [each.type for each in made.documents if each.type != "noise"] == ["correct"]


def test_where_nothing_else_is_found_a_copy_is_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(building, "MISINFORMATION", (2, 2))
    monkeypatch.setattr(building, "ANSWERS", (1, 1))
    one = asked(BRIDGE.question, "Aldham", ("Aldham, Essex", "1902", "In 1902."), ("B", "?", "No."))
    (made,) = built([one, LENDER], PASSAGES[-1:])
    # Two were drawn, but a second copy would be the same.
    assert [(each.type, each.text) for each in made.documents] == [
        ("correct", "In 1902."),
        ("misinfo", "In 1888."),
    ]


# Answers that can replace each other.


@pytest.mark.parametrize(
    ("text", "right", "wrong", "expected"),
    [
        ("In 1902 it opened; 1902!", "1902", "1888", "In 1888 it opened; 1888!"),
        ("It has 19020 parts.", "1902", "1888", None),
        (
            "There are 3,559 people (3,559 in all).",
            "3,559 people",
            "812 people",
            "There are 812 people (812 in all).",
        ),
        # A bare short number may mean anything.
        ("He has 2 cats since 2 May.", "2 cats", "5 cats", "He has 5 cats since 2 May."),
        (
            "In January 2012, not in 2012.",
            "January 2012",
            "March 2010",
            "In March 2010, not in 2012.",
        ),
        ("mary oake, mayor", "Mary Oake", "Tom Birch", "Tom Birch, mayor"),
        # The right answer would remain in another spelling.
        ("On 4 July 1856, that is July 4, 1856.", "4 July 1856", "3 May 1911", None),
        # Another right answer would remain.
        ("In 1902, elsewhere in 1731.", "1902", "1888", None),
    ],
)
def test_the_answer_is_exchanged_wherever_it_stands(
    text: str, right: str, wrong: str, expected: str | None
) -> None:
    assert swapped(text, right, wrong, [right, "1731"]) == expected


# Retrieval queries, and passages that support an answer.


@pytest.mark.parametrize(
    ("title", "text", "expected"),
    [
        ("Aldham, Essex", "Opened in 1902.", True),
        ("aldham  essex", "Opened in 1902.", True),
        (None, "In Essex, Aldham opened it in 1902.", True),
        ("Bridges of Essex", "Aldham opened its own in 1902.", True),
        (None, "Aldham opened it in 1902.", False),  # which Aldham?
        ("Aldham, Nebraska", "Aldham, like that of Essex, opened it in 1902.", False),
        ("Aldham, Essex", "Opened in 1903.", False),
        ("Aldham, Essex", "Opened in 1902, in Nebraska on 14 July 1856.", False),
    ],
)
def test_a_passage_supports_one_answer_about_its_entity(
    title: str | None, text: str, expected: bool
) -> None:
    answer = Stated("1902", "Aldham, Essex", ())
    assert supports(Document(id="p", title=title, text=text), BRIDGE, answer) is expected


def test_answers_that_no_document_states_are_left_out() -> None:
    question = asked(
        "Who?",
        "",
        ("A", "Ann Ashby", "Ann Ashby did."),
        ("B", "Tom Birch", "He did."),
        ("C", "ann ashby", "It was Ann Ashby."),
        ("D", "unknown", "It is unknown."),
        ("E", "Rose Hale", "Rose Hale and Paul Wren."),
        ("F", "Paul Wren", "Rose Hale  and Paul Wren."),
    )
    assert stated(question) == [Stated("Ann Ashby", "A", ("Ann Ashby did.", "It was Ann Ashby."))]
