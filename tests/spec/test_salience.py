"""Words, normalisation and scores of salience maps, worked by hand, and their properties."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from salience.maps import (
    attributions,
    average,
    contributions,
    coverage_error,
    hallucination_error,
    normalised,
    word_salience,
)
from salience.words import content_words

TEXT = "Bans deny autonomy. They don't, say doctors."
#       0    5    10        20   25     32  36
TOKENS = ["", "Bans", " deny", " auto", "nomy", ".", " They", " don", "'", "t", ",", " say doc",
          "tors", "."]  # fmt: skip


def offsets() -> list[tuple[int, int]]:
    """Characters of the tokens above; the first is a special token."""
    found, place = [], 0
    for token in TOKENS:
        found.append((place, place + len(token)))
        place += len(token)
    assert place == len(TEXT)
    return found


def test_words_have_their_tokens_and_stop_words_are_dropped() -> None:
    words = content_words(TEXT, offsets(), (0, len(TEXT)))
    assert [(word.text, word.tokens) for word in words] == [
        ("Bans", (1,)),
        ("deny", (2,)),
        ("autonomy", (3, 4)),
        ("say", (11,)),
        ("doctors", (11, 12)),
    ]
    assert [TEXT[word.start : word.end] for word in words] == [word.text for word in words]
    part = content_words(TEXT, offsets(), (5, 24))
    assert [word.text for word in part] == ["deny", "autonomy"]


def test_what_has_no_token_is_no_word() -> None:
    assert content_words("abc def", [(0, 0), (4, 7)], (0, 7))[0].text == "def"
    assert content_words("", [], (0, 0)) == []
    assert content_words("... they, the", [(0, 13)], (0, 13)) == []


def test_columns_are_squared_and_sum_to_one() -> None:
    found = normalised(np.array([[3.0, 0.0], [-4.0, 0.0]]))
    assert found == pytest.approx(np.array([[9 / 25, 0], [16 / 25, 0]]))


def test_words_take_the_largest_of_their_tokens() -> None:
    """Two input words with one and two tokens; two response words likewise; m = 5."""
    words = content_words(TEXT, offsets(), (0, len(TEXT)))
    of_tokens = np.arange(14 * 9, dtype=float).reshape(14, 9)
    found = word_salience(of_tokens, [words[0], words[2]], [words[3], words[4]], 5)
    # Token 11 is column 6, token 12 column 7; row 4 is the larger row of "autonomy".
    assert found.tolist() == [[9 + 6, 9 + 7], [36 + 6, 36 + 7]]


M = np.array([[0.5, 0.1, 0.0], [0.2, 0.2, 0.2]])
H = 0.5 / 0.6 * log(0.6 / 0.5) + 0.1 / 0.6 * log(0.6 / 0.1)


@pytest.mark.parametrize(
    ("aggregation", "rows", "columns"),
    [
        ("max", [0.5, 0.2], [0.5, 0.2, 0.2]),
        ("sum", [0.6, 0.6], [0.7, 0.3, 0.2]),
        (
            "negative_entropy",
            [1 - H / log(3), 0],
            [
                1 - (5 / 7 * log(7 / 5) + 2 / 7 * log(7 / 2)) / log(2),
                1 - (1 / 3 * log(3) + 2 / 3 * log(3 / 2)) / log(2),
                1,
            ],
        ),
    ],
)
def test_scores_of_words(aggregation: str, rows: list[float], columns: list[float]) -> None:
    assert contributions(M, aggregation) == pytest.approx(rows)  # type: ignore[arg-type]
    assert attributions(M, aggregation) == pytest.approx(columns)  # type: ignore[arg-type]


def test_scores_of_responses() -> None:
    """Appendix C: geometric means, the smaller of two perspectives, subtracted from one."""
    pro, con = np.array([0.5, 0.125]), np.array([0.4])
    assert coverage_error([pro, con]) == pytest.approx(1 - 0.25)
    assert hallucination_error(np.array([0.9, 0.1, 0.3])) == pytest.approx(1 - 0.3)
    assert hallucination_error(np.array([0.9, 0.0])) == 1


def test_without_words_there_is_nothing_to_score() -> None:
    none = np.array([])
    assert coverage_error([none, none]) is None
    assert coverage_error([none, np.array([0.4])]) == pytest.approx(0.6)
    assert hallucination_error(none) is None
    with pytest.raises(ValueError, match="at least one score"):
        average(none)
    with pytest.raises(ValueError, match="at least one score"):
        average([0.2, -0.1])
    with pytest.raises(ValueError, match="unknown aggregation"):
        contributions(M, "median")  # type: ignore[arg-type]


maps = arrays(
    np.float64,
    st.tuples(st.integers(1, 5), st.integers(1, 5)),
    elements=st.floats(-1e3, 1e3).filter(lambda value: value == 0 or abs(value) > 1e-3),
)


@given(maps, st.sampled_from(["max", "negative_entropy"]))
def test_scores_stay_between_zero_and_one(salience: np.ndarray, aggregation: str) -> None:
    words = normalised(salience)
    for scores in (
        contributions(words, aggregation),  # type: ignore[arg-type]
        attributions(words, aggregation),  # type: ignore[arg-type]
    ):
        assert ((scores >= 0) & (scores <= 1 + 1e-9)).all()
        error = hallucination_error(np.clip(scores, 0, 1))
        assert error is not None
        assert 0 <= error <= 1
