"""The page of a comparison: what differs, tables, and each example with the blocks of both runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pipelines.comparison.folders import (
    FolderComparison,
    changes_table,
    flip_table,
    remarks,
    score_table,
    share_table,
)
from pipelines.comparison.runs import Change, Match, Run
from pipelines.experiment.publish import Runs, models_of
from pipelines.report import explorer, glance
from pipelines.report.blocks import Grid, Side, Sides
from pipelines.report.explorer import (
    EXAMPLES_SHOWN,
    Example,
    ExperimentView,
    Facet,
    Part,
    address,
)
from pipelines.report.glance import Finding, ModelUsed
from pipelines.report.table import MISSING, called, shown, two_places, with_names_joined
from pipelines.report.texts import Block, Chip, Note

TITLE = "Comparison"

TOLD = 3
"""Differences and scores that the first screen tells of."""


@dataclass(frozen=True)
class Both:
    """An example of both runs: (title, A's value, B's value) of its scores, and its verdicts."""

    id: str
    match: Match
    scores: Sequence[tuple[str, float, float]]
    verdicts: tuple[str, str] | None

    @property
    def changed(self) -> bool:
        """Whether the runs have another verdict."""
        return self.verdicts is not None and len({*self.verdicts}) > 1

    @property
    def moved(self) -> float:
        """The largest change of a score."""
        return max((abs(second - first) for _, first, second in self.scores), default=0.0)

    @property
    def labels(self) -> list[str]:
        """The verdicts, each after its letter: "A: conflict"."""
        return [
            f"{letter}: {said}" for letter, said in zip("AB", self.verdicts or (), strict=False)
        ]


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
    """What the page has of one experiment."""
    experiment = found.matches[0].first.experiment
    examples = _examples(found)
    chosen = examples[:EXAMPLES_SHOWN]
    seen = {
        run: _seen(run, [example.id for example in chosen if example.match is match])
        for match in found.matches
        for run in (match.first, match.second)
    }
    links = {
        called(example.match.title, example.id): address(
            experiment.name, example.match.first.called, example.id
        )
        for example in chosen
    }
    verdicts = dict.fromkeys(said for example in chosen for said in example.verdicts or ())
    return ExperimentView(
        name=experiment.name,
        title=experiment.title,
        finding=_finding(found),
        parts=tuple(_parts(found, links)),
        examples=tuple(_example(example, seen, found) for example in chosen),
        facets=(
            Facet("Verdicts", ("changed", "the same")),
            Facet("Verdict", tuple(verdicts), ("A", "B")),
        ),
        runs={match.first.called: match.title for match in found.matches},
        noun=next(iter(seen.values())).noun,
        models=tuple(
            dict.fromkeys(
                ModelUsed(letter, model["name"], model["digest"])
                for match in found.matches
                for letter, run in (("A", match.first), ("B", match.second))
                for model in models_of(run.config)
            )
        ),
        left_out=len(examples) - len(chosen),
    )


def _examples(found: FolderComparison) -> list[Both]:
    """All shared examples: those with another verdict first, then by how scores moved."""
    scores: dict[tuple[Match, str], list[tuple[str, float, float]]] = {}
    for pair in found.scores:
        for name in pair.shared:
            values = (pair.score.title, pair.first[name], pair.second[name])
            scores.setdefault((pair.match, name), []).append(values)
    verdicts = {pair.match: pair.verdicts for pair in found.verdicts}
    examples = [
        Both(name, match, scores.get((match, name), ()), verdicts.get(match, {}).get(name))
        for match in found.matches
        for name in match.shared
    ]
    return sorted(examples, key=lambda example: (not example.changed, -example.moved))


def _seen(run: Run, ids: Sequence[str]) -> ExperimentView:
    """How the page of a run shows these examples."""
    results = {run.called: [run.results[name] for name in ids]}
    runs = Runs(run.experiment.name, run.folder, {run.called: run.about}, results)
    return run.experiment.publication(runs).view


def _example(example: Both, seen: Mapping[Run, ExperimentView], found: FolderComparison) -> Example:
    pages = [
        next((page for page in seen[run].examples if page.id == example.id), None)
        for run in (example.match.first, example.match.second)
    ]
    known = [page for page in pages if page is not None]
    tone = "strong" if example.changed else "outline"
    return Example(
        id=example.id,
        run=example.match.first.called,
        title=known[0].title if known else example.id,
        status="",
        blocks=partial(_blocks, example, pages, found),
        about=known[0].about if known else (),
        chips=tuple(Chip(said, tone) for said in example.labels),
        facets={
            "Verdicts": ["changed" if example.changed else "the same"] if example.verdicts else [],
            "Verdict": example.labels,
        },
        figures={"largest change of a score": example.moved} if example.scores else {},
        words="\n".join(dict.fromkeys(page.words for page in known)),
    )


def _blocks(example: Both, pages: Sequence[Example | None], found: FolderComparison) -> list[Block]:
    """The scores that moved, and what the page of each run shows."""
    moved = tuple(
        ((title,), (two_places(first),), (two_places(second),))
        for title, first, second in example.scores
        if first != second
    )
    titles = (f"A: {found.first}", f"B: {found.second}")
    sides = Sides(
        tuple(
            Side(title, tuple(page.blocks()) if page else (Note("This page does not show it."),))
            for title, page in zip(titles, pages, strict=True)
        )
    )
    title = "Scores that changed"
    return [Grid(title, (title, "A", "B"), moved), sides] if moved else [sides]


def _parts(found: FolderComparison, links: Mapping[str, str]) -> Iterator[Part]:
    same = "" if found.changes else "No difference in how these runs were made."
    yield Part("What differs", (changes_table(found.changes),), intro=same)
    if found.scores:
        yield Part("Scores", (score_table(found.scores),), remarks=tuple(remarks(found.matches)))
    if found.verdicts:
        flips = with_names_joined(flip_table(found.verdicts), "run", "example")
        yield Part("Verdicts", (share_table(found.verdicts), flips), links=links)


def _finding(found: FolderComparison) -> Finding:
    differences = [
        (pair.score.title, pair.comparison.difference)
        for pair in found.scores
        if pair.comparison.difference is not None
    ]
    figures = [f"{title}, B less A: {shown(value)}" for title, value in differences[:TOLD]]
    flips = [
        f"{len(pair.flips):,} of {len(pair.verdicts):,} verdicts changed" for pair in found.verdicts
    ]
    runs = [run for match in found.matches for run in (match.first, match.second)]
    failed = sum(result.status == "failed" for run in runs for result in run.results.values())
    return Finding(
        question=f"What differs: {in_words(found.changes)}.",
        data=glance.joined(run.config["data"]["name"] for run in runs),
        models=glance.joined(model["name"] for run in runs for model in models_of(run.config)),
        found="; ".join([*figures, *flips]) or MISSING,
        failed=glance.failed((failed, "results: {}")),
        examples=glance.fewest(value for _, value in differences),
    )


def in_words(changes: Sequence[Change]) -> str:
    """The first things that differ, and how many more: "model.name (a, then b)"; or "nothing".

    Of a model with another name, the name alone.
    """
    named = {change.what for change in changes if change.what.endswith(".name")}
    said = dict.fromkeys(
        f"{'prompt ' if change.kind == 'prompt' else ''}{change.what} "
        f"({change.first}, then {change.second})"
        for change in changes
        if change.what in named or f"{change.what.partition('.')[0]}.name" not in named
    )
    first = list(said)[:TOLD]
    more = [f"{len(said) - TOLD:,} more"] if len(said) > TOLD else []
    return glance.joined([*first, *more]) or "nothing"
