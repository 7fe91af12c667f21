"""The classifiers' format, and the softmax over YES and NO."""

import copy
import math
from types import SimpleNamespace
from typing import Any

import pytest
from soft_prompts import soft_prompt
from tiny_loaded import VOCABULARY, loaded, tokenizer

from pipelines.errors import InputError
from pipelines.npov.classifier import classifier_pairs, classifier_prompt, error_score
from pipelines.npov.example import NpovExample, npov_prompt, response_pair
from pipelines.npov.result import ErrorKind

DAM = NpovExample(
    question="Should the dam stay?",
    pro=("The dam holds water.", "It gives power."),
    con=("Salmon cannot pass.",),
    response="Supporters say that it holds water.",
    opening="People see this differently.",
    topic="dams",
)
SOFT = soft_prompt(task="coverage")

FIGURE_4 = """\
User question: {Should the dam stay?}.
Neutral response: {People see this differently. Supporters say that it holds water.}.
Given pro arguments: {pro: The dam holds water. pro: It gives power.}.
Given con arguments: {con: Salmon cannot pass.}.
"""


def test_the_format_is_that_of_figure_4() -> None:
    asked: dict[ErrorKind, str] = {
        "coverage": "All the given arguments are covered by the neutral response: {",
        "hallucination": "Only given arguments are contained in the neutral response: {",
    }
    for task, last in asked.items():
        assert classifier_prompt(DAM, task) == FIGURE_4 + last
        assert classifier_pairs([(DAM, False), (DAM, True)], task) == [
            (FIGURE_4 + last, "YES}"),
            (FIGURE_4 + last, "NO}"),
        ]


def test_a_response_is_learned_with_its_opening_as_in_figure_3() -> None:
    given_, target = response_pair(DAM)
    assert given_.endswith("\nNeutral response opening: {")
    assert target == (
        "People see this differently.}\n"
        "Neutral response core: {Supporters say that it holds water.}"
    )
    assert (given_ + target).startswith(npov_prompt(DAM).text)


class Scripted:
    """A model of which the logits are known: they depend on the last token alone."""

    device = "cpu"
    config = SimpleNamespace(get_text_config=lambda: SimpleNamespace(max_position_embeddings=None))

    def __init__(self, logits: dict[int, dict[int, float]]) -> None:
        import torch

        self.table, self.read = torch.zeros(VOCABULARY, VOCABULARY), 0
        for last, known in logits.items():
            for token, value in known.items():
                self.table[last, token] = value

    def __call__(self, input_ids: Any, **_: Any) -> Any:
        self.read += len(input_ids)
        return SimpleNamespace(logits=self.table[input_ids])


@pytest.mark.parametrize("no", ["N O", "NO"])
def test_the_score_by_hand_where_labels_have_several_tokens(no: str) -> None:
    texts = copy.deepcopy(tokenizer())
    if no == "NO":
        texts.add_tokens("NO")
    assert texts.tokenize(" {YES} {NO}") == ["Ġ{", *"YES", "}", "Ġ{", *no.split(), "}"]
    # Token by token "YES" has logits 2, 3, 4 and "NO" has 1, 5; all others have 0.
    begin, *rest = no.split()
    steps = {"Ġ{": {"Y": 2.0, begin: 1.0}, "Y": {"E": 3.0}, "E": {"S": 4.0}}
    if rest:
        steps["N"] = {"O": 5.0}
    ids = {each: texts.convert_tokens_to_ids(each) for each in ("Ġ{", "NO", *"YESNO")}
    logits = {ids[at]: {ids[each]: own[each] for each in own} for at, own in steps.items()}
    first = math.exp(2) + math.exp(1) + VOCABULARY - 2

    def share(logit: float) -> float:
        return math.exp(logit) / (math.exp(logit) + VOCABULARY - 1)

    for_yes = math.exp(2) / first * share(3) * share(4)
    for_no = math.exp(1) / first * (share(5) if rest else 1)
    model = Scripted(logits)
    found = error_score(loaded(model=model, tokenizer=texts), DAM, "coverage")
    assert found == pytest.approx(for_no / (for_yes + for_no), rel=1e-5)
    # What a label of one token is asked after is read with the other label.
    assert model.read == (2 if rest else 1)


def test_a_soft_prompt_changes_scores_and_must_fit() -> None:
    decoder = loaded()
    bare = error_score(decoder, DAM, "coverage")
    tuned = error_score(decoder, DAM, "coverage", SOFT)
    assert bare != pytest.approx(tuned, abs=1e-3)
    with pytest.raises(InputError, match="tuned for another model"):
        error_score(decoder, DAM, "coverage", soft_prompt(width=9, task="coverage"))
    long = DAM.model_copy(update={"response": "water " * 400})
    with pytest.raises(InputError, match=r"example 1 \(“User question: .*reads at most 400"):
        error_score(decoder, long, "coverage")
