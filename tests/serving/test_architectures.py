"""Model families of the profiles and of users: vLLM knows them, and we read them as it does.

Without a GPU, a tiny model stands for the large ones of each family, and modules that exist only on
GPU machines are looked up in requirements/gpu.txt.
"""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from packaging.utils import canonicalize_name
from tiny_decoders import SIZES

from serving import weights
from serving.offline import server_environment
from serving.profile import EngineOptions, available, load

ROOT = Path(__file__).parents[2]
OF_PROFILES = {
    "smollm2-135m-instruct": "LlamaForCausalLM",
    "qwen2.5-coder-1.5b-instruct": "Qwen2ForCausalLM",
    "qwen2.5-coder-0.5b-instruct": "Qwen2ForCausalLM",
    "llama-3.3-70b-instruct": "LlamaForCausalLM",
    "qwen2.5-7b-instruct": "Qwen2ForCausalLM",
    "qwen2.5-72b-instruct": "Qwen2ForCausalLM",
    "gemma-3-27b-it": "Gemma3ForConditionalGeneration",
    "gemma-4-31b-it": "Gemma4ForConditionalGeneration",
    "qwen3-8b-fp8": "Qwen3ForCausalLM",
    "qwen3-32b-fp8": "Qwen3ForCausalLM",
    "qwen3.6-27b": "Qwen3_5ForConditionalGeneration",
    "llama-4-scout": "Llama4ForConditionalGeneration",
}
"""Model of a bundled profile -> `architectures` in its config.json."""

OTHERS = (
    "Gemma3ForCausalLM",
    "GptOssForCausalLM",
    "MistralForCausalLM",
    "Mistral3ForConditionalGeneration",
)

# Reads {"architectures": [...], "folders": [...]}; writes for each architecture its vLLM module and
# any import problem, and for each folder how vLLM reads its configuration.
VLLM = """
import json, sys
from vllm.model_executor.models.registry import ModelRegistry
from vllm.transformers_utils.config import get_config, get_hf_text_config
from vllm.transformers_utils.model_arch_config_convertor import (
    MODEL_ARCH_CONFIG_CONVERTORS, ModelArchConfigConvertorBase,
)
given = json.load(sys.stdin)
known, read = {}, {}
for name in given["architectures"]:
    registered, problem = ModelRegistry.models[name], None
    try:
        registered.load_model_cls()
    except ImportError as error:
        cause = error  # transformers hides the module behind a text
        while not cause.name and cause.__cause__:
            cause = cause.__cause__
        problem = cause.name or str(error)
    known[name] = (registered.module_name, problem)
for folder in given["folders"]:
    config = get_config(folder, trust_remote_code=False)
    by = MODEL_ARCH_CONFIG_CONVERTORS.get(config.model_type, ModelArchConfigConvertorBase)
    found = by(config, get_hf_text_config(config)).convert()
    read[folder] = {
        "architectures": found.architectures,
        "layers": found.total_num_hidden_layers,
        "heads": found.total_num_kv_heads,
        "head": found.head_size,
        "vocabulary": found.vocab_size,
    }
print(json.dumps({"known": known, "read": read}))
"""


def configurations() -> dict[str, Any]:
    """Tiny configurations of each family, as transformers writes them."""
    import transformers as t

    sizes = {**SIZES, "head_dim": 16}
    gemma = t.Gemma3TextConfig(**sizes)
    return {
        "LlamaForCausalLM": t.LlamaConfig(**SIZES),
        "Qwen2ForCausalLM": t.Qwen2Config(**SIZES),
        "Qwen3ForCausalLM": t.Qwen3Config(**sizes),
        "Gemma3ForCausalLM": gemma,
        "Gemma3ForConditionalGeneration": t.Gemma3Config(text_config=gemma.to_dict()),
        "GptOssForCausalLM": t.GptOssConfig(**sizes, num_local_experts=2, num_experts_per_tok=1),
        "Qwen3_5ForConditionalGeneration": t.Qwen3_5Config(text_config=sizes),
        "Llama4ForConditionalGeneration": t.Llama4Config(text_config=sizes),
        "MistralForCausalLM": t.MistralConfig(**sizes),
        "Mistral3ForConditionalGeneration": t.Mistral3Config(
            text_config=t.MistralConfig(**sizes).to_dict()
        ),
    }


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Architecture -> a folder with its configuration; gpt-oss's says that it is quantised."""
    found = {}
    for name, config in configurations().items():
        folder = tmp_path_factory.mktemp(name)
        config.architectures = [name]
        config.save_pretrained(folder)
        if name == "GptOssForCausalLM":
            file = folder / "config.json"
            packed = {"quantization_config": {"quant_method": "mxfp4"}}
            file.write_text(json.dumps(json.loads(file.read_text()) | packed))
        found[name] = folder
    return found


@pytest.fixture(scope="module")
def vllm(folders: dict[str, Path]) -> dict[str, Any]:
    """What the installed vLLM says about architectures and folders."""
    if importlib.util.find_spec("vllm") is None:
        pytest.skip("vLLM is not installed")
    given = {
        "architectures": [*dict.fromkeys(OF_PROFILES.values()), *OTHERS],
        "folders": [str(each) for each in folders.values()],
    }
    done = subprocess.run(
        [sys.executable, "-c", VLLM],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=500,
        env=server_environment(),
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def locked(name: str) -> set[str]:
    lines = (ROOT / "requirements" / f"{name}.txt").read_text("utf-8").splitlines()
    return {line.partition("==")[0] for line in lines if "==" in line}


def test_the_architecture_of_every_profile_is_named_here() -> None:
    models = {model for name in available() for model in load(name).engines}
    assert models == OF_PROFILES.keys()


def test_every_model_class_can_be_imported_with_what_the_gpu_lock_has(
    vllm: dict[str, Any],
) -> None:
    missing = {name: problem for name, (_, problem) in vllm["known"].items() if problem}
    on_gpus = {canonicalize_name(problem) for problem in missing.values()}
    assert on_gpus <= locked("gpu") - locked("cpu"), missing
    text = {"LlamaForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM", "Gemma3ForCausalLM"}
    assert not missing.keys() & text, "those run here as well"


def test_configurations_are_read_as_vllm_reads_them(
    vllm: dict[str, Any], folders: dict[str, Path]
) -> None:
    for name, folder in folders.items():
        theirs = vllm["read"][str(folder)]
        assert theirs["architectures"] == [name]
        layers, heads, size = (theirs[key] for key in ("layers", "heads", "head"))
        # One token with one number each: 2 * layers * heads * size bytes.
        options = EngineOptions(kv_cache_dtype="fp8", max_model_len=1024)
        per_token = weights._longest_prompt_gib(folder, options)
        assert per_token * weights.GIB / 1024 == 2 * layers * heads * size, name
        assert theirs["vocabulary"] == SIZES["vocab_size"]
