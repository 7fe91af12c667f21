"""What in a run folder people can label."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pipelines.errors import InputError
from pipelines.experiment.experiment import Experiment
from pipelines.experiment.labelled import Labelled, Labelling
from pipelines.experiment.publish import Runs
from pipelines.runs.folder import RunFolder

FOLDER = "annotations"


@dataclass(frozen=True)
class Unit:
    """What a sample draws at once: an item by itself, or all that are parts of one whole.

    Attributes:
        result: The id of the result that it belongs to.
        items: Ids of items, in the order of the data.
        label: The judge's label, or what its labels of the whole come to; None where there is none.
        confidence: In the label that is the least sure, in [0, 1]; None where one gives none.
        groups: What it belongs to.
    """

    result: str
    items: tuple[str, ...]
    label: str | None
    confidence: float | None
    groups: Mapping[str, str]


@dataclass(frozen=True)
class Subject:
    """What a judge labelled in one entry of `run.json`, of one kind.

    Attributes:
        folder: The run.
        entry: "conflict-detection.tagger".
        kind: "relation".
        items: Everything that has a label, or should have one, by ids, in the order of the data.
    """

    folder: RunFolder
    entry: str
    kind: str
    labelling: Labelling[Any]
    items: Mapping[str, Labelled]

    @property
    def path(self) -> Path:
        """Where its sample and people's labels are kept."""
        return self.folder.path / FOLDER / f"{self.entry}.{self.kind}"

    def units(self, whole: bool) -> dict[str, Unit]:
        """What can be drawn, by ids: every item, or every whole.

        Raises:
            InputError: Items are parts of nothing.
        """
        wholes = self.labelling.wholes
        if not whole:
            return {item: self._unit((item,), each.label) for item, each in self.items.items()}
        if wholes is None:
            raise InputError(f"--whole-claims: {self.labelling.counted} belong to no claims")
        parts: dict[str, list[str]] = {}
        for item, each in self.items.items():
            parts.setdefault(_id(_result(item), each.whole), []).append(item)
        return {
            name: self._unit(tuple(own), wholes.verdict([self.items[item].label for item in own]))
            for name, own in parts.items()
        }

    def _unit(self, items: tuple[str, ...], label: str | None) -> Unit:
        parts = [self.items[item] for item in items]
        sure = [p for each in parts if (p := each.confidence) is not None]
        confidence = min(sure) if len(sure) == len(parts) else None
        return Unit(_result(items[0]), items, label, confidence, parts[0].groups)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of what there is to label, and how the judge labelled it."""
        labels = [(name, each.label, each.confidence) for name, each in self.items.items()]
        return hashlib.sha256(json.dumps(labels).encode()).hexdigest()


def subjects(
    folder: RunFolder, found: Sequence[tuple[Experiment[Any, Any], Runs[Any]]]
) -> list[Subject]:
    """All that people can label in a folder, from its runs."""
    return [
        Subject(folder, runs.entry_name(run), kind, labelling, items)
        for experiment, runs in found
        for kind, labelling in experiment.labellings.items()
        for run, results in runs.results.items()
        if (items := _items(labelling, results))
    ]


def chosen(every: Sequence[Subject], entry: str | None, kind: str | None) -> Subject:
    """The one of that entry and kind; InputError unless it is exactly one."""
    found = narrowed(every, entry, kind)
    if len(found) == 1:
        return found[0]
    raise InputError(f"there are several kinds of labels; name one of: {_names(found)}")


def narrowed(every: Sequence[Subject], entry: str | None, kind: str | None) -> list[Subject]:
    """Those of that entry and kind; InputError where there is none."""
    found = [each for each in every if entry in (None, each.entry) and kind in (None, each.kind)]
    if not found:
        raise InputError(
            f"there are no such labels; name one of: {_names(every)}"
            if every
            else "there is nothing that a judge labelled and people can label; name a run of "
            "conflictscore, conflict-detection, both-sides, report-writing or conflicts"
        )
    return found


def _names(every: Sequence[Subject]) -> str:
    return ", ".join(f"--entry {each.entry} --kind {each.kind}" for each in every)


def _items(labelling: Labelling[Any], results: Sequence[Any]) -> dict[str, Labelled]:
    return {
        _id(result.id, *each.part): each for result in results for each in labelling.given(result)
    }


def _id(*parts: str | int | None) -> str:
    return json.dumps(parts, ensure_ascii=False)


def _result(item: str) -> str:
    """The id of the result that an item is of."""
    return str(json.loads(item)[0])
