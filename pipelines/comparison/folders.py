"""Compare two run folders: differences in their settings, scores and verdicts."""

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from pipelines import papers
from pipelines.errors import InputError
from pipelines.experiment.experiment import Experiment
from pipelines.experiment.metric import Named, Values, named
from pipelines.metrics.estimate import Estimate, mean, share
from pipelines.prompts import shipped_digest
from pipelines.report.compare import Comparison, bonferroni, compare
from pipelines.report.table import Column, Measure, Table, records
from pipelines.report.texts import one_line
from pipelines.runs.folder import Difference, RunFolder, differences, written


@dataclass(frozen=True, eq=False)
class Run:
    """A run of an experiment: its entry in `run.json`, and its results, loaded on demand."""

    experiment: Experiment[Any, Any]
    folder: RunFolder
    name: str
    about: Mapping[str, Any]

    @property
    def called(self) -> str:
        """The run's name within the experiment."""
        return self.name.removeprefix(self.experiment.name).removeprefix(".")

    @property
    def config(self) -> Mapping[str, Any]:
        """Everything that determined the results."""
        config: Mapping[str, Any] = self.about["config"]
        return config

    @cached_property
    def results(self) -> Mapping[str, Any]:
        """Results by example id; InputError if a line is damaged or from another version."""
        return self.folder.log(self.name, self.experiment.result).read()

    def clusters(self, ids: Iterable[str]) -> dict[str, Hashable] | None:
        """The cluster of each of these examples; None if examples are independent."""
        if (cluster := self.experiment.cluster) is None:
            return None
        clusters: dict[str, Hashable] = {name: cluster(self.results[name]) for name in ids}
        return clusters if len({*clusters.values()}) < len(clusters) else None


@dataclass(frozen=True)
class Match:
    """A run of the first folder, A, and the matching run of the second, B."""

    first: Run
    second: Run

    @property
    def title(self) -> str:
        """The name of A's run, with B's name within the experiment if it differs."""
        name, other = self.first.name, self.second
        return name if name == other.name else f"{name} / {other.called or other.name}"

    @cached_property
    def shared(self) -> list[str]:
        """Ids of the examples in both runs, sorted: random draws must not depend on their order."""
        return sorted(self.first.results.keys() & self.second.results.keys())

    @property
    def same_data(self) -> bool:
        """Whether both runs read files with the same content."""
        one, other = (run.config.get("data") for run in (self.first, self.second))
        return bool(one and other and one.get("sha256") == other.get("sha256"))


def runs_of(path: Path) -> tuple[dict[str, Run], list[str]]:
    """The runs of a folder that have results, by name, and the names of unknown runs.

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
        experiment = name.partition(".")[0]
        if experiment not in papers.EXPERIMENTS:
            unknown.append(name)
        elif log.is_file() and log.stat().st_size:
            runs[name] = Run(papers.experiment(experiment), folder, name, about)
    if not runs:
        raise InputError(f"{path} has no results yet; run it first, or name another folder")
    return runs, unknown


def matches(first: Mapping[str, Run], second: Mapping[str, Run]) -> list[Match]:
    """Matching runs: equal names, or the only runs of an experiment on both sides."""
    matched = []
    for name, run in first.items():
        mates, others = (_like(run, runs) for runs in (first, second))
        if len(mates) == len(others) == 1:
            matched.append(Match(run, next(iter(others.values()))))
        elif name in others:
            matched.append(Match(run, others[name]))
    return matched


def _like(run: Run, runs: Mapping[str, Run]) -> dict[str, Run]:
    """The runs of the same experiment."""
    return {
        name: other for name, other in runs.items() if other.experiment.name == run.experiment.name
    }


BESIDE: Final = ("preset", "packages", "python", "profile", "hardware")
"""Other parts of an entry that may explain a difference; times and costs are left out."""

SHOWN: Final = 60
"""Maximum characters shown of a value."""

DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class Change(NamedTuple):
    """One difference in the settings of two runs, with the values of A and B.

    `part` and `what` say where it is in `run.json`: the part of the entry, and the path within it.
    """

    match: Match
    part: str
    what: str
    first: str
    second: str


def changes(match: Match) -> list[Change]:
    """The differences between two runs: the number of examples, then settings, then other parts."""
    one, two = match.first, match.second
    beside, also = ({name: run.about.get(name) for name in BESIDE} for run in (one, two))
    differ = [*differences(one.config, two.config), *differences(beside, also)]
    if len(one.results) != len(two.results):
        differ.insert(0, Difference("data.examples", len(one.results), len(two.results)))
    # A judge's identity only summarises other differences.
    return [
        _change(match, difference)
        for difference in differ
        if not difference.name.endswith(".identity")
    ]


def _change(match: Match, difference: Difference) -> Change:
    part, _, what = difference.name.partition(".")
    values = (_told(value, what) for value in (difference.there, difference.now))
    return Change(match, part, what, *values)


def _told(value: Any, name: str) -> str:
    if isinstance(value, dict) and "engine" in value:  # a model that only one run has
        return f"{value['name']} ({str(value['digest'])[:12]})"
    if not isinstance(value, str):
        return one_line(written(value), SHOWN)
    if DIGEST.fullmatch(value):
        return f"{value[:12]}{' (as shipped)' if value == shipped_digest(name) else ''}"
    return one_line(value, SHOWN)


def left_alone(
    found: Sequence[Match], runs: Mapping[str, Mapping[str, Run]], unknown: Mapping[str, list[str]]
) -> list[str]:
    """Unmatched runs with the reason, one line each; `runs` and `unknown` have keys "A", "B"."""
    used = {"A": {match.first.name for match in found}, "B": {match.second.name for match in found}}
    lines: list[str] = []
    for letter, other in (("A", "B"), ("B", "A")):
        for name in runs[letter]:
            if name not in used[letter]:
                lines.append(f"{name} of {letter} has no counterpart in {other}")
        lines += (f"{name} of {letter} is not known to this version" for name in unknown[letter])
    return lines


SCORES: Final = "scores"
"""Name of the table of scores."""

RUN: Final = Column[Any]("run", "Run", lambda item: item.match.title)


@dataclass(frozen=True)
class ScorePair:
    """A score of two matching runs."""

    match: Match
    name: str
    score: Named
    first: Values
    second: Values

    @cached_property
    def clusters(self) -> dict[str, Hashable] | None:
        """Clusters of the examples with a value in both runs; None if they are independent."""
        return self.match.first.clusters([name for name in self.second if name in self.first])

    @cached_property
    def comparison(self) -> Comparison:
        """B minus A, over the examples with a value in both."""
        low, high = self.score.metric.bounds
        return compare(
            self.second,
            self.first,
            "sign flips" if self.clusters else self.score.metric.test,
            bounds=(low - high, high - low),
            clusters=self.clusters,
        )

    @property
    def tested(self) -> str:
        """The test behind p."""
        return "sign flips by cluster" if self.clusters else self.score.metric.test

    def mean_of(self, run: Run) -> Estimate | None:
        """Mean over a run's examples with a value; for values of 0 and 1, their share."""
        values = self.first if run is self.match.first else self.second
        return self.score.metric.estimate(values, run.clusters(values))


class Flip(NamedTuple):
    """An example whose verdict differs between A and B."""

    match: Match
    example: str
    first: str
    second: str


@dataclass(frozen=True)
class VerdictPair:
    """The verdicts of two matching runs, on the examples in both."""

    match: Match

    @cached_property
    def verdicts(self) -> dict[str, tuple[str, str]]:
        """Example -> the verdicts of A and B."""
        verdict_on = self.match.first.experiment.verdict_on
        first, second = self.match.first.results, self.match.second.results
        return {
            name: (verdict_on(first[name]), verdict_on(second[name])) for name in self.match.shared
        }

    @property
    def flips(self) -> list[Flip]:
        """The examples whose verdict changed."""
        return [
            Flip(self.match, name, one, two)
            for name, (one, two) in self.verdicts.items()
            if one != two
        ]

    @property
    def share(self) -> Estimate | None:
        """Share of examples whose verdict changed; clustered if examples share a question."""
        changed = [one != two for one, two in self.verdicts.values()]
        clusters = self.match.first.clusters(self.verdicts)
        if clusters is None:
            return share(changed)
        return mean(changed, [*clusters.values()], bounds=(0, 1))


@dataclass(frozen=True)
class FolderComparison:
    """Two folders, their matching runs, and in `alone` the other runs with the reasons."""

    first: Path
    second: Path
    matches: Sequence[Match]
    alone: Sequence[str] = ()

    @cached_property
    def changes(self) -> list[Change]:
        """Differences in the settings of the runs."""
        return [change for match in self.matches for change in changes(match)]

    @cached_property
    def scores(self) -> list[ScorePair]:
        """Every declared score for which at least one run has a value."""
        pairs = (pair for match in self.matches for pair in _score_pairs(match))
        return [pair for pair in pairs if pair.first or pair.second]

    @cached_property
    def verdicts(self) -> list[VerdictPair]:
        """Verdict pairs of the experiments that give verdicts."""
        return [VerdictPair(match) for match in self.matches if match.first.experiment.verdict]

    def tables(self) -> list[Table]:
        """Tables of settings, scores, verdicts, and examples whose verdict changed."""
        return [
            changes_table(self.changes),
            score_table(self.scores),
            share_table(self.verdicts),
            flip_table(self.verdicts),
        ]

    def as_json(self) -> dict[str, Any]:
        """Everything as one object: folders by letter, table rows by table name."""
        return {
            "folders": {"A": str(self.first), "B": str(self.second)},
            "not_compared": list(self.alone),
            **{table.name: records(table) for table in self.tables()},
        }


def compare_folders(first: Path, second: Path) -> FolderComparison:
    """Compare two folders; nothing is written, and no model is needed.

    Raises:
        InputError: A folder cannot be read, both are the same, or they have no run in common.
    """
    if first.resolve() == second.resolve():
        raise InputError("both folders are the same; name two different ones")
    (runs, unknown), (others, also_unknown) = map(runs_of, (first, second))
    matched = matches(runs, others)
    if not matched:
        raise InputError(
            f"{first} ({', '.join(runs)}) and {second} ({', '.join(others)}) have no run in "
            "common; name two folders with runs of the same experiment"
        )
    alone = left_alone(matched, {"A": runs, "B": others}, {"A": unknown, "B": also_unknown})
    return FolderComparison(first, second, matched, alone)


def _score_pairs(match: Match) -> Iterator[ScorePair]:
    first, second = ([*run.results.values()] for run in (match.first, match.second))
    for name, score in named(match.first.experiment.metrics).items():
        yield ScorePair(match, name, score, score.values(first), score.values(second))


def changes_table(found: Sequence[Change]) -> Table:
    """Differences in the settings of the runs, one per row."""
    return Table.of(
        found,
        name="differences",
        title="What differs",
        caption="Differences in the configuration of matching runs.",
        columns=[
            RUN,
            Column("part", "Part"),
            Column("what", "What"),
            Column("first", "A"),
            Column("second", "B"),
        ],
        notes=("Digests are shown by their first 12 digits. Times and costs are not compared.",),
    )


def score_table(pairs: Sequence[ScorePair]) -> Table:
    """Scores side by side, with paired differences."""
    return Table.of(
        pairs,
        name=SCORES,
        title="Scores",
        caption="Means of each run, and B minus A over the examples that have a value in both.",
        columns=[
            RUN,
            Column("score", "Score", lambda pair: pair.name),
            Measure("first", "A", lambda pair: pair.mean_of(pair.match.first)),
            Measure("second", "B", lambda pair: pair.mean_of(pair.match.second)),
            Measure("difference", "B minus A", lambda pair: pair.comparison.difference),
            Column("p", "p", lambda pair: pair.comparison.p),
            Column("test", "Test", lambda pair: pair.tested),
            Column("examples", "In both", lambda pair: pair.comparison.n),
        ],
        notes=(
            "In brackets: 95 % intervals, t for differences and means, Wilson for shares. "
            "McNemar's test is exact; signs are flipped 9,999 times, seed 0. Where examples share "
            "a question, record or topic, intervals are clustered by it, and signs are flipped by "
            "cluster. Means are over all examples of a run that have a value. An interval of zero "
            "width means that all values were equal, not that the value is certain.",
            *bonferroni([[pair.comparison.p] for pair in pairs]),
            *remarks(pair.match for pair in pairs),
        ),
    )


def remarks(found: Iterable[Match]) -> list[str]:
    """Caveats about the figures: different data under equal ids."""
    return [
        f"{match.title}: A and B read different data. Examples are matched only by id, and the "
        "same id may name different examples."
        for match in dict.fromkeys(found)
        if not match.same_data
    ]


def share_table(pairs: Sequence[VerdictPair]) -> Table:
    """Share of verdicts that changed."""
    return Table.of(
        pairs,
        name="verdicts",
        title="Verdicts",
        caption="Over the examples in both runs.",
        columns=[
            RUN,
            Column("examples", "Examples", lambda pair: len(pair.verdicts)),
            Column("changed", "Changed", lambda pair: len(pair.flips)),
            Measure("share", "Share"),
        ],
        notes=("In brackets: 95 % intervals, t where examples share a question, else Wilson.",),
    )


def flip_table(pairs: Sequence[VerdictPair]) -> Table:
    """The examples whose verdict changed."""
    return Table.of(
        [flip for pair in pairs for flip in pair.flips],
        name="changed",
        title="Changed verdicts",
        columns=[
            RUN,
            Column("example", "Example"),
            Column("first", "A"),
            Column("second", "B"),
        ],
    )
