"""The tagger, as a person sees it: pairs, training, calibration, measures, one look."""

import json
import shutil
from pathlib import Path

import pytest
from commands import Contested
from tagger_files import TINY_ORDER, some_pairs, write_scifact
from tiny_encoders import cross_encoder

from nli.labels import LABELS
from nli.pairs import read_pairs, write_pairs


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cross-encoder of random weights."""
    return cross_encoder(tmp_path_factory.mktemp("tiny") / "tiny", TINY_ORDER)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder to work in, with pairs and two documents."""
    write_pairs(Path("pairs.jsonl"), some_pairs(90))
    write_pairs(Path("dev.jsonl.gz"), some_pairs(30))
    Path("guide.txt").write_text("The bridge was opened in 1932 by the mayor. It is red.")
    Path("study.txt").write_text("It was opened in 1936. It is not old.")
    return tmp_path


# Pairs


def test_pairs_of_a_release(data: Path, contested: Contested) -> None:
    write_scifact(data / "scifact")
    arguments = ["lab", "pairs", "--release", "scifact=scifact", "--nli", "pairs.jsonl"]
    outcome = contested.done(*arguments, "--out", "out/all.jsonl.gz")
    assert "93 pairs in out/all.jsonl.gz" in outcome.out
    (row,) = (line for line in outcome.out.splitlines() if "scifact" in line)
    assert [cell.strip() for cell in row.strip("│").split("│")] == ["scifact", "0", "1", "2", "3"]
    found = read_pairs(data / "out" / "all.jsonl.gz")
    assert [pair for pair in found if pair.source != "scifact"] == some_pairs(90)
    first = (data / "out" / "all.jsonl.gz").read_bytes()
    contested.done(*arguments, "--out", "out/all.jsonl.gz")
    assert (data / "out" / "all.jsonl.gz").read_bytes() == first
    contested.done(*arguments, "--only-given", "--out", "given.jsonl")
    assert read_pairs(data / "given.jsonl") == some_pairs(90)
    contested.done(*arguments, "--leave-out", "odd", "--out", "less.jsonl")
    assert {pair.source for pair in read_pairs(data / "less.jsonl")} == {"scifact", "even"}


# Training


def train(encoder: Path, *more: object) -> list[object]:
    where = ["--pairs", "pairs.jsonl", "--dev", "dev.jsonl.gz", "--base", encoder]
    return ["lab", "train", *where, "--out", "trained", *more]


def test_training_leaves_a_tagger_with_its_curve_and_is_not_done_twice(
    data: Path, contested: Contested, tiny: Path
) -> None:
    command = train(tiny, "--epochs", "1", "--limit", "60", "--batch-tokens", "128")
    said = contested.done(*command).err
    assert "accuracy" in said
    config = json.loads((data / "trained/config.json").read_text())
    assert list(config["id2label"].values()) == list(LABELS)
    assert (data / "trained/model.safetensors").is_file()
    before = (data / "trained/model.safetensors").read_bytes()
    contested.done(*command)
    assert (data / "trained/model.safetensors").read_bytes() == before
    assert "another 'batch_tokens' (128)" in contested.refused(*command[:-1], "256")


# Calibration


def test_calibration_is_stored_used_and_shown(data: Path, contested: Contested, tiny: Path) -> None:
    shutil.copytree(tiny, data / "tagger")
    write_pairs(data / "held-out.jsonl", some_pairs(300))
    command = ["lab", "calibrate", "--tagger", "tagger", "--pairs", "held-out.jsonl"]
    said = contested.done(*command, "--method", "temperature", "--report", "shown").out
    stored = json.loads((data / "tagger/calibration.json").read_text())
    assert stored["method"] == "temperature"
    assert f"temperature {stored['temperature']:.3f}" in said
    table = json.loads((data / "shown/tables/calibration.json").read_text())["rows"]
    rows = {row["calibration"]: row for row in table}
    assert set(rows) == {"none", "temperature", "isotonic"}
    assert rows["temperature"]["brier"] < rows["none"]["brier"]  # random weights boast
    assert rows["temperature"]["accuracy"] == rows["none"]["accuracy"]
    assert rows["none"]["pairs"] == stored["risk"]["pairs"]
    assert stored["fitted_on"].startswith(f"held-out.jsonl: {300 - rows['none']['pairs']} pairs")

    # What is stored is what tags from now on; calibrating again gives the same.
    measure = ["lab", "calibrate", "--dry-run", "--pairs", "held-out.jsonl"]
    contested.done(*measure, "--tagger", tiny, "--report", "before")
    contested.done(*measure, "--tagger", "tagger", "--report", "after")
    (before, *by_source), (after, *_) = (
        json.loads((data / name / "tables/tagger.json").read_text())["rows"]
        for name in ("before", "after")
    )
    assert [row["source"] for row in by_source] == ["even", "odd"]
    assert sum(row["pairs"] for row in by_source) == before["pairs"]
    assert before["accuracy"] == after["accuracy"]
    assert after["brier"] < before["brier"]
    contested.done(*command, "--method", "temperature")
    assert json.loads((data / "tagger/calibration.json").read_text()) == stored
