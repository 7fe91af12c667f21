"""`scripts/run_all.sh` and `scripts/reproduce_salience.sh`: which command gets which option."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def commands(tmp_path: Path, *arguments: str, script: str = "run_all.sh") -> list[list[str]]:
    """The commands that a script would run, with the environment left as it is."""
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
    prepared, scored, detected, compared, debated, typed, checked = commands(
        tmp_path, "--limit=2", "--models-dir=m", "--cache=c"
    )
    assert prepared[:2] == ["models", "import-gguf"]
    assert prepared[-2:] == ["--models-dir", "m"]
    assert scored[2:] == ["--limit", "2", "--models-dir", "m", "--cache", "c"]
    assert detected[:2] == ["run", "conflict-detection"]
    assert detected[-2:] == ["--labeller", "nli"]
    assert compared == ["run", "conrag", *detected[2:]]
    assert debated == ["run", "madam-rag", *scored[2:], "--dataset", "ramdocs"]
    assert typed[: len(scored)] == ["run", "conflicts", *scored[2:]]
    assert typed[-4:] == ["--judge", "nli", "--answer-tokens", "160"]
    assert checked[:2] == ["run", "npov"]
    assert "--cache" not in checked, "gradients come from no server"


def test_where_the_language_model_is_goes_to_all_that_ask_it(tmp_path: Path) -> None:
    given = ["--endpoint=u", "--endpoint", "v", "--model", "m", "--concurrency=4", "--strict"]
    where = ["--endpoint", "u", "--endpoint", "v", "--model", "m", "--concurrency", "4", "--strict"]
    _, scored, detected, compared, debated, typed, checked = commands(
        tmp_path, *given, "--claims=whole"
    )
    assert scored == ["run", "conflictscore", *where, "--claims", "whole"]
    assert debated == ["run", "madam-rag", *where, "--dataset", "ramdocs"]
    assert typed[: 2 + len(where)] == ["run", "conflicts", *where]
    assert not any({"--endpoint", "--model"} & set(each) for each in (detected, compared, checked))


def test_a_folder_has_what_is_to_be_run(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "topics.jsonl").touch()
    (data / "ramdocs.jsonl").touch()
    (data / "conflicts.jsonl").touch()
    _, scored, debated, typed, checked = commands(tmp_path, "--data", str(data), "--dry-run")
    assert scored == ["run", "conflictscore", "--dry-run", "--data", f"{data}/conflictscore.jsonl"]
    assert debated == ["run", "madam-rag", "--dry-run", "--data", f"{data}/ramdocs.jsonl"]
    assert typed[:3] == ["run", "conflicts", "--dry-run"]
    assert typed[typed.index("--data") + 1] == f"{data}/conflicts.jsonl"
    assert checked[:5] == ["run", "npov", "--dry-run", "--data", f"{data}/topics.jsonl"]


def test_salience_is_run_for_every_model_and_prompts_are_tuned_once(tmp_path: Path) -> None:
    given = ["--data=t.json", "--out", str(tmp_path / "o"), "--model", "a", "--model=models/b"]
    made = commands(tmp_path, *given, "--steps=9", "--limit", "2", script="reproduce_salience.sh")
    imported, *of_a = made[:6]
    assert imported[:2] == ["models", "import-gguf"]
    by_gradients, asked, *tuned, told = of_a
    assert by_gradients[:2] == ["run", "npov"]
    assert by_gradients[-4:] == ["--limit", "2", "--name", "a"]
    assert by_gradients.count("--set") == 3
    assert asked[-4:] == ["--detector", "classifier", "--name", "a-as-it-is"]
    assert [each[:3] for each in tuned] == [["tune-npov", "--task", "hallucination"],
                                            ["tune-npov", "--task", "coverage"]]  # fmt: skip
    assert tuned[0][tuned[0].index("--steps") + 1] == "9"
    prompt = str(tmp_path / "o/prompts/a-coverage-9.safetensors")
    assert told[-4:-2] == ["--coverage-prompt", prompt]
    assert len(made) == 11
    assert made[-1][-1] == "b-annotation-free"

    Path(prompt).touch()
    again = commands(tmp_path, *given, "--steps=9", script="reproduce_salience.sh")
    assert len(again) == 10, "what is tuned is not tuned again"
    Path(f"{prompt}.unfinished").touch()
    again = commands(tmp_path, *given, "--steps=9", script="reproduce_salience.sh")
    assert len(again) == 11, "a tuning that was killed goes on"
    tried = commands(tmp_path, *given, "--dry-run", "--device=cpu", script="reproduce_salience.sh")
    assert all({"--dry-run", "--device"} <= set(each) for each in tried[1:])
    assert not any("--coverage-prompt" in each for each in tried), "there is none yet"
    bundled = commands(tmp_path, "--model", "a", script="reproduce_salience.sh")
    assert [each[0] for each in bundled] == ["models", "run", "run"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--steps", "60k"], "--steps 60k is no number"),
        (["--split=all"], "are tuned on; add --steps 0"),
    ],
)
def test_what_would_mislead_is_refused(tmp_path: Path, options: list[str], says: str) -> None:
    with pytest.raises(subprocess.CalledProcessError) as refused:
        commands(tmp_path, *options, script="reproduce_salience.sh")
    assert refused.value.returncode == 2
    assert says in refused.value.stderr
