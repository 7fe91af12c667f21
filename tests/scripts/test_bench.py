"""The benchmarks ask what they say they ask. What it costs is not for a test."""

import re
import subprocess
import sys
from pathlib import Path

import tiny_loaded
from tiny_encoders import change

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


def test_both_indexes_find_the_same(released_data: Path) -> None:
    data = released_data / "nli" / "train.jsonl.gz"
    done = bench("retrieval.py", "--passages", "300", "--queries", "20", "--data", str(data))
    assert done.returncode == 0, done.stderr
    assert re.search(r"^\| contested( \| [\d.,]+){5} \|$", done.stdout, re.MULTILINE)
    shared = re.search(r"same passage first: ([\d.]+)%", done.stdout)
    assert shared
    assert float(shared[1]) >= 90


def test_gradients_are_those_of_captum(tmp_path: Path) -> None:
    model = tiny_loaded.saved(tmp_path / "model")
    change(model / "config.json", max_position_embeddings=1000)
    done = bench("gradients.py", "--rounds", "1", "--tokens", "3", "--model", str(model))
    assert done.returncode == 0, done.stderr
    row = re.search(
        r"^\| batched, fp32( \| [\d.e+-]+){4} \| ([\d.]+) \|$", done.stdout, re.MULTILINE
    )
    assert row
    assert float(row[2]) > 0.999


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
