"""The items of a run folder that people can label."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pipelines.errors import InputError
from pipelines.experiment.experiment import Experiment, Labelled, Labelling
from pipelines.experiment.publish import Runs
from pipelines.runs.folder import RunFolder

FOLDER = "annotations"


@dataclass(frozen=True)
class Subject:
    """Items of one kind that people can label in one entry of `run.json`.

    Attributes:
        folder: The run.
        entry: "conflict-detection.tagger".
        kind: "relation".
        items: All items that have, or should have, a label, by id, in data order.
    """

    folder: RunFolder
    entry: str
    kind: str
    labelling: Labelling[Any]
    items: Mapping[str, Labelled]

    @property
    def path(self) -> Path:
        """Folder of the sample and of people's labels."""
        return self.folder.path / FOLDER / f"{self.entry}.{self.kind}"

    @property
    def judged(self) -> bool:
        """Whether a judge labelled any of them."""
        return any(item.label is not None for item in self.items.values())

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the items and the judge's labels."""
        labels = [(name, item.label, item.confidence) for name, item in self.items.items()]
        return hashlib.sha256(json.dumps(labels).encode()).hexdigest()


def subjects(
    folder: RunFolder, found: Sequence[tuple[Experiment[Any, Any], Runs[Any]]]
) -> list[Subject]:
    """All kinds of labels in a folder that people can also give."""
    return [
        Subject(folder, runs.entry_name(run), kind, labelling, items)
        for experiment, runs in found
        for kind, labelling in experiment.labellings.items()
        for run, results in runs.results.items()
        if (items := _items(labelling, results))
    ]


def chosen(every: Sequence[Subject], entry: str | None, kind: str | None) -> Subject:
    """The subject with that entry and kind; InputError unless exactly one matches."""
    found = narrowed(every, entry, kind)
    if len(found) == 1:
        return found[0]
    raise InputError(f"there are several kinds of labels; name one of: {_names(found)}")


def narrowed(every: Sequence[Subject], entry: str | None, kind: str | None) -> list[Subject]:
    """The subjects with that entry and kind; InputError if none matches."""
    found = [each for each in every if entry in (None, each.entry) and kind in (None, each.kind)]
    if not found:
        raise InputError(
            f"no run has such labels; name one of: {_names(every)}"
            if every
            else "no run here has labels that people can give, too; name a run of "
            "conflictscore, conflict-detection, both-sides, report-writing or conflicts, or a "
            "salience study whose responses are written"
        )
    return found


def _names(every: Sequence[Subject]) -> str:
    return ", ".join(f"--entry {each.entry} --kind {each.kind}" for each in every)


def _items(labelling: Labelling[Any], results: Sequence[Any]) -> dict[str, Labelled]:
    return {
        json.dumps((result.id, *item.part), ensure_ascii=False): item
        for result in results
        for item in labelling.given(result)
    }
