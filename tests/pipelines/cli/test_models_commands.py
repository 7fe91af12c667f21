"""`contested models`: what a person sees."""

from pathlib import Path

from commands import Contested
from tiny_project import write_model

from serving import models


def test_add_and_list(contested: Contested, tmp_path: Path) -> None:
    home, folder = tmp_path / "models", tmp_path / "source"
    write_model(folder)
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
