"""How much of a map is computed at a time: what memory allows, and what a model turned out to."""

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
"""Of a device's free memory, what a chunk of gradients may take; see `token_cost`."""

EAGER_SHARE = 0.5
"""As many bytes as this share of a chunk's may be attention weights that a forward pass keeps."""

CPU_CHUNK = 8
"""Output tokens at a time on a CPU. Gradients of 8 stay in its caches: SmolLM2-135M on 160
tokens took 14.4 s by 8, 20.6 s by 4 and 17.3 s by 30."""

GPU_CHUNK = 64

FP32 = 4
"""Bytes of a number in which transformers takes the softmax of eager attention."""

Attention = Literal["eager", "sdpa"]


@dataclass
class Limits:
    """What gradients of one model may take, kept from text to text.

    Attributes:
        memory: Most bytes of a chunk; None until memory has ended once.
        together: Whether gradients of several tokens can be pulled back at once.
    """

    memory: int | None = None
    together: bool = True

    def working_memory(self, model: Any) -> int:
        """Bytes that a chunk of gradients may take now, on the device that has least."""
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
    """How many output tokens at a time: what is quick, as far as it fits so many bytes."""
    quick = GPU_CHUNK if on_gpu(model) else CPU_CHUNK
    return int(min(quick, max(1, memory // token_cost(model, tokens, attention))))


def token_cost(model: Any, tokens: int, attention: Attention) -> int:
    """About how many bytes the gradient of one output token takes on its way back.

    A gradient through one layer takes about four times the widest of its inner states. Where
    attention is eager, each head adds three matrices of tokens by tokens in fp32, whatever the
    weights are in: the softmax, its gradient and that of its logits.
    """
    config, embedding = model.config.get_text_config(), model.get_input_embeddings().weight
    width = 4 * max(_largest(config, "intermediate_size"), 4 * embedding.shape[-1])
    matrices = 3 * FP32 * _largest(config, "num_attention_heads") if attention == "eager" else 0
    return int(tokens * (width * embedding.element_size() + matrices * tokens))


def kept_weights(model: Any, tokens: int) -> int:
    """Bytes of attention weights that an eager forward pass keeps for the way back.

    Each weight is kept as the softmax gives it, in fp32, and again in the model's format, if that
    is another.
    """
    config, size = model.config.get_text_config(), next(model.parameters()).element_size()
    layers, heads = _largest(config, "num_hidden_layers"), _largest(config, "num_attention_heads")
    return int(layers * heads * tokens**2 * (FP32 if size == FP32 else FP32 + size))


def quick_attention(model: Any, tokens: int, memory: int) -> Attention:
    """Eager attention where its weights fit, else the fused one, which does not keep them.

    Fused attention has no batched gradient and is taken token by token, so eager is quicker.
    """
    return "eager" if kept_weights(model, tokens) <= EAGER_SHARE * memory else "sdpa"


def _largest(config: Any, name: str) -> int:
    """A size of a model, the largest where layers have their own; 0 where it does not say."""
    value = getattr(config, name, None) or 0
    return max(value) if isinstance(value, list | tuple) else int(value)


@contextmanager
def memory_errors(tokens: int) -> Iterator[None]:
    """Say in words for people that the gradients of so many tokens do not fit into memory."""
    try:
        yield
    except RuntimeError as error:
        if not out_of_memory(error):
            raise
        raise SalienceError(
            f"the gradients of {tokens} tokens do not fit into memory; shorten the texts, or take "
            "a smaller model"
        ) from error


def out_of_memory(error: Exception) -> bool:
    """Whether it is torch's: `OutOfMemoryError` of a GPU, or what its allocator says on a CPU."""
    import torch

    return isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error)


def release() -> None:
    """Give back memory that nothing holds any more. Not from an `except`: its error holds some."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
