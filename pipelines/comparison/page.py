"""The page of a comparison: what differs, tables, and every example with the blocks of all runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from markupsafe import Markup

from pipelines.comparison.folders import FolderComparison
from pipelines.comparison.making import in_words, making_table, runs_table
from pipelines.comparison.runs import Run
from pipelines.comparison.scores import (
    ScorePair,
    cross_table,
    flip_table,
    remarks,
    score_table,
    share_table,
)
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
from pipelines.report.plots import dots
from pipelines.report.table import MISSING, called, shown, two_places, with_names_joined
from pipelines.report.texts import Block, Chip, Note, Tone

TITLE = "Comparison"

PLOTTED = 4
"""Scores that a page draws; its tables have all."""


@dataclass(frozen=True)
class Together:
    """An example of A, with the runs that have it by the letters of their folders, A's first.

    Attributes:
        scores: Of the pairs of runs that have it, with A's and the other's value.
    """

    id: str
    runs: Mapping[str, Run]
    scores: Sequence[tuple[ScorePair, float, float]]

    @property
    def first(self) -> Run:
        """A's."""
        return self.runs["A"]

    @property
    def verdicts(self) -> dict[str, str]:
        """Letter -> verdict; empty where the experiment gives none."""
        judged = self.first.experiment.verdict is not None
        return {letter: run.verdict_on(self.id) for letter, run in self.runs.items() if judged}

    @property
    def changed(self) -> bool:
        """Whether two runs have another verdict."""
        return len({*self.verdicts.values()}) > 1

    @property
    def moved(self) -> float:
        """The largest change of a score."""
        return max((abs(second - first) for _, first, second in self.scores), default=0.0)


def write(path: Path, found: FolderComparison) -> None:
    """Write the page; InputError if the file cannot be written."""
    names = dict.fromkeys(match.first.experiment.name for match in found.matches)
    views = [view(found.of(name)) for name in names]
    facts = [
        *((side.letter, str(side.path)) for side in found.sides),
        *(("not compared", line) for line in found.alone),
    ]
    about = {side.letter: side.folder.about() for side in found.sides}
    explorer.write(path, TITLE, views, about, facts)


def view(own: FolderComparison) -> ExperimentView:
    """What the page has of one experiment: the runs of all folders that belong together."""
    experiment = own.matches[0].first.experiment
    every = _together(own)
    chosen = every[:EXAMPLES_SHOWN]
    seen = {
        run: _seen(run, ids)
        for run in _runs(own)
        if (ids := [each.id for each in chosen if run in each.runs.values()])
    }
    paths = {side.letter: str(side.path) for side in own.sides}
    shown_of = {run: {one.id: one for one in page.examples} for run, page in seen.items()}
    links = {
        called(match.title, each.id): address(experiment.name, each.first.called, each.id)
        for match in own.matches
        for each in chosen
        if each.first is match.first
    }
    return ExperimentView(
        name=experiment.name,
        title=experiment.title,
        finding=_finding(own),
        parts=tuple(_parts(own, links)),
        examples=tuple(_example(each, shown_of, paths) for each in chosen),
        facets=(
            Facet("Verdicts", ("changed", "the same")),
            Facet(
                "Verdict",
                tuple(dict.fromkeys(said for each in chosen for said in each.verdicts.values())),
                tuple(paths),
            ),
        ),
        runs={match.first.called: match.title for match in own.matches},
        noun=next((page.noun for page in seen.values()), ExperimentView.noun),
        models=_models(own),
        left_out=len(every) - len(chosen),
    )


def _runs(own: FolderComparison) -> list[Run]:
    """All runs that are compared, each once."""
    return list(dict.fromkeys(run for one in own.matches for run in (one.first, one.second)))


def _together(own: FolderComparison) -> list[Together]:
    """All examples that A shares: those with another verdict first, then by how scores moved."""
    runs: dict[tuple[Run, str], dict[str, Run]] = {}
    scores: dict[tuple[Run, str], list[tuple[ScorePair, float, float]]] = {}
    for match in own.matches:
        for name in match.shared:
            runs.setdefault((match.first, name), {"A": match.first})[match.letter] = match.second
    for pair in own.scores:
        for name in pair.shared:
            values = (pair, pair.first[name], pair.second[name])
            scores.setdefault((pair.match.first, name), []).append(values)
    found = [Together(at[1], by, scores.get(at, ())) for at, by in runs.items()]
    return sorted(found, key=lambda each: (not each.changed, -each.moved))


def _seen(run: Run, ids: Sequence[str]) -> ExperimentView:
    """How the page of a run shows these examples."""
    own = {run.called: [run.results[name] for name in ids]}
    runs = Runs(run.experiment.name, run.folder, {run.called: run.about}, own)
    return run.experiment.publication(runs).view


def _example(
    each: Together, seen: Mapping[Run, Mapping[str, Example]], paths: Mapping[str, str]
) -> Example:
    known = {
        letter: seen[run][each.id] for letter, run in each.runs.items() if each.id in seen[run]
    }
    title = next((one.title for one in known.values()), each.id)
    tone: Tone = "strong" if each.changed else "outline"
    return Example(
        id=each.id,
        run=each.first.called,
        title=title,
        status="",
        blocks=partial(_blocks, each, known, paths),
        about=next((one.about for one in known.values()), ()),
        chips=tuple(Chip(f"{letter}: {said}", tone) for letter, said in each.verdicts.items()),
        facets={
            "Verdicts": [("changed" if each.changed else "the same")] if each.verdicts else [],
            "Verdict": [f"{letter}: {said}" for letter, said in each.verdicts.items()],
        },
        figures={"largest change of a score": each.moved} if each.scores else {},
        words="\n".join(dict.fromkeys(one.words for one in known.values())),
    )


def _blocks(each: Together, known: Mapping[str, Example], paths: Mapping[str, str]) -> list[Block]:
    """The scores that moved, and what each run's page shows."""
    values: dict[str, dict[str, float]] = {}
    for pair, first, second in each.scores:
        values.setdefault(pair.score.title, {"A": first})[pair.match.letter] = second
    moved = tuple(
        ((title,), *((two_places(own[side]) if side in own else MISSING,) for side in each.runs))
        for title, own in values.items()
        if len({*own.values()}) > 1
    )
    sides = Sides(
        tuple(
            Side(f"{letter}: {paths[letter]}", tuple(_own_blocks(known.get(letter))))
            for letter in each.runs
        )
    )
    title = "Scores that changed"
    return [Grid(title, (title, *each.runs), moved), sides] if moved else [sides]


def _own_blocks(example: Example | None) -> Sequence[Block]:
    return [Note("The page of this run does not show it.")] if example is None else example.blocks()


def _parts(own: FolderComparison, links: Mapping[str, str]) -> Iterator[Part]:
    several = own.several
    made = making_table(own.changes, several=several)
    same = "" if own.changes else "No difference in how these runs were made."
    yield Part("What differs", (runs_table(own.sides, own.matches), made), intro=same)
    if own.scores:
        table = score_table(own.scores, several=several)
        told = tuple(remarks(own.matches))
        yield Part("Scores", (table,), tuple(_plots(own.scores)), remarks=told)
    if own.verdicts:
        flips = flip_table(own.verdicts, several=several)
        tables = (
            share_table(own.verdicts, several=several),
            *(cross_table(pair) for pair in own.verdicts if pair.flips),
            with_names_joined(flips, "run", "example"),
        )
        yield Part("Verdicts", tables, links=links)


def _plots(pairs: Sequence[ScorePair]) -> Iterator[Markup]:
    """A plot for each of the first scores in [0, 1]: A's mean above the other's."""
    drawn = [pair for pair in pairs if pair.score.metric.bounds == (0.0, 1.0)][:PLOTTED]
    for pair in drawn:
        match = pair.match
        rows = [("A", pair.mean_of(match.first)), (match.letter, pair.mean_of(match.second))]
        yield dots(rows, f"{pair.score.title}, {match.title}")


def _finding(own: FolderComparison) -> Finding:
    differ = [pair for pair in own.scores if pair.comparison.difference is not None]
    figures = [
        f"{pair.score.title}, {pair.match.letter} less A: {shown(pair.comparison.difference)}"
        for pair in differ[:PLOTTED]
    ]
    flips = [
        f"{len(pair.flips):,} of {len(pair.verdicts):,} verdicts changed in {pair.match.letter}"
        for pair in own.verdicts
    ]
    runs = _runs(own)
    failed = sum(run.failed for run in runs)
    return Finding(
        question=f"What differs: {in_words(own.changes)}.",
        data=glance.joined(run.config["data"]["name"] for run in runs),
        models=glance.joined(model["name"] for run in runs for model in models_of(run.config)),
        found="; ".join([*figures, *flips]) or MISSING,
        failed=glance.failed((failed, "results: {}")),
        examples=glance.fewest(pair.comparison.difference for pair in differ),
    )


def _models(own: FolderComparison) -> tuple[ModelUsed, ...]:
    used = [("A", match.first) for match in own.matches]
    used += [(match.letter, match.second) for match in own.matches]
    return tuple(
        dict.fromkeys(
            ModelUsed(letter, model["name"], model["digest"])
            for letter, run in used
            for model in models_of(run.config)
        )
    )
