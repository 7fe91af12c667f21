"""The tagger in the repository: what its card says is what it does."""

import json
from pathlib import Path

import pytest
from commands import Contested

from nli import calibration
from nli.labels import LABELS
from nli.pairs import read_pairs, write_pairs
from nli.tagger import Tagger, shipped
from pipelines.cli.calibrate import Predictions
from pipelines.supervision import recipes
from pipelines.supervision.calibrating import Readings, probabilities
from pipelines.supervision.settings import PairSettings

MEGABYTES = 50

RELEASES = {
    "ramdocs": "ramdocs/RAMDocs_250.jsonl",
    "conflictqa": "conflictqa/strategyqa_gpt4.jsonl.gz",
}


def carded(file: str) -> dict[str, str]:
    """Column -> cell, of all sources in the card's table on a file of development pairs."""
    _, _, after = (shipped() / "README.md").read_text("utf-8").partition(f"`nli/{file}`")
    rows = (cells(line) for line in after.splitlines() if line.startswith("|"))
    head = next(rows)
    return dict(zip(head, next(row for row in rows if row[0] == "all"), strict=True))


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_it_is_small_and_nothing_in_it_can_run() -> None:
    files = sorted(path for path in shipped().rglob("*") if path.is_file())
    assert sum(path.stat().st_size for path in files) < MEGABYTES * 1_000_000
    assert {path.suffix for path in files} <= {".json", ".jsonl", ".md", ".safetensors", ".txt"}
    config = json.loads((shipped() / "config.json").read_text("utf-8"))
    assert [config["id2label"][str(n)] for n in range(3)] == [label.value for label in LABELS]


@pytest.mark.parametrize("file", ["dev.jsonl.gz", "more_dev.jsonl.gz"])
def test_the_figures_of_its_card_hold_on_a_sixteenth_of_the_pairs(
    file: str, contested: Contested, released_data: Path, tmp_path: Path
) -> None:
    """On all pairs: `contested lab calibrate --dry-run --pairs FILE`."""
    pairs = tmp_path / "pairs.jsonl"
    write_pairs(pairs, read_pairs(released_data / "nli" / file)[::16])
    contested.done("lab", "calibrate", "--dry-run", "--pairs", pairs, "--report", tmp_path)
    table = json.loads((tmp_path / "tables" / "tagger.json").read_text("utf-8"))
    (figures,) = (row for row in table["rows"] if row["source"] == "all")
    row = carded(file)
    for shown, key in (("accuracy", "accuracy"), ("macro-F1", "macro_f1")):
        value = float(row[shown].split()[0])
        assert figures[f"{key}_low"] <= value <= figures[f"{key}_high"]


def test_its_calibration_lowers_the_error_on_test_halves(released_data: Path) -> None:
    pairs = recipes.build(
        {name: released_data / file for name, file in RELEASES.items()}, PairSettings(half="test")
    ).pairs[::45]
    assert len(pairs) > 200
    tagger = Tagger.load(shipped())
    read = Readings(pairs, tuple(tagger.read([pair.pair for pair in pairs])))
    plain = tagger.calibration.model_copy(update={"method": "none"})

    def error(used: calibration.Calibration) -> float:
        found = Predictions(pairs, probabilities(read, used).tolist()).ece
        assert found is not None
        return found

    assert tagger.calibration.method != "none"
    assert error(tagger.calibration) < error(plain)


def test_it_has_what_a_cascade_needs() -> None:
    stored = calibration.read(shipped())
    assert stored is not None
    assert stored.risk is not None
    assert stored.risk.pairs > 500
