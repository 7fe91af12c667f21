"""Label probabilities from a model whose next-token probabilities are known."""

import math
from collections.abc import Mapping, Sequence

import pytest

from serving.calls import Choice
from serving.client import label_shares

Tree = Mapping[tuple[int, ...], Mapping[int, float]]


class Model:
    """Next-token probabilities by path; counts the calls."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.asked: list[tuple[int, ...]] = []

    async def __call__(self, tokens: list[int], path: Sequence[int]) -> dict[int, float]:
        self.asked.append(tuple(path))
        return {token: math.log(self.tree[tuple(path)][token]) for token in tokens}


async def test_labels_with_different_first_tokens_cost_one_question() -> None:
    model = Model({(): {1: 0.2, 2: 0.3, 9: 0.5}})
    shares, mass = await label_shares({"a": [1, 5], "b": [2, 6, 7]}, model)
    assert shares == {"a": pytest.approx(0.4), "b": pytest.approx(0.6)}
    assert mass == pytest.approx(0.5)
    assert model.asked == [()]


async def test_labels_that_begin_alike_cost_one_question_per_parting() -> None:
    model = Model({(): {1: 0.25, 2: 0.25}, (1, 3): {4: 0.1, 5: 0.3}})
    labels = {"a": [1, 3, 4], "b": [1, 3, 5], "c": [2]}
    shares, mass = await label_shares(labels, model)
    assert shares == pytest.approx({"a": 0.5 * 0.25, "b": 0.5 * 0.75, "c": 0.5})
    assert mass == pytest.approx(0.5)
    assert model.asked == [(), (1, 3)]


def test_a_tie_has_no_label_in_whatever_order() -> None:
    for labels in (("YES", "NO", "MAYBE"), ("NO", "YES", "MAYBE")):
        tie = Choice({label: 0.1 if label == "MAYBE" else 0.45 for label in labels}, 0.9)
        assert (tie.label, set(tie.tied)) == (None, {"YES", "NO"})
        assert tie.problem == f"equally probable: {labels[0]}, {labels[1]}"
    decided = Choice({"YES": 0.3, "NO": 0.4, "MAYBE": 0.3}, 0.9)
    assert (decided.label, decided.tied, decided.problem) == ("NO", (), None)
