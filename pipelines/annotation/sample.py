"""A stratified sample of items or of whole claims, drawn once and kept, in random order."""

import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime

from pydantic import BaseModel, ConfigDict, ValidationError

from pipelines.annotation.subject import Subject, Unit
from pipelines.data.sampling import sample as drawn
from pipelines.errors import InputError
from pipelines.files import hold, open_unfollowed, replace_text
from pipelines.runs.folder import ResultLog


class Label(BaseModel):
    """A label that a person gave an item; None takes the last one back."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    label: str | None
    annotator: str
    time: datetime


class Labels:
    """One person's labels of a sample, kept in the run folder.

    Raises:
        InputError: A line of the file is damaged, or of another sample.
    """

    def __init__(self, subject: Subject, items: Collection[str], annotator: str) -> None:
        self.annotator = annotator
        self._log = ResultLog(subject.path / f"{annotator}.jsonl", Label)
        self.given: dict[str, str] = {}
        """Item -> label, in the order of the last change."""
        drawn, known = {*items}, subject.labelling.labels
        for each in self._log.read().values():
            if each.id not in drawn or each.label not in (None, *known):
                raise InputError(
                    f"{self._log.path} has the label '{each.label}' of '{each.id}', which is not "
                    "of this sample; remove the line"
                )
            if each.label is not None:
                self.given[each.id] = each.label

    def give(self, item: str, label: str | None) -> None:
        """Keep a label for good."""
        self._log.append(
            Label(id=item, label=label, annotator=self.annotator, time=datetime.now(UTC))
        )
        self.given.pop(item, None)
        if label is not None:
            self.given[item] = label

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other processes from writing the file, once a half-written line is cut off."""
        path = self._log.path
        with open_unfollowed(path) as file:
            hold(file, f"{path} is open in another `contested annotate`; end that one first")
            self._log.mend()
            yield


def people(subject: Subject) -> list[str]:
    """Who has labels of a sample, by name."""
    return sorted(path.stem for path in subject.path.glob("*.jsonl"))


SIZE, WHOLE_SIZE, BY, SEED = 100, 30, "label", 0

UNREADABLE = "unreadable"
"""The stratum, and the label in tables, of what the judge did not label."""

_STEPS = (0.5, 0.7, 0.9)
"""Confidences at which strata end."""

NAME = "sample.json"


class Stratum(BaseModel):
    """How many units a stratum has (`items`), and how many were drawn, each with equal chance."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    items: int
    drawn: int


class Sample(BaseModel):
    """What people label.

    A unit's chance to be drawn is `drawn / items` of its stratum.

    Attributes:
        whole: Whether a unit is a whole claim with all its documents, rather than an item.
        size: How many units were asked for.
        digest: Of what it was drawn from.
        items: Those of the units that were drawn, in the order shown.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    by: str
    whole: bool = False
    size: int
    seed: int
    digest: str
    strata: dict[str, Stratum]
    items: tuple[str, ...]


def opened(
    subject: Subject,
    size: int | None,
    by: str | None,
    seed: int | None,
    *,
    whole: bool = False,
) -> Sample:
    """The sample that the folder has, else a new one, kept there; None takes what there is.

    Raises:
        InputError: The folder has another sample, or one that is damaged or out of date; or none
            can be drawn so.
    """
    kept = read(subject)
    if kept is None:
        size = size or (WHOLE_SIZE if whole else SIZE)
        made = draw(subject, size, by or BY, SEED if seed is None else seed, whole=whole)
        replace_text(subject.path / NAME, made.model_dump_json(indent=1) + "\n")
        return made
    asked = {"--sample": size, "--by": by, "--seed": seed}
    there = {"--sample": kept.size, "--by": kept.by, "--seed": kept.seed}
    changed = any(value not in (None, there[name]) for name, value in asked.items())
    if changed or (whole and not kept.whole):
        told = " ".join(f"{name} {value}" for name, value in there.items())
        told += " --whole-claims" if kept.whole else ""
        raise InputError(
            f"{subject.path / NAME} has another sample ({told}); leave these options out to "
            "resume it, or move that folder away to draw anew"
        )
    return kept


def read(subject: Subject) -> Sample | None:
    """The sample that a folder has; InputError if it is damaged or out of date."""
    path = subject.path / NAME
    if not path.exists():
        return None
    try:
        kept = Sample.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise InputError(
            f"{path} is damaged ({error.error_count()} problems); move {path.parent} away to draw "
            "anew"
        ) from error
    if kept.digest != subject.digest:
        raise InputError(
            f"{path} was drawn from other results than {subject.entry} has now, so its chances "
            f"no longer hold; move {path.parent} away to draw anew"
        )
    return kept


def draw(subject: Subject, size: int, by: str, seed: int, *, whole: bool = False) -> Sample:
    """Draw a sample: as many of each stratum as can be, and all of them where it has fewer.

    Raises:
        InputError: There is no such stratum, or there are more of them than units to draw; or
            whole claims are wanted of what has none.
    """
    units = subject.units(whole)
    strata = strata_of(units, by)
    numbers = evenly({name: len(own) for name, own in strata.items()}, size)
    if not all(numbers.values()):
        raise InputError(
            f"--by {by} makes {len(strata):,} strata, more than --sample {size}; raise it, or "
            "draw --by something coarser"
        )
    # A seed for each stratum, so that their draws are independent.
    picked = [
        unit
        for place, (name, own) in enumerate(strata.items())
        for unit in drawn(own, numbers[name], seed + place)
    ]
    random.Random(seed).shuffle(picked)  # noqa: S311  the order tells nothing of strata
    return Sample(
        by=by,
        whole=whole,
        size=size,
        seed=seed,
        digest=subject.digest,
        strata={name: Stratum(items=len(own), drawn=numbers[name]) for name, own in strata.items()},
        items=tuple(item for unit in picked for item in units[unit].items),
    )


def evenly(sizes: Mapping[str, int], total: int) -> dict[str, int]:
    """How many to draw of each stratum: equal numbers, as far as each has so many.

    They sum to the total, or to all there are; what does not go round goes to the first.
    """
    numbers = dict.fromkeys(sizes, 0)
    left = min(total, sum(sizes.values()))
    while left:
        open_ = [name for name in sizes if numbers[name] < sizes[name]]
        for name in open_[:left]:
            numbers[name] += 1
        left -= min(left, len(open_))
    return numbers


def strata_of(units: Mapping[str, Unit], by: str) -> dict[str, list[str]]:
    """The ids of each stratum, strata by name; InputError where units know no such `by`."""
    found: dict[str, list[str]] = {}
    for name, each in units.items():
        found.setdefault(_stratum(each, by, units.values()), []).append(name)
    return dict(sorted(found.items()))


def _stratum(unit: Unit, by: str, every: Iterable[Unit]) -> str:
    if by == "none":
        return "all"
    if by == "label":
        return unit.label or UNREADABLE
    if by == "confidence":
        return confidence_band(unit.confidence)
    if by not in unit.groups:
        known = Counter(name for each in every for name in each.groups)
        names = ", ".join(("label", "confidence", *known, "none"))
        raise InputError(f"--by {by}: these labels can be drawn by {names}")
    return unit.groups[by]


def confidence_band(confidence: float | None) -> str:
    """Where a confidence in [0, 1] lies: "0.5 to 0.7"."""
    if confidence is None:
        return "no probability"
    ends = (0.0, *_STEPS, 1.0)
    place = sum(confidence >= step for step in _STEPS)
    return f"{ends[place]:g} to {ends[place + 1]:g}"
