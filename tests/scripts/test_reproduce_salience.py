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


def test_salience_is_run_for_every_model_and_prompts_are_tuned_once(tmp_path: Path) -> None:
    given = ["--data=t.json", "--out", str(tmp_path / "o"), "--model", "a", "--model=models/b"]
    made = commands(tmp_path, *given, "--steps=9", "--limit", "2")
    imported, tagged, *of_a = made[:10]
    assert imported[:2] == ["models", "add"]
    assert tagged[-2:] == ["--detector", "tagger"]
    assert "--model" not in tagged
    by_gradients, left_out, asked, *tuned, told, by_writer = of_a
    assert by_gradients[:2] == ["run", "npov"]
    assert by_gradients[-2:] == ["--name", "a"]
    assert all(each[each.index("--limit") + 1] == "2" for each in (tagged, by_gradients, left_out))
    assert left_out[-4:] == ["--detector", "ablation", "--name", "a-ablation"]
    assert by_gradients.count("--set") == 3
    assert asked[-4:] == ["--detector", "classifier", "--name", "a-as-it-is"]
    assert [each[:3] for each in tuned] == [
        ["tune-npov", "--task", task] for task in ("hallucination", "coverage", "response")
    ]
    assert tuned[0][tuned[0].index("--steps") + 1] == "9"
    prompt = str(tmp_path / "o/prompts/a-coverage-9.safetensors")
    assert told[-4:-2] == ["--coverage-prompt", prompt]
    writer = str(tmp_path / "o/prompts/a-response-9.safetensors")
    assert by_writer[-4:] == ["--soft-prompt", writer, "--name", "a-soft-prompt"]
    assert len(made) == 18
    assert [each[-1] for each in made[-2:]] == ["b-annotation-free", "b-soft-prompt"]

    Path(prompt).touch()
    again = commands(tmp_path, *given, "--steps=9")
    assert len(again) == 17, "what is tuned is not tuned again"
    Path(f"{prompt}.unfinished").touch()
    again = commands(tmp_path, *given, "--steps=9")
    assert len(again) == 18, "a tuning that was killed goes on"
    tried = commands(tmp_path, *given, "--dry-run", "--device=cpu")
    assert all("--dry-run" in each for each in tried[1:])
    served = {"ablation", "tagger"}
    assert all(bool(served & set(each)) != ("--device" in each) for each in tried[1:])
    given_one = {"--coverage-prompt", "--soft-prompt"}
    assert not any(given_one & set(each) for each in tried), "there is none yet"
    chosen = commands(
        tmp_path, *given, "--steps=9", "--set", "paraphrased", "--per-topic=1", "--batch", "2"
    )
    assert [each.count("--set") for each in chosen[1:5]] == [1] * 4
    assert chosen[2][chosen[2].index("--per-topic") + 1] == "1"
    tuned = [each for each in chosen if each[0] == "tune-npov"]
    assert len(tuned) == 6, "prompts of another batch are other prompts"
    assert all(each[-2:] == ["--batch", "2"] for each in tuned)
    assert "a-hallucination-9-2.safetensors" in tuned[0][tuned[0].index("--out") + 1]
    as_there = commands(tmp_path, *given, "--steps=9", "--design", "paper")
    assert all(each[each.index("--design") + 1] == "paper" for each in as_there[1:])
    outs = [each[each.index("--out") + 1] for each in as_there[1:] if each[0] == "tune-npov"]
    assert all(out.endswith("-9-paper.safetensors") for out in outs)
    assert len(outs) == 6, "prompts of another design are other prompts"
    bundled = commands(tmp_path, "--model", "a")
    assert [each[0] for each in bundled] == ["models", "run", "run", "run", "run"]


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
