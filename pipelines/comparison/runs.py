"""Runs of two folders that belong together, and what differs in how they were made."""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from pipelines.errors import InputError
from pipelines.experiment.experiment import Experiment
from pipelines.prompts import shipped_digest
from pipelines.report.texts import one_line
from pipelines.runs.folder import Difference, RunFolder, differences, written


@dataclass(frozen=True, eq=False)
class Run:
    """A run of an experiment: its entry in `run.json`, and its results when they are asked for."""

    experiment: Experiment[Any, Any]
    folder: RunFolder
    name: str
    about: Mapping[str, Any]

    @property
    def called(self) -> str:
        """Its name within the experiment."""
        return self.name.removeprefix(self.experiment.name).removeprefix(".")

    @property
    def config(self) -> Mapping[str, Any]:
        """Everything that decided its results."""
        config: Mapping[str, Any] = self.about["config"]
        return config

    @cached_property
    def results(self) -> Mapping[str, Any]:
        """By the ids of examples; InputError if a line is damaged or of another version."""
        return self.folder.log(self.name, self.experiment.result).read()

    def clusters(self, ids: Iterable[str]) -> dict[str, Hashable] | None:
        """What each of these examples belongs to; None where each is independent of the others."""
        if (cluster := self.experiment.cluster) is None:
            return None
        clusters: dict[str, Hashable] = {name: cluster(self.results[name]) for name in ids}
        return clusters if len({*clusters.values()}) < len(clusters) else None


@dataclass(frozen=True)
class Match:
    """A run of the first folder, A, and the one of the second, B, that belongs to it."""

    first: Run
    second: Run

    @property
    def title(self) -> str:
        """The name of A's run, and B's within the experiment where it differs."""
        name, other = self.first.name, self.second
        return name if name == other.name else f"{name} / {other.called or other.name}"

    @cached_property
    def shared(self) -> list[str]:
        """Ids of the examples that both have, sorted: draws must not depend on their order."""
        return sorted(self.first.results.keys() & self.second.results.keys())

    @property
    def same_data(self) -> bool:
        """Whether both read a file of the same content."""
        one, other = (run.config.get("data") for run in (self.first, self.second))
        return bool(one and other and one.get("sha256") == other.get("sha256"))


Known = Mapping[str, Callable[[], Any]]
"""Name of an experiment -> what loads its declaration, called for those that a folder has."""


def runs_of(path: Path, known: Known) -> tuple[dict[str, Run], list[str]]:
    """The runs of a folder that have results, by name, and the names of unknown ones.

    Raises:
        InputError: The path is not a run folder, is damaged, has no results, or is being written.
    """
    folder = RunFolder(path)
    folder.refuse_missing()
    folder.refuse_locked()
    runs: dict[str, Run] = {}
    unknown = []
    for name, about in folder.about()["pipelines"].items():
        log = path / f"{name}.jsonl"
        if name.partition(".")[0] not in known:
            unknown.append(name)
        elif log.is_file() and log.stat().st_size:
            runs[name] = Run(known[name.partition(".")[0]](), folder, name, about)
    if not runs:
        raise InputError(f"{path} has no results yet; run it first, or name another folder")
    return runs, unknown


def matches(first: Mapping[str, Run], second: Mapping[str, Run]) -> list[Match]:
    """The runs that belong together: those of one name, or the only one of each experiment."""
    found = []
    for name, run in first.items():
        mates, others = (_like(run, runs) for runs in (first, second))
        if len(mates) == len(others) == 1:
            found.append(Match(run, next(iter(others.values()))))
        elif name in others:
            found.append(Match(run, others[name]))
    return found


def _like(run: Run, runs: Mapping[str, Run]) -> dict[str, Run]:
    """The runs of the same experiment."""
    return {
        name: other for name, other in runs.items() if other.experiment.name == run.experiment.name
    }


Kind = Literal["data", "model", "prompt", "setting", "program", "machine"]

KINDS: Final[Mapping[str, Kind]] = {
    "data": "data",
    "half": "data",
    "model": "model",
    "prompts": "prompt",
    "preset": "setting",
    "packages": "program",
    "python": "program",
    "profile": "machine",
    "hardware": "machine",
}
"""Parts of an entry in `run.json`; others are models, known by their engines, or settings."""

BESIDE: Final = ("preset", "packages", "python", "profile", "hardware")
"""Parts beside an entry's configuration that may explain a difference; not times or costs."""

SHOWN: Final = 60
"""Characters of a value."""

DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class Change(NamedTuple):
    """Something that differs in how two runs were made, as A and as B have it."""

    match: Match
    kind: Kind
    what: str
    first: str
    second: str


def changes(match: Match) -> list[Change]:
    """What differs between two runs, in the order of `KINDS`."""
    one, two = match.first, match.second
    beside, also = ({name: run.about.get(name) for name in BESIDE} for run in (one, two))
    differ = [*differences(one.config, two.config), *differences(beside, also)]
    if len(one.results) != len(two.results):
        differ.insert(0, Difference("data.examples", len(one.results), len(two.results)))
    # A judge's identity repeats in one line what other differences say.
    made = [_change(match, each) for each in differ if not each.name.endswith(".identity")]
    order = list(dict.fromkeys(KINDS.values()))
    return sorted(made, key=lambda change: order.index(change.kind))


def _change(match: Match, difference: Difference) -> Change:
    part, _, rest = difference.name.partition(".")
    models = (run.config.get(part) for run in (match.first, match.second))
    is_model = any(isinstance(model, dict) and "engine" in model for model in models)
    kind = KINDS.get(part, "model" if is_model else "setting")
    what = rest if kind == "prompt" else difference.name.removeprefix("packages.")
    values = (_told(value, kind, rest) for value in (difference.there, difference.now))
    return Change(match, kind, what, *values)


def _told(value: Any, kind: Kind, name: str) -> str:
    if isinstance(value, dict) and "engine" in value:  # a model that only one run has
        return f"{value['name']} ({str(value['digest'])[:12]})"
    if not isinstance(value, str):
        return one_line(written(value), SHOWN)
    if DIGEST.fullmatch(value):
        shipped = kind == "prompt" and value == shipped_digest(name)
        return f"{value[:12]} (as shipped)" if shipped else value[:12]
    return one_line(value, SHOWN)


def left_alone(
    found: Sequence[Match], runs: Mapping[str, Mapping[str, Run]], unknown: Mapping[str, list[str]]
) -> list[str]:
    """Runs that are not compared, and why, in a line each; `runs` and `unknown` by A and B."""
    used = {"A": {match.first.name for match in found}, "B": {match.second.name for match in found}}
    lines: list[str] = []
    for letter, other in (("A", "B"), ("B", "A")):
        for name in runs[letter]:
            if name not in used[letter]:
                lines.append(f"{name} of {letter} has no counterpart in {other}")
        lines += (f"{name} of {letter} is not known to this version" for name in unknown[letter])
    return lines
