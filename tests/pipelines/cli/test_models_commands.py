"""`contested models`: what a person sees."""

import json
import struct
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pipelines.cli.models import app
from pipelines.errors import InputError
from serving import models
from serving.errors import ServingError


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


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


def test_add_list_and_verify(folder: Path, home: Path) -> None:
    assert "No models in" in run("list", "--models-dir", home).output
    added = run("add", folder, "--name", "tiny", "--models-dir", home)
    assert added.exit_code == 0
    (model,) = models.registered(home)
    assert f"tiny is registered: {folder.resolve()}, digest {model.digest[:12]}" in added.output
    listed = run("list", "--models-dir", home)
    for word in ("tiny", "LlamaForCausalLM", model.digest[:12]):
        assert word in listed.output
    verified = run("list", "--verify", "--models-dir", home)
    assert verified.exit_code == 0
    assert f"tiny: unchanged, digest {model.digest[:12]}" in verified.output


def test_verify_names_the_changed_file(folder: Path, home: Path) -> None:
    run("add", folder, "--name", "tiny", "--models-dir", home)
    (folder / "config.json").write_text('{"architectures": ["LlamaForCausaLLM"]}')
    verified = run("list", "tiny", "--verify", "--models-dir", home)
    assert "tiny: differs: config.json" in verified.output
    assert isinstance(verified.exception, ServingError)
    assert "tiny (config.json)" in str(verified.exception)


def test_list_shows_a_folder_that_is_gone(folder: Path, home: Path, tmp_path: Path) -> None:
    run("add", folder, "--name", "tiny", "--models-dir", home)
    folder.rename(tmp_path / "elsewhere")
    assert "folder is gone" in run("list", "--models-dir", home).output


def test_replace_lets_a_name_stand_for_other_content(folder: Path, home: Path) -> None:
    run("add", folder, "--name", "tiny", "--models-dir", home)
    (folder / "config.json").write_text("{}")
    refused = run("add", folder, "--name", "tiny", "--models-dir", home)
    assert isinstance(refused.exception, ServingError)
    assert run("add", folder, "--name", "tiny", "--models-dir", home, "--replace").exit_code == 0
    assert run("list", "--verify", "--models-dir", home).exit_code == 0


def test_the_models_folder_follows_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CONTESTED_HOME", str(tmp_path / "home"))
    assert run("add", folder, "--name", "tiny").exit_code == 0
    assert (tmp_path / "home/models/tiny").resolve() == folder.resolve()


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (["add", "org/model", "--name", "x"], ServingError, "nothing is downloaded"),
        (["add", "/no/such/folder", "--name", "x"], ServingError, "there is no model folder"),
        (["list", "--verify", "x"], ServingError, "there is no model 'x'"),
        (["add", "/no/such.gguf", "--name", "x"], ServingError, "cannot be read"),
        (["add", "--package", "no-such", "--name", "x"], ServingError, "not installed"),
        (["add", "--name", "x"], InputError, "give PATH or --package"),
        (["add", "a.gguf", "--package", "b", "--name", "x"], InputError, "give PATH or --package"),
    ],
)
def test_mistakes_give_one_clear_line(
    arguments: list[str], kind: type[Exception], message: str, home: Path
) -> None:
    result = run(*arguments, "--models-dir", home)
    assert isinstance(result.exception, kind)
    assert message in str(result.exception)
    assert "\n" not in str(result.exception)


@pytest.mark.parametrize("command", ["list", "add"])
def test_help_shows_an_example(command: str) -> None:
    assert f"contested models {command}" in run(command, "--help").output
