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
        "choose_engine() { echo cpu; }\n"
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


def after(option: str, command: list[str]) -> str:
    """What a command is given for an option."""
    return command[command.index(option) + 1]


def test_salience_is_run_for_every_model_and_prompts_are_tuned_once(tmp_path: Path) -> None:
    given = ["--data=t.json", "--out", str(tmp_path / "o"), "--model", "a", "--model=models/b"]
    made = commands(tmp_path, *given, "--steps=9", "--limit", "2")
    imported, tagged, by_gradients, left_out, asked, *tuned, told, by_writer = made[:10]
    assert imported[:2] == ["models", "add"]
    assert tagged[-2:] == ["--detector", "tagger"]
    assert "--model" not in tagged
    assert by_gradients[:2] == ["run", "npov"]
    assert by_gradients[-2:] == ["--name", "a"]
    assert by_gradients.count("--set") == 3
    assert left_out[-4:] == ["--detector", "ablation", "--name", "a-ablation"]
    assert {after("--limit", command) for command in (tagged, by_gradients, left_out)} == {"2"}
    assert asked[-4:] == ["--detector", "classifier", "--name", "a-as-it-is"]
    assert [command[1:4] for command in tuned] == [
        ["tune-npov", "--task", task] for task in ("hallucination", "coverage", "response")
    ]
    assert after("--steps", tuned[0]) == "9"
    prompt = str(tmp_path / "o/prompts/a-coverage-9.safetensors")
    assert told[-4:-2] == ["--coverage-prompt", prompt]
    writer = str(tmp_path / "o/prompts/a-response-9.safetensors")
    assert by_writer[-4:] == ["--soft-prompt", writer, "--name", "a-soft-prompt"]
    assert [command[-1] for command in made[-2:]] == ["b-annotation-free", "b-soft-prompt"]

    Path(prompt).touch()
    again = commands(tmp_path, *given, "--steps=9")
    assert len(again) == len(made) - 1, "what is tuned is not tuned again"
    Path(f"{prompt}.unfinished").touch()
    again = commands(tmp_path, *given, "--steps=9")
    assert len(again) == len(made), "a tuning that was killed goes on"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--steps", "60k"], "--steps 60k is no number"),
        (["--split=all"], "are tuned on; add --steps 0"),
    ],
)
def test_what_would_mislead_is_refused(tmp_path: Path, options: list[str], says: str) -> None:
    with pytest.raises(subprocess.CalledProcessError) as refused:
        commands(tmp_path, *options)
    assert refused.value.returncode == 2
    assert says in refused.value.stderr
