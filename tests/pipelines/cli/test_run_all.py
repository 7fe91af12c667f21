"""`contested run all`: which experiment gets which option, and one server for all of them."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from commands import Contested
from scripted import Scripted

from pipelines.cli import run_all
from pipelines.cli.run_all import Stage

RECORD = (
    json.dumps(
        {
            "id": "bridge",
            "response": "It opened in 1932.",
            "claims": ["It opened in 1932."],
            "documents": [{"id": "a", "text": "It opened in 1932."}],
        }
    )
    + "\n"
)
"""A response that brings its claim along: with the tagger as judge, no language model is asked."""


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[Stage]:
    """What would be run, in place of running it."""
    found: list[Stage] = []

    def note(stages: Sequence[Stage], _: object) -> None:
        found[:] = stages

    monkeypatch.setattr(run_all, "_run_stages", note)
    monkeypatch.setattr(run_all, "refuse_missing", lambda *_: None)
    return found


def lines(stages: Sequence[Stage]) -> dict[str, list[str]]:
    """Name of a command -> its further arguments; of two of a kind the second is "NAME 2"."""
    found: dict[str, list[str]] = {}
    for stage in stages:
        name = stage.command[1]
        found[name if name not in found else f"{name} 2"] = list(stage.command[2:])
    return found


def pairs(words: Sequence[str]) -> dict[str, str]:
    return dict(zip(words[::2], words[1::2], strict=True))


def test_by_default_every_experiment_runs_and_the_tagger_judges(
    contested: Contested, planned: list[Stage]
) -> None:
    contested.done("run", "all", "--models-dir=m", "--cache=c", "--profile", "cpu-small")
    found = lines(planned)
    assert list(found) == [
        *("add", "conflictscore", "conflict-detection", "conflict-detection 2", "conrag"),
        *("madam-rag", "conflicts", "report-writing", "truthfulqa", "npov", "npov 2"),
    ]
    shared_options = {"--profile": "cpu-small", "--models-dir": "m", "--out": "results"}
    cached = shared_options | {"--cache": "c"}
    assert found["add"][-2:] == ["--models-dir", "m"]
    tagged = cached | {"--judge": "tagger"}
    assert pairs(found["conflictscore"]) == cached, "who judges is the profile's"
    assert pairs(found["conflict-detection"]) == pairs(found["conrag"]) == tagged
    # Few of the bundled samples, and the language model judges some claims too.
    *judging, anyway, _, limit = found["conflict-detection 2"]
    assert pairs(judging) == cached | {"--judge": "model"}
    assert (anyway, limit) == ("--anyway", "8")
    tokens = {"--agent-tokens": "96", "--conclusion-tokens": "192"}
    assert pairs(found["madam-rag"]) == cached | tokens | {"--rounds": "2", "--limit": "2"}
    assert found["conflicts"][-2:] == ["--limit", "4"]
    assert "--judge" in found["conflicts"]
    for name in ("report-writing", "truthfulqa"):
        assert pairs(found[name])["--limit"] == "1"
    assert pairs(found["npov"]) == cached | {"--detector": "ablation", "--limit": "4"}
    salience = {"--detector": "salience", "--limit": "4"}
    assert pairs(found["npov 2"]) == shared_options | salience


@pytest.mark.parametrize(("profile", "typed"), [("one-gpu-7b", False), ("cpu-1.5b", True)])
def test_a_larger_model_gets_everything(
    profile: str, typed: bool, contested: Contested, planned: list[Stage]
) -> None:
    contested.done("run", "all", "--profile", profile, "--anyway")
    found = lines(planned)
    assert "add" not in found
    assert {name for name, words in found.items() if "--limit" in words} == {"npov", "npov 2"}
    assert "--judge" not in found["conflicts"]
    assert ("--types yes-no" in " ".join(found["conflicts"])) is typed
    for name in ("conflictscore", "report-writing", "truthfulqa"):
        assert "--anyway" in found[name]
        assert "--judge" not in found[name]


def test_a_model_that_is_missing_is_said_before_the_job_begins(
    contested: Contested, tmp_path: Path
) -> None:
    line = contested.refused("run", "all", "--profile", "one-gpu-7b", "--models-dir", str(tmp_path))
    assert "qwen2.5-7b-instruct" in line
    assert "contested models add" in line
    assert not Path("results").exists()


def test_where_the_language_model_is_goes_to_all_that_ask_it(
    contested: Contested, planned: list[Stage]
) -> None:
    where = ["--model", "m", "--concurrency", "4", "--endpoint", "u", "--endpoint", "v"]
    more = ("--claims", "salient", "--k=3")
    contested.done("run", "all", *where, *more, "--profile", "cpu-small")
    found = lines(planned)
    assert "add" in found, "gradients are of the profile's model"
    assert "--limit" not in found["madam-rag"]
    for name in ("conflictscore", "conflict-detection 2", "madam-rag", "conflicts"):
        assert " ".join(where) in " ".join(found[name])
    for name in ("conflict-detection", "conrag", "npov"):
        assert not {"--endpoint", "--model"} & set(found[name])
    assert found["conflictscore"][-4:] == ["--claims", "salient", "--k", "3"]


def test_a_folder_has_what_is_to_be_run(
    contested: Contested, planned: list[Stage], tmp_path: Path
) -> None:
    (tmp_path / "conflictscore.jsonl").write_text(RECORD)
    for name in ("ramdocs", "conflicts", "truthfulqa", "npov"):
        (tmp_path / f"{name}.jsonl").touch()
    contested.done("run", "all", "--data", tmp_path, "--dry-run")
    found = lines(planned)
    assert list(found)[1:] == [
        *("conflictscore", "madam-rag", "conflicts", "truthfulqa", "npov", "npov 2"),
    ]
    files = {name: name for name in found} | {"madam-rag": "ramdocs", "npov 2": "npov"}
    for name, file in list(files.items())[2:]:
        assert "--dry-run" in found[name]
        assert found[name][found[name].index("--data") + 1] == str(tmp_path / f"{file}.jsonl")
        assert "--limit" not in found[name]


def test_a_stage_that_fails_ends_the_job_and_is_told(
    contested: Contested, endpoint: Scripted, tmp_path: Path
) -> None:
    data = tmp_path / "bad.jsonl"
    data.write_text(RECORD + '{"id": "bad"}\n')
    outcome = contested("run", "all", "--endpoint", endpoint.url, "--data", data)
    assert outcome.code == 2
    assert "bad.jsonl:2" in outcome.err.splitlines()[-1]
    assert "Traceback" not in outcome.err
