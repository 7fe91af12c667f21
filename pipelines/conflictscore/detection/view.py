"""What Conflict Detection puts on the page: figures, and every claim with its labels."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Final

from pipelines.conflictscore import page
from pipelines.conflictscore.detection.bench import HARD
from pipelines.conflictscore.detection.detect import BASELINES, DetectionResult, mistakes, outcome
from pipelines.conflictscore.detection.tables import OVERALL, all_tables, remarks
from pipelines.conflictscore.view import cell, first, sources
from pipelines.experiment.publish import Publication, Runs
from pipelines.judge.examples import ContestedClaim
from pipelines.judge.run_judge import judge_named
from pipelines.metrics.estimate import Estimate
from pipelines.report import glance
from pipelines.report.blocks import Cell, Facts, Matrix, Row, Sources, fact
from pipelines.report.explorer import Example, Facet
from pipelines.report.table import Cell as TableCell
from pipelines.report.table import estimate_of, own_rows
from pipelines.report.texts import Block, Chip, Heading, Trouble
from pipelines.report.views import Mark, dot_plots

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


def publication(runs: Runs[DetectionResult]) -> Publication:
    """Tables and page of what a folder has."""
    # The name of a run says how was judged, the judge's by which weights.
    results = {
        f"{name}: {judge_named(runs.configs[name])}": part for name, part in runs.results.items()
    }
    judged: dict[str, dict[str, DetectionResult]] = {}
    for name, part in results.items():
        for result in part:
            judged.setdefault(result.id, {})[name] = result
    surest: dict[str, float] = {}
    for mistake in mistakes(results):  # the surest first
        if mistake.judgement.confidence is not None:
            surest.setdefault(mistake.result.id, mistake.judgement.confidence)
    data = next(iter(runs.configs.values()))["data"]["name"]
    made = all_tables(results, data)
    scores = headline(own_rows(made[0]))
    return page.publication(
        runs,
        page.Headline(
            "Conflict Detection",
            ("claim", "claims"),
            "Can a model tell whether documents conflict over a claim?",
            "F1 of finding the claims whose documents conflict (1 is best)",
            [(name, scores.get(name)) for name in results],
            [(name, scores.get(name)) for name in BASELINES],
        ),
        made,
        partial(example_of, surest),
        plots=dot_plots(made[0], "source", "detector", {"f1": "F1, {}"}),
        facets=(
            Facet("Source", tuple({one.example.source: 1 for one in chain(*results.values())})),
            Facet("Documents disagree", ("yes", "no")),
            Facet("Outcome", tuple(OUTCOMES), tuple(results)),
        ),
        remarks=remarks(results),
        shown={"": [*judged.values()]},
    )


def headline(rows: Sequence[Mapping[str, TableCell]]) -> dict[str, Estimate | None]:
    """Detector -> F1 over all sources together, or on the only one that is no hard one."""
    sources = dict.fromkeys(str(row["source"]) for row in rows)
    chosen = OVERALL if OVERALL in sources else next((one for one in sources if one != HARD), HARD)
    return {str(row["detector"]): estimate_of(row["f1"]) for row in rows if row["source"] == chosen}


def example_of(surest: Mapping[str, float], run: str, judged: Judged) -> Example:
    """A claim in the list; of each example that was taken for something else, how surely."""
    example = next(iter(judged.values())).example
    came = {
        name: "failed" if each.status == "failed" else outcome(example, each.conflict)
        for name, each in judged.items()
    }
    statuses = [each.status for each in judged.values()]
    known = "documents disagree" if example.conflict else "no conflict"
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
        figures={"surest mistake": surest.get(example.id)} if surest else {},
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
