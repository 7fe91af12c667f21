"""The vectors of a soft prompt while they are learned: peft holds them, Adafactor changes them.

Lester et al. (2021) use this optimiser: with a given learning rate, without scaling by the size of
the parameters, and with a weight decay of 1e-5. It bounds the root mean square of an update by the
learning rate, so that a rate as high as 0.1 means the same for every model's gradients.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nli.batching import token_budget_batches
from pipelines.errors import InputError
from pipelines.npov.first_vectors import initial_vectors
from pipelines.npov.likelihood import Forward, Tokens, kept, log_probabilities, scored
from pipelines.npov.settings import TuningSettings
from pipelines.npov.tuning_state import State
from salience.decoder import Decoder

if TYPE_CHECKING:
    import torch

WEIGHT_DECAY = 1e-5


class Tuner:
    """Vectors that are being learned, by peft, and their optimiser.

    Args:
        decoder: The model; it stays frozen.
        settings: How they are learned.
        batch_tokens: Most tokens of a forward pass, padding included.
    """

    def __init__(self, decoder: Decoder, settings: TuningSettings, batch_tokens: int) -> None:
        import torch
        from transformers.optimization import Adafactor

        self.device = decoder.model.device
        self.batch_tokens = batch_tokens
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
        self.forward = forward_of_peft(self.model)

    def vectors(self) -> NDArray[np.float32]:
        """(tokens, d), a copy."""
        return np.array(self.weight.detach().cpu().numpy())

    def momentum(self) -> dict[str, NDArray[Any]]:
        """What the optimiser remembers."""
        import torch

        own = self.optimiser.state[self.weight]
        return {name: torch.as_tensor(value).cpu().numpy() for name, value in own.items()}

    def restore(self, state: State) -> None:
        """Go on where a state was written."""
        import torch

        with torch.no_grad():
            self.weight.copy_(torch.from_numpy(state.vectors))
        own = {
            # Numbers of steps are counted with, everything else is a tensor.
            name: int(value.item()) if name == "step" else torch.from_numpy(value).to(self.device)
            for name, value in state.momentum.items()
        }
        if own:
            self.optimiser.state[self.weight] = own

    def loss(self, items: Sequence[Tokens]) -> float:
        """Nats per target token."""
        values = scored(self.forward, items, self.device, batch_tokens=self.batch_tokens)
        return _finite(-float(np.concatenate(values).mean(dtype=np.float64)))

    def update(self, items: Sequence[Tokens], rate: float) -> float:
        """One step; the mean over all target tokens of the batch, before it."""
        count = sum(len(each.asked) for each in items)
        total = 0.0
        lengths = [len(each.ids) for each in items]
        for part in token_budget_batches(lengths, self.batch_tokens):
            values = log_probabilities(self.forward, [items[n] for n in part], self.device)
            loss = -sum(own.sum() for own in values) / count
            loss.backward()
            total += float(loss.detach())
        self.optimiser.param_groups[0]["lr"] = rate
        self.optimiser.step()
        self.optimiser.zero_grad()
        return _finite(total)


def with_prompt(decoder: Decoder, vectors: NDArray[np.float32]) -> Any:
    """The model in peft's hull, with vectors to be tuned.

    Args:
        decoder: The model; it stays frozen.
        vectors: (tokens, d), what they are at first.
    """
    import torch
    from peft import PromptTuningConfig, TaskType, get_peft_model

    config = PromptTuningConfig(task_type=TaskType.CAUSAL_LM, num_virtual_tokens=len(vectors))
    model = get_peft_model(decoder.model, config).eval()  # no dropout: the model is not tuned
    with torch.no_grad():
        model.prompt_encoder["default"].embedding.weight.copy_(torch.from_numpy(vectors))
    return model


def forward_of_peft(model: Any) -> Forward:
    """The forward pass of a model in peft's hull, which puts the vectors before the input."""
    before = model.active_peft_config.num_virtual_tokens

    def forward(
        ids: "torch.Tensor", real: "torch.Tensor", places: "torch.Tensor"
    ) -> "torch.Tensor":
        logits = model(
            input_ids=ids, attention_mask=real, logits_to_keep=places + before, use_cache=False
        ).logits
        return kept(logits, places + before)

    return forward


def _finite(loss: float) -> float:
    if not np.isfinite(loss):
        raise InputError(
            "the loss is not a finite number; lower the learning rate, or compute in fp32"
        )
    return loss
