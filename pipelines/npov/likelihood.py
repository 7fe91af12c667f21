"""How likely a decoder finds target texts, with a soft prompt before its input or without.

Batches are padded at the right: positions count from the left, so vectors before the input stand
where they stand without padding. Logits are computed where a target is predicted and nowhere else,
since those of all places would take more memory than the model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nli.batching import token_budget_batches
from pipelines.errors import InputError
from salience.decoder import Decoder
from salience.errors import SalienceError

if TYPE_CHECKING:
    import torch

Pair = tuple[str, str]
"""Input text and target text."""

BATCH_TOKENS = 2048
"""Most tokens of a forward pass, padding included."""


@dataclass(frozen=True)
class Tokens:
    """What a model reads, (n,), and which tokens it is asked for.

    Each is a place in [1, n] and a token: how likely is it after the ids before that place?
    """

    ids: tuple[int, ...]
    asked: tuple[tuple[int, int], ...]


def tokenised(
    decoder: Decoder, pairs: Sequence[Pair], *, reserved: int = 0, unasked: int = 0
) -> list[Tokens]:
    """Pairs in tokens, those of the target asked for; no token has a part of both texts.

    Before the input come `reserved` vectors. Of the target's end so many characters are `unasked`
    for, unless they are in a token with others.

    Raises:
        InputError: A pair does not fit the model, or one of its texts has no tokens.
    """
    found = []
    for number, (given, target) in enumerate(pairs, 1):
        try:
            encoded = decoder.encode(given, target)
        except SalienceError as error:
            raise InputError(f"example {number} ({_beginning(given)}): {error}") from error
        ids, start, most = encoded.ids, encoded.prompt_tokens, decoder.max_tokens
        if most is not None and len(ids) + reserved > most:
            raise InputError(
                f"example {number} ({_beginning(given)}): {len(ids):,} tokens and {reserved} of "
                f"the soft prompt, {decoder.folder.name} reads {most:,}; shorten it"
            )
        end = len(given) + len(target) - unasked
        stop = start + sum(first < end for first, _ in encoded.offsets[start:])
        found.append(Tokens(ids[: stop - 1], tuple((n, ids[n]) for n in range(start, stop))))
    return found


def _beginning(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line[:60]}…”" if len(line) > 60 else f"“{line}”"


def with_prompt(decoder: Decoder, vectors: NDArray[np.float32]) -> Any:
    """The frozen model in peft's hull, which puts vectors, (tokens, d), before its input.

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
    """Natural logarithms of the probabilities of the tokens asked for, in one forward pass.

    The model is of transformers, or one `with_prompt` of so many reserved vectors. Each item has a
    float32 per token asked for, which carries gradients where the forward pass does.
    """
    import torch

    longest = max(len(each.ids) for each in items)
    # Any token will do as padding: it is masked, and comes after all that is looked at.
    ids = torch.tensor([[*each.ids, *[0] * (longest - len(each.ids))] for each in items])
    real = torch.tensor([[n < len(each.ids) for n in range(longest)] for each in items]).long()
    places = sorted({place - 1 for each in items for place, _ in each.asked})
    column = {place: n for n, place in enumerate(places)}
    kept = [place + reserved for place in places]
    logits = model(
        input_ids=ids.to(model.device),
        attention_mask=real.to(model.device),
        logits_to_keep=kept,
        use_cache=False,
    ).logits
    if logits.shape[1] != len(kept):  # the model does not know how to leave out the others
        logits = logits[:, kept]
    found = []
    for row, each in enumerate(items):
        chosen = logits[row, [column[place - 1] for place, _ in each.asked]]
        tokens = torch.tensor([token for _, token in each.asked], device=chosen.device)
        found.append(chosen.float().log_softmax(dim=-1).gather(1, tokens[:, None])[:, 0])
    return found


def batches(items: Sequence[Tokens]) -> list[list[int]]:
    """Which items are passed together."""
    return token_budget_batches([len(each.ids) for each in items], BATCH_TOKENS)


def scored(model: Any, items: Sequence[Tokens], *, reserved: int = 0) -> list[NDArray[np.float32]]:
    """The `log_probabilities` of any number of items, without gradients."""
    import torch

    found: dict[int, NDArray[np.float32]] = {}
    with torch.inference_mode():
        for batch in batches(items):
            values = log_probabilities(model, [items[place] for place in batch], reserved=reserved)
            found |= {place: own.cpu().numpy() for place, own in zip(batch, values, strict=True)}
    return [found[place] for place in range(len(items))]
