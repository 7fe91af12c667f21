"""`scripts/run_all.sh`: which command gets which option."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def commands(tmp_path: Path, *arguments: str) -> list[list[str]]:
    """The commands that the script would run, with the environment left as it is."""
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    (scripts / "run_all.sh").write_bytes((ROOT / "scripts/run_all.sh").read_bytes())
    (scripts / "environment.sh").write_text(
        'fail() { echo "$1" >&2; exit 2; }\n'
        "prepare_environment() { :; }\n"
        "contested() { printf '%s\\t' \"$@\"; echo; }\n"
        "python() { echo cpu-small; }\n"
    )
    done = subprocess.run(
        ["bash", scripts / "run_all.sh", *arguments],
        cwd=tmp_path,
        env=os.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    return [line.split("\t")[:-1] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("form", ["--{}={}", "--{} {}"])
def test_options_with_and_without_an_equals_sign(form: str, tmp_path: Path) -> None:
    named = {"out": "my/out", "data": "a=b.jsonl", "profile": "gpu", "claims": "whole"}
    arguments = " ".join(form.format(*each) for each in named.items()).split()
    (scored,) = commands(tmp_path, *arguments)  # no model to prepare, no bundled examples
    assert scored[:2] == ["run", "conflictscore"]
    assert dict(zip(scored[2::2], scored[3::2], strict=True)) == {
        f"--{name}": value for name, value in named.items()
    }


def test_by_default_all_pipelines_run(tmp_path: Path) -> None:
    prepared, scored, detected, compared = commands(tmp_path, "--limit=2", "--models-dir=m")
    assert prepared[:2] == ["models", "import-gguf"]
    assert prepared[-2:] == ["--models-dir", "m"]
    assert scored == ["run", "conflictscore", "--limit", "2", "--models-dir", "m"]
    assert detected[:2] == ["run", "conflict-detection"]
    assert detected[-2:] == ["--labeller", "nli"]
    assert compared == ["run", "conrag", *detected[2:]]
