"""scripts/reproduce_results.sh: a small plan, killed in the middle, with a run that fails."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest
import reproduce_results
from reproduce_results import main
from scripted import Scripted

ROOT = Path(__file__).parents[2]

PLAN = """
main = "cpu-small"

[models]
cpu-small = "true"

[[file]]
name = "bench.jsonl"
command = "contested conflictbench build --ramdocs {{data}}/ramdocs/*.jsonl"

[[run]]
name = "first"
title = "Bundled claims"
command = "contested run conflict-detection --labeller llm --endpoint {url} --concurrency 1"
profile = "main"
minutes = 30

[[run]]
name = "broken"
title = "Data that are not there"
command = "contested run conrag --dataset wice --data {{data}}/wice/*.jsonl --limit 1"
minutes = 60

[[run]]
name = "second"
title = "A file that is made beforehand"
command = "contested run conflict-detection --data {{files}}/bench.jsonl --endpoint {url} --limit 2"
profile = "main"
minutes = 12
"""


def question(number: int) -> dict[str, Any]:
    right, wrong = str(1900 + number), str(1950 + number)
    texts = [f"Bridge {number} was opened in {year}." for year in (right, wrong)]
    texts.append(f"The toll of bridge {number} is two pounds.")
    kinds = [("correct", right), ("misinfo", wrong), ("noise", "unknown")]
    return {
        "question": f"When was bridge {number} opened?",
        "documents": [
            {"text": text, "type": kind, "answer": answer}
            for text, (kind, answer) in zip(texts, kinds, strict=True)
        ],
        "disambig_entity": [f"Bridge {number}"],
        "gold_answers": [right],
        "wrong_answers": [wrong],
    }


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, endpoint: Scripted) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plan.toml").write_text(PLAN.format(url=endpoint.url))
    Path("data/ramdocs").mkdir(parents=True)
    lines = [json.dumps(question(number)) for number in range(30)]
    Path("data/ramdocs/RAMDocs.jsonl").write_text("\n".join(lines) + "\n")


GIVEN = ["--plan", "plan.toml", "--data", "data", "--out", "out"]


def script(*options: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, str(ROOT / "scripts/reproduce_results.py"), *GIVEN, *options],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def ours() -> list[psutil.Process]:
    """Processes that work in the present folder, but for this one."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.cwd() == str(Path.cwd()):
                found.append(process)
        except psutil.Error:
            continue
    return found


def results(run: str) -> list[dict[str, Any]]:
    path = Path("out", run, "conflict-detection.llm-choice.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def begun(*options: str) -> "subprocess.Popen[str]":
    """The script, in the middle of its first run."""
    process = script(*options)
    deadline = time.monotonic() + 120
    while len(results("first")) < 3:
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return process


def nothing_goes_on() -> bool:
    psutil.wait_procs(ours(), timeout=30)
    return not ours()


def test_killed_in_the_middle_it_resumes(endpoint: Scripted) -> None:
    endpoint.delay_s = 0.05
    process = begun()
    process.kill()
    process.communicate()
    assert nothing_goes_on()
    kept = results("first")
    assert 3 <= len(kept) < 28
    asked = len(endpoint.requests)

    endpoint.delay_s = 0.0
    process = script()
    said = process.communicate()[0]
    assert process.returncode == 1, said
    done = results("first")
    assert len(done) == 28
    assert all(each in done for each in kept)
    # What was answered before the kill is not asked again; of one request the answer may be lost.
    prompts = endpoint.prompts()
    assert len(prompts) > asked
    assert len(prompts) - len(set(prompts)) <= 1
    assert len(results("second")) == 2, said
    for run in ("first", "second"):
        assert Path("out", run, "tables/conflict_detection.json").exists()
    assert said.splitlines()[-1] == (
        "contested: 2 of 3 runs came to their end; failed: broken (data/wice/*.jsonl is 0 files; "
        "--data must have exactly one). The same command resumes them"
    )
    assert "contested: 1/3  first: Bundled claims; about 1.7 hours left" in said
    assert "contested: 3/3  second: A file that is made beforehand; about 0.2 hours left" in said


def test_interrupted_it_stops_and_says_so(endpoint: Scripted) -> None:
    endpoint.delay_s = 0.05
    process = begun("--only", "first")
    process.send_signal(signal.SIGINT)
    said = process.communicate()[0]
    assert process.returncode == 130, said
    assert said.splitlines()[-1] == "contested: stopped; the same command resumes it"
    assert nothing_goes_on()
    assert len(results("first")) < 28, "the run was stopped, not waited for"


def test_runs_are_listed_with_their_hours(capsys: pytest.CaptureFixture[str]) -> None:
    Path("out/first/tables").mkdir(parents=True)
    assert main([*GIVEN, "--list", "--profile", "one-gpu-7b"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["first", "done", "one-gpu-7b", "Bundled", "claims"]
    assert lines[1].split()[:4] == ["broken", "1.0", "h", "tagger"]
    assert lines[3] == "3 runs, about 1.2 hours left"


def test_what_is_chosen_goes_to_the_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[list[str]] = []

    def noted(words: Sequence[str]) -> int:
        called.append(list(words))
        made = Path(words[-1])
        if made.parent.name == "files":
            made.touch()
        return 0

    monkeypatch.setattr(reproduce_results, "called", noted)
    only = ["--only", "second", "--profile", "p", "--limit", "3", "--dry-run"]
    assert main([*GIVEN, *only]) == 0
    build, run = called
    # Models are not fetched, as nobody is asked.
    assert build == ["contested", "conflictbench", "build", "--ramdocs",
                     "data/ramdocs/RAMDocs.jsonl", "--out", "out/files/bench.jsonl"]  # fmt: skip
    assert run[-7:] == ["--profile", "p", "--out", "out/second", "--limit", "3", "--dry-run"]
    assert run.count("--limit") == 2, "the last one counts"
    called.clear()
    assert main([*GIVEN, "--only", "second", "--only", "first"]) == 0
    assert [words[:2] for words in called] == [["true"], *[["contested", "run"]] * 2]


def test_a_dry_run_makes_no_file_that_a_model_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = Path("plan.toml").read_text()
    command = 'command = "contested conflictbench build --ramdocs {data}/ramdocs/*.jsonl"\n'
    assert command in plan
    Path("plan.toml").write_text(plan.replace(command, f'{command}profile = "main"\n'))

    def refused(words: Sequence[str]) -> int:
        raise AssertionError(words)

    monkeypatch.setattr(reproduce_results, "called", refused)
    assert main([*GIVEN, "--only", "second", "--dry-run"]) == 0
    assert "second cannot be counted before bench.jsonl is there" in capsys.readouterr().err


def test_models_that_cannot_be_fetched_are_told_at_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reproduce_results, "called", lambda words: 2 if words == ["true"] else 0)
    assert main([*GIVEN, "--only", "first"]) == 1
    assert "failed: models of cpu-small (code 2)" in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--only", "third"], "there is no run third; --list names them"),
        (["--data", "nowhere"], "nowhere is no folder"),
        (["--plan", "no.toml"], "no.toml cannot be read"),
        (["--out", "plan.toml"], "plan.toml/files: Not a directory"),
    ],
)
def test_what_a_person_can_mend_is_one_line(
    options: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*GIVEN, *options]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"contested: {says}")
    assert err.count("\n") == 1


def test_the_script_is_the_program_in_its_environment() -> None:
    done = subprocess.run(
        [ROOT / "scripts/reproduce_results.sh", "--list"],
        env=os.environ | {"CONTESTED_VENV": sys.prefix, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "detection-tagger" in done.stdout
