"""`contested run npov`, as a person meets it."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
import soft_prompts
from commands import Contested, contents, entries, records, table, write
from golden import TEST_SETS
from tiny_loaded import saved

from pipelines.npov.soft_prompt import Task, TunedOn
from pipelines.npov.topics import Subject
from serving import models

RUN: list[object] = ["run", "npov", "--data", TEST_SETS, "--detector", "salience"]
EMPTY = {
    "id": "o2",
    "question": "Should it stay?",
    "pro": ["It holds drinking water."],
    "con": ["Salmon cannot pass."],
    "response": "It is that.",
}


@pytest.fixture
def model() -> list[object]:
    return ["--model", saved(Path("tiny")).absolute()]


@pytest.fixture
def without_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """No encoder, whose vectors differ in their last digits with where they lie in memory."""
    monkeypatch.setattr("pipelines.npov.experiment.default_embedder", lambda: None)


def soft_prompt(tiny: list[object], task: Task = "response", **about: Any) -> Path:
    """A soft prompt for the tiny model."""
    known = models.find(str(tiny[1]), Path("nowhere"))
    file = Path(f"{task}.safetensors")
    soft_prompts.soft_prompt(task=task, **{"model": known.digest, **about}).save(file)
    return file


WEIRS = Subject(question="Should weirs stay?", topic="weirs")


@pytest.mark.usefixtures("without_encoder")
def test_salience_is_that_of_the_generator_with_its_soft_prompt(
    contested: Contested, model: list[object]
) -> None:
    known = TunedOn(learned=(WEIRS,), watched=(WEIRS,), examples={"by template": 3})
    file = soft_prompt(model, tuned_on=known)
    limited = [*RUN, "--limit", 2, *model]
    contested.done(*limited)
    contested.done(*limited, "--soft-prompt", file)
    runs = entries("results")
    bare, tuned = (runs[f"npov.tiny{kind}"]["config"] for kind in ("", "-soft-prompt"))
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert tuned["prompts"] == {"response": digest}
    assert tuned["tuned_on"] == {"response": "topics 1, responses by template 3"}
    assert tuned == {**bare, **{name: tuned[name] for name in ("prompts", "tuned_on")}}
    (one, *_), (other, *_) = (
        records(f"results/npov.tiny{kind}.jsonl") for kind in ("", "-soft-prompt")
    )
    assert one["detectors"]["ROUGE"] == other["detectors"]["ROUGE"]
    assert one["detectors"]["salience, max"] != other["detectors"]["salience, max"]
    note = f"tiny-soft-prompt: soft prompt for response (sha256 {digest[:12]}), tuned on topics 1"
    assert note in Path("results/report.html").read_text()
    assert note in Path("results/tables/npov_detection.md").read_text()
    before = contents(Path("results/tables"))
    contested.done(*limited, "--soft-prompt", file)
    assert contents(Path("results/tables")) == before


@pytest.mark.parametrize("place", ["learned", "watched"])
@pytest.mark.parametrize("task", ["response", "coverage"])
def test_topics_that_a_prompt_was_tuned_on_are_not_measured(
    contested: Contested, model: list[object], task: Task, place: str
) -> None:
    """By name or by question: annotated responses need not name their topic."""
    asked: list[object] = [*RUN, "--soft-prompt", f"{task}.safetensors", *model]
    if task == "coverage":
        asked += ["--detector", "classifier"]
    for subject in (
        Subject(question="Any?", topic="Dams"),
        Subject(question="Should it stay?", topic="other"),
    ):
        about = {"learned": (WEIRS,), "watched": (WEIRS,), place: (WEIRS, subject)}
        soft_prompt(model, task, tuned_on=TunedOn(**about))
        told = contested.refused(*asked, "--dry-run")
        assert f"{task}.safetensors was tuned on topics that are measured ('dams'" in told
        assert "measure others, or tune a prompt on others" in told
        assert not Path("results").exists()


def test_what_cannot_be_scored_stops_or_is_counted(
    contested: Contested, model: list[object]
) -> None:
    write("empty.jsonl", EMPTY)
    given = [*RUN, "--data", "empty.jsonl", *model]
    told = contested(*given)
    assert told.code == 2
    assert "'organic/o2': the response has no content words" in told.err
    contested.done(*given, "--on-error", "skip")
    (row,) = table(Path("results"), "npov_failures")
    assert (row["example"], row["run"]) == ("organic/o2", "tiny")
