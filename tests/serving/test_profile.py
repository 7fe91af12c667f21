"""Profiles: what they reject, and that vLLM's parser accepts every one of them."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from serving.errors import ServingError
from serving.models import Model
from serving.offline import OFFLINE, server_environment
from serving.profile import EngineOptions, available, load
from serving.server import arguments, variables
from serving.tokens import TODAY, on_a_fixed_day
from serving.weights import strict

GOOD = """
device = "cpu"
[roles]
generator = "small"
judge = "small"
[engines.small]
max_model_len = 4096
"""

# Reads command lines (JSON) and answers with vLLM's parsed values or its error for each, then with
# other facts about the installed vLLM. One process for all tests, since importing vLLM takes
# seconds.
PARSER = """
import contextlib, io, json, os, sys
import vllm.envs
from huggingface_hub import constants
from vllm.entrypoints.launchers.cli_args import make_arg_parser, validate_parsed_serve_args
from vllm.reasoning import ReasoningParserManager
from vllm.renderers.chat_utils import load_chat_template
from vllm.usage.usage_lib import is_usage_stats_enabled
from vllm.utils.argparse_utils import FlexibleArgumentParser
from vllm.utils.network_utils import get_ip
parser = make_arg_parser(FlexibleArgumentParser())
replies = []
for line in json.load(sys.stdin):
    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            parsed = parser.parse_args(line)
        validate_parsed_serve_args(parsed)
        replies.append(vars(parsed))
    except SystemExit:
        replies.append(complaint.getvalue().strip().splitlines()[-1])
facts = {
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


@pytest.fixture(scope="module")
def vllm(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """How the installed vLLM reads our command lines and environment."""
    if importlib.util.find_spec("vllm") is None:
        pytest.skip("vLLM is not installed")
    folder = tmp_path_factory.mktemp("m")
    (folder / "config.json").write_text('{"vision_config": {"hidden_size": 8}}')
    model = Model(name="m", path=folder, digest="0" * 64)
    lines = [["m", *arguments(model, options, port=8765)] for options in engines().values()]
    done = subprocess.run(
        [sys.executable, "-c", f"TEMPLATE = {TEMPLATE!r}\n{PARSER}"],
        input=json.dumps(lines),
        capture_output=True,
        text=True,
        timeout=300,
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


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            ('device = "cpu"', 'divice = "cpu"'),
            "divice: unknown key; take it out, or see the keys in docs/serving.md (and 1 more)",
        ),
        (("4096", '"long"'), "engines.small.max_model_len: Input should be a valid integer"),
        (('judge = "small"', 'judge = "big"'), "judge 'big': add a section [engines.\"big\"]"),
        (("[engines.small]", "[engines.small"), "not TOML"),
        (("max_model_len = 4096", "gpu_memory_gib = 20"), 'goes with device = "cuda"'),
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


def test_a_servers_environment_leads_nowhere_else() -> None:
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
    made = server_environment(base)
    assert "secret" not in made.values()
    assert not {"https_proxy", "ALL_PROXY", "HF_ENDPOINT", "VLLM_MODEL_REDIRECT_PATH"} & {*made}
    assert made["VLLM_CACHE_ROOT"] == "/cache"
    assert made["NO_PROXY"] == "example.org,127.0.0.1,localhost,::1"
    assert made["VLLM_PLUGINS"] == ""
    assert OFFLINE.items() <= made.items()
    assert base["HF_HUB_OFFLINE"] == "0"


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
