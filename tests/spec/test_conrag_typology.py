"""What conflicts are about (ConRAG, section 2, conflict typology), by hand and as properties."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.conrag.result import ClaimResult
from pipelines.conrag.tables.conflicts import conflict, conflict_kinds
from pipelines.conrag.typology import KINDS, Difference, differences, telling_sentence
from pipelines.report.table import own_rows

CLAIM = "The Rowle bridge was opened in 1932."
SAYS_SO = "The bridge at Rowle was opened to traffic in 1932."

# claim, for it, against it -> every kind that holds, with what differs
BY_HAND: dict[str, tuple[str, str, str, list[tuple[str, str, str]]]] = {
    "another year": (
        CLAIM, SAYS_SO, "The bridge at Rowle was opened in 1936.", [("temporal", "1932", "1936")],
    ),
    "another day": (
        "It opened on 4 May.", "It opened on 4 May.", "It opened on May 11.",
        [("temporal", "4 may", "11 may")],
    ),
    "another century": (
        "It is of the 12th century.", "", "It dates from the fourteenth century.",
        [("temporal", "12th century", "14th century")],
    ),
    "a date written otherwise": (
        "On May 4th, in the twelfth or the twenty-first century.", "",
        "On 4 May, in the 12th-century or the 21st century.", [("implicit", "", "")],
    ),
    "now and then": (
        "Ada Byron leads the firm.", "Ada Byron currently leads the firm.",
        "Ada Byron, formerly head of the firm, lives in Rowle.",
        [("temporal", "currently", "formerly")],
    ),
    "a date that the claim does not have": (
        "The bridge is open.", "It was opened in 1932.", "It was shut in 1936.",
        [("implicit", "", "")],
    ),
    "a date that both sides have": (
        CLAIM, "It was opened in 1932 and widened in 1936.", "It was widened in 1936.",
        [("implicit", "", "")],
    ),
    "another number, in words": (
        "The book was written in three months.", "", "He wrote the book over six weeks.",
        [("numeric", "3", "6")],
    ),
    "separators": (
        "1,200 people live there.", "", "It has 1200 inhabitants.", [("implicit", "", "")],
    ),
    "words and digits for one number": (
        "Two million saw all twenty-five of them.", "", "25 of them were seen by 2,000,000.",
        [("implicit", "", "")],
    ),
    "numbers in words": (
        "It has twenty-five rooms.", "", "It has twenty-six rooms.", [("numeric", "25", "26")],
    ),
    "a unit without a space": (
        "It is 300 m tall.", "", "It is 324m tall.", [("numeric", "300", "324")],
    ),
    "a minus": (
        "It fell to -5 degrees.", "", "It fell to 5 degrees.", [("numeric", "-5", "5")],
    ),
    "a dash is no minus": (
        "It took 3 years, 1932-33.", "", "Built 1932–33, it took 3-4 years.",
        [("implicit", "", "")],
    ),
    "percent": (
        "Prices rose by 5 % in 1998.", "", "In 1998 they rose by 7 per cent.",
        [("numeric", "5", "7")],
    ),
    "an ordinal is no number": (
        "It is his 6th novel.", "", "His fifth novel has 6 parts.",
        [("numeric", "6th", "5th 6")],
    ),
    "a year is no number, a price is": (
        "It cost $1500 in 1932.", "", "In 1932 it cost $1800.", [("numeric", "1500", "1800")],
    ),
    "a denial": (
        "He was in love.", "He was deeply in love.", "He was never in love.",
        [("negation", "", "never")],
    ),
    "a denial in the claim": (
        "Meat Loaf did not coach.", "", "Meat Loaf coached softball.", [("negation", "not", "")],
    ),
    "a denial on both sides": (
        "It is open.", "It is not shut.", "It was not opened.", [("implicit", "", "")],
    ),
    "another name": (
        "The founder of Farfetch is Spanish.", "", "Farfetch was founded by a Portuguese man.",
        [("entity", "spanish", "portuguese")],
    ),
    "a part of the name is enough": (
        "He met Ada Lovelace.", "", "He met Countess Lovelace and Charles Babbage.",
        [("implicit", "", "")],
    ),
    "a capital at the beginning says nothing": (
        "Ferries cross the river.", "", "Boats do so.", [("implicit", "", "")],
    ),
    "a month is no name": (
        "She came to Rowle in May.", "", "She came to Rowle in June.", [("implicit", "", "")],
    ),
    "several at once, the dates first": (
        "Ada Byron sold 3 in 1932.", "", "In 1936 all 5 were refused by Charles Babbage.",
        [
            ("temporal", "1932", "1936"), ("numeric", "3", "5"), ("negation", "", "refused"),
            ("entity", "ada byron", "charles babbage"),
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_HAND)
def test_kinds_by_hand(name: str) -> None:
    *texts, expected = BY_HAND[name]
    found = [
        (each.kind, " ".join(each.claimed), " ".join(each.against)) for each in differences(*texts)
    ]
    assert found == expected


WORDS = st.sampled_from(
    ["1932", "1936", "4", "-4", "May", "six", "sixth", "1,200", "million", "\u017fix", "not",
     "never", "Ada", "Rowle", "Spanish", "the", "bridge", "currently", "formerly", ".", ","]
)  # fmt: skip
TEXTS = st.lists(WORDS, max_size=12).map(" ".join) | st.text(max_size=40)


@given(TEXTS, TEXTS, TEXTS)
def test_there_is_always_a_kind_each_once_in_order(claim: str, support: str, against: str) -> None:
    kinds = [each.kind for each in differences(claim, support, against)]
    assert kinds == [kind for kind in KINDS if kind in kinds] != []
    assert ("implicit" in kinds) == (kinds == ["implicit"])


@given(TEXTS, TEXTS)
def test_what_says_the_same_differs_in_nothing(claim: str, support: str) -> None:
    alone = (Difference("implicit"),)
    assert differences(claim, support, claim) == alone or "temporal" in {
        each.kind for each in differences(claim, support, claim)
    }, "but for a support that speaks of another time"
    assert differences(claim, claim, claim) == alone


@given(TEXTS, TEXTS, TEXTS)
def test_what_differs_is_in_one_of_the_texts_alone(claim: str, support: str, against: str) -> None:
    for each in differences(claim, support, against):
        assert not {*each.claimed} & {*each.against}
        if each.kind in ("temporal", "numeric", "entity"):
            assert each.claimed
            assert each.against


def test_the_sentence_that_decided_speaks_for_a_passage() -> None:
    text = "Ferries cross here. The bridge was opened in 1936. It is of stone."
    assert telling_sentence(CLAIM, text, "It is of stone.") == "It is of stone."
    assert telling_sentence(CLAIM, text, None) == "The bridge was opened in 1936."
    assert telling_sentence(CLAIM, "", None) == ""


def result(*passages: tuple[str, str, float, str | None], claim: str = CLAIM) -> ClaimResult:
    """Of (text, tag, confidence, title) each."""
    return ClaimResult.model_validate(
        {
            "id": "r", "claim": claim, "status": "answered", "stance": None, "disputed": None,
            "passages": [
                {"id": str(n), "title": title, "text": text, "relevance": 1, "tag": tag,
                 "confidence": sure, "truth": None}
                for n, (text, tag, sure, title) in enumerate(passages)
            ],
        }
    )  # fmt: skip


FOR = (SAYS_SO, "SUPPORTS", 0.9, None)
DATES = (FOR, ("It was opened in 1936.", "CONTRADICTS", 0.9, None))
DENIED = (FOR, ("The Rowle bridge was never opened.", "CONTRADICTS", 0.6, None))


def test_the_surest_passages_of_both_sides_are_compared() -> None:
    assert [each.kind for each in conflict(result(*DATES))] == ["temporal"]
    assert [each.kind for each in conflict(result(*DENIED, DATES[1]))] == ["temporal"]
    assert [each.kind for each in conflict(result(*DENIED))] == ["negation"]
    assert conflict(result(FOR)) == ()
    assert conflict(result()) == ()


def test_a_title_is_a_part_of_what_a_passage_says() -> None:
    claim = "Rowle lies in Spain."
    said = ("It lies in Portugal.", "CONTRADICTS", 0.9, "Rowle")
    (found,) = conflict(result((claim, "SUPPORTS", 0.9, "Rowle"), said, claim=claim))
    assert (found.kind, found.claimed, found.against) == ("entity", ("spain",), ("portugal",))


def test_kinds_are_counted_once_and_wherever_they_hold() -> None:
    both = (FOR, ("It was never opened in 1936.", "CONTRADICTS", 0.9, None))
    own = [result(*DATES), result(*both), result(*DENIED), result(FOR)]
    rows = {row["kind"]: row for row in own_rows(conflict_kinds({"own": own, "none": own[3:]}))}
    counts = {kind: (row["first"], row["holds"]) for kind, row in rows.items()}
    assert counts == {
        "temporal": (2, 2), "numeric": (0, 0), "negation": (1, 2), "entity": (0, 0),
        "implicit": (0, 0),
    }  # fmt: skip
    assert rows["temporal"]["share"].value == 2 / 3  # type: ignore[union-attr]
    assert {row["dataset"] for row in own_rows(conflict_kinds({"own": own, "none": own[3:]}))} == {
        "own"
    }
