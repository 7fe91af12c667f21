"""Weights in folders: their format, what vLLM refuses of them, and the memory they need.

Shapes are those that the makers publish in config.json; sizes of files are faked by sparse files.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from serving import weights
from serving.errors import ServingError
from serving.profile import EngineOptions, available, load
from serving.weights import (
    CONTEXT_GIB,
    GIB,
    check,
    memory_gib,
    quantization,
    weights_gib,
)

QWEN_7B: dict[str, Any] = {
    "model_type": "qwen2",
    "hidden_size": 3584,
    "intermediate_size": 18944,
    "num_hidden_layers": 28,
    "num_attention_heads": 28,
    "num_key_value_heads": 4,
    "vocab_size": 152064,
    "max_position_embeddings": 32768,
}
QWEN_7B_PARAMETERS = 7_615_616_512

LLAMA_70B: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 8192,
    "intermediate_size": 28672,
    "num_hidden_layers": 80,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
}
LLAMA_70B_PARAMETERS = 70_553_706_496

GEMMA_27B: dict[str, Any] = {
    "model_type": "gemma3",
    "text_config": {
        "model_type": "gemma3_text",
        "hidden_size": 5376,
        "intermediate_size": 21504,
        "num_hidden_layers": 62,
        "num_attention_heads": 32,
        "num_key_value_heads": 16,
        "head_dim": 128,
        "sliding_window": 1024,
    },
}
GEMMA_27B_PARAMETERS = 27_432_406_640

METHODS = ["awq", "gptq", "fp8", "fbgemm_fp8", "compressed-tensors", "mxfp4", "bitsandbytes"]


def folder(where: Path, config: dict[str, Any], *tensors: tuple[str, list[int], int]) -> Path:
    """A model folder with tensors of (type, shape, bytes); the bytes are a hole in the file."""
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


def plain(where: Path, config: dict[str, Any], parameters: int) -> Path:
    return folder(where, config, ("BF16", [parameters], 2 * parameters))


def test_qwen_2_5_7b_on_one_gpu(tmp_path: Path) -> None:
    path = plain(tmp_path, QWEN_7B, QWEN_7B_PARAMETERS)
    options = EngineOptions(
        dtype="bfloat16",
        max_model_len=16384,
        max_num_seqs=128,
        max_num_batched_tokens=2048,
        gpu_memory_gib=22,
    )
    # 28 layers, 4 heads of 3584 / 28 = 128: 2 * 28 * 4 * 128 * 2 = 57,344 bytes a token.
    keys_and_values = 57_344 * 16384 / GIB
    assert keys_and_values == 0.875
    step = 2048 * (2 * 3584 + 3 * 18944) * 2 / GIB
    logits = 8 * 128 * 152064 / GIB
    assert weights_gib(path, "bfloat16") == pytest.approx(14.185, abs=1e-3)
    found = memory_gib(path, options)
    assert found == pytest.approx(14.185 + CONTEXT_GIB + step + logits + 0.875, abs=1e-3)
    assert found == pytest.approx(17.449, abs=1e-3)
    assert found < 22 * 0.92, "it fits the card of one-gpu-7b"
    short = options.model_copy(update={"kv_cache_dtype": "fp8"})
    assert found - memory_gib(path, short) == pytest.approx(0.875 / 2)
    fixed = options.model_copy(update={"kv_cache_gib": 3.0})
    assert memory_gib(path, fixed) - found == pytest.approx(3 - 0.875)
    whole = options.model_copy(update={"max_model_len": None})
    assert memory_gib(path, whole) - found == pytest.approx(0.875), "32,768 tokens"


def test_llama_3_3_70b_over_four_gpus(tmp_path: Path) -> None:
    path = plain(tmp_path, LLAMA_70B, LLAMA_70B_PARAMETERS)
    options = load("llama-3.3-70b").engine("llama-3.3-70b-instruct")
    # A GPU has 2 of the 8 heads: 2 * 80 * 2 * 128 * 2 = 81,920 bytes a token, 32,768 tokens.
    step = 8192 * (2 * 8192 + 3 * 28672 / 4) * 2 / GIB
    logits = 8 * 128 * 128256 / GIB
    wanted = 141_107_412_992 / GIB / 4 + CONTEXT_GIB + step + logits + 2.5
    assert memory_gib(path, options) == pytest.approx(wanted, abs=1e-6)
    assert memory_gib(path, options) == pytest.approx(38.05, abs=0.01)
    one = options.model_copy(update={"tensor_parallel": 1})
    assert memory_gib(path, one) > 131, "no card with 80 GB takes it alone"
    # More GPUs than heads: each keeps one whole head.
    many = EngineOptions(tensor_parallel=16, max_model_len=32768, gpu_memory_gib=78)
    fewer = many.model_copy(update={"max_model_len": 256})
    per_token = (memory_gib(path, many) - memory_gib(path, fewer)) * GIB / (32768 - 256)
    assert per_token == pytest.approx(2 * 80 * 1 * 128 * 2)


@pytest.mark.parametrize(
    ("card", "tokens", "requests"),
    [(22, 2048, 256), (78, 8192, 1024), (178, 16384, 1024), (None, 16384, 1024)],
)
def test_batches_are_vllms_own_where_the_profile_says_nothing(
    card: float | None, tokens: int, requests: int, tmp_path: Path
) -> None:
    path = plain(tmp_path, QWEN_7B, 10)
    usual = EngineOptions(gpu_memory_gib=card)
    told = {"max_num_batched_tokens": tokens, "max_num_seqs": requests}
    assert memory_gib(path, usual) == memory_gib(path, usual.model_copy(update=told))


def test_plain_weights_are_counted_in_the_format_they_are_loaded_in(tmp_path: Path) -> None:
    path = folder(tmp_path, QWEN_7B, ("F32", [1024, 1024], 4 << 20), ("I64", [128], 1024))
    assert weights_gib(path, "bfloat16") * GIB == (2 << 20) + 1024
    assert weights_gib(path, "float32") * GIB == (4 << 20) + 1024


def test_a_copy_of_the_weights_in_another_layout_is_not_counted(tmp_path: Path) -> None:
    path = plain(tmp_path, QWEN_7B, 1000)
    once = weights_gib(path, "auto")
    (path / "consolidated.safetensors").write_bytes((path / "model.safetensors").read_bytes())
    assert weights_gib(path, "auto") == once
    (path / "stray.safetensors").write_bytes((path / "model.safetensors").read_bytes())
    index = {"weight_map": {"0": "model.safetensors"}}
    (path / "model.safetensors.index.json").write_text(json.dumps(index))
    assert weights_gib(path, "auto") == once


def test_gemma_3_stands_for_what_its_configuration_leaves_out(tmp_path: Path) -> None:
    from transformers import Gemma3TextConfig

    usual = Gemma3TextConfig()
    assert {key: getattr(usual, key) for key in weights._GEMMA3} == weights._GEMMA3
    kept = {"model_type", "hidden_size", "intermediate_size", "num_hidden_layers"}
    text = {key: value for key, value in GEMMA_27B["text_config"].items() if key in kept}
    path = plain(tmp_path, {"model_type": "gemma3", "text_config": text}, 1000)
    options = EngineOptions(max_model_len=1024)
    keys_and_values = 2 * 62 * 4 * 256 * 1024 * 2 / GIB
    longer = options.model_copy(update={"max_model_len": 2048})
    assert memory_gib(path, longer) - memory_gib(path, options) == pytest.approx(keys_and_values)
    lacking = plain(tmp_path / "b", {"model_type": "llama", "hidden_size": 8}, 10)
    with pytest.raises(ServingError, match=r"config\.json has no intermediate_size"):
        memory_gib(lacking, options)


@pytest.mark.parametrize("name", available())
def test_every_profile_asks_for_the_memory_its_model_needs(name: str, tmp_path: Path) -> None:
    sizes = {
        "gemma-3-27b-it": (GEMMA_27B, GEMMA_27B_PARAMETERS),
        "llama-3.3-70b-instruct": (LLAMA_70B, LLAMA_70B_PARAMETERS),
        "qwen2.5-7b-instruct": (QWEN_7B, QWEN_7B_PARAMETERS),
    }
    for model, options in load(name).engines.items():
        if model in sizes and options.gpu_memory_gib:
            path = plain(tmp_path / model, *sizes[model])
            assert memory_gib(path, options) < options.gpu_memory_gib


# --- formats and refusals ----------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_formats_are_told_by_the_configuration(method: str, tmp_path: Path) -> None:
    path = plain(tmp_path, QWEN_7B, 10)
    assert quantization(path) is None
    for config in (
        {"quantization_config": {"quant_method": method}},
        {"text_config": {"quantization_config": {"quant_method": method.upper()}}},
    ):
        (path / "config.json").write_text(json.dumps(QWEN_7B | config))
        assert quantization(path) == method
    (path / "config.json").write_text(json.dumps(QWEN_7B))
    (path / "hf_quant_config.json").write_text("{}")
    assert quantization(path) == "modelopt"


REFUSED = [
    ("awq", "float32", "awq weights, with which vLLM computes in float16 or bfloat16 only"),
    ("gptq", "float32", r"not in float32 \(--strict takes it always\)"),
    ("fp8", "float32", "for --strict use unquantised weights"),
    ("mxfp4", "float16", "computes in bfloat16 only, not in float16; set dtype in the profile$"),
    ("bitsandbytes", "auto", "has bitsandbytes weights, which vLLM 0.32 does not read"),
]
TAKEN = [("awq", "bfloat16"), ("gptq", "float16"), ("fp8", "auto"), ("mxfp4", "bfloat16")]
TAKEN += [("compressed-tensors", "float32"), ("a-new-one", "float32")]


@pytest.mark.parametrize(("method", "dtype", "says"), REFUSED)
def test_what_vllm_would_refuse_is_refused_before_a_start(
    method: str, dtype: Any, says: str, tmp_path: Path
) -> None:
    path = plain(tmp_path, QWEN_7B | {"quantization_config": {"quant_method": method}}, 10)
    with pytest.raises(ServingError, match=says):
        check(path, EngineOptions(dtype=dtype))


def test_gemma_is_not_run_in_float16(tmp_path: Path) -> None:
    path = plain(tmp_path, GEMMA_27B, 10)
    with pytest.raises(
        ServingError, match='type gemma3, which overflows in float16; set dtype = "b'
    ):
        check(path, EngineOptions(dtype="float16"))
    check(path, EngineOptions(dtype="float32"))
