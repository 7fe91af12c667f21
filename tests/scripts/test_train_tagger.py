"""The script that makes the shipped tagger, on a little of the real data."""

import gzip
import json
import os
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

from tiny_encoders import mpnet

from nli.pairs import read_pairs
from nli.tagger import Tagger

ROOT = Path(__file__).parents[2]


def script(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["scripts/train_tagger.sh", *arguments],
        cwd=ROOT,
        env=os.environ | {"CONTESTED_VENV": sys.prefix},
        capture_output=True,
        text=True,
        timeout=500,
    )


def some_of(released: Path, folder: Path) -> Path:
    """The released data: an eighth of the rows; of sentence pairs, a 32nd of the pages."""
    for name in ("ramdocs", "conflictqa", "fm2", "wice", "climate_fever", "nli"):
        (folder / name).mkdir(parents=True)
        for file in (released / name).glob("*.jsonl*"):
            packed = file.suffix == ".gz"
            raw = gzip.decompress(file.read_bytes()) if packed else file.read_bytes()
            kept = b"".join(
                line for line in raw.splitlines(keepends=True) if taken(line, nli=name == "nli")
            )
            (folder / name / file.name).write_bytes(gzip.compress(kept) if packed else kept)
    return folder


def taken(line: bytes, *, nli: bool) -> bool:
    """By a checksum of the row, or of the page or premise of a sentence pair."""
    if not nli:
        return zlib.crc32(line) % 8 == 0
    row = json.loads(line)
    return zlib.crc32(str(row.get("group", row["premise"])).encode()) % 32 == 0


def test_from_released_data_to_a_calibrated_tagger(released_data: Path, tmp_path: Path) -> None:
    """With a teacher made on the way, of a tiny encoder of the kind that is fetched for it."""
    out, base = tmp_path / "out", mpnet(tmp_path / "mpnet", tokens=400)
    asked = ["--data", some_of(released_data, tmp_path / "data"), "--out", out, "--limit", 100]
    done = script(*map(str, [*asked, "--teacher", "train", "--teacher-base", base]))
    assert done.returncode == 0, done.stdout + done.stderr
    tagger = Tagger.load(out / "tagger")
    assert tagger.calibration.method != "none"
    assert tagger.calibration.risk is not None
    for name, sources in (("dev", {"all", "snli", "lingnli"}), ("more_dev", {"all", "fever"})):
        table = json.loads((out / "evaluation" / name / "tables" / "tagger.json").read_text())
        assert {row["source"] for row in table["rows"]} >= sources
    table = json.loads((out / "evaluation/more_dev/tables/tagger-contrast.json").read_text())
    assert "all" in {row["source"] for row in table["rows"]}
    pairs = read_pairs(out / "pairs" / "sentences.jsonl.gz")
    assert len(pairs) > 5_000
    sources = {pair.source for pair in pairs}
    assert not sources & {"sick", "scifact-rationales"}
    assert sources >= {"vitaminc-real", "vitaminc-real-context"}
    teacher = Tagger.load(out / "teacher")
    assert teacher.calibration.method == "temperature"
    assert json.loads((out / "tagger/training.json").read_text())["teacher_sha256"]
    lines = (out / "teachings.jsonl").read_text().splitlines()
    assert {json.loads(line)["teacher"] for line in lines} == {teacher.digest[:32]}

    # Trained further, without the first step; the pairs are there already.
    again = tmp_path / "again"
    shutil.copytree(out / "pairs", again / "pairs")
    done = script(*map(str, [*asked[:3], again, *asked[4:], "--further", out / "tagger"]))
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (again / "sentences").exists()
    settings = json.loads((again / "tagger/training.json").read_text())
    assert settings["base"] == str(out / "tagger")
    assert Tagger.load(again / "tagger").digest != tagger.digest


def test_each_release_is_one_file(tmp_path: Path) -> None:
    """Two files were one path that does not exist."""
    sentences = [f"nli/{name}.jsonl.gz" for name in ("train", "dev", "more_train", "more_dev")]
    for name in (*sentences, "ramdocs/a.jsonl", "ramdocs/b c.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    for says in ("ramdocs must hold exactly one *.jsonl;", "conflictqa must hold exactly one"):
        done = script("--data", str(tmp_path), "--out", str(tmp_path / "out"))
        assert done.returncode == 2
        assert says in done.stderr
        assert len(done.stderr.splitlines()) == 1
        (tmp_path / "ramdocs" / "a.jsonl").unlink(missing_ok=True)


def test_a_teacher_whose_name_begins_with_train_is_a_folder(tmp_path: Path) -> None:
    """Its name was cut to "ed/teacher", which is no folder."""
    for name in ("train", "dev", "more_train", "more_dev"):
        (tmp_path / "nli" / f"{name}.jsonl.gz").parent.mkdir(exist_ok=True)
        (tmp_path / "nli" / f"{name}.jsonl.gz").touch()
    teacher = tmp_path / "trained" / "teacher"
    teacher.mkdir(parents=True)
    asked = (ROOT / "scripts" / "train_tagger.sh", "--data", tmp_path, "--out", tmp_path / "out")
    for made, says in ((False, "trained/teacher is no model folder"), (True, "ramdocs must hold")):
        if made:
            (teacher / "config.json").touch()
        done = subprocess.run(
            [*asked, "--teacher", "trained/teacher"],
            cwd=tmp_path,
            env=os.environ | {"CONTESTED_VENV": sys.prefix},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 2
        assert says in done.stderr


def test_what_is_missing_is_told_in_one_line(tmp_path: Path) -> None:
    for arguments, says in (
        ([], "--data and --out are needed"),
        (["--data"], "--data needs a value"),
        (["--date", "x"], "unknown option --date"),
        (["--data", str(tmp_path), "--out", str(tmp_path)], "nli/train.jsonl.gz is missing"),
        (["--data", "x", "--out", "y", "--teacher-base", "z"], "is for --teacher train"),
        (["--data", "x", "--out", "y", "--base", "b", "--further", "f"], "give one"),
    ):
        done = script(*arguments)
        assert done.returncode == 2
        assert says in done.stderr
        assert len(done.stderr.splitlines()) == 1
