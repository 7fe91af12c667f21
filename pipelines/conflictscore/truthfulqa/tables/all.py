"""All tables of TruthfulQA, and what went wrong."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pipelines.conflictscore.truthfulqa.result import CONDITIONS, TruthResult, Verdict
from pipelines.conflictscore.truthfulqa.tables.answers import (
    binary,
    free_form,
    parts,
    references,
)
from pipelines.conflictscore.truthfulqa.tables.changes import conflicts, differences, flips
from pipelines.metrics.calibration import low_label_mass
from pipelines.report.failures import (
    REASON,
    REPLY,
    WHAT,
    Failure,
    failed,
    failures,
    invalid,
    truncations,
)
from pipelines.report.table import Column, Table


def all_tables(
    results: Mapping[str, Sequence[TruthResult]], configs: Mapping[str, Mapping[str, Any]]
) -> tuple[Table, ...]:
    """Every table of a folder's runs, in the order of reading.

    Args:
        results: Name of a run -> its results.
        configs: Name of a run -> its configuration.
    """
    every = parts(results, configs)
    scores = conflicts(every)
    doubts = low_label_mass(
        judgement.label_mass
        for own in results.values()
        for result in own
        for judgement in result.judgements
    )
    return (
        free_form(every),
        binary(every),
        flips(every),
        differences(every),
        replace(scores, notes=(*scores.notes, *doubts)),
        references(every),
        faults(results),
    )


def faults(results: Mapping[str, Sequence[TruthResult]]) -> Table:
    """Everything that failed, could not be read, or was not seen whole."""
    return failures(
        (fault for run, own in results.items() for each in own for fault in _faults(run, each)),
        name="truthfulqa_failures",
        places=[
            Column("run", "Run", lambda at: at[0]),
            Column("question", "Question", lambda at: at[1]),
            Column("condition", "Condition", lambda at: at[2]),
        ],
        said=(WHAT, REASON, REPLY),
        caption="What failed, could not be read, or was not seen whole.",
    )


def _faults(run: str, result: TruthResult) -> Iterator[Failure[tuple[str, str, str]]]:
    if result.status == "failed":
        yield failed((run, result.id, ""), "failed", result.error)
    for condition, outcome in result.outcomes.items():
        at = (run, result.id, CONDITIONS[condition])
        if not outcome.asked:
            continue
        if result.setting == "binary" and outcome.letter is None:
            yield failed(at, "unreadable choice", "the reply chooses neither", outcome.reply)
        if outcome.score is not None and outcome.score.error:
            yield failed(at, "no score", outcome.score.error)
        for what in ("truthful", "informative"):
            verdict: Verdict | None = getattr(outcome, what)
            if verdict is not None and verdict.verdict is None:
                yield failed(at, f"unreadable verdict, {what}", verdict.problem, verdict.raw)
        yield from invalid(at, outcome.score.judgements if outcome.score else ())
        yield from truncations(at, outcome.truncations)
