"""The soft prompts that a run is made with: opened, refused, and told of."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from pipelines.files import read_bytes
from pipelines.npov.example import NpovExample
from pipelines.npov.soft_prompt import SoftPrompt, Task
from pipelines.npov.tuned_on import Subject, refuse_shared

Files = Mapping[Task, Path | None]
"""What a soft prompt is given for -> its file; None where the model is taken as it is."""


def opened(files: Files, measured: Iterable[NpovExample]) -> dict[Task, SoftPrompt]:
    """The soft prompts that are given, tuned for what they are given for, and on other topics.

    A table cannot tell how much of an area is what a prompt remembers. So it is refused, and not
    marked, to measure on topics that it learned from or was chosen by.

    Raises:
        InputError: A file is no such soft prompt, or was tuned on a topic that is measured.
    """
    subjects = [Subject(question=each.question, topic=each.topic) for each in measured]
    found = {}
    for task, path in files.items():
        if path is not None:
            found[task] = SoftPrompt.load(path)
            found[task].check(task)
            refuse_shared(found[task].tuned_on, subjects, path)
    return found


def untold(files: Files, prompts: Mapping[Task, SoftPrompt]) -> list[str]:
    """What to say of prompts of which nobody knows what they were tuned on."""
    return [
        f"{files[task]} does not tell its topics (it was tuned before files did), so nobody has "
        "checked that these are others"
        for task, prompt in prompts.items()
        if prompt.tuned_on is None
    ]


def described(files: Files, prompts: Mapping[Task, SoftPrompt]) -> dict[str, Any]:
    """What `run.json` has of them: digests, and what they were tuned on where that is known."""
    found: dict[str, Any] = {
        "prompts": {
            task: None if path is None else sha256(read_bytes(path)).hexdigest()
            for task, path in files.items()
        }
    }
    if told := {task: each.tuned_on.told for task, each in prompts.items() if each.tuned_on}:
        found["tuned_on"] = told
    return found


def notes(run: str, config: Mapping[str, Any]) -> Iterator[str]:
    """A run's soft prompts, from its configuration, in a sentence each under every table."""
    for task, digest in config.get("prompts", {}).items():
        if digest is not None:
            known = config.get("tuned_on", {}).get(task, "examples that its file does not tell")
            yield f"{run}: soft prompt for {task} (sha256 {digest[:12]}), tuned on {known}."


def named(config: Mapping[str, Any]) -> Sequence[str]:
    """The beginnings of their digests."""
    return [digest[:12] for digest in config.get("prompts", {}).values() if digest]
