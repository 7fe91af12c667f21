"""Tables and page of Conflict Detection: Table 2 of the paper, comparisons, mistakes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import Final

from pipelines.conflictscore.detection import detect
from pipelines.conflictscore.detection.bench import HARD
from pipelines.conflictscore.detection.detect import (
    ALWAYS,
    BASELINES,
    LEXICAL,
    ON_TOPIC,
    RIGHT,
    SUPPORTING,
    DetectionResult,
    Detectors,
    Mistake,
    Verdict,
    detectors,
    mistakes,
    outcome,
    verdicts,
)
from pipelines.conflictscore.tables import remarks as remarks_on
from pipelines.conflictscore.tables import total
from pipelines.conflictscore.view import cell, document_blocks, first, sources
from pipelines.experiment.publish import Runs
from pipelines.experiment.summary import Figure, Page
from pipelines.judge.examples import ContestedClaim
from pipelines.judge.judgement import Relation
from pipelines.judge.run_judge import judge_named
from pipelines.metrics.estimate import Estimate, share
from pipelines.report import glance
from pipelines.report.blocks import Cell, Facts, Matrix, Row, fact
from pipelines.report.compare import Comparison, Pair, columns, correction
from pipelines.report.explorer import Example, Facet
from pipelines.report.table import HERE, Column, Measure, Table, quote
from pipelines.report.texts import Block, Chip, Heading, Mark, Trouble, one_line

OVERALL = "overall"

TABLE_2: Final = quote(
    "source precision recall f1 accuracy accuracy_conflict accuracy_no_conflict examples conflicts",
    ("ContraQA", 0.9971, 0.8208, 0.9004, 0.9035, 0.8208, 0.9973, 798, 424),
    ("MacNoise-NQ", 0.8763, 0.9043, 0.8901, 0.8945, 0.9043, 0.8857, 199, 94),
    ("MacNoise-TQA", 0.9655, 0.9655, 0.9655, 0.9621, 0.9655, 0.9579, 211, 116),
    ("AmbigDocs", 0.9962, 0.8935, 0.9420, 0.9508, 0.8935, 0.9972, 651, 291),
    ("ConflictingQA", 0.9720, 0.9775, 0.9747, 0.9585, 0.9775, 0.8734, 434, 355),
    ("Overall", 0.9763, 0.9000, 0.9366, 0.932, 0.9000, 0.9724, 2293, 1280),
    detector="GPT-4.1",
    figures="paper, Table 2",
)
"""Figures of the paper; the numbers of conflicts are from its Table 1."""

MISTAKES = 200
"""Maximum number of mistakes in the table."""

_EXCERPT = 400


@dataclass(frozen=True)
class Slice:
    """A detector's decisions on one source."""

    source: str
    method: str
    results: Sequence[DetectionResult]

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """Decisions that could be determined."""
        return [*verdicts(self.results).values()]

    @property
    def labelled(self) -> list[bool]:
        """Whether each label is right, for documents with a known relation and a readable label."""
        return [
            truth is judgement.relation
            for result in self.results
            for _, truth, judgement in result.documents()
            if judgement.relation is not Relation.INVALID
        ]


_OF: Final = (
    Column[Slice]("source", "Source"),
    Column[Slice]("detector", "Detector", lambda part: part.method),
)


def all_tables(results: Detectors, data: str) -> list[Table]:
    """All tables of a run folder, by judge; `data` is the name of the data."""
    decisions = detectors(results)
    return [
        detection(decisions, data),
        comparisons(decisions),
        errors(mistakes(results)),
    ]


def detection(every: Detectors, data: str) -> Table:
    """Table 2 of the paper for this run: a row per source and detector, the paper's rows below."""

    def figure(
        key: str, title: str, measure: Callable[[Sequence[Verdict]], Estimate | None]
    ) -> Measure[Slice]:
        return Measure(key, title, lambda part: measure(part.verdicts))

    return Table.of(
        slices(every),
        name="conflict_detection",
        title="Conflict Detection",
        caption=f"Conflict Detection on {data}. Conflict is the positive class.",
        columns=[
            *(*_OF, HERE),
            figure("precision", "Precision", detect.precision),
            figure("recall", "Recall", detect.recall),
            figure("f1", "F1", detect.f1_score),
            figure("accuracy", "Accuracy", detect.accuracy),
            figure("accuracy_conflict", "Accuracy, conflict", detect.recall),
            figure(
                "accuracy_no_conflict", "Accuracy, no conflict", detect.accuracy_without_conflict
            ),
            Measure("documents", "Documents right", lambda part: share(part.labelled)),
            total("examples", "Examples", lambda _: 1),
            total("conflicts", "Conflicts", lambda result: result.example.conflict),
            total("undetermined", "Undetermined", lambda result: result.status == "invalid"),
            total("failed", "Failed", lambda result: result.status == "failed"),
            total("truncated", "Truncated texts", lambda result: len(result.truncations)),
        ],
        quoted=TABLE_2,
        notes=(
            "In brackets: 95 % intervals, of F1 by bootstrap over questions (2,000 resamples, "
            "seed 0), of the others by Wilson, which treats examples as independent although the "
            "two from one question are not.",
            "Undetermined: a label could not be read, so it is not known whether there is a "
            "conflict. Such examples, and failed ones, appear only in counts, except that readable "
            "labels of undetermined examples are among Documents right.",
            "Documents right: the share of right labels among documents whose relation to the "
            "claim is known and whose label could be read; Wilson, as if they were independent.",
            f"'{ALWAYS}' finds a conflict everywhere. '{LEXICAL}' labels a document with at least "
            f"{100 * SUPPORTING:.0f} % of the claim's content words as support, and another with "
            f"at least {100 * ON_TOPIC:.0f} % as contradiction; both thresholds were chosen on "
            "training halves.",
            *remarks(every),
            f"'{OVERALL}' pools all sources except {HARD}, whose conflicts are those of ramdocs.",
            "The paper's rows were measured with GPT-4.1 on the authors' sample of "
            "ConflictBench. They are only for orientation; this run does not reproduce them.",
            "Rows of one source cannot be compared if their numbers of examples differ, as after "
            "runs with different limits; baselines use all examples that any judge has.",
        ),
    )


def comparisons(every: Detectors) -> Table:
    """Every judge minus every other judge and the baselines, source by source."""
    pairs = [
        _pair(first, second)
        for first, second in combinations(slices(every), 2)
        if first.source == second.source and first.method not in BASELINES
    ]
    return Table.of(
        pairs,
        name="conflict_detection_comparisons",
        title="Detectors compared",
        caption="The first minus the second, on the examples that both decided.",
        columns=[
            Column("source", "Source", lambda pair: pair.at),
            Column("first", "First"),
            Column("second", "Second"),
            Measure("f1", "F1", lambda pair: pair.measures["f1"].difference),
            *columns("accuracy", "Accuracy", "McNemar", p="p", n="examples"),
        ],
        notes=(
            "In brackets: 95 % intervals, of F1 by bootstrap over questions (2,000 resamples, "
            "seed 0), of accuracy by t. p is for accuracy; it and the accuracy interval treat "
            "examples as independent, although the two from one question are not.",
            *correction(pairs),
        ),
    )


def _pair(first: Slice, second: Slice) -> Pair[str]:
    right = RIGHT.less(first, second)
    f1 = detect.f1_difference(verdicts(first.results), verdicts(second.results))
    measures = {"f1": Comparison(f1, None, right.n), "accuracy": right}
    return Pair(first.source, first.method, second.method, measures)


def errors(wrong: Sequence[Mistake]) -> Table:
    """Documents labelled wrongly, the most confident first (ConflictScore, Figure 3)."""

    def excerpt(key: str, title: str, text: Callable[[Mistake], str]) -> Column[Mistake]:
        return Column(key, title, lambda mistake: one_line(text(mistake), _EXCERPT))

    def rationale(mistake: Mistake) -> str:
        return mistake.judgement.snippet or mistake.judgement.reasoning or ""

    rows = wrong[:MISTAKES]
    return Table.of(
        rows,
        name="conflict_detection_errors",
        title="Documents labelled wrongly",
        caption=f"The most confident mistakes first: {len(rows):,} of {len(wrong):,}.",
        columns=[
            Column("example", "Example", lambda mistake: mistake.result.id),
            Column("document", "Document", lambda mistake: mistake.document.id),
            Column("detector", "Detector", lambda mistake: mistake.judge),
            excerpt("claim", "Claim", lambda mistake: mistake.result.example.claim),
            excerpt("evidence", "Evidence", lambda mistake: mistake.document.text),
            Column("truth", "Ground truth", lambda mistake: mistake.truth.value),
            Column("prediction", "Prediction", lambda mistake: mistake.judgement.relation.value),
            Column("confidence", "Confidence", lambda mistake: mistake.judgement.confidence),
            excerpt("rationale", "Rationale", rationale),
            Column(
                "outcome",
                "Outcome",
                lambda mistake: outcome(mistake.result.example, mistake.result.conflict),
            ),
        ],
    )


def slices(every: Detectors) -> list[Slice]:
    """A detector's decisions by source, in order of their first examples, and overall.

    Detectors without results are left out.
    """
    sources = dict.fromkeys(result.example.source for part in every.values() for result in part)
    pooled = {source: {source} for source in sources}
    if len(all_but_hard := sources.keys() - {HARD}) > 1:
        pooled[OVERALL] = all_but_hard
    return [
        Slice(name, detector, chosen)
        for name, among in pooled.items()
        for detector, results in every.items()
        if (chosen := [result for result in results if result.example.source in among])
    ]


def remarks(results: Detectors) -> tuple[str, ...]:
    """Warnings about the judges."""
    return tuple(
        remark
        for name, part in results.items()
        for remark in remarks_on(
            [judgement for result in part for judgement in result.judgements], name
        )
    )


OUTCOMES: Final[Mapping[str, Mark]] = {
    mark.words: mark
    for mark in (
        Mark("support", "✓", "conflict found"),
        Mark("contradict", "✗", "conflict missed"),
        Mark("contradict", "✗", "conflict invented"),
        Mark("support", "✓", "no conflict found"),
        Mark("invalid", "?", "undetermined"),
        Mark("invalid", "!", "failed"),
    )
}

Judged = Mapping[str, DetectionResult]
"""Judge -> its decision on one example."""


def _named(runs: Runs[DetectionResult]) -> dict[str, Sequence[DetectionResult]]:
    """The results by judge: a run's name gives the mode, the judge's name the weights."""
    configs = runs.configs
    return {f"{run}: {judge_named(configs[run])}": part for run, part in runs.results.items()}


def _examples(runs: Runs[DetectionResult]) -> dict[str, list[Judged]]:
    """All examples, once, with the decisions of every judge."""
    judged: dict[str, dict[str, DetectionResult]] = {}
    for name, part in _named(runs).items():
        for result in part:
            judged.setdefault(result.id, {})[name] = result
    return {"": [*judged.values()]}


def _example(run: str, judged: Judged) -> Example:
    """A claim in the list, with the highest confidence of a wrong label, if there is one."""
    example = next(iter(judged.values())).example
    outcomes = {
        name: "failed" if result.status == "failed" else outcome(example, result.conflict)
        for name, result in judged.items()
    }
    statuses = [result.status for result in judged.values()]
    known = "documents disagree" if example.conflict else "no conflict"
    wrong = mistakes({name: [result] for name, result in judged.items()})  # most confident first
    confidences = (mistake.judgement.confidence for mistake in wrong)
    surest = next((confidence for confidence in confidences if confidence is not None), None)
    return Example(
        id=example.id,
        run=run,
        title=example.claim,
        status=next((status for status in ("failed", "invalid") if status in statuses), "labelled"),
        blocks=partial(content, judged),
        about=(example.source, glance.count(len(example.documents), "document")),
        chips=(
            Chip(known, "outline"),
            *(OUTCOMES[kind].on(name) for name, kind in outcomes.items()),
        ),
        facets={
            "Source": [example.source],
            "Documents disagree": ["yes" if example.conflict else "no"],
            "Outcome": [f"{name}: {kind}" for name, kind in outcomes.items()],
        },
        figures={} if surest is None else {"surest mistake": surest},
        words=f"{example.question or ''}\n{example.answer or ''}",
    )


def content(judged: Judged) -> list[Block]:
    """An opened claim: its documents' labels by every judge, and the documents."""
    results = [*judged.values()]
    example = results[0].example
    blocks: list[Block] = [
        Trouble(f"{name} failed", result.error) for name, result in judged.items() if result.error
    ]
    known = {"Question": example.question, "Answer": example.answer}
    facts = [fact(label, value) for label, value in known.items() if value]
    cuts = [cut for result in results for cut in result.truncations]
    if facts:
        blocks.append(Facts(tuple(facts)))
    rows = _rows(example, judged)
    if rows:
        opened = _first(rows, known=example.relations is not None)
        matrix = Matrix("Judge", rows, sources(example.documents, cuts), opened)
        blocks += [Heading("Labels of documents"), matrix]
    return blocks + document_blocks(example.documents, cuts)


def _rows(example: ContestedClaim, judged: Judged) -> tuple[Row, ...]:
    rows = [
        Row(
            name,
            tuple(
                cell(*pair, result.truncations)
                for pair in zip(result.judgements, example.documents, strict=True)
            ),
        )
        for name, result in judged.items()
        if result.judgements
    ]
    if example.relations is not None:
        true = tuple(Cell(relation.value, "the data") for relation in example.relations)
        rows.insert(0, Row("Ground truth", true))
    return tuple(rows)


def _first(rows: Sequence[Row], *, known: bool) -> tuple[int, int]:
    """The first label known to be wrong; if there is none, the `first` cell of the last row."""
    for number, row in enumerate(rows):
        for place, label in enumerate(row.cells):
            right = rows[0].cells[place]
            if (
                known
                and label is not None
                and right is not None
                and label.relation != right.relation
            ):
                return number, place
    return first(rows, len(rows) - 1)


PAGE: Final = Page(
    question="Can a model tell whether documents conflict over a claim?",
    tables=lambda runs: all_tables(_named(runs), next(iter(runs.configs.values()))["data"]["name"]),
    figures=(
        Figure(
            *("conflict_detection", "f1", "detector"),
            said="F1 of finding claims in conflict",
            group=("source",),
            trivial=BASELINES,
            whole=OVERALL,
        ),
    ),
    example=_example,
    failures="conflict_detection_failures",
    facets=(Facet("Documents disagree", ("yes", "no")),),
    notes=lambda runs: remarks(_named(runs)),
    examples=_examples,
)
