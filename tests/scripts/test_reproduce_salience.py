"""`scripts/reproduce_salience.sh`: which command gets which option."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def commands(tmp_path: Path, *arguments: str) -> list[list[str]]:
    """The commands that the script would run, with the environment left as it is."""
    script = "reproduce_salience.sh"
    scripts = tmp_path / "scripts"
    scripts.mkdir(exist_ok=True)
    (scripts / script).write_bytes((ROOT / "scripts" / script).read_bytes())
    (scripts / "environment.sh").write_text(
        'fail() { echo "$1" >&2; exit 2; }\n'
        "prepare_environment() { :; }\n"
        "contested() { printf '%s\\t' \"$@\"; echo; }\n"
        "python() { echo cpu-small; }\n"
    )
    done = subprocess.run(
        ["bash", scripts / script, *arguments],
        cwd=tmp_path,
        env=os.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    return [line.split("\t")[:-1] for line in done.stdout.splitlines()]


STUDY = ["lab", "study-npov", "--profile"]


def test_it_is_one_call_with_the_packaged_model(tmp_path: Path) -> None:
    added, study = commands(tmp_path, "--data=t.json", "--steps", "9", "--models-dir", "m")
    assert added[:2] == ["models", "add"]
    assert added[-2:] == ["--models-dir", "m"]
    assert study == [*STUDY, "cpu-small", "--models-dir", "m", "--data=t.json", "--steps", "9"]


def test_another_profile_brings_its_own_model(tmp_path: Path) -> None:
    given = ["--as-in-paper", "--dry-run"]
    for profile in (["--profile", "gpu-24gb"], ["--profile=gpu-24gb"]):
        assert commands(tmp_path, *profile, *given) == [[*STUDY, "gpu-24gb", *given]]


def test_an_option_without_its_value_is_refused(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError) as refused:
        commands(tmp_path, "--profile")
    assert refused.value.returncode == 2
    assert "--profile needs a value" in refused.value.stderr
