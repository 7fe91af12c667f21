"""What torch computes on, as its own files and the machine's devices say."""

import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from serving import installed as module
from serving.installed import built_for, torch_device

CPU = """from typing import Optional

__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip']
__version__ = '2.13.0+cpu'
debug = False
cuda: Optional[str] = None
hip: Optional[str] = None
"""
CUDA = CPU.replace("cuda: Optional[str] = None", "cuda: Optional[str] = '13.0'")
HIP = CPU.replace("hip: Optional[str] = None", "hip: Optional[str] = '7.0.51831'")
OLD = "__version__ = '2.6.0+cu124'\ncuda = '12.4'\nhip = None\n"


def installed(text: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A torch whose `version.py` is this."""
    (place / "version.py").write_text(text)
    spec = ModuleSpec("torch", None, origin=str(place / "__init__.py"))
    monkeypatch.setattr(module, "find_spec", lambda _: spec)


@pytest.mark.parametrize(
    ("text", "build"),
    [(CPU, None), (CUDA, "cuda"), (OLD, "cuda"), (HIP, "hip"), ("cuda = (", None), ("", None)],
)
def test_a_build_is_told_by_its_files(
    text: str, build: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(text, tmp_path, monkeypatch)
    assert built_for() == build
    (tmp_path / "version.py").unlink()
    assert built_for() is None
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    assert built_for() is None


@pytest.mark.parametrize(
    ("text", "nvidia", "amd", "device"),
    [
        (CPU, True, True, "cpu"),
        (CUDA, True, False, "cuda"),
        (CUDA, False, True, "cpu"),
        (HIP, False, True, "cuda"),
        (HIP, True, False, "cpu"),
    ],
)
def test_a_gpu_counts_where_torch_can_use_it(
    text: str, nvidia: bool, amd: bool, device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(text, tmp_path, monkeypatch)
    monkeypatch.setattr(module, "any_gpu", lambda: nvidia)
    monkeypatch.setattr(module, "AMD", tmp_path if amd else tmp_path / "none")
    assert torch_device() == device


def test_it_is_as_torch_itself_says_and_does_not_import_it() -> None:
    import torch

    said = "cuda" if torch.version.cuda else "hip" if torch.version.hip else None
    assert built_for() == said
    script = "import serving.installed as b, sys; b.torch_device(); print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
