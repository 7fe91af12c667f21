"""Tables of drift: per judge and condition, the pairs that moved most, and what went wrong."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from pipelines.conflictscore.detection.detect import DetectionResult
from pipelines.evidence.judge import judge_named
from pipelines.evidence.judgement import Judgement, Relation
from pipelines.evidence.known_drift import MeasuredDrift
from pipelines.experiment.publish import Runs
from pipelines.metrics.estimate import Estimate
from pipelines.report.failures import Failure, failed, failures, truncations
from pipelines.report.table import Column, Measure, Table, shown
from pipelines.report.text import one_line
from pipelines.trust.drift.conditions import CONDITIONS, FIRST, MEANING
from pipelines.trust.drift.measures import Again, Claims, Drift

UNCHANGED: Final = "unchanged"

ALL_CHANGED: Final = "all but unchanged"

MOST: Final = 40
"""Pairs in the table of those that moved most."""

_CLAIM: Final = 160


@dataclass(frozen=True)
class JudgeRuns:
    """A judge's runs: the first one, and the later ones by condition.

    Attributes:
        name: As tables name it.
        entry: Name of its first run.
        config: That of the first run.
        usage: Name of a later run -> prompt tokens read, and those from the prefix cache.
    """

    name: str
    entry: str
    config: Mapping[str, Any]
    first: Claims
    later: Mapping[str, Mapping[str, Claims]]
    usage: Mapping[str, tuple[int, int]]

    @cached_property
    def drifts(self) -> list[Drift]:
        """One per condition; where several are changed, one of them all at the end."""
        found = [self._drift(condition, runs) for condition, runs in self.later.items()]
        changed = {
            name: run
            for condition, runs in self.later.items()
            if condition != UNCHANGED
            for name, run in runs.items()
        }
        if len(self.later.keys() - {UNCHANGED}) > 1:
            found.append(self._drift(ALL_CHANGED, changed))
        return found

    @property
    def whole(self) -> Drift:
        """Of all conditions, the control among them."""
        every = {name: run for runs in self.later.values() for name, run in runs.items()}
        return self._drift("all", every)

    def _drift(self, condition: str, runs: Mapping[str, Claims]) -> Drift:
        used = [self.usage[name] for name in runs if name in self.usage]
        read, cached = (sum(each[place] for each in used) for place in (0, 1))
        return Drift(self.name, condition, self.first, runs, (read, cached))


def judges(runs: Runs[DetectionResult]) -> list[JudgeRuns]:
    """The judges of a run folder, in order; conditions in the order of `CONDITIONS`."""
    by_judge: dict[str, dict[str, dict[str, Claims]]] = {}
    for run, config in runs.configs.items():
        claims = {each.id: each for each in runs.results[run]}
        own = by_judge.setdefault(config["labeller"]["identity"], {})
        own.setdefault(config["condition"], {})[run] = claims
    usage = {
        run: (int(used["prompt_tokens"]), int(used["cached_prefix_tokens"]))
        for run, entry in runs.entries.items()
        if (used := entry.get("usage"))
    }
    return [
        JudgeRuns(
            name=f"{config['labeller']['name']}: {judge_named(config)}",
            entry=entry,
            config=config,
            first=first,
            later={each: own[each] for each in CONDITIONS if each in own},
            usage=usage,
        )
        for own in by_judge.values()
        for entry, first in own[FIRST].items()
        for config in [runs.configs[entry]]
    ]


def measured(own: JudgeRuns) -> MeasuredDrift:
    """What is kept of a judge, for the reports of its other runs."""
    whole = own.whole
    flipped = whole.flipped()
    return MeasuredDrift(
        judge=own.name,
        data=own.config["data"]["name"],
        pairs=flipped.n if flipped else 0,
        flipped=round(flipped.value * flipped.n) if flipped else 0,
        shift=whole.largest_shift(),
        conditions=tuple(own.later),
        runs=len(whole.runs),
    )


def all_tables(own: Sequence[JudgeRuns]) -> list[Table]:
    """Every table of a run folder."""
    drifts = [each for judge in own for each in judge.drifts]
    return [drift_table(drifts), pair_table(own), failure_table(own)]


def drift_table(drifts: Sequence[Drift]) -> Table:
    """A row per judge and condition: the later runs against the first one."""
    told = dict.fromkeys(each.condition for each in drifts)
    return Table.of(
        drifts,
        name="drift",
        title="Asked again",
        caption="The same judgements asked for again, against the first run. No cache answered.",
        columns=[
            Column("judge", "Judge"),
            Column("condition", "Condition"),
            Column("runs", "Runs", lambda own: len(own.runs)),
            Column("labels", "Labels", lambda own: len(own.pairs)),
            Column("flips", "Flips", Drift.flips),
            Measure("flipped", "Pairs that flip", Drift.flipped),
            Column("largest_shift", "Largest shift", Drift.largest_shift),
            Measure(
                "mean_shift_permille",
                "Mean shift (‰)",
                lambda own: _permille(own.mean_variation()),
            ),
            Measure("verdicts", "Verdicts that flip", Drift.verdicts_flipped),
            Measure("cs_c", "CS-C changes by", lambda own: own.change("cs_c")),
            Measure("cs_r", "CS-R changes by", lambda own: own.change("cs_r")),
            Measure("f1", "Conflict F1 changes by", Drift.f1_change),
            Column("prefix", "From the prefix cache", _prefix),
        ],
        notes=(
            *(f"{each}: {MEANING[each]}." for each in CONDITIONS if each in told),
            "Flips: labels other than in the first run, of all labels of all runs; unreadable is "
            "a label, too. Pairs (and claims, by their verdict on conflict) flip where some run "
            "differs; in brackets the 95 % Wilson interval, which takes them as independent.",
            "Shifts are of probabilities: the largest of any label; the mean over pairs of the "
            "total variation distance, in thousandths, clustered by question. A dash: the judge "
            "gives none.",
            "Changes are later less first: of CS-C and CS-R by claim, clustered by question, of F1 "
            "by bootstrap over questions. An interval without width says that all were equal.",
            "From the prefix cache: share of the prompt tokens, as far as the server tells.",
        ),
    )


def _permille(share: Estimate | None) -> Estimate | None:
    if share is None:
        return None
    low, high = (None if end is None else 1000 * end for end in (share.low, share.high))
    return Estimate(1000 * share.value, low, high, share.n)


def _prefix(own: Drift) -> float | None:
    read, cached = own.usage
    return cached / read if read else None


def pair_table(own: Sequence[JudgeRuns]) -> Table:
    """The pairs that moved most: labels that flipped first, then by the shift."""
    every = [
        (judge.name, condition, pair)
        for judge in own
        for condition, runs in judge.later.items()
        for pair in Drift(judge.name, condition, judge.first, runs).pairs
        if pair.shift or _flips(pair)
    ]
    every.sort(key=lambda row: (not _flips(row[2]), -(row[2].shift or 0.0)))
    most: dict[tuple[str, ...], tuple[str, str, Again]] = {}
    for row in every:
        judge, condition, pair = row
        most.setdefault((judge, condition, pair.claim.id, pair.document.id), row)
    moved = list(most.values())
    return Table.of(
        moved[:MOST],
        name="drift_pairs",
        title="Pairs that moved most",
        caption="Of each pair and condition the run that differs most. Labels that flipped first, "
        f"then by the largest shift: {min(MOST, len(moved)):,} of {len(moved):,}.",
        columns=[
            Column("claim", "Claim", lambda row: one_line(row[2].claim.example.claim, _CLAIM)),
            Column("document", "Document", lambda row: row[2].document.id),
            Column("judge", "Judge", lambda row: row[0]),
            Column("condition", "Condition", lambda row: row[1]),
            Column("first", "First", lambda row: _said(row[2].first)),
            Column("again", "Again", lambda row: _said(row[2].again)),
            Column("shift", "Largest shift", lambda row: row[2].shift),
        ],
    )


def _flips(pair: Again) -> bool:
    return pair.first.relation is not pair.again.relation


def _said(judgement: Judgement) -> str:
    sure = judgement.confidence
    return judgement.relation.value + ("" if sure is None else f" {shown(sure)}")


def failure_table(own: Sequence[JudgeRuns]) -> Table:
    """Claims that could not be judged, labels that could not be read, texts that were cut."""
    return failures(
        (fault for judge in own for fault in _faults(judge)),
        name="drift_failures",
        places=[
            Column("judge", "Judge", lambda at: at[0]),
            Column("run", "Run", lambda at: at[1]),
            Column("claim", "Claim", lambda at: at[2]),
        ],
    )


def _faults(judge: JudgeRuns) -> Iterable[Failure[tuple[str, str, str]]]:
    later = {name: run for runs in judge.later.values() for name, run in runs.items()}
    for run, claims in ({judge.entry: judge.first} | later).items():
        for each in claims.values():
            at = (judge.name, run, each.id)
            if each.status == "failed":
                yield failed(at, "failed", each.error)
            for judgement in each.judgements:
                if judgement.relation is Relation.INVALID:
                    yield failed(at, "unreadable label", judgement.reasoning, judgement.raw)
            yield from truncations(at, each.truncations)
