"""The tables of planted conflicts: by kind, for labellers and for answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pipelines.conflictscore.detection import metrics
from pipelines.conflictscore.detection.decisions import (
    Detectors,
    baseline,
    detectors,
    verdicts,
)
from pipelines.conflictscore.detection.detect import DetectionResult
from pipelines.conflictscore.detection.tables import (
    OVERALL,
    Slice,
    beside_scores,
    remarks,
    slices,
)
from pipelines.conflictscore.planted.answers import OfFact, of_fact
from pipelines.conflictscore.planted.result import ANSWER, COPY, PlantedResult
from pipelines.conflictscore.result import Result
from pipelines.conflictscore.scores import Unevidenced
from pipelines.metrics.accuracy import accuracy
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.mean import mean
from pipelines.metrics.proportion import proportion
from pipelines.report.table import Column, Measure, Table

NEVER: Final = "never conflict"
"""Who sees no conflict anywhere."""

SEEN, ALL = "seen by the tagger", "all"
"""Which plants: those whose conflict the tagger saw when they were made, or all of the file."""

Planted = Mapping[str, Sequence[PlantedResult]]
"""Labeller -> its results."""


def all_tables(results: Planted, unevidenced: Mapping[str, Unevidenced]) -> list[Table]:
    """Every table of a run folder; what claims without evidence count in CS-R is by labeller."""
    answered = of_answers(results, unevidenced)
    return [
        detection(results),
        *([answered] if answered.rows else []),
        *map(_called_planted, beside_scores(results, detectors(results))),
    ]


def _called_planted(table: Table) -> Table:
    """A table of Conflict Detection as one of this experiment: sources are kinds here."""
    return replace(
        table,
        name=table.name.replace("conflict_detection", "planted"),
        columns=tuple(
            replace(each, title="Kind") if each.key == "source" else each for each in table.columns
        ),
        notes=tuple(
            each.replace("conflict-detection-errors", "planted-errors") for each in table.notes
        ),
    )


@dataclass(frozen=True)
class Row:
    """What a detector decided of one kind, of some of the plants."""

    plants: str
    slice: Slice


def detection(results: Planted) -> Table:
    """A row per kind and detector: first for plants that the tagger saw, then for all."""

    def figure(
        key: str, title: str, measure: Callable[[metrics.Outcomes], Estimate | None]
    ) -> Measure[Row]:
        return Measure(key, title, lambda row: measure(row.slice.outcomes))

    def total(key: str, title: str, count: Callable[[DetectionResult], int]) -> Column[Row]:
        return Column(key, title, lambda row: sum(map(count, row.slice.results)))

    return Table.of(
        [
            Row(plants, own)
            for plants, taken in _sets(results).items()
            for own in slices(_with_never(taken))
        ],
        name="planted",
        title="Planted conflicts",
        caption="Is the planted conflict found? Conflict is the positive class.",
        columns=[
            Column("plants", "Plants"),
            Column("kind", "Kind", lambda row: row.slice.source),
            Column("detector", "Detector", lambda row: row.slice.detector),
            Measure("f1", "F1", lambda row: metrics.f1_score(verdicts(row.slice.results))),
            figure("precision", "Precision", metrics.precision),
            figure("recall", "Recall", metrics.recall),
            figure("accuracy", "Accuracy", metrics.accuracy),
            Measure("labels", "Accuracy of labels", lambda row: accuracy(*row.slice.readable)),
            total("examples", "Examples", lambda _: 1),
            total("conflicts", "Conflicts", lambda each: each.example.conflict),
            total("undetermined", "Undetermined", lambda each: each.status == "invalid"),
            total("failed", "Failed", lambda each: each.status == "failed"),
        ],
        notes=(
            "In brackets the 95 % interval: of F1 by bootstrap over questions, of the others by "
            "Wilson, which takes examples as independent although a conflict and its control share "
            "a passage.",
            f"'{SEEN}': the plants that were kept because the tagger reads them right. A labeller "
            "that is that tagger finds them all, so that its recall there says nothing, and what "
            f"it cannot see is missing. '{ALL}' has the others, too; some of those may be no "
            "conflict. It stands here where the file was made with --keep-unchecked.",
            "Accuracy of labels: of single documents, SUPPORTS, CONTRADICTS or IRRELEVANT.",
            "Undetermined and failed examples are in no figure, only in these counts.",
            *remarks(detectors(results)),
        ),
    )


def _with_never(taken: Planted) -> Detectors:
    every = detectors(taken)
    examples = {each.id: each.example for own in taken.values() for each in own}.values()
    return {**every, NEVER: [baseline(each, (), conflict=False) for each in examples]}


def _sets(results: Planted) -> dict[str, Planted]:
    """Plants that the tagger saw, and all where there are others."""
    seen = {name: [each for each in own if _checked(each)] for name, own in results.items()}
    if not any(seen.values()):
        return {ALL: results}
    if all(_checked(each) for own in results.values() for each in own):
        return {SEEN: results}
    return {SEEN: seen, ALL: results}


def _checked(result: DetectionResult) -> bool:
    plant = result.example.plant
    return plant is not None and plant.checked


@dataclass(frozen=True)
class Answers:
    """Answers of one kind: what each says of the fact, and how all of it was scored."""

    run: str
    kind: str
    who: str
    scored: Sequence[tuple[PlantedResult, Result, OfFact]]
    unscored: int

    def share(
        self, said: Callable[[OfFact], bool | None], *, conflict: bool = True
    ) -> Estimate | None:
        """The share of answers to examples with (or without) conflict of which that is so."""
        found = [
            yes
            for result, _, fact in self.scored
            if result.example.conflict is conflict and (yes := said(fact)) is not None
        ]
        return proportion(sum(found), len(found))

    def mean(
        self, measure: Callable[[Result, OfFact], float | None], *, conflict: bool = True
    ) -> Estimate | None:
        """The mean of a score in [0, 1] over the answers that have it."""
        found = [
            (value, result.example.group)
            for result, scored, fact in self.scored
            if result.example.conflict is conflict and (value := measure(scored, fact)) is not None
        ]
        return mean([each for each, _ in found], [group for _, group in found], bounds=(0, 1))


def of_answers(results: Planted, unevidenced: Mapping[str, Unevidenced]) -> Table:
    """Do answers admit the planted conflict? A row per run, kind and who answers."""
    return Table.of(
        [
            answers_of(run, kind, who, own, unevidenced[run])
            for run, every in results.items()
            for kind, own in _kinds([each for each in every if each.answers]).items()
            for who in (ANSWER, COPY)
        ],
        name="planted_answers",
        title="Answers to planted conflicts",
        caption="Does what an answer says of the planted fact admit the conflict?",
        columns=[
            Column("run", "Judged by"),
            Column("kind", "Kind"),
            Column("who", "Answer"),
            Measure("admits", "Admits it", lambda own: own.share(lambda fact: fact.admits)),
            Measure("speaks", "Speaks of it", lambda own: own.share(lambda f: f.claims > 0)),
            Measure("both", "Names both values", lambda own: own.share(lambda fact: fact.both)),
            Measure("cs_c", "CS-C, of the fact", lambda own: own.mean(lambda _, f: f.cs_c)),
            Measure("cs_r", "CS-R, of the fact", lambda own: own.mean(lambda _, f: f.cs_r)),
            Measure("whole", "CS-C, whole", lambda own: own.mean(lambda r, _: r.cs_c)),
            Measure(
                "none",
                "CS-C of the fact, no conflict",
                lambda own: own.mean(lambda _, fact: fact.cs_c, conflict=False),
            ),
            Column("answers", "Answers", lambda own: len(own.scored)),
            Column("unscored", "Not scored"),
        ],
        notes=(
            "Admits it: the answer speaks of the fact, each document supports something that it "
            "says of it, and nothing that it says of it is supported by one and contradicted by "
            "the other. Of examples with conflict, as all columns but the last score.",
            "A claim of an answer is about the fact where it names the old or the new value or has "
            "half of the content words of the planted claim.",
            "CS-C and CS-R: lower is better; of answers that speak of the fact, unless of the "
            "whole. The last score should be 0: there is nothing to be in conflict with.",
            "Names both values: word for word, which needs no judge; where the fact is a value.",
            f"'{COPY}' is taken for an answer, to have what copying gets: it admits nothing. Where "
            "it seems to, the judge does not see the planted conflict. How far these verdicts can "
            "be trusted is in the table before.",
        ),
    )


def answers_of(
    run: str, kind: str, who: str, own: Sequence[PlantedResult], unevidenced: Unevidenced
) -> Answers:
    """The answers of a run to examples of a kind, by who gave them."""
    scored = [
        (each, answer, of_fact(answer, each.example, unevidenced))
        for each in own
        if (answer := each.answers.get(who)) is not None and answer.status == "scored"
    ]
    return Answers(run, kind, who, scored, len(own) - len(scored))


def _kinds(own: Sequence[PlantedResult]) -> dict[str, list[PlantedResult]]:
    """Results by kind; all of them last where there are several."""
    found: dict[str, list[PlantedResult]] = {}
    for each in own:
        found.setdefault(each.example.source, []).append(each)
    return found | {OVERALL: list(own)} if len(found) > 1 else found
