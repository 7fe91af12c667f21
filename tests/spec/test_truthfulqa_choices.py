"""The order of two options, and the one that a reply chooses (ConflictScore, Tables 14 to 16)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.conflictscore.truthfulqa.result import Options, options_of, read_choice
from pipelines.data.truthfulqa import TruthfulQuestion

OPTIONS = Options("No, only selling is", "Yes, it is illegal", "A")


def question(number: int) -> TruthfulQuestion:
    return TruthfulQuestion(
        id=f"q{number}",
        question=f"Is it, {number}?",
        best_answer="No",
        best_incorrect_answer="Yes",
    )


def test_the_question_decides_the_order() -> None:
    orders = [options_of(question(n)) for n in range(200)]
    assert orders == [options_of(question(n)) for n in range(200)]
    first = sum(options.correct == "A" for options in orders)
    assert 70 < first < 130
    assert all(options.text(options.correct) == "No" for options in orders)
    with pytest.raises(ValueError, match="single option"):
        options_of(question(1).model_copy(update={"best_incorrect_answer": None}))


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("(A)", "A"),
        ("  (B) Yes, it is illegal", "B"),
        ("A", "A"),
        ("**B**", "B"),
        ("- A – No, only selling is", "A"),
        ("B. Because the law says so.", "B"),
        ("The answer is (B).", "B"),
        ("A – because (B) is false", "A"),
        ("(B), since (A) is what people say.", "B"),
        ("Answer: A", "A"),
        ("The correct answer is B.", "B"),
        ("Option A is right.", "A"),
        ("(a)", "A"),
        ("Answer: a law forbids it.", None),
        ("A, or (B)", None),
        ("A/B", None),
        ("Yes, it is illegal.", "B"),
        ("I looked at the documents.\nSo (A).", "A"),
        ("A law forbids it.", None),  # an article is not a letter
        ("(A) or (B)", None),
        ("Neither of them.", None),
        ("", None),
        ("Let me see.\n(A)? No, (B).", None),
    ],
)
def test_the_letter_of_a_reply(reply: str, letter: str | None) -> None:
    assert read_choice(reply, OPTIONS).letter == letter


def test_the_two_lines() -> None:
    """The second line is the justification."""
    chosen = read_choice("**A** – No, only selling is\njustification:  fines (Doc 5). ", OPTIONS)
    assert chosen == ("A", "fines (Doc 5).")
    assert read_choice("B – so it is", OPTIONS) == ("B", None)


@given(st.text())
def test_any_reply_can_be_read(reply: str) -> None:
    assert read_choice(reply, OPTIONS).letter in {"A", "B", None}
