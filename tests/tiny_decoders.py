"""Tiny decoders with random weights, in the architectures of the profiles' models."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

Sizes = Mapping[str, int]

SIZES = {
    "vocab_size": 96,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
}


def _llama(sizes: Sizes) -> Any:
    from transformers import LlamaConfig, LlamaForCausalLM

    return LlamaForCausalLM(LlamaConfig(**sizes, tie_word_embeddings=True))


def _gemma3(sizes: Sizes) -> Any:
    from transformers import Gemma3ForCausalLM, Gemma3TextConfig

    return Gemma3ForCausalLM(
        Gemma3TextConfig(
            **sizes,
            head_dim=8,
            sliding_window=6,
            layer_types=["sliding_attention", "full_attention", "sliding_attention"],
            final_logit_softcapping=5.0,
        )
    )


def _qwen3(sizes: Sizes) -> Any:
    from transformers import Qwen3Config, Qwen3ForCausalLM

    return Qwen3ForCausalLM(Qwen3Config(**sizes, head_dim=8))


ARCHITECTURES: dict[str, Callable[[Sizes], Any]] = {
    "llama": _llama,
    "gemma3": _gemma3,
    "qwen3": _qwen3,
}


@cache
def decoder(architecture: str, *, double: bool = False, seed: int = 7, **sizes: int) -> Any:
    """A frozen causal language model with the same weights in every process.

    `sizes` replace some of `SIZES`.
    """
    import torch

    torch.manual_seed(seed)
    model = ARCHITECTURES[architecture](SIZES | sizes)
    with torch.no_grad():
        for weight in model.parameters():
            # With the default initialisation all outputs would be nearly equal.
            if weight.dim() > 1:
                weight.normal_(std=0.25)
    model = model.double() if double else model
    return model.eval().requires_grad_(False)


def token_ids(count: int, seed: int = 3) -> Any:
    """Random tokens from the vocabulary."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    return torch.randint(3, SIZES["vocab_size"], (count,), generator=generator)
