"""Adapters: what is trained and written, and the tagger that base and adapter make."""

import json
import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file
from tiny_encoders import mpnet

from nli.adapter import merge
from nli.calibration import Calibration, read
from nli.errors import TaggerError
from nli.folder import folder_digest
from nli.labels import LABELS
from nli.model import Encoder
from nli.pairs import LabelledPair
from nli.passes import TrainingSettings
from nli.training import Progress, curve, train

PAIRS = [
    LabelledPair(premise=f"the {town} {says}", hypothesis="it moved", label=label, source="towns")
    for town in ("north", "south", "river", "lake", "mayor", "bridge")
    for label, says in zip(LABELS, ("moved", "never moved", "is red"), strict=True)
] * 12
DEV = PAIRS[:18]


def settings(base: Path) -> TrainingSettings:
    quick = {"learning_rate": 2e-2, "batch_tokens": 128, "warmup_steps": 0, "evaluations": 1}
    return TrainingSettings.model_validate({"base": base, "adapter": 4, "epochs": 3, **quick})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `base`, `adapter`, trained on it and calibrated, and `tagger`, made of both."""
    folder = tmp_path_factory.mktemp("made")
    points = train(settings(mpnet(folder / "base")), PAIRS, DEV, folder / "adapter")
    assert points[-1].accuracy > 0.6, "labels can be told by one word"
    fitted = Calibration(method="temperature", temperature=1.5, weights="those of the first merge")
    (folder / "adapter" / "calibration.json").write_text(fitted.model_dump_json())
    merge(folder / "base", folder / "adapter", folder / "tagger")
    return folder


def test_an_adapter_is_small_and_says_nothing_of_its_maker(made: Path) -> None:
    names = {file.name for file in (made / "adapter").iterdir()}
    assert names >= {"adapter_model.safetensors", "adapter_config.json", "tokenizer.json"}
    assert not names & {"model.safetensors", "checkpoints", "finished", "README.md"}
    assert not [name for name in names if name.endswith((".bin", ".pt", ".pth"))]
    assert str(made.parent) not in (made / "adapter/adapter_config.json").read_text()
    assert str(made.parent) not in (made / "adapter/config.json").read_text()


def test_adapter_and_base_make_the_tagger_that_was_trained(made: Path, tmp_path: Path) -> None:
    tagger = Encoder.load(made / "tagger", precision="fp32", device="cpu")
    last = json.loads((made / "adapter/curve.jsonl").read_text().splitlines()[-1])
    labels = tagger.logits([pair.pair for pair in DEV]).argmax(axis=1)
    right = [LABELS[label] == pair.label for label, pair in zip(labels, DEV, strict=True)]
    assert sum(right) / len(right) == pytest.approx(last["accuracy"])
    calibration = read(made / "tagger")
    assert calibration is not None
    assert calibration.temperature == 1.5, "it comes with the adapter"
    merge(made / "base", made / "adapter", tmp_path / "again")
    assert folder_digest(tmp_path / "again") == tagger.digest


def test_a_killed_training_of_an_adapter_ends_as_an_undisturbed_one(
    made: Path, tmp_path: Path
) -> None:
    def kill(at: Progress) -> None:
        if at.pairs > 0.6 * at.total:
            raise KeyboardInterrupt

    chosen, begun = settings(made / "base"), list[int]()
    with pytest.raises(KeyboardInterrupt):
        train(chosen, PAIRS, DEV, tmp_path / "out", on_progress=kill)
    checkpoint = max(
        (tmp_path / "out/checkpoints").iterdir(), key=lambda each: each.stat().st_mtime
    )
    base = (made / "base/model.safetensors").stat().st_size
    assert (checkpoint / "model.safetensors").stat().st_size < base, "the base is not in it"
    train(chosen, PAIRS, DEV, tmp_path / "out", on_progress=lambda at: begun.append(at.pairs))
    assert begun[0] > 0.5 * len(PAIRS) * chosen.epochs
    weights = "adapter_model.safetensors"
    assert (tmp_path / "out" / weights).read_bytes() == (made / "adapter" / weights).read_bytes()


def test_an_adapter_can_be_trained_further(made: Path, tmp_path: Path) -> None:
    still = {"further": made / "adapter", "learning_rate": 1e-9, "epochs": 0.1}
    chosen = settings(made / "base").model_copy(update=still)
    points = train(chosen, PAIRS, DEV, tmp_path / "out")
    assert points[-1].accuracy == curve(made / "adapter")[-1].accuracy
    began, ended = (
        load_file(folder / "adapter_model.safetensors")
        for folder in (made / "adapter", tmp_path / "out")
    )
    assert began.keys() == ended.keys()
    for name, weight in began.items():
        assert weight.allclose(ended[name], atol=1e-3), name


def test_an_adapter_of_another_rank_or_base_is_not_trained_further(
    made: Path, tmp_path: Path
) -> None:
    further, base, other = made / "adapter", made / "base", mpnet(tmp_path / "other", seed=2)
    for given, says in (
        ({"base": base, "adapter": None}, "has rank 4; train it with --adapter 4"),
        ({"base": base, "adapter": 8}, "has rank 4; train it with --adapter 4"),
        ({"base": other}, "is not the model that the adapter"),
        ({"base": base, "further": tmp_path / "gone"}, "gone has no adapter_config.json"),
    ):
        chosen = settings(base).model_copy(update={"further": further} | given)
        with pytest.raises(TaggerError, match=says):
            train(chosen, PAIRS, DEV, tmp_path / "out")
        assert not (tmp_path / "out").exists()


def test_what_cannot_be_merged_is_refused(made: Path, tmp_path: Path) -> None:
    base, adapter = made / "base", made / "adapter"
    other = mpnet(tmp_path / "other", seed=2)
    torn = shutil.copytree(adapter, tmp_path / "torn")
    (torn / "adapter_model.safetensors").write_bytes(b"torn")
    for given, says in (
        ((other, adapter, tmp_path / "out"), "is not the model that the adapter"),
        ((base, base, tmp_path / "out"), "has no adapter_model.safetensors"),
        ((base, torn, tmp_path / "out"), r"torn cannot be merged into [^\n]+$"),
        ((base, adapter, made / "tagger"), "exists; name a new folder"),
    ):
        with pytest.raises(TaggerError, match=says):
            merge(*given)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["other", "torn"]
    with pytest.raises(TaggerError, match="which contested lab train leaves"):
        Encoder.load(adapter)
