"""What Conflict Detection puts on the page: figures, and every claim with its labels."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from pipelines.conflictscore.detection.detect import BASELINES, DetectionResult, mistakes, outcome
from pipelines.conflictscore.detection.tables import OVERALL, all_tables, remarks
from pipelines.conflictscore.view import cell, first, sources
from pipelines.experiment.publish import Runs
from pipelines.experiment.summary import Figure, Page
from pipelines.judge.examples import ContestedClaim
from pipelines.judge.run_judge import judge_named
from pipelines.report import glance
from pipelines.report.blocks import Cell, Facts, Matrix, Row, Sources, fact
from pipelines.report.explorer import Example, Facet
from pipelines.report.texts import Block, Chip, Heading, Mark, Trouble

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
"""Judge -> what it made of one example."""


def _named(runs: Runs[DetectionResult]) -> dict[str, Sequence[DetectionResult]]:
    """The results by judge: the name of a run says how was judged, the judge's by which weights."""
    configs = runs.configs
    return {f"{run}: {judge_named(configs[run])}": part for run, part in runs.results.items()}


def _examples(runs: Runs[DetectionResult]) -> dict[str, list[Judged]]:
    """Each example once, with what every judge made of it."""
    judged: dict[str, dict[str, DetectionResult]] = {}
    for name, part in _named(runs).items():
        for result in part:
            judged.setdefault(result.id, {})[name] = result
    return {"": [*judged.values()]}


def _example(run: str, judged: Judged) -> Example:
    """A claim in the list; where a document was taken for something else, how surely."""
    example = next(iter(judged.values())).example
    came = {
        name: "failed" if each.status == "failed" else outcome(example, each.conflict)
        for name, each in judged.items()
    }
    statuses = [each.status for each in judged.values()]
    known = "documents disagree" if example.conflict else "no conflict"
    wrong = mistakes({name: [each] for name, each in judged.items()})  # the surest first
    sure = (mistake.judgement.confidence for mistake in wrong)
    surest = next((confidence for confidence in sure if confidence is not None), None)
    return Example(
        id=example.id,
        run=run,
        title=example.claim,
        status=next((each for each in ("failed", "invalid") if each in statuses), "labelled"),
        blocks=partial(content, judged),
        about=(example.source, glance.count(len(example.documents), "document")),
        chips=(
            Chip(known, "outline"),
            *(OUTCOMES[each].on(name) for name, each in came.items()),
        ),
        facets={
            "Source": [example.source],
            "Documents disagree": ["yes" if example.conflict else "no"],
            "Outcome": [f"{name}: {each}" for name, each in came.items()],
        },
        figures={} if surest is None else {"surest mistake": surest},
        words=f"{example.question or ''}\n{example.answer or ''}",
    )


def content(judged: Judged) -> list[Block]:
    """What a claim shows when it is opened: who labelled its documents how, and the documents."""
    results = [*judged.values()]
    example = results[0].example
    made: list[Block] = [
        Trouble(f"{name} failed", each.error) for name, each in judged.items() if each.error
    ]
    known = {"Question": example.question, "Answer": example.answer}
    facts = [fact(label, value) for label, value in known.items() if value]
    papers = sources(example.documents, tuple(cut for each in results for cut in each.truncations))
    if facts:
        made.append(Facts(tuple(facts)))
    rows = _rows(example, judged)
    if rows:
        made += [
            Heading("Labels of documents"),
            Matrix("Judge", rows, papers, _first(rows, known=example.relations is not None)),
        ]
    return [*made, Heading(f"Documents ({len(papers)})"), Sources(papers)]


def _rows(example: ContestedClaim, judged: Judged) -> tuple[Row, ...]:
    rows = [
        Row(
            name,
            tuple(
                cell(*pair, each.truncations)
                for pair in zip(each.judgements, example.documents, strict=True)
            ),
        )
        for name, each in judged.items()
        if each.judgements
    ]
    if example.relations is not None:
        true = tuple(Cell(each.value, "the data") for each in example.relations)
        rows.insert(0, Row("Ground truth", true))
    return tuple(rows)


def _first(rows: Sequence[Row], *, known: bool) -> tuple[int, int]:
    """The first label that is wrong; where none is known to be, what the last row says."""
    for number, row in enumerate(rows):
        for place, each in enumerate(row.cells):
            right = rows[0].cells[place]
            if known and each is not None and right is not None and each.relation != right.relation:
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
