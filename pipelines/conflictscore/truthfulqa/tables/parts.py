"""What rows of TruthfulQA's tables are about: runs by setting, and by condition."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from pipelines.conflictscore.truthfulqa.result import (
    CONDITIONS,
    Outcome,
    Setting,
    TruthResult,
)
from pipelines.report.table import Column


class Part(NamedTuple):
    """The questions of a run in a setting.

    Attributes:
        run: Its name.
        config: Everything that decided them, from `run.json`.
        setting: Free-form, or binary choice.
        results: One per question that was answered.
    """

    run: str
    config: Mapping[str, Any]
    setting: Setting
    results: Sequence[TruthResult]


class Slice(NamedTuple):
    """A part under a condition, or under what stands in for one."""

    part: Part
    condition: str
    outcomes: Sequence[tuple[TruthResult, Outcome]]


RUN: Final = Column[Slice]("run", "Run", lambda own: own.part.run)
WRITER: Final = Column[Slice]("writer", "Writer", lambda own: own.part.config["writer"]["name"])
CONDITION: Final = Column[Slice]("condition", "Condition")
ANSWERS: Final = Column[Slice]("answers", "Answers", lambda own: len(own.outcomes))


def parts(
    results: Mapping[str, Sequence[TruthResult]], configs: Mapping[str, Mapping[str, Any]]
) -> list[Part]:
    """The answered questions of each run and setting."""
    settings: tuple[Setting, ...] = ("free-form", "binary")
    return [
        Part(run, configs[run], setting, found)
        for run, own in results.items()
        for setting in settings
        if (found := [r for r in own if r.setting == setting and r.status == "answered"])
    ]


def slices(part: Part) -> list[Slice]:
    """A part by conditions."""
    return [
        Slice(part, title, [(result, result.outcomes[condition]) for result in part.results])
        for condition, title in CONDITIONS.items()
    ]


def truth_judge_named(config: Mapping[str, Any]) -> str | None:
    """Who judged free-form answers, from a run's configuration; None where nobody did."""
    if config["asked"]["truth"] is None:
        return None
    name: str = config["tagger" if config["asked"]["truth"] == "nli" else "judge"]["name"]
    return name


def counted(key: str, title: str, holds: Callable[[Outcome], bool]) -> Column[Slice]:
    """A column that counts answers of which something holds."""
    return Column(key, title, lambda own: sum(holds(outcome) for _, outcome in own.outcomes))
