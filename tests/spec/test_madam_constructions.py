"""Questions with a controlled number of documents per answer (MADAM-RAG, sections 6.2 and 6.3)."""

from collections import Counter
from itertools import groupby
from pathlib import Path

import pytest

from pipelines.data.ramdocs import RamDocument, RamQuestion
from pipelines.data.ramdocs import read as read_released
from pipelines.madam_rag import data as datasets
from pipelines.madam_rag.data import Question, from_ramdocs
from pipelines.madam_rag.levels import COPY, misinformation, support_imbalance

GOLD = ("Amber", "Birch", "Cedar")


def asked(
    documents: list[tuple[str, str, str]],
    gold: tuple[str, ...] = GOLD[:2],
    wrong: tuple[str, ...] = (),
    question: str = "Who built the mill at Elm?",
    number: int = 1,
) -> Question:
    """A question with documents of (type, answer, text)."""
    given_ = tuple(
        RamDocument.model_validate({"type": kind, "answer": answer, "text": text})
        for kind, answer, text in documents
    )
    return from_ramdocs(
        RamQuestion(question=question, documents=given_, gold_answers=gold, wrong_answers=wrong),
        number,
    )


def supporting(answer: str, *numbers: int) -> list[tuple[str, str, str]]:
    return [("correct", answer, f"Book {n} says that {answer} built it.") for n in numbers]


def lender(answer: str, number: int) -> Question:
    """Another question of the same form."""
    text = f"Who built the mill at Oak {number}?"
    return asked(supporting(answer, 9), gold=(answer,), question=text, number=number)


def texts(question: Question) -> list[str]:
    return [each.document.text for each in question.documents]


def names(question: Question) -> list[str]:
    return [each.document.id for each in question.documents]


def by_question(made: list[Question]) -> list[list[Question]]:
    return [list(levels) for _, levels in groupby(made, key=lambda q: q.id.rpartition("/")[0])]


# Section 6.2


def test_support_worked_by_hand() -> None:
    # Birch is the first answer with three documents, so its support varies: d2, d4, d5. Amber has
    # one, d3. Misinformation (d1), noise (d6) and Birch's fourth document, d7, are left out.
    documents = [
        ("misinfo", "Wexford", "Wexford built it."),
        *supporting("Birch", 1),
        *supporting("Amber", 2),
        *supporting("Birch", 3, 4),
        ("noise", "unknown", "A page on flour."),
        *supporting("Birch", 5),
    ]
    one, two, three = support_imbalance([asked(documents, wrong=("Wexford",))])
    assert (one.id, two.id, three.id) == ("1/1", "1/2", "1/3")
    assert (one.level, two.level, three.level) == (1, 2, 3)
    assert set(names(one)) == {"d2", "d3"}
    assert set(names(two)) == {"d2", "d3", "d4"}
    assert set(names(three)) == {"d2", "d3", "d4", "d5"}
    assert one.gold == two.gold == three.gold == (("Amber",), ("Birch",))
    assert three.wrong == ()


@pytest.mark.parametrize(
    "documents",
    [
        supporting("Amber", 1, 2) + supporting("Birch", 3, 4),  # neither has three
        supporting("Amber", 1, 2, 3),  # the other has no document
        supporting("Amber", 1, 2, 2) + supporting("Birch", 4),  # equal texts count once
        # A text given for both answers supports neither: Amber has two.
        [*supporting("Amber", 1, 2, 3), ("correct", "Birch", "Book 1 says that Amber built it.")]
        + supporting("Birch", 5),
    ],
)
def test_not_eligible_for_support(documents: list[tuple[str, str, str]]) -> None:
    assert support_imbalance([asked(documents)]) == []


# Section 6.3


def test_misinformation_worked_by_hand() -> None:
    # Shown: d1 (Amber), d3 (Birch). Varied, in order: the release's d5, which names Wexford; then a
    # copy of d2, Amber's other document. A copy of Birch's other document, d4, would still name
    # Amber and does not count. So the third is a copy of a shown one: d1.
    documents = [
        *supporting("Amber", 1, 2),
        *supporting("Birch", 3),
        ("correct", "Birch", "Birch built it, not Amber."),
        ("misinfo", "Wexford", "The mill is by Wexford."),
        ("misinfo", "Yarrow", "The mill is by Yarrow."),
        ("noise", "unknown", "A page on flour."),
    ]
    none, one, two, three = misinformation([asked(documents, wrong=("Wexford", "Yarrow"))])
    assert [q.id for q in (none, one, two, three)] == ["1/0", "1/1", "1/2", "1/3"]
    assert set(names(none)) == {"d1", "d3"}
    assert set(names(one)) == {"d1", "d3", "d5"}
    assert set(names(two)) == {"d1", "d3", "d5", f"d2{COPY}"}
    assert set(names(three)) == {"d1", "d3", "d5", f"d2{COPY}", f"d1{COPY}"}
    assert "Book 2 says that Wexford built it." in texts(three)
    for question in (none, one, two, three):
        assert question.gold == (("Amber",), ("Birch",))
        assert question.wrong == ("Wexford",)


BARE = supporting("Amber", 1) + supporting("Birch", 2)


@pytest.mark.parametrize(
    ("documents", "eligible"),
    [
        # Only two copies of the shown documents, but three are needed.
        (BARE, False),
        # The third lacks its answer verbatim, so it cannot be swapped.
        ([*BARE, ("correct", "Amber", "An amberish man built it.")], False),
        # The third already has the wrong answer.
        ([*BARE, ("correct", "Amber", "Amber built it, people of Wexford say.")], False),
        (BARE + supporting("Amber", 3), True),
        # The other gold answer has no document.
        (supporting("Amber", 1, 2, 3, 4), False),
    ],
)
def test_eligible_for_misinformation(documents: list[tuple[str, str, str]], eligible: bool) -> None:
    assert (misinformation([asked(documents, wrong=("Wexford",))]) != []) is eligible


def test_a_wrong_answer_is_borrowed_from_a_question_of_the_same_form() -> None:
    mill = asked(supporting("Amber", 1, 2) + supporting("Birch", 3))
    same = lender("Linden", 2)
    other = asked(
        supporting("Maple", 5), gold=("Maple",), question="Where is the mill at Oak?", number=3
    )
    assert misinformation([mill, other]) == []
    made = misinformation([mill, same, other])
    assert [question.wrong for question in made] == [("Linden",)] * 4


@pytest.mark.parametrize("lent", ["Amber", "amber", "Amber Hill", "Book"])
def test_an_answer_that_may_be_right_is_not_borrowed(lent: str) -> None:
    # It is a gold answer of this question, a longer name of one, or occurs in its documents.
    mill = asked(supporting("Amber", 1, 2) + supporting("Birch", 3))
    assert misinformation([mill, lender(lent, 2)]) == []


def test_on_the_release(released_data: Path) -> None:
    path = released_data / "ramdocs" / "RAMDocs_250.jsonl"
    questions_ = datasets.read("ramdocs", path).questions
    # An independent count, by the answers as written, without reading the texts.
    eligible = 0
    for question in read_released(path):
        counts = Counter(each.answer for each in question.documents if each.type == "correct")
        most = sorted(counts.values(), reverse=True)
        eligible += len(most) > 1 and most[0] >= 3
    assert len(by_question(support_imbalance(questions_))) == eligible > 50
