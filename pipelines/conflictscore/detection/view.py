"""What Conflict Detection puts on the page: figures, and every claim with its labels."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from pipelines.conflictscore.detection.bench import HARD
from pipelines.conflictscore.detection.detect import (
    ALWAYS,
    DetectionResult,
    mistakes,
    outcome,
)
from pipelines.conflictscore.detection.tables import OVERALL, remarks
from pipelines.conflictscore.view import cell, first, sources
from pipelines.judge.examples import ContestedClaim
from pipelines.report import glance
from pipelines.report.blocks import Cell, Facts, Matrix, Row, Sources, fact
from pipelines.report.explorer import Example, ExperimentView, Facet, Part, address
from pipelines.report.table import MISSING, Table, estimate_of, own_rows, two_places
from pipelines.report.table import Cell as TableCell
from pipelines.report.texts import Block, Chip, Heading, Trouble
from pipelines.report.views import Mark, dot_plots, failures_part, listed

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
    results: Mapping[str, Sequence[DetectionResult]],
    made: Sequence[Table],
    data: str,
    configs: Sequence[Mapping[str, Any]],
) -> ExperimentView:
    """Table 2 of this run, F1 by source, labels, failures, and every claim.

    Results are by judge, whose configurations are those of `run.json`; `made` is of
    `tables.all_tables`.
    """
    judged: dict[str, dict[str, DetectionResult]] = {}
    for name, own in results.items():
        for result in own:
            judged.setdefault(result.id, {})[name] = result
    surest: dict[str, float] = {}
    for each in mistakes(results):  # the surest first
        if each.confidence is not None:
            surest.setdefault(each.example, each.confidence)
    every = [next(iter(each.values())).example for each in judged.values()]
    return ExperimentView(
        name=NAME,
        title=TITLE,
        finding=finding(results, made, data, configs),
        parts=_parts(results, made, {each.id: address(NAME, "", each.id) for each in every}),
        facets=(
            Facet("Source", tuple(dict.fromkeys(each.source for each in every))),
            Facet("Documents disagree", ("yes", "no")),
            Facet("Outcome", tuple(OUTCOMES), tuple(results)),
        ),
        runs={"": data},
        noun=("claim", "claims"),
        models=glance.judge_models(*configs),
        facts=(
            ("data", f"{data} ({glance.count(len(every), 'example')})"),
            ("judges", "; ".join(results)),
        ),
        **listed({"": [*judged.values()]}, partial(example_of, surest)),
    )


def finding(
    results: Mapping[str, Sequence[DetectionResult]],
    made: Sequence[Table],
    data: str,
    configs: Sequence[Mapping[str, Any]],
) -> glance.Finding:
    """What the page's first screen says: F1 of every judge beside finding a conflict everywhere.

    Arguments are those of `view`.
    """
    rows = own_rows(next(table for table in made if table.name == "conflict_detection"))
    source = _headline(rows)
    scores = {
        str(row["detector"]): estimate_of(row["f1"]) for row in rows if row["source"] == source
    }
    called = _short(list(results))
    same = len({len(own) for own in results.values()}) == 1
    figures = {called[name]: scores[name] for name in results if name in scores}
    found = []
    for name, own in results.items():
        sizes = "" if same else f" ({glance.count(len(own), 'claim')})"
        if name in scores:
            found.append((f"{called[name]}{sizes}", scores[name]))
    always = scores.get(ALWAYS)
    every = [result for own in results.values() for result in own]
    statuses = Counter(result.status for result in every)
    claims = glance.count(len({result.id for result in every}), "claim")
    scored = glance.with_figures(found, glance.figure) or MISSING
    whole = f"F1 of finding the claims whose documents conflict (1 is best): {scored}."
    return glance.Finding(
        question="Can a model tell whether documents conflict over a claim?",
        data=f"{claims} with their documents, {data}",
        models=f"documents labelled by {glance.joined(map(glance.judges, configs))}",
        found=whole,
        beside=f"Always saying 'conflict': F1 {two_places(always.value)}." if always else "",
        failed=glance.failed(
            (statuses["failed"], "claims that could not be judged: {}"),
            (statuses["invalid"], "claims with a label that could not be read: {}"),
            (sum(len(each.truncations) for each in every), "documents read only in part: {}"),
        ),
        examples=glance.fewest(figures.values()),
        figures=tuple(figures.items()),
        baselines=(("always 'conflict'", always),) if always else (),
    )


def _headline(rows: Sequence[Mapping[str, TableCell]]) -> str:
    """The source that stands for all: they together, else the only one that is no hard one."""
    sources = [str(row["source"]) for row in rows]
    if OVERALL in sources:
        return OVERALL
    return next((source for source in sources if source != HARD), sources[0] if sources else "")


def _short(judges: Sequence[str]) -> dict[str, str]:
    """Judges by their models alone, where those tell them apart."""
    models = {name: name.partition(": ")[2] or name for name in judges}
    return models if len({*models.values()}) == len(models) else {name: name for name in judges}


def _parts(
    results: Mapping[str, Sequence[DetectionResult]],
    made: Sequence[Table],
    links: Mapping[str, str],
) -> tuple[Part, ...]:
    named = {table.name.removeprefix("conflict_detection").lstrip("_"): table for table in made}
    every = "every example was labelled, every label could be read, and every text was seen whole"
    return (
        Part(
            "Figures",
            (named[""], named["comparisons"]),
            dot_plots(named[""], "source", "detector", {"f1": "F1, {}"}),
            "A claim has a conflict when one document supports it and another contradicts it. "
            "Each detector decides from claim and documents alone.",
            remarks=remarks(results),
        ),
        Part(
            "Labels of documents",
            (named["documents"], named["confusion"]),
            intro="To read the most confident mistakes first, order the claims by “surest "
            "mistake”.",
        ),
        failures_part(named["failures"], every, links),
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
