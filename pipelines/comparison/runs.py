"""Run folders to be compared, and which of their runs belong together."""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Final

from pipelines.errors import InputError
from pipelines.experiment.experiment import Experiment
from pipelines.report.table import Column
from pipelines.runs.folder import RunFolder

REPEAT: Final = re.compile(r"\.repeat-\d+$")
"""The end of a run's name where it is another draw of a run: the first alone is compared."""


@dataclass(frozen=True, eq=False)
class Run:
    """A run of an experiment: its entry in `run.json`, and its results when they are asked for."""

    experiment: Experiment[Any, Any]
    folder: RunFolder
    name: str
    about: Mapping[str, Any]

    @property
    def called(self) -> str:
        """What it is called within its experiment."""
        return self.name.removeprefix(self.experiment.name).removeprefix(".")

    @property
    def config(self) -> Mapping[str, Any]:
        """Everything that decided its results."""
        found: Mapping[str, Any] = self.about["config"]
        return found

    @cached_property
    def results(self) -> Mapping[str, Any]:
        """By the ids of examples; InputError if a line is damaged or of another version."""
        return self.folder.log(self.name, self.experiment.result).read()

    @property
    def failed(self) -> int:
        """Examples that could not be done at all."""
        return sum(each.status == "failed" for each in self.results.values())

    def verdict_on(self, example: str) -> str:
        """The verdict on an example, by its id; see `Experiment.verdict_on`."""
        return self.experiment.verdict_on(self.results[example])

    def clusters(self, ids: Iterable[str]) -> dict[str, Hashable] | None:
        """What each of these examples belongs to; None where each is independent of the others."""
        if (of := self.experiment.cluster) is None:
            return None
        found: dict[str, Hashable] = {name: of(self.results[name]) for name in ids}
        return found if len({*found.values()}) < len(found) else None


@dataclass(frozen=True)
class Side:
    """A folder under its letter: A is what others are compared with."""

    letter: str
    folder: RunFolder
    runs: Mapping[str, Run]
    unknown: Sequence[str] = ()

    @property
    def path(self) -> Path:
        """Where it is."""
        return self.folder.path


@dataclass(frozen=True)
class Match:
    """A run of A, and the one of the folder of this letter that belongs to it."""

    first: Run
    second: Run
    letter: str

    @property
    def title(self) -> str:
        """Its name; where that of the other differs, what that is called within the experiment."""
        one, other = self.first, self.second
        return one.name if one.name == other.name else f"{one.name} / {other.called or other.name}"

    @cached_property
    def shared(self) -> list[str]:
        """Ids of the examples that both have, by name: what is drawn must not hang on an order."""
        return sorted(self.first.results.keys() & self.second.results.keys())

    @property
    def same_data(self) -> bool:
        """Whether both read a file of the same content."""
        one, other = (run.config.get("data") for run in (self.first, self.second))
        return bool(one and other and one.get("sha256") == other.get("sha256"))


RUN: Final = Column[Any]("run", "Run", lambda own: own.match.title)
FOLDER: Final = Column[Any]("folder", "Folder", lambda own: own.match.letter)
"""Of whatever belongs to a match: its name, and the folder that is compared with A."""


def placed(*, several: bool) -> list[Column[Any]]:
    """The columns that say what a row is of; the folder where several are compared with A."""
    return [FOLDER, RUN] if several else [RUN]


def other(*, several: bool) -> str:
    """What a column calls the folder that is compared with A."""
    return "Other" if several else "B"


def opened(paths: Sequence[Path], known: Mapping[str, Callable[[], Any]]) -> list[Side]:
    """The folders in order.

    Args:
        paths: Two or more.
        known: Name of an experiment -> what loads its declaration, called for those that are there.

    Raises:
        InputError: A path is no run folder, is damaged, has no results, is written at the moment,
            or is named twice.
    """
    if len(paths) < 2:
        raise InputError("one folder alone has nothing to be compared with; name two or more")
    if len(paths) > len(ascii_uppercase):
        raise InputError(f"name {len(ascii_uppercase)} folders at most")
    if len({path.resolve() for path in paths}) < len(paths):
        raise InputError("a folder is named twice; name each once")
    return [_side(*each, known) for each in zip(ascii_uppercase, paths, strict=False)]


def _side(letter: str, path: Path, known: Mapping[str, Callable[[], Any]]) -> Side:
    folder = RunFolder(path)
    folder.refuse_missing()
    folder.refuse_locked()
    runs: dict[str, Run] = {}
    unknown = []
    for name, about in folder.about()["pipelines"].items():
        if name.partition(".")[0] not in known:
            unknown.append(name)
        elif _has_results(path / f"{name}.jsonl"):
            runs[name] = Run(known[name.partition(".")[0]](), folder, name, about)
    if not runs:
        raise InputError(f"{path} has no results yet; run it first, or name another folder")
    return Side(letter, folder, runs, unknown)


def _has_results(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0


def matches(first: Side, other: Side) -> list[Match]:
    """The runs that belong together: those of one name, else the only one of each experiment."""
    return [
        Match(one, another, other.letter)
        for name in dict.fromkeys(run.experiment.name for run in first.runs.values())
        for one, another in _of_experiment(_compared(first, name), _compared(other, name))
    ]


def _compared(side: Side, experiment: str) -> dict[str, Run]:
    """A folder's runs of an experiment but for repeats."""
    return {
        name: run
        for name, run in side.runs.items()
        if run.experiment.name == experiment and not REPEAT.search(name)
    }


def _of_experiment(ones: Mapping[str, Run], others: Mapping[str, Run]) -> Iterator[tuple[Run, Run]]:
    if len(ones) == len(others) == 1:
        yield from zip(ones.values(), others.values(), strict=True)
    else:
        yield from ((run, others[name]) for name, run in ones.items() if name in others)


def left_alone(first: Side, other: Side, found: Sequence[Match]) -> list[str]:
    """Runs of both folders that are not compared, and why, in a line each."""
    lines: list[str] = []
    ones, others = {each.first.name for each in found}, {each.second.name for each in found}
    for side, opposite, used in ((first, other, ones), (other, first, others)):
        for name in side.runs:
            if REPEAT.search(name):
                lines.append(f"{name} of {side.letter} is a repeat of another run")
            elif name not in used:
                lines.append(f"{name} of {side.letter} has no counterpart in {opposite.letter}")
        lines += (f"{name} of {side.letter} is not known to this version" for name in side.unknown)
    return lines
