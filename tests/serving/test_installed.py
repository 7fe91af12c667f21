"""torch's compute device and triton's compiler, according to files and devices of the machine."""

import shutil
import sysconfig
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from serving import installed as module
from serving.errors import ServingError
from serving.installed import c_compiler, torch_device

CPU = """from typing import Optional

__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip']
__version__ = '2.13.0+cpu'
debug = False
cuda: Optional[str] = None
hip: Optional[str] = None
"""
CUDA = CPU.replace("cuda: Optional[str] = None", "cuda: Optional[str] = '13.0'")


@pytest.mark.parametrize(
    ("text", "gpu", "device"),
    [
        (CPU, True, "cpu"),
        (CUDA, True, "cuda"),
        (CUDA, False, "cpu"),
        ("cuda = (", True, "cpu"),
        (None, True, "cpu"),
    ],
)
def test_a_gpu_counts_where_torch_can_use_it(
    text: str | None, gpu: bool, device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if text is not None:
        (tmp_path / "version.py").write_text(text)
    spec = ModuleSpec("torch", None, origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(module, "find_spec", lambda _: spec)
    monkeypatch.setattr(module, "visible", lambda: [gpu] if gpu else [])
    assert torch_device() == device
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    assert torch_device() == "cpu"


def test_triton_needs_a_compiler_and_pythons_headers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looked up where triton does: in CC or PATH, and in Python's include folder."""
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(shutil, "which", {"gcc": "/usr/bin/gcc"}.get)
    monkeypatch.setattr(sysconfig, "get_path", lambda *_: str(tmp_path))
    with pytest.raises(ServingError, match=r"install gcc and python3\.\d+-dev"):
        c_compiler()
    (tmp_path / "Python.h").touch()
    assert c_compiler() == f"/usr/bin/gcc, with {tmp_path}/Python.h"
    monkeypatch.setenv("CC", "/opt/cc")
    assert c_compiler().startswith("/opt/cc, with ")
