"""What Conflict Detection puts on the page: figures, and every claim with its labels."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from pipelines.conflictscore.detection.bench import HARD
from pipelines.conflictscore.detection.detect import (
    ALWAYS,
    DetectionResult,
    Detectors,
    mistakes,
    outcome,
)
from pipelines.conflictscore.detection.tables import OVERALL, remarks
from pipelines.conflictscore.view import cell, first, sources
from pipelines.judge.examples import ContestedClaim
from pipelines.report import glance
from pipelines.report.blocks import Cell, Facts, Matrix, Row, Sources, fact
from pipelines.report.explorer import Example, ExperimentView, Facet, Part, address
from pipelines.report.table import MISSING, Table, estimate_of, own_rows
from pipelines.report.texts import Block, Chip, Heading, Trouble
from pipelines.report.views import Mark, dot_plots, failures_part, listed, named, picked

NAME = "conflict-detection"
TITLE = "Conflict Detection"

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


def view(
    results: Detectors, made: Sequence[Table], data: str, configs: Sequence[Mapping[str, Any]]
) -> ExperimentView:
    """Table 2 of this run, F1 by source, labels, failures, and every claim.

    Results are by judge, whose configurations are those of `run.json`; `made` is of
    `tables.all_tables`.
    """
    judged: dict[str, dict[str, DetectionResult]] = {}
    for name, part in results.items():
        for result in part:
            judged.setdefault(result.id, {})[name] = result
    surest: dict[str, float] = {}
    for mistake in mistakes(results):  # the surest first
        if mistake.confidence is not None:
            surest.setdefault(mistake.example, mistake.confidence)
    examples = [next(iter(one.values())).example for one in judged.values()]
    tables = named(made, "conflict_detection")
    every = "every example was labelled, every label could be read, and every text was seen whole"
    links = {example.id: address(NAME, "", example.id) for example in examples}
    return ExperimentView(
        name=NAME,
        title=TITLE,
        finding=finding(results, tables.get(""), data, configs),
        parts=(
            Part(
                "Figures",
                (*made[:1], *picked(tables, "_comparisons _documents")),
                dot_plots(tables.get(""), "source", "detector", {"f1": "F1, {}"}),
                "A claim has a conflict when one document supports it and another contradicts it. "
                "To read the most confident mistakes first, order the claims by “surest mistake”.",
                remarks=remarks(results),
            ),
            failures_part(tables.get("_failures"), every, links),
        ),
        facets=(
            Facet("Source", tuple(dict.fromkeys(example.source for example in examples))),
            Facet("Documents disagree", ("yes", "no")),
            Facet("Outcome", tuple(OUTCOMES), tuple(results)),
        ),
        runs={"": data},
        noun=("claim", "claims"),
        models=glance.judge_models(*configs),
        facts=(
            ("data", f"{data} ({glance.count(len(examples), 'example')})"),
            ("judges", "; ".join(results)),
        ),
        **listed({"": [*judged.values()]}, partial(example_of, surest)),
    )


def finding(
    results: Detectors, figures: Table | None, data: str, configs: Sequence[Mapping[str, Any]]
) -> glance.Finding:
    """What the page's first screen says: F1 of every judge beside finding a conflict everywhere.

    It is of all sources together, or of the only one that is no hard one. `figures` is Table 2;
    the other arguments are those of `view`.
    """
    rows = own_rows(figures) if figures else []
    sources = dict.fromkeys(str(row["source"]) for row in rows)
    chosen = OVERALL if OVERALL in sources else next((one for one in sources if one != HARD), HARD)
    scores = {
        str(row["detector"]): estimate_of(row["f1"]) for row in rows if row["source"] == chosen
    }
    judges = [(name, scores[name]) for name in results if name in scores]
    always = [("always 'conflict'", scores.get(ALWAYS))]
    every = [result for part in results.values() for result in part]
    statuses = Counter(result.status for result in every)
    claims = glance.count(len({result.id for result in every}), "claim")
    return glance.Finding(
        question="Can a model tell whether documents conflict over a claim?",
        data=f"{claims} with their documents, {data}",
        models=f"documents labelled by {glance.joined(map(glance.judges, configs))}",
        found="F1 of finding the claims whose documents conflict (1 is best): "
        f"{glance.with_figures(judges, glance.figure) or MISSING}.",
        beside=f"F1, {glance.with_figures(always, glance.figure)}.",
        failed=glance.failed(
            (statuses["failed"], "claims that could not be judged: {}"),
            (statuses["invalid"], "claims with a label that could not be read: {}"),
            (sum(len(result.truncations) for result in every), "documents read only in part: {}"),
        ),
        examples=glance.fewest(estimate for _, estimate in judges),
        figures=judges,
        baselines=always,
    )


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
