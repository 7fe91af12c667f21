"""Error detectors on the page: areas under the ROC curve, and every example."""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from markupsafe import Markup

from pipelines.experiment.publish import Runs
from pipelines.experiment.summary import Figure, Page, Problem, Section
from pipelines.files import read_bytes
from pipelines.npov.example import SIDES
from pipelines.npov.result import BASELINES, KINDS, OF_RUNS, ROUGE, ErrorKind, NpovResult
from pipelines.report.blocks import Facts, Grid, fact
from pipelines.report.explorer import Example, Facet
from pipelines.report.table import MISSING, Table
from pipelines.report.texts import Block, Chip, Heading, Inline, Note, Text, Trouble

_INTRO = (
    "Does a response add arguments that were not given (hallucination), or leave out some that "
    "were (coverage)? A detector gives each response two scores; the area under its ROC curve is "
    "the probability that a response with the error scores higher than one without. 0.5 is chance."
)

_ERRORS = ("none", "full", "ambiguous")
_SAID: Mapping[ErrorKind, str] = {"hallucination": "content added", "coverage": "left out"}
_TITLES: Mapping[ErrorKind, str] = {
    "hallucination": "Content added",
    "coverage": "Arguments left out",
}


def _example(run: str, result: NpovResult) -> Example:
    wrong = [
        Chip(f"{_SAID[kind]}{' in part' if error == 'ambiguous' else ''}", "contradict", "✗")
        for kind in KINDS
        if (error := result.known(kind)) != "none"
    ]
    detector = next((name for name in OF_RUNS if name in result.detectors), ROUGE)
    return Example(
        id=result.id,
        run=run,
        title=result.id.removeprefix(f"{result.test_set}/"),
        status=result.status,
        blocks=partial(_content, result),
        chips=tuple(wrong) or (Chip("no error", "support", "✓"),),
        facets={
            "Test set": [result.test_set],
            **{_SAID[kind].capitalize(): [result.known(kind)] for kind in KINDS},
        },
        figures={_SAID[kind]: result.score(detector, kind) for kind in KINDS}
        if result.detectors
        else {},
    )


def _content(result: NpovResult) -> list[Block]:
    made: list[Block] = [Trouble("Not scored", result.reason)] if result.reason else []
    made += [Heading(result.example.question), Text(result.example.response, "Response")]
    for side in SIDES:
        made += [Note(argument, side) for argument in result.example.arguments(side)]
    made.append(Facts(tuple(fact(_TITLES[kind], _known(result, kind)) for kind in KINDS)))
    if result.detectors:
        made += [Heading("How likely each error is, by detector"), _scores(result)]
    return made


def _known(result: NpovResult, kind: ErrorKind) -> Inline:
    error = result.known(kind)
    return Chip("none", "support", "✓") if error == "none" else Chip(error, "contradict", "✗")


def _scores(result: NpovResult) -> Grid:
    """A row per detector."""
    rows = []
    for name in result.detectors:
        scores = [result.score(name, kind) for kind in KINDS]
        cells = (MISSING if score is None else f"{score:.4f}" for score in scores)
        rows.append(tuple((cell,) for cell in (name, *cells)))
    titles = (_TITLES[kind] for kind in KINDS)
    return Grid("Scores of the detectors", ("Detector", *titles), tuple(rows))


def _tables(runs: Runs[NpovResult]) -> list[Table]:
    # These need numpy, which the command line does not import.
    from pipelines.npov import soft_prompt
    from pipelines.npov.tables import all_tables

    configs = runs.configs.items()
    notes = [note for run, config in configs for note in soft_prompt.notes(run, config)]
    return [replace(table, notes=(*table.notes, *notes)) for table in all_tables(runs.results)]


def _problems(result: NpovResult) -> Iterator[Problem]:
    if result.status == "failed":
        yield Problem("failed", result.reason or "")


FIGURE_2: Final = "figure-2.png"
"""File of the map that a study draws."""


def _figure_2(path: Path) -> Iterator[Markup]:
    if path.exists():
        data = b64encode(read_bytes(path)).decode()
        alt = "Figure 2: words of arguments down, of the response across; darker is more salient"
        yield Markup('<img src="data:image/png;base64,{}" alt="{}">').format(data, alt)


def _notes(runs: Runs[NpovResult]) -> Iterator[str]:
    """Notes of a study's steps: where it follows the paper, and where it does not."""
    for entry in runs.folder.entries("study").values():
        yield from entry.get("told", ())


PAGE: Final = Page(
    question="Can errors in a neutral response be found: content added, arguments left out?",
    tables=_tables,
    figures=tuple(
        Figure(
            *("npov_detection", kind, "detector"),
            said=f"AUC, {_SAID[kind]}",
            group=("test_set",),
            trivial=BASELINES,
        )
        for kind in KINDS
    ),
    example=_example,
    problems=_problems,
    failures="npov_failures",
    notes=_notes,
    sections=(
        Section("By detector", ("npov_detection", "npov_comparisons"), _INTRO),
        Section(
            "Words",
            ("npov_words", "npov_aggregations", "npov_classifiers"),
            plots=lambda runs, _: _figure_2(runs.folder.path / FIGURE_2),
        ),
        Section("Annotators", ("npov_agreement",)),
    ),
    facets=tuple(Facet(_SAID[kind].capitalize(), _ERRORS) for kind in KINDS),
    roles={"model": "detects errors"},
)
