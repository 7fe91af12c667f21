"""Published shapes and sizes of the models in GPU profiles."""

import json
from pathlib import Path
from typing import Any

QWEN = {"model_type": "qwen2", "num_key_value_heads": 4, "max_position_embeddings": 32768}
QWEN3 = {"model_type": "qwen3", "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936}
FP8 = {"quantization_config": {"quant_method": "fp8"}, "max_position_embeddings": 40960}


def _sizes(hidden: int, wide: int, layers: int, heads: int) -> dict[str, int]:
    return {
        "hidden_size": hidden,
        "intermediate_size": wide,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
    }


QWEN_7B: dict[str, Any] = {**QWEN, **_sizes(3584, 18944, 28, 28), "vocab_size": 152064}
LLAMA_70B: dict[str, Any] = {
    **{"model_type": "llama", "num_key_value_heads": 8, "vocab_size": 128256},
    **_sizes(8192, 28672, 80, 64),
    "max_position_embeddings": 131072,
}
GEMMA_27B: dict[str, Any] = {
    **{"model_type": "gemma3", "vision_config": {"hidden_size": 1152}},
    "text_config": {
        **{"model_type": "gemma3_text", "num_key_value_heads": 16, "head_dim": 128},
        **_sizes(5376, 21504, 62, 32),
        "sliding_window": 1024,
    },
}
GEMMA_31B: dict[str, Any] = {
    **{"model_type": "gemma4", "vision_config": {"hidden_size": 1152}},
    "text_config": {
        **{"model_type": "gemma4_text", "num_key_value_heads": 16, "head_dim": 256},
        **_sizes(5376, 21504, 60, 32),
        **{"num_global_key_value_heads": 4, "global_head_dim": 512, "vocab_size": 262144},
        "sliding_window": 1024,
        "layer_types": [*["sliding_attention"] * 5, "full_attention"] * 10,
    },
}
QWEN3_6: dict[str, Any] = {
    **{"model_type": "qwen3_5", "vision_config": {"hidden_size": 1152}},
    "text_config": {
        **{"model_type": "qwen3_5_text", "num_key_value_heads": 4, "head_dim": 256},
        **_sizes(5120, 17408, 64, 24),
        "vocab_size": 248320,
        "layer_types": [*["linear_attention"] * 3, "full_attention"] * 16,
    },
}
SCOUT: dict[str, Any] = {
    **{"model_type": "llama4", "vision_config": {"hidden_size": 1408}},
    "text_config": {
        **{"model_type": "llama4_text", "num_key_value_heads": 8, "head_dim": 128},
        **_sizes(5120, 8192, 48, 40),
        **{"num_experts_per_tok": 1, "vocab_size": 202048},
    },
}

PUBLISHED: dict[str, tuple[dict[str, Any], int, int]] = {
    "qwen2.5-7b-instruct": (QWEN_7B, 7_615_616_512, 0),
    "qwen2.5-72b-instruct": (
        {**QWEN, **_sizes(8192, 29568, 80, 64), "num_key_value_heads": 8, "vocab_size": 152064},
        *(72_706_203_648, 0),
    ),
    "qwen3-8b-fp8": ({**QWEN3, **FP8, **_sizes(4096, 12288, 36, 32)}, 1_244_659_712, 6_946_075_648),
    "qwen3-32b-fp8": (
        {**QWEN3, **FP8, **_sizes(5120, 25600, 64, 64)},
        *(1_555_824_640, 31_206_298_624),
    ),
    "qwen3.6-27b": (QWEN3_6, 27_780_000_000, 0),
    "gemma-3-27b-it": (GEMMA_27B, 27_432_406_640, 0),
    "gemma-4-31b-it": (GEMMA_31B, 31_273_000_000, 0),
    "llama-3.3-70b-instruct": (LLAMA_70B, 70_553_706_496, 0),
    "llama-4-scout": (SCOUT, 108_641_793_536, 0),
}
"""Model -> config.json, number of parameters in bfloat16, and in FP8."""


def folder(where: Path, config: dict[str, Any], *tensors: tuple[str, list[int], int]) -> Path:
    """A model folder with tensors of (type, shape, bytes); the data are a hole in a sparse file."""
    where.mkdir(parents=True, exist_ok=True)
    (where / "config.json").write_text(json.dumps(config))
    header, offset = {}, 0
    for number, (kind, shape, size) in enumerate(tensors):
        ends = [offset, offset + size]
        header[str(number)] = {"dtype": kind, "shape": shape, "data_offsets": ends}
        offset += size
    text = json.dumps(header).encode()
    with (where / "model.safetensors").open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + offset)
    return where


def published(where: Path, model: str) -> Path:
    """The folder of a model named in a profile."""
    config, halves, bytes_ = PUBLISHED[model]
    tensors = [("BF16", [halves], 2 * halves), ("F8_E4M3", [bytes_], bytes_)]
    return folder(where, config, *tensors)
