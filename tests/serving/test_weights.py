"""Weights in folders: their format, what vLLM rejects, and the memory they need.

Shapes are those published in config.json; file sizes are faked by sparse files.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from model_shapes import GEMMA_27B, GEMMA_31B, PUBLISHED, folder, published

from serving import weights
from serving.errors import ServingError
from serving.profile import EngineOptions, Profile, available, load
from serving.weights import (
    CONTEXT_GIB,
    GIB,
    cache_tokens,
    float32_head,
    images,
    memory_gib,
    weights_gib,
    with_model,
)


def plain(where: Path, config: dict[str, Any], parameters: int) -> Path:
    return folder(where, config, ("BF16", [parameters], 2 * parameters))


def test_qwen_2_5_7b_on_one_gpu(tmp_path: Path) -> None:
    path = published(tmp_path, "qwen2.5-7b-instruct")
    options = EngineOptions(
        dtype="bfloat16",
        max_model_len=16384,
        max_num_seqs=128,
        max_num_batched_tokens=2048,
        gpu_memory_gib=22,
    )
    # 28 layers, 4 heads of 3584 / 28 = 128: 2 * 28 * 4 * 128 * 2 = 57,344 bytes per token.
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
    # Beside a tagger, a card with 22.5 GiB has 18.7: 2.126 are left for the cache.
    assert cache_tokens(path, options, 18.7) == pytest.approx(39_800, abs=50)
    assert cache_tokens(path, options, 10.0) == 0


def test_llama_3_3_70b_over_four_gpus(tmp_path: Path) -> None:
    path = published(tmp_path, "llama-3.3-70b-instruct")
    options = load("llama-3.3-70b").engines["llama-3.3-70b-instruct"]
    # A GPU has 2 of the 8 heads: 2 * 80 * 2 * 128 * 2 = 81,920 bytes per token, 32,768 tokens.
    step = 8192 * (2 * 8192 + 3 * 28672 / 4) * 2 / GIB
    logits = 8 * 128 * 128256 / GIB
    wanted = 141_107_412_992 / GIB / 4 + CONTEXT_GIB + step + logits + 2.5
    assert memory_gib(path, options) == pytest.approx(wanted, abs=1e-6)
    assert memory_gib(path, options) == pytest.approx(38.05, abs=0.01)
    one = options.model_copy(update={"tensor_parallel": 1})
    assert memory_gib(path, one) > 131, "no card with 80 GB takes it alone"
    # More GPUs than heads: every GPU keeps a whole head.
    many = EngineOptions(tensor_parallel=16, max_model_len=32768, gpu_memory_gib=78)
    fewer = many.model_copy(update={"max_model_len": 256})
    per_token = (memory_gib(path, many) - memory_gib(path, fewer)) * GIB / (32768 - 256)
    assert per_token == pytest.approx(2 * 80 * 1 * 128 * 2)


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


def test_layers_with_a_window_keep_no_more_than_that(tmp_path: Path) -> None:
    path = plain(tmp_path, GEMMA_31B, 1000)
    options = EngineOptions(max_model_len=16384, max_num_batched_tokens=4096)
    # 10 layers of 4 heads of 512; 50 of 16 heads of 256, with 1,024 tokens beside those of a step.
    cache = 2 * 2 * (10 * 4 * 512 * 16384 + 50 * 16 * 256 * (1024 + 4096)) / GIB
    assert weights._longest_prompt_gib(path, options) == pytest.approx(cache)


def test_every_profile_asks_for_the_memory_its_model_needs(tmp_path: Path) -> None:
    engines = {
        model: options
        for name in available()
        for model, options in load(name).engines.items()
        if options.on_gpus
    }
    assert engines.keys() == PUBLISHED.keys()
    for model, options in engines.items():
        need = memory_gib(published(tmp_path / model, model), options)
        assert need <= (options.gpu_memory_gib or 0) <= need * 1.06, model


HEADS = [
    ({"lm_head.weight": "BF16"}, True),
    ({"language_model.lm_head.weight": "BF16", "model.norm.weight": "BF16"}, True),
    ({"model.embed_tokens.weight": "BF16", "model.layers.0.mlp.up_proj.qweight": "I32"}, True),
    ({"lm_head.qweight": "I32", "lm_head.scales": "F16"}, False),
    ({"lm_head.weight": "F8_E4M3", "lm_head.weight_scale": "F32"}, False),
    ({"language_model.lm_head.weight_packed": "I32"}, False),
]


@pytest.mark.parametrize(("tensors", "exact"), HEADS)
def test_a_head_that_is_not_quantised_computes_in_float32_on_gpus(
    tensors: dict[str, str], exact: bool, tmp_path: Path
) -> None:
    header = {name: {"dtype": kind, "data_offsets": [0, 0]} for name, kind in tensors.items()}
    text = json.dumps(header).encode()
    (tmp_path / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text)
    assert float32_head(tmp_path, EngineOptions(gpu_memory_gib=20)) is exact
    assert not float32_head(tmp_path, EngineOptions())
    assert not float32_head(tmp_path, EngineOptions(gpu_memory_gib=20, batch_invariant=True))


def test_a_model_in_anothers_place_and_strict_mode_need_what_their_folder_shows(
    tmp_path: Path,
) -> None:
    def need(profile: Profile, model: str) -> float | None:
        return profile.engines[model].gpu_memory_gib

    profile = load("one-gpu-7b")
    path = published(tmp_path / "qwen2.5-7b-instruct", "qwen2.5-7b-instruct")
    published(tmp_path / "mine", "gemma-3-27b-it")
    other = with_model(profile, "mine", tmp_path, "judge")
    assert (other.roles.generator, other.roles.judge) == ("qwen2.5-7b-instruct", "mine")
    assert need(other, "qwen2.5-7b-instruct") == 18
    assert need(other, "mine") == pytest.approx(62, abs=1)
    assert images(tmp_path / "mine")
    assert not images(path)
    assert {*with_model(profile, "mine", tmp_path, "judge", "generator").engines} == {"mine"}
    unknown = with_model(profile, "elsewhere", tmp_path, "judge")
    assert need(unknown, "elsewhere") == 18, "it is said when it is looked for"
    strict = weights.strict(profile, tmp_path)
    options = strict.engines["qwen2.5-7b-instruct"]
    assert options.gpu_memory_gib == round(memory_gib(path, options), 1) == 33.1
    assert (options.dtype, options.max_num_seqs, options.prefix_caching) == ("float32", 1, False)
    assert options.max_model_len == 16384
    on_cpu = load("cpu-small")
    assert weights.strict(on_cpu, tmp_path).engines[on_cpu.roles.judge].dtype == "float32"
