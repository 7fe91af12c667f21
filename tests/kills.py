"""Kills the main job again and again, at random moments, and compares what it leaves in the end.

    .venv/bin/python tests/kills.py [--kills 100] [--seed 1] [--limit 2]

Every experiment of `contested run all` runs on the bundled samples: a scripted endpoint replies, so
that the outcome is known; the tagger and the decoder whose gradients are taken are real. A job that
ends before its kill is compared with one that was never killed, and the next begins with nothing.
Exit code 1 says that something was lost or differs. 100 kills take about half an hour.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from by_schema import reply, weigh
from scripted import KEY, Scripted

ROOT = Path(__file__).parents[1]
LONGEST_S = 25
"""A kill comes at most so long after a start."""


def left_in(folder: Path) -> dict[str, bytes]:
    """Results and tables of a job; its page and `run.json` have the times of day."""
    files = [*folder.glob("*.jsonl"), *folder.glob("tables/*"), *folder.glob("reports/*")]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def start(job: list[str], folder: Path) -> subprocess.Popen[str]:
    """The main job, in a process of its own that tells nothing unless it fails."""
    command = [sys.executable, "-m", "pipelines.cli", *job, "--out", str(folder / "out")]
    command += ["--cache", str(folder / "cache.sqlite")]
    env = os.environ | {"PYTHONPATH": str(ROOT), "CONTESTED_API_KEY": KEY}
    log = (folder / "log.txt").open("w")
    return subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log, text=True)


def finish(process: subprocess.Popen[str], folder: Path) -> dict[str, bytes]:
    """What a job leaves that nobody kills; SystemExit where it fails."""
    if process.wait() != 0:
        sys.exit((folder / "log.txt").read_text()[-2000:])
    return left_in(folder / "out")


def differing(one: dict[str, bytes], other: dict[str, bytes]) -> list[str]:
    """The files that are not the same in both, or are in one alone."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, default=2, help="records of each experiment")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as place, Scripted(reply=reply, weigh=weigh) as endpoint:
        job = ["run", "all", "--endpoint", endpoint.url, "--limit", str(options.limit)]
        undisturbed, folder = Path(place, "undisturbed"), Path(place, "killed")
        undisturbed.mkdir()
        wanted = finish(start(job, undisturbed), undisturbed)
        print(f"{len(wanted)} files of a job that nobody kills, {time.monotonic() - began:.0f} s")
        endpoint.delay_s = 0.02
        kills = jobs = 0
        while kills < options.kills:
            folder.mkdir(exist_ok=True)
            process = start(job, folder)
            try:
                process.wait(draw.uniform(0.1, LONGEST_S))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                kills += 1
                if kills % 10 == 0:
                    print(f"{kills} kills, {jobs} jobs ended, {time.monotonic() - began:.0f} s")
                if kills < options.kills:
                    continue
                process = start(job, folder)
            left = finish(process, folder)
            if lost := differing(wanted, left):
                print(f"after {kills} kills (seed {options.seed}) differ: {', '.join(lost)}")
                return 1
            jobs += 1
            shutil.rmtree(folder)
    print(f"{options.kills} kills, {jobs} jobs, all equal to one that nobody killed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
