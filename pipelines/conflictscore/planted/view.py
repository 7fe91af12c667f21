"""Planted conflicts on the page: figures by kind, and every example with what was planted."""

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Final

from pipelines.conflictscore import view as scored
from pipelines.conflictscore.detection.baselines import ALWAYS, LEXICAL
from pipelines.conflictscore.detection.decisions import mistakes
from pipelines.conflictscore.detection.tables import OVERALL
from pipelines.conflictscore.detection.view import OUTCOMES, Judged, content, example_of
from pipelines.conflictscore.planted.result import PlantedResult
from pipelines.conflictscore.planted.tables import NEVER, SEEN, Planted, all_tables
from pipelines.evidence.judge import judge_named
from pipelines.experiment.publish import Publication, Runs
from pipelines.report import glance
from pipelines.report.blocks import Facts, fact
from pipelines.report.explorer import Example, ExperimentView, Facet, Part, address
from pipelines.report.table import MISSING, Table, estimate_of, own_rows
from pipelines.report.texts import Block, Heading, Text
from pipelines.report.views import dot_plots, failures_part, listed, named, picked

_NAME: Final = "planted"
_BY: Final = {"rule": "a rule", "model": "a language model"}


def publication(runs: Runs[PlantedResult]) -> Publication:
    """Tables and view of what a folder has."""
    configs = runs.configs
    results = {f"{name}: {judge_named(configs[name])}": own for name, own in runs.results.items()}
    unevidenced = {
        label: config["settings"].get("unevidenced", "zero")
        for label, config in zip(results, configs.values(), strict=True)
    }
    made = all_tables(results, unevidenced)
    wrong = mistakes(results)
    surest: dict[str, float] = {}
    for each in wrong:  # the surest first
        if each.confidence is not None:
            surest.setdefault(each.example, each.confidence)
    judged: dict[str, dict[str, PlantedResult]] = {}
    for label, own in results.items():
        for result in own:
            judged.setdefault(result.id, {})[label] = result
    data = next(iter(configs.values()))["data"]["name"]
    kinds = dict.fromkeys(each.example.source for own in results.values() for each in own)
    view = ExperimentView(
        name=_NAME,
        title="Planted conflicts",
        finding=_finding(results, made[0], data, runs),
        parts=_parts(made, {each: address(_NAME, "", each) for each in judged}),
        facets=(
            Facet("Kind", tuple(kinds)),
            Facet("Documents disagree", ("yes", "no")),
            Facet("Outcome", tuple(OUTCOMES), tuple(results)),
        ),
        runs={"": data},
        noun=("claim", "claims"),
        models=glance.judge_models(*configs.values()),
        facts=(("data", f"{data} ({glance.count(len(judged), 'example')})"),),
        **listed({"": [*judged.values()]}, partial(_example, surest)),
    )
    lines = "".join(f"{each.model_dump_json()}\n" for each in wrong)
    return Publication(view, made, {f"{_NAME}-errors.jsonl": lines})


def _finding(
    results: Planted, table: Table, data: str, runs: Runs[PlantedResult]
) -> glance.Finding:
    """F1 of each labeller on all plants of the file, beside those who need no model.

    Where the file has those alone that the tagger saw, the sentence says so.
    """
    rows = own_rows(table)
    kind = OVERALL if any(row["kind"] == OVERALL for row in rows) else rows[0]["kind"]
    # Of all plants, which stand last, where there are others than those that the tagger saw.
    scores = {row["detector"]: estimate_of(row["f1"]) for row in rows if row["kind"] == kind}
    figures = tuple((name, scores.get(name)) for name in results)
    beside = tuple((name, scores[name]) for name in (ALWAYS, NEVER, LEXICAL) if scores.get(name))
    shown = glance.with_figures(figures, glance.figure) or MISSING
    favoured = ""
    if all(row["plants"] == SEEN for row in rows):
        favoured = " What the tagger could not see was left out, which favours it."
    every = [each for own in results.values() for each in own]
    statuses = Counter(each.status for each in every)
    return glance.Finding(
        question="Who notices conflicts that were planted in documents?",
        data=f"{glance.count(len({each.id for each in every}), 'example')}, {data}",
        models=f"documents labelled by {glance.joined(map(glance.judges, runs.configs.values()))}",
        found=f"F1 of finding the planted conflicts (1 is best): {shown}.{favoured}",
        beside=glance.with_figures(beside, glance.figure),
        failed=glance.failed(
            (statuses["failed"], "claims that could not be judged: {}"),
            (statuses["invalid"], "claims with a label that could not be read: {}"),
            (sum(len(each.truncations) for each in every), "documents read only in part: {}"),
        ),
        examples=glance.fewest(each for _, each in figures),
        figures=figures,
        baselines=beside,
    )


def _parts(made: list[Table], links: dict[str, str]) -> tuple[Part, ...]:
    tables = named(made[1:], "planted_")
    every = "every example was labelled, every label could be read, and every text was seen whole"
    answers = picked(tables, "answers")
    return (
        Part(
            "By kind",
            (made[0], *picked(tables, "comparisons judges")),
            dot_plots(made[0], "kind", "detector", {"accuracy": "Accuracy, {}"})
            if len({row["plants"] for row in own_rows(made[0])}) == 1
            else (),
        ),
        *([Part("Answers", answers)] if answers else []),
        Part("Labels of documents", picked(tables, "documents confusion confidences")),
        failures_part(tables.get("failures"), every, links),
    )


def _example(surest: dict[str, float], run: str, judged: Judged) -> Example:
    """As in Conflict Detection, with what was planted before it."""
    shown = example_of(surest, run, judged)
    facets = {("Kind" if name == "Source" else name): own for name, own in shown.facets.items()}
    return replace(shown, facets=facets, blocks=partial(_content, judged))


def _content(judged: Judged) -> list[Block]:
    results = [each for each in judged.values() if isinstance(each, PlantedResult)]
    plant = results[0].example.plant
    made: list[Block] = []
    if plant is not None:
        known = {
            "Planted": plant.kind,
            "Type": plant.type,
            "Passage": plant.document,
            "Old": plant.old,
            "New": plant.new,
            "Control": plant.control,
            "Written by": _BY[plant.by],
            "Seen by the tagger": "yes" if plant.checked else "no",
        }
        made.append(Facts(tuple(fact(label, value) for label, value in known.items() if value)))
    made += content(judged)
    for label, result in judged.items():
        for who, answer in getattr(result, "answers", {}).items():
            made += [Heading(f"{who.capitalize()}, {label}"), Text(answer.response, "Response")]
            made += [scored.matrix(answer)] if answer.claims else []
    return made
