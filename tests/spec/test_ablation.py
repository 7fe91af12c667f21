"""Losses of a response when an argument is left out, worked by hand."""

import numpy as np
import pytest

from pipelines.errors import InputError
from pipelines.npov.check import ablation, ablation_errors, log_probability_drops, without_each
from pipelines.npov.detect import ablated
from pipelines.npov.example import NpovExample, npov_prompt
from pipelines.npov.result import ABLATION
from salience.words import Word
from serving.calls import Likelihood

EXAMPLE = NpovExample(
    question="Should the dam stay?",
    pro=("It holds water.", "It stops floods."),
    con=("Salmon cannot pass.",),
    response="It holds water. Salmon suffer.",
)
NAMES = {"holds": "It holds water.", "water": "It holds water.", "Salmon": "Salmon cannot pass."}
"""Words of the response -> the argument without which a made-up model finds them unlikely."""


async def made_up(prompt: str, response: str) -> Likelihood:
    """Every character is a token; a word costs one nat per character if its argument is missing."""
    costs = np.zeros(len(response))
    for word, argument in NAMES.items():
        if argument not in prompt and word in response:
            start = response.index(word)
            costs[start : start + len(word)] = 1
    offsets = tuple((n, n + 1) for n in range(len(response)))
    return Likelihood(offsets, tuple(-1 - costs))


def test_each_argument_is_left_out_once() -> None:
    assert [(each.pro, each.con) for each in without_each(EXAMPLE)] == [
        (EXAMPLE.pro[1:], EXAMPLE.con),
        (EXAMPLE.pro[:1], EXAMPLE.con),
        (EXAMPLE.pro, ()),
    ]
    assert "Perspective #2: {}" in npov_prompt(without_each(EXAMPLE)[2]).text


def test_drops_of_words_worked_by_hand() -> None:
    whole, without = np.array([-1.0, -2.0, -3.0]), np.array([[-1.5, -4.0, -3.0], [-1, -2, -2.5]])
    words = [Word("a", 0, 2, (0, 1)), Word("b", 3, 4, (2,))]
    # Without the first argument the first word loses 0.5 + 2; without the other the second gains
    # 0.5.
    assert log_probability_drops(whole, without, words).tolist() == [[2.5, 0], [0, -0.5]]
    assert log_probability_drops(whole, without, []).shape == (2, 0)


async def test_an_example_worked_by_hand() -> None:
    found = await ablation(EXAMPLE, made_up)
    assert [[word.text for word in own] for own in found.words] == [
        ["holds", "water"],
        ["Salmon", "suffer"],
    ]
    assert found.by_word.rests.tolist() == [[5, 5, 0, 0], [0, 0, 0, 0], [0, 0, 6, 0]]
    assert found.by_sentence.rests.tolist() == [[5, 0], [0, 0], [0, 3]]
    base = len(npov_prompt(EXAMPLE).text)
    assert (found.words[0][0].start, found.words[0][0].end) == (base + 3, base + 8)
    errors = found.by_word.errors("mean")
    assert errors.hallucination == pytest.approx(1 - (5 + 5 + 6 + 0) / 4), "nobody says suffer"
    assert errors.coverage == pytest.approx(1 - min((5 + 0) / 2, 6)), "floods are left out"


async def test_errors_of_one_response_worked_by_hand() -> None:
    found = ablation_errors(EXAMPLE, await ablation(EXAMPLE, made_up))
    assert [*map(list, found.drops)] == [[5, 5, 0, 0], [0, 0, 0, 0], [0, 0, 6, 0]]
    assert [each.error for each in found.arguments] == [1 - 5, 1 - 0, 1 - 3]
    assert [each.error for each in found.sentences] == [1 - 5, 1 - 3]
    assert [(word.text, word.error) for word in found.sentences[1].words] == [
        ("Salmon", 1 - 6),
        ("suffer", 1 - 0),
    ]
    assert (found.least_used.text, found.least_grounded.text) == (
        "It stops floods.",
        "Salmon suffer.",
    )
    in_tables = (await ablated(EXAMPLE, made_up)).scores[ABLATION]
    assert (found.coverage_error, found.hallucination_error) == (1 - 0, 1 - 3)
    assert (in_tables.coverage, in_tables.hallucination) == (1 - 0, 1 - 3)


async def test_a_response_without_content_is_refused() -> None:
    with pytest.raises(InputError, match="the response has no content words"):
        await ablation(EXAMPLE.model_copy(update={"response": "It is that."}), made_up)
