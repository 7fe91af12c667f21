"""scripts/reproduce_results.sh: its runs are commands; a few are run and resumed."""

import json
from pathlib import Path

import pytest
import reproduce_results
from commands import command_of
from reproduce_results import FILES, RUNS, Run, main, words
from scripted import Scripted
from shown import ramdocs_question


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_every_run_is_a_command(run: Run, released_data: Path, tmp_path: Path) -> None:
    command, line = command_of(["run", *words(run.command, released_data, tmp_path)])
    command.make_context(run.name, line)


def test_names_differ_and_files_are_there(released_data: Path, tmp_path: Path) -> None:
    assert len({run.name for run in RUNS}) == len(RUNS)
    read = {word for run in RUNS for word in run.command.split() if word.startswith("{files}")}
    assert read == {f"{{files}}/{name}" for name in FILES}
    for command in FILES.values():
        words(command, released_data, tmp_path)


def test_runs_are_made_one_after_the_other_and_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, endpoint: Scripted
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps(ramdocs_question(f"bridge {number}")) for number in range(30)]
    Path("data/ramdocs").mkdir(parents=True)
    Path("data/ramdocs/RAMDocs.jsonl").write_text("\n".join(lines) + "\n")
    asking = f"--judge model --endpoint {endpoint.url}"
    runs = (
        Run(
            "broken",
            "Data that are missing",
            "conrag --dataset fool-me-twice --data {data}/none/*.json",
            1,
        ),
        Run("first", "Bundled claims", f"conflict-detection {asking}", 1),
        Run("second", "A file", f"conflict-detection --data {{files}}/bench.jsonl {asking}", 1),
    )
    monkeypatch.setattr(reproduce_results, "RUNS", runs)
    monkeypatch.setattr(
        reproduce_results, "FILES", {"bench.jsonl": "--release ramdocs={data}/ramdocs/*.jsonl"}
    )
    given = ["--data", "data", "--out", "out", "--limit", "2"]
    assert main([*given, "--only", "first", "--dry-run"]) == 0
    assert not endpoint.requests
    assert main(given) == 1
    for name in ("first", "second"):
        results = Path("out", name, "conflict-detection.model-choice.jsonl")
        assert len(results.read_text().splitlines()) == 2
    asked = len(endpoint.requests)
    assert asked
    assert main([*given, "--only", "first", "--only", "second"]) == 0
    assert len(endpoint.requests) == asked, "what was answered is asked again"
