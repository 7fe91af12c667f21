"""How much of a map is computed at a time: the memory limits, and what a model supports."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import psutil

from salience.errors import SalienceError

if TYPE_CHECKING:
    import torch

CPU_MEMORY = 2**30
"""Most bytes that a chunk of gradients takes on a CPU, where larger ones are not quicker."""

WORKING_SHARE = 0.5
"""Share of a device's free memory for a chunk of gradients; see `token_cost`."""

EAGER_SHARE = 0.5
"""A forward pass may keep attention weights up to this share of a chunk's bytes."""

CPU_CHUNK = 8
"""Output tokens at a time on a CPU. Gradients of 8 stay in its caches: SmolLM2-135M on 160
tokens took 14.4 s with 8, 20.6 s with 4 and 17.3 s with 30."""

GPU_CHUNK = 64

FP32 = 4
"""Bytes of a number in the softmax of eager attention, as transformers computes it."""

Attention = Literal["eager", "sdpa"]


@dataclass
class Limits:
    """Memory limits for gradients of one model, kept from text to text.

    Attributes:
        memory: Most bytes of a chunk; None until memory has run out once.
        together: Whether gradients of several tokens can be pulled back at once.
    """

    memory: int | None = None
    together: bool = True

    def working_memory(self, model: Any) -> int:
        """Bytes that a chunk of gradients may take now, on the device with the least."""
        free = min(
            int(WORKING_SHARE * free_memory(device))
            for device in {weight.device for weight in model.parameters()}
        )
        free = free if on_gpu(model) else min(free, CPU_MEMORY)
        return free if self.memory is None else min(free, self.memory)


def free_memory(device: "torch.device") -> int:
    """Bytes that can still be taken on a device."""
    import torch

    if device.type != "cuda":
        return int(psutil.virtual_memory().available)
    unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(torch.cuda.mem_get_info(device)[0] + unused)


def on_gpu(model: Any) -> bool:
    """Whether a model computes on GPUs."""
    return bool(model.device.type != "cpu")


def chunk_size(model: Any, tokens: int, memory: int, attention: Attention) -> int:
    """Output tokens at a time: as many as are fast, and fit into `memory` bytes."""
    quick = GPU_CHUNK if on_gpu(model) else CPU_CHUNK
    return int(min(quick, max(1, memory // token_cost(model, tokens, attention))))


def token_cost(model: Any, tokens: int, attention: Attention) -> int:
    """Approximate bytes that the gradient of one output token takes in the backward pass.

    A gradient through one layer takes about four times the widest of its inner states. With eager
    attention, each head adds three matrices of tokens by tokens in fp32, whatever the format of the
    weights: the softmax, its gradient and that of its logits.
    """
    config, embedding = model.config.get_text_config(), model.get_input_embeddings().weight
    width = 4 * max(_largest(config, "intermediate_size"), 4 * embedding.shape[-1])
    matrices = 3 * FP32 * _largest(config, "num_attention_heads") if attention == "eager" else 0
    return int(tokens * (width * embedding.element_size() + matrices * tokens))


def kept_weights(model: Any, tokens: int) -> int:
    """Bytes of attention weights that an eager forward pass keeps for the backward pass.

    Each weight is kept as the softmax gives it, in fp32, and again in the model's format, if that
    differs.
    """
    config, size = model.config.get_text_config(), next(model.parameters()).element_size()
    layers, heads = _largest(config, "num_hidden_layers"), _largest(config, "num_attention_heads")
    return int(layers * heads * tokens**2 * (FP32 if size == FP32 else FP32 + size))


def quick_attention(model: Any, tokens: int, memory: int) -> Attention:
    """Eager attention if its weights fit, else the fused one, which does not keep them.

    Fused attention has no batched gradient and is taken token by token, so eager is quicker.
    """
    return "eager" if kept_weights(model, tokens) <= EAGER_SHARE * memory else "sdpa"


def _largest(config: Any, name: str) -> int:
    """A size of a model, the largest if it differs by layer; 0 if the model does not say."""
    value = getattr(config, name, None) or 0
    return max(value) if isinstance(value, list | tuple) else int(value)


@contextmanager
def memory_errors(tokens: int) -> Iterator[None]:
    """Raise SalienceError if gradients of a text do not fit into memory."""
    try:
        yield
    except RuntimeError as error:
        if not out_of_memory(error):
            raise
        raise SalienceError(
            f"the gradients of {tokens} tokens do not fit into memory; shorten the texts, or use "
            "a smaller model"
        ) from error


def out_of_memory(error: Exception) -> bool:
    """Whether an error is torch's `OutOfMemoryError`, or has the message of its CPU allocator."""
    import torch

    return isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error)


def release() -> None:
    """Release unused memory. Not for use within `except`: the error holds some of it."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
