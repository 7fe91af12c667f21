"""Profiles: what they reject, and that vLLM takes every one and knows its models as we do.

Without a GPU, a tiny model stands for the large ones of each family, and modules that exist only on
GPU machines are looked up in requirements/gpu.txt.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from packaging.utils import canonicalize_name
from tiny_decoders import SIZES

from serving import weights
from serving.errors import ServingError
from serving.models import Model
from serving.offline import OFFLINE, server_environment
from serving.profile import EngineOptions, available, load
from serving.server import arguments, variables
from serving.tokens import TODAY, on_a_fixed_day
from serving.weights import strict

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

GOOD = """
device = "cpu"
[roles]
generator = "small"
judge = "small"
[engines.small]
max_model_len = 4096
"""

# Reads {"lines": [...], "architectures": [...], "folders": [...]}; writes how vLLM parses each
# command line, or its error; the module of each architecture, and any import problem; how vLLM
# reads the configuration of each folder; and other facts. One process for all tests, since
# importing vLLM takes seconds.
VLLM = """
import contextlib, io, json, os, sys
import vllm.envs
from huggingface_hub import constants
from vllm.entrypoints.launchers.cli_args import make_arg_parser, validate_parsed_serve_args
from vllm.model_executor.models.registry import ModelRegistry
from vllm.reasoning import ReasoningParserManager
from vllm.renderers.chat_utils import load_chat_template
from vllm.transformers_utils.config import get_config, get_hf_text_config
from vllm.transformers_utils.model_arch_config_convertor import (
    MODEL_ARCH_CONFIG_CONVERTORS, ModelArchConfigConvertorBase,
)
from vllm.usage.usage_lib import is_usage_stats_enabled
from vllm.utils.argparse_utils import FlexibleArgumentParser
from vllm.utils.network_utils import get_ip
parser = make_arg_parser(FlexibleArgumentParser())
given = json.load(sys.stdin)
replies, known, read = [], {}, {}
for line in given["lines"]:
    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            parsed = parser.parse_args(line)
        validate_parsed_serve_args(parsed)
        replies.append(vars(parsed))
    except SystemExit:
        replies.append(complaint.getvalue().strip().splitlines()[-1])
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
facts = {
    "known": known,
    "read": read,
    "template": load_chat_template(TEMPLATE),
    "batch invariant": os.environ.get("VLLM_BATCH_INVARIANT") and vllm.envs.VLLM_BATCH_INVARIANT,
    "compiled": [vllm.envs.VLLM_USE_FLASHINFER_SAMPLER, vllm.envs.VLLM_ALLREDUCE_USE_FLASHINFER],
    "reasoning parsers": ReasoningParserManager.list_registered(),
    "replies": replies,
    "usage stats": is_usage_stats_enabled(),
    "plugins": vllm.envs.VLLM_PLUGINS,
    "start date": vllm.envs.VLLM_SYSTEM_START_DATE,
    "developer mode": vllm.envs.VLLM_SERVER_DEV_MODE,
    "hub is offline": constants.HF_HUB_OFFLINE,
    "address": get_ip(),
}
print(json.dumps(facts, default=str))
"""

ALL_OPTIONS = EngineOptions(
    dtype="float16",
    max_num_batched_tokens=4096,
    tensor_parallel=2,
    kv_cache_gib=1.5,
    kv_cache_dtype="fp8",
    quantization="awq_marlin",
    prefix_caching=False,
    prompt_embeds=True,
    api_servers=3,
    renderer_workers=4,
    reasoning_parser="qwen3",
    gpu_memory_gib=22,
)


def engines() -> dict[str, EngineOptions]:
    """Engines of every bundled profile, plain and strict, and one with the remaining options."""
    plain = {name: load(name) for name in available()}
    profiles = plain | {f"{name}, strict": strict(one, Path("none")) for name, one in plain.items()}
    found = {
        f"{name}: {model}": options
        for name, one in profiles.items()
        for model, options in one.engines.items()
    }
    return found | {"all options": ALL_OPTIONS}


def _with_float32_head(options: EngineOptions) -> bool:
    return options.on_gpus and options.dtype != "float32"


TEMPLATE = on_a_fixed_day("{{ strftime_now('%Y') }}\n{{ 'a\\n' }}")


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
def vllm(folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the installed vLLM says."""
    if importlib.util.find_spec("vllm") is None:
        pytest.skip("vLLM is not installed")
    folder = tmp_path_factory.mktemp("m")
    (folder / "config.json").write_text('{"vision_config": {"hidden_size": 8}}')
    model = Model(name="m", path=folder, digest="0" * 64)
    given = {
        "lines": [["m", *arguments(model, options, port=8765)] for options in engines().values()],
        "architectures": [*dict.fromkeys(OF_PROFILES.values()), *OTHERS],
        "folders": [str(folder) for folder in folders.values()],
    }
    done = subprocess.run(
        [sys.executable, "-c", f"TEMPLATE = {TEMPLATE!r}\n{VLLM}"],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
        env=variables(EngineOptions(gpu_memory_gib=1, batch_invariant=True), "k"),
    )
    assert done.returncode == 0, done.stderr
    facts: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return facts


def write(folder: Path, text: str) -> str:
    file = folder / "mine.toml"
    file.write_text(text)
    return str(file)


def test_vllm_takes_every_profile_and_understands_it_as_meant(vllm: dict[str, Any]) -> None:
    replies = vllm["replies"]
    assert len(replies) > 2 * len(available())
    for (name, options), values in zip(engines().items(), replies, strict=True):
        assert isinstance(values, dict), f"{name}: {values}"
        meant: dict[str, Any] = {
            **{"model_tag": "m", "served_model_name": ["m"], "language_model_only": True},
            **{"load_format": "safetensors", "config_format": "hf", "tokenizer_mode": "hf"},
            **{"host": "127.0.0.1", "port": 8765, "api_key": None, "trust_remote_code": False},
            **{"enable_prompt_tokens_details": True, "enable_log_requests": False},
            "dtype": options.dtype,
            "kv_cache_dtype": options.kv_cache_dtype,
            "tensor_parallel_size": options.tensor_parallel,
            "enable_prefix_caching": options.prefix_caching,
            "enable_prompt_embeds": options.prompt_embeds,
            "enforce_eager": options.enforce_eager,
            "renderer_num_workers": options.renderer_workers or 1,
            "hf_overrides": {"head_dtype": "float32"} if _with_float32_head(options) else {},
            "quantization": options.quantization,
            "api_server_count": options.api_servers,
            "reasoning_parser": options.reasoning_parser or "",
            "chat_template": None,
        }
        given: dict[str, Any] = {
            "max_model_len": options.max_model_len,
            "max_num_seqs": options.max_num_seqs,
            "max_num_batched_tokens": options.max_num_batched_tokens,
            "gpu_memory_utilization": options.gpu_memory_share,
            "kv_cache_memory_bytes": options.kv_cache_gib and options.kv_cache_gib * 2**30,
        }
        meant |= {key: wanted for key, wanted in given.items() if wanted is not None}
        assert {key: values[key] for key in meant} == meant, name


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


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            ('device = "cpu"', 'divice = "cpu"'),
            "divice: unknown key; take it out, or see the keys in docs/serving.md (and 1 more)",
        ),
        (("4096", '"long"'), "engines.small.max_model_len: it must be a whole number"),
        (('judge = "small"', 'judge = "big"'), "judge 'big': add a section [engines.\"big\"]"),
        (("[engines.small]", "[engines.small"), "not TOML"),
        (("max_model_len = 4096", "gpu_memory_gib = 20"), 'is required with device = "cuda"'),
        (
            ("max_model_len = 4096", "environment = {HF_HUB_OFFLINE = '0'}"),
            "engines.small.environment.HF_HUB_OFFLINE: String should match",
        ),
        (
            ("max_model_len = 4096", "environment = {VLLM_API_KEY = 'k'}"),
            "'environment' may not set VLLM_API_KEY",
        ),
    ],
)
def test_a_faulty_profile_gives_one_line_with_file_and_key(
    tmp_path: Path, change: tuple[str, str], says: str
) -> None:
    text = GOOD.replace(*change)
    assert text != GOOD
    file = write(tmp_path, text)
    with pytest.raises(ServingError) as refused:
        load(file)
    line = str(refused.value)
    assert line.startswith(f"profile {file}: ")
    assert says in line
    assert "\n" not in line


# --- the environment ---------------------------------------------------------------------------


def test_a_servers_environment_leads_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    base = {
        "PATH": "/bin",
        "https_proxy": "http://proxy:3128",
        "ALL_PROXY": "socks://proxy",
        "HF_ENDPOINT": "https://example.org",
        "HF_HUB_OFFLINE": "0",
        "HF_TOKEN": "secret",
        "CONTESTED_API_KEY": "secret",
        "VLLM_MODEL_REDIRECT_PATH": "/elsewhere",
        "VLLM_CACHE_ROOT": "/cache",
        "NO_PROXY": "example.org",
    }
    for name, value in base.items():
        monkeypatch.setenv(name, value)
    made = server_environment()
    assert "secret" not in made.values()
    assert not {"https_proxy", "ALL_PROXY", "HF_ENDPOINT", "VLLM_MODEL_REDIRECT_PATH"} & {*made}
    assert made["VLLM_CACHE_ROOT"] == "/cache"
    assert made["NO_PROXY"] == "example.org,127.0.0.1,localhost,::1"
    assert made["VLLM_PLUGINS"] == ""
    assert OFFLINE.items() <= made.items()
    assert os.environ["HF_HUB_OFFLINE"] == "0"


def test_vllm_reads_environment_template_and_parsers_as_meant(vllm: dict[str, Any]) -> None:
    assert vllm["template"] == TEMPLATE, "given in place of a file"
    assert {*vllm["reasoning parsers"]} > {"deepseek_r1", "openai_gptoss", "qwen3"}
    assert vllm["batch invariant"] is True
    assert vllm["compiled"] == [False, False], "its warm-up would compile with nvcc"
    assert vllm["usage stats"] is False
    assert vllm["hub is offline"] is True
    assert vllm["plugins"] == [""]
    assert vllm["developer mode"] is False
    assert vllm["start date"] == TODAY.strftime("%Y-%m-%d")
    assert vllm["address"] == "127.0.0.1"
