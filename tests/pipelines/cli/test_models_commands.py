"""`contested models`: what a person sees."""

from pathlib import Path

from commands import Contested
from tiny_encoders import change, cross_encoder
from tiny_project import write_model

from nli.folder import folder_digest
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


def test_a_tagger_has_the_digest_that_runs_show_and_is_not_offered_as_a_writer(
    contested: Contested, tmp_path: Path
) -> None:
    home, folder = tmp_path / "models", cross_encoder(tmp_path / "source")
    change(folder / "calibration.json", fitted_on="its own pairs")
    added = contested.done("models", "add", folder, "--name", "labels", "--models-dir", home).out
    assert f"digest {folder_digest(folder)[:12]}\n" in added
    asked = ("debate", "When?", "--documents", "samples/bridge/documents", "--model", "x")
    contested.refused(*asked, "--models-dir", home, says=["(registered: none yet)"])
