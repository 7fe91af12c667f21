"""`contested models`: what a person sees."""

import json
import struct
from pathlib import Path

import pytest
from commands import Contested

from serving import models


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "models"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that a registry accepts: one real safetensors file with four zeros."""
    folder = tmp_path / "source"
    folder.mkdir()
    header = json.dumps({"w": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(16))
    (folder / "config.json").write_text('{"architectures": ["LlamaForCausalLM"]}')
    (folder / "tokenizer.json").write_text("{}")
    return folder


def test_add_and_list(contested: Contested, folder: Path, home: Path) -> None:
    where = ("--models-dir", home)
    assert "No models in" in contested.done("models", "list", *where).out
    added = contested.done("models", "add", folder, "--name", "tiny", *where).out
    (model,) = models.registered(home)
    assert f"tiny is registered: {folder.resolve()}, digest {model.digest[:12]}" in added
    listed = contested.done("models", "list", *where).out
    for word in ("tiny", "LlamaForCausalLM", model.digest[:12]):
        assert word in listed
    (folder / "config.json").write_text('{"architectures": ["LlamaForCausaLLM"]}')
    again = ("models", "add", folder, "--name", "tiny", *where)
    contested.refused(*again)
    contested.done(*again, "--replace")
    folder.rename(folder.with_name("elsewhere"))
    assert "folder is gone" in contested.done("models", "list", *where).out
