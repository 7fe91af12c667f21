"""A decoder's probability of target texts, and the classifiers that use it (NPOV, 3.3, figure 4).

A classifier answers YES if there is no error and NO if there is one; the score is the probability
of NO. Its prompt is code, not a template, like that of the response task.

Batches are padded on the right: positions count from the left, so vectors before the input keep the
positions that they have without padding. Logits are computed only where a target is predicted,
since those of all positions would take more memory than the model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nli.batching import token_budget_batches
from pipelines.errors import InputError
from pipelines.npov.example import SIDES, NpovExample, unbraced
from pipelines.npov.result import ErrorKind
from pipelines.npov.soft_prompt import SoftPrompt
from salience.decoder import Decoder
from salience.errors import SalienceError

if TYPE_CHECKING:
    import torch

Pair = tuple[str, str]
"""Input text and target text."""

BATCH_TOKENS = 2048
"""Most tokens of a forward pass, including padding."""


@dataclass(frozen=True)
class Tokens:
    """The ids that a model reads, (n,), and the tokens that it is asked for.

    `asked` holds pairs of a place in [1, n] and a token: how likely is the token after the ids
    before that place?
    """

    ids: tuple[int, ...]
    asked: tuple[tuple[int, int], ...]


def tokenised(
    decoder: Decoder, pairs: Sequence[Pair], *, reserved: int = 0, unasked: int = 0
) -> list[Tokens]:
    """Pairs as tokens, asking for those of the target; no token contains parts of both texts.

    `reserved` vectors come before the input. The last `unasked` characters of the target are not
    asked for, unless they share a token with others.

    Raises:
        InputError: A pair does not fit the model, or one of its texts has no tokens.
    """
    items = []
    for number, (given, target) in enumerate(pairs, 1):
        try:
            encoded = decoder.encode(given, target)
        except SalienceError as error:
            raise InputError(f"example {number} ({_beginning(given)}): {error}") from error
        ids, start, most = encoded.ids, encoded.prompt_tokens, decoder.max_tokens
        if most is not None and len(ids) + reserved > most:
            raise InputError(
                f"example {number} ({_beginning(given)}): {len(ids):,} tokens and {reserved} of "
                f"the soft prompt, but {decoder.folder.name} reads at most {most:,}; shorten it"
            )
        end = len(given) + len(target) - unasked
        stop = start + sum(first < end for first, _ in encoded.offsets[start:])
        items.append(Tokens(ids[: stop - 1], tuple((n, ids[n]) for n in range(start, stop))))
    return items


def _beginning(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line[:60]}…”" if len(line) > 60 else f"“{line}”"


def with_prompt(decoder: Decoder, vectors: NDArray[np.float32]) -> Any:
    """The frozen model wrapped by peft, which puts vectors, (tokens, d), before its input.

    The vectors can be tuned.
    """
    import torch
    from peft import PromptTuningConfig, TaskType, get_peft_model

    config = PromptTuningConfig(task_type=TaskType.CAUSAL_LM, num_virtual_tokens=len(vectors))
    model = get_peft_model(decoder.model, config).eval()  # no dropout: the model is not tuned
    with torch.no_grad():
        model.prompt_encoder["default"].embedding.weight.copy_(torch.from_numpy(vectors))
    return model


def log_probabilities(
    model: Any, items: Sequence[Tokens], *, reserved: int = 0
) -> list["torch.Tensor"]:
    """Natural logarithms of the probabilities of the requested tokens, in one forward pass.

    The model is from transformers, or from `with_prompt` with `reserved` vectors. Each item gets a
    float32 per requested token, with gradients if the forward pass computes them.
    """
    import torch

    longest = max(len(item.ids) for item in items)
    # Any token will do as padding: it is masked, and comes after all places that matter.
    ids = torch.tensor([[*item.ids, *[0] * (longest - len(item.ids))] for item in items])
    real = torch.tensor([[n < len(item.ids) for n in range(longest)] for item in items]).long()
    places = sorted({place - 1 for item in items for place, _ in item.asked})
    column = {place: n for n, place in enumerate(places)}
    kept = [place + reserved for place in places]
    logits = model(
        input_ids=ids.to(model.device),
        attention_mask=real.to(model.device),
        logits_to_keep=kept,
        use_cache=False,
    ).logits
    if logits.shape[1] != len(kept):  # the model ignores `logits_to_keep`
        logits = logits[:, kept]
    values = []
    for row, item in enumerate(items):
        chosen = logits[row, [column[place - 1] for place, _ in item.asked]]
        tokens = torch.tensor([token for _, token in item.asked], device=chosen.device)
        values.append(chosen.float().log_softmax(dim=-1).gather(1, tokens[:, None])[:, 0])
    return values


def batches(items: Sequence[Tokens]) -> list[list[int]]:
    """Places of the items that share a forward pass, for each pass."""
    return token_budget_batches([len(item.ids) for item in items], BATCH_TOKENS)


def scored(model: Any, items: Sequence[Tokens], *, reserved: int = 0) -> list[NDArray[np.float32]]:
    """The `log_probabilities` of any number of items, without gradients."""
    import torch

    by_place: dict[int, NDArray[np.float32]] = {}
    with torch.inference_mode():
        for batch in batches(items):
            values = log_probabilities(model, [items[place] for place in batch], reserved=reserved)
            by_place |= {
                place: value.cpu().numpy() for place, value in zip(batch, values, strict=True)
            }
    return [by_place[place] for place in range(len(items))]


_ASSERTED: Mapping[ErrorKind, str] = {
    "coverage": "All the given arguments are covered by the neutral response",
    "hallucination": "Only given arguments are contained in the neutral response",
}

LABELS = ("YES", "NO")
"""The labels: no error, an error."""


def classifier_prompt(example: NpovExample, task: ErrorKind) -> str:
    """The input sequence of figure 4, which does not name the topic.

    Braces in texts become parentheses.
    """
    response = f"{unbraced(example.opening)} {unbraced(example.response)}"
    text = f"User question: {{{unbraced(example.question)}}}.\nNeutral response: {{{response}}}.\n"
    for side in SIDES:
        given = " ".join(f"{side}: {unbraced(argument)}" for argument in example.arguments(side))
        text += f"Given {side} arguments: {{{given}}}.\n"
    return f"{text}{_ASSERTED[task]}: {{"


def classifier_pairs(examples: Sequence[tuple[NpovExample, bool]], task: ErrorKind) -> list[Pair]:
    """Input and target sequences to tune a classifier on (NPOV, figure 4).

    Each example comes with whether it has the error. Without annotations, they are the examples
    that a response generator is tuned on and synthetic errors made from them (NPOV, appendix B.1).
    """
    return [(classifier_prompt(example, task), f"{LABELS[wrong]}}}") for example, wrong in examples]


def error_score(
    decoder: Decoder,
    example: NpovExample,
    task: ErrorKind,
    soft_prompt: SoftPrompt | None = None,
) -> float:
    """How likely a response is to have an error, in [0, 1] (NPOV, section 3.3).

    It is the probability of NO in a softmax over the log-probabilities of YES and NO. A label with
    several tokens has the sum of their log-probabilities. If both labels are one token, the score
    is the probability of NO given that the reply is one of the two.

    The soft prompt is tuned to detect the error; None asks the model without one.

    Raises:
        InputError: The soft prompt is for another task or width, or the example does not fit.
        SalienceError: The model gives no finite numbers.
    """
    asked, reserved = decoder.model, 0
    if soft_prompt is not None:
        soft_prompt.check(task, width=decoder.width)
        asked = with_prompt(decoder, soft_prompt.vectors)
        reserved = len(soft_prompt.vectors)
    # With the brace that follows a label in training; its probability is not asked for.
    pairs = [(classifier_prompt(example, task), f"{label}}}") for label in LABELS]
    yes, no = tokenised(decoder, pairs, reserved=reserved, unasked=1)
    values = np.concatenate(scored(asked, _together(yes, no), reserved=reserved))
    yes_logs, no_logs = np.split(values.astype(np.float64), [len(yes.asked)])
    # The softmax over two values, written so that it does not overflow.
    score = float(np.exp(-np.logaddexp(0, yes_logs.sum() - no_logs.sum())))
    if not np.isfinite(score):
        raise SalienceError(
            f"verdicts of {decoder.folder.name} are not finite in {decoder.precision}; use fp32, "
            "or check its weights"
        )
    return score


def _together(yes: Tokens, no: Tokens) -> list[Tokens]:
    """One item that asks for both labels if the ids of one begin the other's; else both items."""
    longer, shorter = (yes, no) if len(yes.ids) >= len(no.ids) else (no, yes)
    if longer.ids[: len(shorter.ids)] == shorter.ids:
        return [Tokens(longer.ids, yes.asked + no.asked)]
    return [yes, no]
