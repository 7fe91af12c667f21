"""The benchmarks ask what they say they ask. What it costs is not for a test."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from serving.models import Model

ROOT = Path(__file__).parents[2]


def bench(script: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "bench" / script), *options],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=ROOT,
    )


def refused(script: str, *options: str) -> str:
    """The one line of a benchmark that cannot be made."""
    done = bench(script, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    return done.stderr


def test_the_tagger_is_timed(released_data: Path) -> None:
    data = released_data / "nli" / "train.jsonl.gz"
    done = bench("tagger.py", "--rounds", "1", "--pairs", "100", "--data", str(data))
    assert done.returncode == 0, done.stderr
    assert "100 pairs from train.jsonl.gz" in done.stdout


def test_both_indexes_find_the_same(released_data: Path) -> None:
    data = released_data / "nli" / "train.jsonl.gz"
    done = bench("retrieval.py", "--passages", "300", "--queries", "20", "--data", str(data))
    assert done.returncode == 0, done.stderr
    assert re.search(r"^\| contested( \| [\d.,]+){5} \|$", done.stdout, re.MULTILINE)
    shared = re.search(r"same passage first: ([\d.]+)%", done.stdout)
    assert shared
    assert float(shared[1]) >= 90


def test_gradients_are_those_of_captum(smollm2: Model) -> None:
    done = bench("gradients.py", "--rounds", "1", "--tokens", "3", "--model", str(smollm2.path))
    assert done.returncode == 0, done.stderr
    row = re.search(
        r"^\| batched, fp32( \| [\d.e+-]+){4} \| ([\d.]+) \|$", done.stdout, re.MULTILINE
    )
    assert row
    assert float(row[2]) > 0.999


def test_inseq_needs_an_interpreter_that_has_it(smollm2: Model) -> None:
    other = ("--inseq", sys.executable, "--model", str(smollm2.path))
    done = bench("gradients.py", "--tokens", "1", *other)
    assert done.returncode == 2
    said = "inseq's process ended: ModuleNotFoundError: No module named 'inseq'"
    assert done.stderr.splitlines()[-1] == said


SMALL = ("--rounds", "1", "--requests", "20", "--tokens", "300", "--in-flight", "4")


def test_clients_are_compared(smollm2: Model) -> None:
    done = bench("client.py", *SMALL, "--model", str(smollm2.path))
    assert done.returncode == 0, done.stderr
    arms = re.findall(
        r"^\| 300 \| 4 \| (.+?) \| [\d,]+ \| \d+\.\d\d \|$", done.stdout, re.MULTILINE
    )
    assert arms == ["bare sockets", "openai", "ours", "ours, from its cache"]
    for ratio in ("bare sockets / ours", "ours / openai"):
        row = rf"^\| 300 \| 4 \| {ratio}( \| \d+\.\d){{3}} \|$"
        assert re.search(row, done.stdout, re.MULTILINE)


def test_inspect_needs_an_interpreter_that_can_be_run(smollm2: Model) -> None:
    where = ("--inspect-python", "no/python", "--model", str(smollm2.path))
    done = bench("client.py", *SMALL, *where)
    assert done.returncode == 2
    said = "no/python cannot be run (No such file or directory)"
    assert done.stderr.splitlines()[-1].endswith(said)


def test_the_tagger_needs_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONTESTED_DATA", raising=False)
    assert "give --data FILE" in refused("tagger.py", "--rounds", "1")


def test_mistakes_are_one_line() -> None:
    for script, options, says in (
        ("client.py", ("--model", "no-such-model"), "there is no model 'no-such-model'"),
        ("client.py", ("--rounds", "0"), "--rounds"),
    ):
        assert says in refused(script, *options)
