"""The vectors of a soft prompt while they are learned: peft holds them, Adafactor changes them.

They start as embeddings of frequent tokens (NPOV, appendix B). Lester et al. (2021) use this
optimiser: with a given learning rate, without scaling by the size of the parameters, and with a
weight decay of 1e-5. It bounds the root mean square of an update by the learning rate, so that a
rate as high as 0.1 means the same for every model's gradients.
"""

import re
from collections.abc import Sequence
from itertools import islice
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.errors import InputError
from pipelines.npov.likelihood import Tokens, batches, log_probabilities, scored, with_prompt
from pipelines.npov.settings import TuningSettings
from salience.decoder import Decoder

WEIGHT_DECAY = 1e-5

FREQUENT = 5_000
"""Tokens that the first vectors are drawn from."""

_ONE_BYTE = re.compile(r"<0x[0-9A-F]{2}>|.", re.DOTALL)


class Tuner:
    """Vectors that are being learned, by peft, and their optimiser; the model stays frozen."""

    def __init__(self, decoder: Decoder, settings: TuningSettings) -> None:
        import torch
        from transformers.optimization import Adafactor

        self.reserved = settings.tokens
        self.model = with_prompt(decoder, initial_vectors(decoder, settings))
        (self.weight,) = [each for each in self.model.parameters() if each.requires_grad]
        assert self.weight.dtype == torch.float32  # noqa: S101 - updates of bf16 would be lost
        self.optimiser = Adafactor(
            [self.weight],
            lr=settings.learning_rate,
            scale_parameter=False,
            relative_step=False,
            weight_decay=WEIGHT_DECAY,
        )

    def vectors(self) -> NDArray[np.float32]:
        """(tokens, d), a copy."""
        return np.array(self.weight.detach().cpu().numpy())

    def momentum(self) -> dict[str, NDArray[Any]]:
        """What the optimiser remembers."""
        import torch

        own = self.optimiser.state[self.weight]
        return {name: torch.as_tensor(value).cpu().numpy() for name, value in own.items()}

    def restore(self, vectors: NDArray[np.float32], momentum: dict[str, NDArray[Any]]) -> None:
        """Go on from what `vectors` and `momentum` were."""
        import torch

        with torch.no_grad():
            self.weight.copy_(torch.from_numpy(vectors))
        own = {
            # Numbers of steps are counted with, everything else is a tensor.
            name: int(value.item())
            if name == "step"
            else torch.from_numpy(value).to(self.weight.device)
            for name, value in momentum.items()
        }
        if own:
            self.optimiser.state[self.weight] = own

    def loss(self, items: Sequence[Tokens]) -> float:
        """Nats per target token."""
        values = scored(self.model, items, reserved=self.reserved)
        return _finite(-float(np.concatenate(values).mean(dtype=np.float64)))

    def update(self, items: Sequence[Tokens], rate: float) -> float:
        """One step; returns the loss before it, the mean over all target tokens of the batch."""
        count = sum(len(each.asked) for each in items)
        total = 0.0
        for part in batches(items):
            values = log_probabilities(self.model, [items[n] for n in part], reserved=self.reserved)
            loss = -sum(own.sum() for own in values) / count
            loss.backward()
            total += float(loss.detach())
        self.optimiser.param_groups[0]["lr"] = rate
        self.optimiser.step()
        self.optimiser.zero_grad()
        return _finite(total)


def initial_vectors(decoder: Decoder, settings: TuningSettings) -> NDArray[np.float32]:
    """Embeddings of frequent tokens, drawn at random, as the model's layers see them: (tokens, d).

    Where there are fewer frequent tokens, some come again.
    """
    import torch

    embed = decoder.model.get_input_embeddings()
    usable = frequent_tokens(decoder.tokenizer, embed.weight.shape[0])
    draw = Random(settings.seed)  # noqa: S311  (a sample, not a secret)
    chosen = draw.sample(usable, settings.tokens) if len(usable) >= settings.tokens else usable
    # By the layer and not from its weights: some models scale what they look up.
    with torch.no_grad():
        found = embed(torch.tensor(chosen, device=decoder.model.device)).float().cpu().numpy()
    return np.resize(found, (settings.tokens, found.shape[1]))


def frequent_tokens(tokenizer: Any, vocabulary: int) -> list[int]:
    """Token ids that stand for the 5,000 most frequent tokens, of those that have an embedding.

    How frequent tokens are is not known offline. Vocabularies of byte pairs are in the order in
    which pairs were merged, the most frequent pair first, so the lowest ids are taken that are
    neither special nor added, and no single character or byte.

    Raises:
        InputError: There is no such token.
    """
    special = {*tokenizer.all_special_ids, *tokenizer.get_added_vocab().values()}
    texts = tokenizer.convert_ids_to_tokens(range(min(vocabulary, len(tokenizer))))
    usable = (
        token
        for token, text in enumerate(texts)
        if token not in special and text and not _ONE_BYTE.fullmatch(text)
    )
    found = list(islice(usable, FREQUENT))
    if not found:
        raise InputError("the model's vocabulary has single characters alone; take another model")
    return found


def _finite(loss: float) -> float:
    if not np.isfinite(loss):
        raise InputError(
            "the loss is not a finite number; lower the learning rate, or compute in fp32"
        )
    return loss
