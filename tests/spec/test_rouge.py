"""ROUGE-1 and the errors it detects, worked by hand."""

import pytest

from pipelines.npov.example import NpovExample
from pipelines.npov.similarity import rouge1_recall, rouge_errors
from pipelines.text.words import stem, stems

EXAMPLE = NpovExample(
    question="Should the dam stay?",
    pro=("The dam stores drinking water.", "Floods are rarer."),
    con=("Salmon cannot pass it.",),
    response="They say that dams store water, and that no salmon passes the concrete wall.",
)


def test_stems_of_content_words() -> None:
    assert stems("The dams' floods aren't rarer!") == ("dam", "flood", "rarer")


def test_a_word_counts_as_often_as_the_other_text_has_it() -> None:
    assert rouge1_recall(list("aab"), list("abc")) == pytest.approx(2 / 3)
    assert rouge1_recall(list("abc"), list("aab")) == pytest.approx(2 / 3)
    assert rouge1_recall([], list("a")) is None
    assert rouge1_recall(list("a"), []) == 0


def test_errors_of_a_response() -> None:
    """pro: dam store drink water | flood rarer; con: salmon cannot pass.
    response: say dam store water salmon pass concret wall."""
    found = rouge_errors(EXAMPLE)
    assert found.coverage == pytest.approx(1 - 3 / 6)  # the smaller of 3/6 and 2/3
    assert found.hallucination == pytest.approx(1 - 5 / 8)
    given = {each for text in (*EXAMPLE.pro, *EXAMPLE.con) for each in stems(text)}
    assert [stem(word) not in given for word in ("say", "Dams", "stores", "concrete")] == [
        True, False, False, True,
    ]  # fmt: skip


def test_without_content_words_there_is_nothing_to_say() -> None:
    found = rouge_errors(EXAMPLE.model_copy(update={"response": "It is so."}))
    assert (found.coverage, found.hallucination) == (1, None)
    found = rouge_errors(EXAMPLE.model_copy(update={"pro": ("So it is.",)}))
    assert found.coverage == pytest.approx(1 / 3), "of the side that has words"
