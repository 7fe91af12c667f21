"""The main job, killed twice: its tables are right and it leaves no server behind.

A small program stands in vLLM's place, and is started, watched and ended as vLLM is. Two models
play the two roles. The tagger's experiments and NPOV are left out: loading torch would take most of
the time (tests/pipelines/test_killed_runs.py and tests/pipelines/cli/test_npov_run.py stop those),
and the last digits of the tagger's probabilities hang on what it reads at the same time.
"""

import shutil
import threading
import time
from pathlib import Path

import psutil
import pytest
from commands import Contested, contents, entries, kill_midway, results
from stand_in_vllm import MODULE, install, processes
from tiny_words import word_counting
from tokenizers import ByteLevelBPETokenizer

from pipelines.data import jsonl
from serving import detached, models

SAMPLES = {"conflictscore": "contested", "truthfulqa": "misconceptions"}
"""Data file of an experiment -> bundled sample. They ask both models."""

TWO = ["--profile", "two.toml", "--models-dir", "models", "--limit", "1"]
BY_MODEL = ["--judge", "model"]
"""Labels of ConflictScore: on CPUs the tagger gives them unless told."""


PROFILE = """
device = "cpu"
judge = "tagger"
[roles]
generator = "writer"
judge = "critic"
[engines.writer]
max_num_seqs = 4
start_timeout_s = 60
[engines.critic]
max_num_seqs = 4
start_timeout_s = 60
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The present folder: two models, a profile that names them, and data."""
    monkeypatch.chdir(tmp_path)
    install(Path("stand-in").absolute(), monkeypatch)
    Path("two.toml").write_text(PROFILE)
    letters = ByteLevelBPETokenizer()
    letters.train_from_iterator([""], vocab_size=300, show_progress=False)
    for name in ("writer", "critic"):
        folder = word_counting(Path(name))
        letters.save(str(folder / "tokenizer.json"))
        (folder / "config.json").write_text(f'{{"architectures": ["{name}"]}}')
        models.add(folder, name, Path("models"))
    Path("data").mkdir()
    for name, sample in SAMPLES.items():
        shutil.copy(jsonl.SAMPLES.with_name(f"{sample}.jsonl"), f"data/{name}.jsonl")


def starting() -> bool:
    return any(not state.endpoints for state in detached.running())


def asked() -> int:
    return Path("stand-in/asked").stat().st_size


def left_in(folder: str) -> dict[str, bytes]:
    """Tables and results of a job."""
    files = contents(Path(folder))
    found = {name: files[name] for name in files if name.endswith(".jsonl") or "tables/" in name}
    assert len(found) > 2 * len(SAMPLES)
    return found


def starts(folder: str) -> dict[str, int]:
    """Model -> how often a server of it was started, by the logs of a job."""
    logs = Path(folder, "logs").glob("*.log")
    return {log.stem: log.read_text().count("Starting to load model") for log in logs}


def test_kills_leave_the_same_tables_and_no_server(
    home: Path, contested: Contested, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = Path("stand-in").absolute()
    job = ["run", "all", *TWO, *BY_MODEL, "--data", "data"]
    contested.done(*job, "--out", "undisturbed", "--cache", "undisturbed.sqlite")
    assert starts("undisturbed") == {"writer": 1, "critic": 1}
    assert processes(stand_in) == []
    total = asked()

    monkeypatch.setenv("STAND_IN_DELAY_S", "0.03")
    job += ["--out", "out", "--cache", "killed.sqlite"]
    # What was in flight is asked again, so that the job is never done before its last kill.
    for moment in (starting, lambda: asked() - total > total // 2):
        kill_midway(job, moment)
    contested.done(*job)

    assert left_in("out") == left_in("undisturbed")
    _, left = psutil.wait_procs(processes(stand_in), timeout=40)
    assert left == []
    assert detached.running() == []
    assert list((home / "servers").iterdir()) == []


def test_two_models_of_one_experiment_start_at_the_same_time_or_not_at_all(
    contested: Contested, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ["run", "truthfulqa", *TWO, "--data", "data/truthfulqa.jsonl"]
    monkeypatch.setenv("STAND_IN_TOGETHER", "2")  # neither is ready before both have begun
    contested.done(*run, "--out", "first")
    again = contested.done(*run, "--out", "second")
    assert starts("first") == {"writer": 1, "critic": 1}
    assert "all answered from the cache" in again.err
    assert not Path("second/logs").exists()


def test_a_server_killed_in_the_middle_costs_no_example(
    contested: Contested, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN_DELAY_S", "0.1")
    stand_in = Path("stand-in").absolute()

    def kill() -> None:
        while asked() < 6:
            time.sleep(0.01)
        processes(stand_in, MODULE)[0].kill()

    killing = threading.Thread(target=kill, daemon=True)
    killing.start()
    run = ["run", "conflictscore", *TWO, *BY_MODEL, "--data", "data/conflictscore.jsonl"]
    contested.done(*run, "--out", "out")
    killing.join()
    assert {result["status"] for result in results(Path("out")).values()} == {"scored"}
    assert starts("out") == {"critic": 2}
    (entry,) = entries("out").values()
    assert entry["usage"]["retries"] >= 1, "the kill came too late to test anything"
