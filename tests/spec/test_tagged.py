"""The tagger as a detector, with a stand-in whose probabilities are known."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from nli.labels import Label
from nli.pairs import Pair
from nli.tagger import Tag, UnfitError
from pipelines.errors import InputError
from pipelines.npov.example import NpovExample, what_is_said
from pipelines.npov.similarity import ArgumentTagger

EXAMPLE = NpovExample(
    question="Should the dam stay?",
    pro=("It holds water.",),
    con=("Salmon cannot pass.",),
    response="Supporters say that it keeps water. Critics counter that it is dear.",
)
SUPPORT = {
    Pair("It holds water.", "it keeps water."): 0.9,
    Pair("it keeps water.", "It holds water."): 0.7,
    Pair("Salmon cannot pass.", "it is dear."): 0.2,
    Pair("it is dear.", "Salmon cannot pass."): 0.4,
}
"""Other pairs get 0.1; half of what is not support is irrelevant."""


class StandIn:
    device = "cpu"

    def __init__(self) -> None:
        self.asked: list[Pair] = []

    def tag(
        self,
        pairs: Sequence[Pair],
        on_progress: Callable[[int], None] | None = None,
        *,
        rationale: bool = False,
    ) -> list[Tag]:
        self.asked += pairs
        if any(not pair.premise for pair in pairs):
            raise UnfitError({pairs[0]: "blank"})
        shares = [SUPPORT.get(pair, 0.1) for pair in pairs]
        return [
            Tag((p, (1 - p) / 2, (1 - p) / 2), Label.SUPPORT, p, None, windows=1) for p in shares
        ]


def test_both_directions_worked_by_hand() -> None:
    tagger = StandIn()
    read = ArgumentTagger(tagger)
    support, relevance = read(EXAMPLE)
    assert support.rests == pytest.approx(np.array([[0.9, 0.1], [0.1, 0.2]]))
    assert support.says == pytest.approx(np.array([[0.7, 0.1], [0.1, 0.4]]))
    errors = support.errors("least")
    assert errors.hallucination == pytest.approx(1 - 0.2), "no argument supports that it is dear"
    assert errors.coverage == pytest.approx(1 - 0.4), "no sentence says that salmon cannot pass"
    assert relevance.rests == pytest.approx(1 - (1 - support.rests) / 2)
    assert len(tagger.asked) == 2 * 2 * 2
    read(EXAMPLE)
    assert len(tagger.asked) == 8, "a pair is tagged once"


def test_what_the_tagger_refuses_is_said() -> None:
    with pytest.raises(InputError, match="blank"):
        ArgumentTagger(StandIn())(EXAMPLE.model_copy(update={"pro": ("",)}))


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("Supporters say that it is dear.", "it is dear."),
        ("On the other side, opponents say that it is dear.", "it is dear."),
        ("It is further argued that it is dear.", "it is dear."),
        ("They say nothing that helps.", "They say nothing that helps."),
        ("It is dear, critics say that it errs.", "It is dear, critics say that it errs."),
        ("People that say that err.", "People that say that err."),
    ],
)
def test_who_says_it_is_no_part_of_what_is_said(sentence: str, said: str) -> None:
    assert what_is_said(sentence) == said
