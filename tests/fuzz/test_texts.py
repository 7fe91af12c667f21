"""A short while of coverage-guided fuzzing, as CI can afford it; `texts.py` goes on for longer."""

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("texts.py")
SECONDS = 8

BROKEN = """
import texts

def broken(text):
    assert "]" not in text.partition("[")[2]

texts.TARGETS["choice"] = broken
texts.main()
"""


def fuzz(folder: Path, *command: str, seconds: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command, f"-max_total_time={seconds}", "-seed=1"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(SCRIPT.parent), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )


def test_no_text_breaks(tmp_path: Path) -> None:
    run = fuzz(tmp_path, str(SCRIPT), "all", seconds=SECONDS)
    assert run.returncode == 0, run.stderr[-2000:]
    assert "Done" in run.stderr
    assert not list(tmp_path.iterdir())


def test_a_fault_is_found_and_its_text_kept(tmp_path: Path) -> None:
    run = fuzz(tmp_path, "-c", BROKEN, "choice", seconds=60)
    assert run.returncode != 0
    assert "AssertionError" in run.stdout
    assert len(list(tmp_path.glob("crash-*"))) == 1
