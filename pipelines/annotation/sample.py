"""The items of a run folder that people can label, a stratified sample of them, and the labels.

The sample is drawn once and stored in random order.
"""

import hashlib
import json
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from pipelines.data.released import sample as drawn
from pipelines.errors import InputError
from pipelines.experiment.experiment import Experiment, Labelled, Labelling
from pipelines.experiment.publish import Runs
from pipelines.files import hold, open_unfollowed, replace_text
from pipelines.runs.folder import ResultLog, RunFolder


class Label(BaseModel):
    """A person's label of an item; None withdraws the previous one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    label: str | None
    annotator: str
    time: datetime


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
    matching = narrowed(every, entry, kind)
    if len(matching) == 1:
        return matching[0]
    raise InputError(f"there are several kinds of labels; name one of: {_names(matching)}")


def narrowed(every: Sequence[Subject], entry: str | None, kind: str | None) -> list[Subject]:
    """The subjects with that entry and kind; InputError if none matches."""
    matching = [
        subject
        for subject in every
        if entry in (None, subject.entry) and kind in (None, subject.kind)
    ]
    if not matching:
        raise InputError(
            f"no run has such labels; name one of: {_names(every)}"
            if every
            else "no run here has labels that people can give too; name a run of "
            "conflictscore, conflict-detection, both-sides, report-writing or conflicts, or a "
            "salience study whose responses are written"
        )
    return matching


def _names(every: Sequence[Subject]) -> str:
    return ", ".join(f"--entry {subject.entry} --kind {subject.kind}" for subject in every)


def _items(labelling: Labelling[Any], results: Sequence[Any]) -> dict[str, Labelled]:
    return {
        json.dumps((result.id, *item.part), ensure_ascii=False): item
        for result in results
        for item in labelling.given(result)
    }


class Labels:
    """One person's labels of a sample, stored in the run folder.

    Raises:
        InputError: A line of the file is damaged, or belongs to another sample.
    """

    def __init__(self, subject: Subject, items: Collection[str], annotator: str) -> None:
        self.annotator = annotator
        self._log = ResultLog(subject.path / f"{annotator}.jsonl", Label)
        self.given: dict[str, str] = {}
        """Item -> label, in order of the last change."""
        drawn, known = {*items}, subject.labelling.labels
        for entry in self._log.read().values():
            if entry.id not in drawn or entry.label not in (None, *known):
                raise InputError(
                    f"{self._log.path} has the label '{entry.label}' of '{entry.id}', which does "
                    "not belong to this sample; remove the line"
                )
            if entry.label is not None:
                self.given[entry.id] = entry.label

    def give(self, item: str, label: str | None) -> None:
        """Store a label on disk."""
        self._log.append(
            Label(id=item, label=label, annotator=self.annotator, time=datetime.now(UTC))
        )
        self.given.pop(item, None)
        if label is not None:
            self.given[item] = label

    @contextmanager
    def held(self) -> Iterator[None]:
        """Remove a half-written last line, and lock the file against other processes."""
        path = self._log.path
        with open_unfollowed(path) as file:
            hold(file, f"{path} is open in another `contested annotate`; end that one first")
            self._log.mend()
            yield


def people(subject: Subject) -> list[str]:
    """Names of the people who labelled a sample."""
    return sorted(path.stem for path in subject.path.glob("*.jsonl"))


SIZE, BY, SEED = 100, "label", 0

UNREADABLE = "unreadable"
"""Stratum and table label of items without a judge's label."""

NAME = "sample.json"


class Stratum(BaseModel):
    """Number of items in a stratum, and how many were drawn, all with equal probability."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    items: int
    drawn: int


class Sample(BaseModel):
    """The items that people label.

    An item is drawn with probability `drawn / items` of its stratum.

    Attributes:
        size: The requested number of items.
        digest: Digest of the subject that it was drawn from.
        items: The drawn items, in display order.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    by: str
    size: int
    seed: int
    digest: str
    strata: dict[str, Stratum]
    items: tuple[str, ...]


def opened(subject: Subject, size: int | None, by: str | None, seed: int | None) -> Sample:
    """The folder's sample, or a new one that is stored there; None accepts any value.

    By default, the sample has all items if no judge labelled any.

    Raises:
        InputError: The folder has another sample, or one that is damaged or out of date; or the new
            one cannot be drawn.
    """
    kept = read(subject)
    if kept is None:
        usual = (SIZE, BY) if subject.judged else (len(subject.items), "none")
        made = draw(subject, size or usual[0], by or usual[1], SEED if seed is None else seed)
        replace_text(subject.path / NAME, made.model_dump_json(indent=1) + "\n")
        return made
    stored = {"--sample": kept.size, "--by": kept.by, "--seed": kept.seed}
    asked = zip((size, by, seed), stored.values(), strict=True)
    if any(value not in (None, known) for value, known in asked):
        options = " ".join(f"{name} {value}" for name, value in stored.items())
        raise InputError(
            f"{subject.path / NAME} has another sample ({options}); leave these options out to "
            f"resume it, or move {subject.path} away to draw a new one"
        )
    return kept


def read(subject: Subject) -> Sample | None:
    """The folder's sample; InputError if it is damaged or out of date."""
    path = subject.path / NAME
    if not path.exists():
        return None
    try:
        kept = Sample.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise InputError(
            f"{path} is damaged ({error.error_count()} problems); move {path.parent} away to draw "
            "a new sample"
        ) from error
    if kept.digest != subject.digest:
        raise InputError(
            f"{path} was drawn from other results than {subject.entry} has now, so its sampling "
            f"probabilities no longer hold; move {path.parent} away to draw a new sample"
        )
    return kept


def draw(subject: Subject, size: int, by: str, seed: int) -> Sample:
    """Draw equally many items from all strata; strata that are too small give all their items.

    Raises:
        InputError: The items lack `by`, or there are more strata than items to draw.
    """
    strata = strata_of(subject, by)
    numbers = evenly({name: len(items) for name, items in strata.items()}, size)
    if not all(numbers.values()):
        raise InputError(
            f"--by {by} makes {len(strata):,} strata, more than --sample {size}; raise --sample, "
            "or choose a coarser --by"
        )
    # A seed per stratum, so that their draws are independent.
    picked = [
        item
        for place, (name, items) in enumerate(strata.items())
        for item in drawn(items, numbers[name], seed + place)
    ]
    random.Random(seed).shuffle(picked)  # noqa: S311  the order reveals nothing about strata
    return Sample(
        by=by,
        size=size,
        seed=seed,
        digest=subject.digest,
        strata={
            name: Stratum(items=len(items), drawn=numbers[name]) for name, items in strata.items()
        },
        items=tuple(picked),
    )


def evenly(sizes: Mapping[str, int], total: int) -> dict[str, int]:
    """Number of items to draw from each stratum: equal numbers, as far as the strata allow.

    They sum to the total, or to the number of items if that is smaller; the remainder goes to the
    first strata.
    """
    numbers = dict.fromkeys(sizes, 0)
    left = min(total, sum(sizes.values()))
    while left:
        open_ = [name for name in sizes if numbers[name] < sizes[name]]
        for name in open_[:left]:
            numbers[name] += 1
        left -= min(left, len(open_))
    return numbers


def strata_of(subject: Subject, by: str) -> dict[str, list[str]]:
    """Stratum -> ids of its items, by name; InputError if the items lack `by`."""
    strata: dict[str, list[str]] = {}
    for name, item in subject.items.items():
        strata.setdefault(_stratum(item, by, subject), []).append(name)
    return dict(sorted(strata.items()))


def _stratum(item: Labelled, by: str, subject: Subject) -> str:
    if by == "none":
        return "all"
    if by == "label":
        return item.label or UNREADABLE
    if by not in item.groups:
        known = dict.fromkeys(name for other in subject.items.values() for name in other.groups)
        names = ", ".join(("label", *known, "none"))
        raise InputError(f"--by is '{by}'; for these labels it can be {names}")
    return item.groups[by]
