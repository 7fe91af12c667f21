"""The page of a comparison: tables, and each example with the blocks of both runs."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pipelines.comparison.folders import (
    FolderComparison,
    Match,
    Run,
    changes_table,
    flip_table,
    remarks,
    score_table,
    share_table,
)
from pipelines.experiment.publish import Runs
from pipelines.report import explorer
from pipelines.report.blocks import Side, Sides
from pipelines.report.explorer import (
    EXAMPLES_SHOWN,
    Example,
    ExperimentView,
    Facet,
    Part,
    address,
)
from pipelines.report.table import called, with_names_joined
from pipelines.report.texts import Block, Chip, Note

TITLE = "Comparison"


class Both(NamedTuple):
    """An example of both runs, and its verdicts; None where the experiment gives none."""

    id: str
    match: Match
    verdicts: tuple[str, str] | None

    @property
    def changed(self) -> bool:
        """Whether the runs have another verdict."""
        return self.verdicts is not None and len({*self.verdicts}) > 1


def write(path: Path, found: FolderComparison) -> None:
    """Write the page; InputError if the file cannot be written."""
    by_experiment: dict[str, list[Match]] = {}
    for match in found.matches:
        by_experiment.setdefault(match.first.experiment.name, []).append(match)
    views = [
        view(FolderComparison(found.first, found.second, group)) for group in by_experiment.values()
    ]
    facts = [("A", str(found.first)), ("B", str(found.second))]
    facts += [("not compared", line) for line in found.alone]
    match = found.matches[0]
    about = {"A": match.first.folder.about(), "B": match.second.folder.about()}
    explorer.write(path, TITLE, views, about, facts)


def view(found: FolderComparison) -> ExperimentView:
    """What the page has of one experiment: examples with another verdict first."""
    experiment = found.matches[0].first.experiment
    verdicts = {pair.match: pair.verdicts for pair in found.verdicts}
    examples = sorted(
        (
            Both(name, match, verdicts.get(match, {}).get(name))
            for match in found.matches
            for name in match.shared
        ),
        key=lambda example: not example.changed,
    )
    chosen = examples[:EXAMPLES_SHOWN]
    pages = {
        run: _page(run, [example.id for example in chosen if example.match is match])
        for match in found.matches
        for run in (match.first, match.second)
    }
    links = {
        called(example.match.title, example.id): address(
            experiment.name, example.match.first.called, example.id
        )
        for example in chosen
    }
    return ExperimentView(
        name=experiment.name,
        title=experiment.title,
        parts=tuple(_parts(found, links)),
        examples=tuple(_example(example, pages, found) for example in chosen),
        facets=(Facet("Verdicts", ("changed", "the same")),),
        runs={match.first.called: match.title for match in found.matches},
        left_out=len(examples) - len(chosen),
    )


def _page(run: Run, ids: Sequence[str]) -> dict[str, Example]:
    """How the page of a run shows these examples, by id."""
    results = {run.called: [run.results[name] for name in ids]}
    runs = Runs(run.experiment.name, run.folder, {run.called: run.about}, results)
    return {example.id: example for example in run.experiment.publication(runs).view.examples}


def _example(
    example: Both, pages: Mapping[Run, Mapping[str, Example]], found: FolderComparison
) -> Example:
    first, second = (
        pages[run].get(example.id) for run in (example.match.first, example.match.second)
    )
    known = first or second
    return Example(
        id=example.id,
        run=example.match.first.called,
        title=known.title if known else example.id,
        status="",
        blocks=partial(_blocks, {f"A: {found.first}": first, f"B: {found.second}": second}),
        about=known.about if known else (),
        chips=tuple(
            Chip(f"{letter}: {verdict}", "strong" if example.changed else "outline")
            for letter, verdict in zip("AB", example.verdicts or (), strict=False)
        ),
        facets={
            "Verdicts": ["changed" if example.changed else "the same"] if example.verdicts else []
        },
        words=known.words if known else "",
    )


def _blocks(pages: Mapping[str, Example | None]) -> list[Block]:
    """What the page of each run shows, by the titles of the sides."""
    missing = (Note("The page of this run does not show it."),)
    return [
        Sides(
            tuple(
                Side(title, tuple(page.blocks()) if page else missing)
                for title, page in pages.items()
            )
        )
    ]


def _parts(found: FolderComparison, links: Mapping[str, str]) -> Iterator[Part]:
    same = "" if found.changes else "No difference in how these runs were made."
    yield Part("What differs", (changes_table(found.changes),), intro=same)
    if found.scores:
        yield Part("Scores", (score_table(found.scores),), remarks=tuple(remarks(found.matches)))
    if found.verdicts:
        flips = with_names_joined(flip_table(found.verdicts), "run", "example")
        yield Part("Verdicts", (share_table(found.verdicts), flips), links=links)
