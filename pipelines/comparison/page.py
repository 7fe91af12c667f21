"""The HTML page of a comparison: tables, and every example with the blocks of both runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from pipelines.comparison.folders import FolderComparison, Match, Run, remarks
from pipelines.experiment.publish import Runs
from pipelines.report import explorer
from pipelines.report.blocks import Side, Sides
from pipelines.report.explorer import EXAMPLES_SHOWN, Example, ExperimentView, Facet, Part, address
from pipelines.report.table import called, with_names_joined
from pipelines.report.texts import Block, Chip, Tone

TITLE = "Comparison"
CHANGED, SAME = "changed", "the same"


def write(path: Path, found: FolderComparison) -> None:
    """Write the page; InputError if the file cannot be written."""
    by_experiment: dict[str, list[Match]] = {}
    for match in found.matches:
        by_experiment.setdefault(match.first.experiment.name, []).append(match)
    views = [view(replace(found, matches=matches)) for matches in by_experiment.values()]
    facts = [("A", str(found.first)), ("B", str(found.second))]
    facts += [("not compared", line) for line in found.alone]
    match = found.matches[0]
    about = {"A": match.first.folder.about(), "B": match.second.folder.about()}
    explorer.write(path, TITLE, views, about, facts)


def view(found: FolderComparison) -> ExperimentView:
    """The page's view of one experiment's two runs; examples whose verdict changed come first."""
    experiment = found.matches[0].first.experiment
    titles = {match.first.called: match.title for match in found.matches}
    examples = [example for match in found.matches for example in _examples(match, found)]
    links = {
        called(titles[example.run], example.id): address(experiment.name, example.run, example.id)
        for example in examples
    }
    return ExperimentView(
        name=experiment.name,
        title=experiment.title,
        parts=tuple(_parts(found, links)),
        examples=tuple(examples),
        facets=(Facet("Verdicts", (CHANGED, SAME)),),
        runs=titles,
        left_out=sum(len(match.shared) for match in found.matches) - len(examples),
    )


def _examples(match: Match, found: FolderComparison) -> Iterator[Example]:
    """The examples in both runs, listed as on A's page, with the blocks of both."""
    verdicts = next((pair.verdicts for pair in found.verdicts if pair.match is match), {})
    facets = {name: [CHANGED if one != other else SAME] for name, (one, other) in verdicts.items()}
    ids = sorted(match.shared, key=lambda name: facets.get(name) != [CHANGED])
    ids = ids[: EXAMPLES_SHOWN // len(found.matches)]
    first, second = (_page(run, ids) for run in (match.first, match.second))
    for name in ids:
        tone: Tone = "strong" if facets.get(name) == [CHANGED] else "outline"
        sides = {f"A: {found.first}": first[name], f"B: {found.second}": second[name]}
        yield replace(
            first[name],
            run=match.first.called,
            status="",
            blocks=partial(_sides, sides),
            chips=tuple(
                Chip(f"{letter}: {verdict}", tone)
                for letter, verdict in zip("AB", verdicts.get(name, ()), strict=False)
            ),
            facets={"Verdicts": facets.get(name, [])},
            figures={},
        )


def _page(run: Run, ids: Sequence[str]) -> dict[str, Example]:
    """The examples with these ids, as a run's page shows them, by id."""
    results = {run.called: [run.results[name] for name in ids]}
    runs = Runs(run.experiment.name, run.folder, {run.called: run.about}, results)
    return {example.id: example for example in run.experiment.publication(runs).view.examples}


def _sides(shown: Mapping[str, Example]) -> list[Block]:
    """The blocks from each run's page, under the title of its side."""
    sides = (Side(title, tuple(example.blocks())) for title, example in shown.items())
    return [Sides(tuple(sides))]


def _parts(found: FolderComparison, links: Mapping[str, str]) -> Iterator[Part]:
    changes, scores, shares, flips = found.tables()
    same = "" if found.changes else "No difference in how these runs were made."
    yield Part("What differs", (changes,), intro=same)
    if found.scores:
        yield Part("Scores", (scores,), remarks=tuple(remarks(found.matches)))
    if found.verdicts:
        joined = with_names_joined(flips, "run", "example")
        yield Part("Verdicts", (shares, joined), links=links)
