"""`contested annotate`: people label what a judge labelled, and how far they agree."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from pipelines import papers
from pipelines.cli.progress import STDERR, show
from pipelines.cli.run import publish
from pipelines.errors import InputError
from pipelines.report.table import write
from pipelines.report.terminal import plain
from pipelines.runs.folder import RunFolder, file_name

if TYPE_CHECKING:
    from pipelines.annotation.agreement import Ratings
    from pipelines.annotation.sample import Sample
    from pipelines.annotation.subject import Subject
    from pipelines.report.table import Table


def annotate(
    run: Annotated[Path, typer.Argument(help="A run folder.", show_default=False)],
    sample: Annotated[
        int | None,
        typer.Option(min=1, help="How many to label.", show_default="100, or those there are"),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            help="What the sample has equal numbers of: the judge's `label`, a `source`, `kind`, "
            "`variant` or `group` of the data; or `none`.",
            show_default="label",
            metavar="STRATUM",
        ),
    ] = None,
    annotator: Annotated[str, typer.Option(help="Who labels.", metavar="NAME")] = "me",
    entry: Annotated[
        str | None,
        typer.Option(
            help="Which run of the folder: `conflict-detection.tagger`.",
            show_default="the only one",
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            help="Which labels: `relation`, `type-choice`, `behaviour`, `grounding`.",
            show_default="the only ones",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Equal seeds draw equal samples.", show_default="0")
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Of the page; 0 takes a free one.")
    ] = 0,
    results: Annotated[
        bool, typer.Option("--results", help="Show how far people agree with the judge.")
    ] = False,
) -> None:
    """Label, blind, a sample of what a judge labelled, on a page of this machine.

    Keys: 1, 2, ... give a label, the arrows go back and on, u takes the last label back. Each
    label is kept in the run folder at once; the same command resumes. With --results it shows how
    far the judge agrees with people, and they with each other.

    Examples:
        contested annotate results --sample 60 --by label --annotator anna

        contested annotate results --results
    """
    from pipelines.annotation.sample import opened
    from pipelines.annotation.subject import chosen, subjects

    folder = RunFolder(run)
    found = papers.runs_in(folder)
    folder.refuse_locked()
    every = subjects(folder, found)
    given = {"--sample": sample, "--by": by, "--seed": seed}
    if results:
        for name, value in given.items():
            if value is not None:
                raise InputError(f"{name} has no effect with --results; leave it out")
        _results(folder, every, entry, kind)
        return
    name = file_name(annotator, "--annotator")
    subject = chosen(every, entry, kind)
    _label(subject, opened(subject, sample, by, seed), name, port)
    _written(folder, every)


def _label(subject: "Subject", drawn: "Sample", annotator: str, port: int) -> None:
    from pipelines.annotation.sample import Labels
    from pipelines.annotation.server import serve

    labels = Labels(subject, drawn.items, annotator)

    def told(address: str) -> None:
        counted = subject.labelling.counted
        print(
            f"{len(drawn.items):,} {counted} to label, drawn by {drawn.by} from "
            f"{len(subject.items):,}; {len(labels.given):,} of them done"
        )
        print(f"open {address}\nCtrl-C ends it; each label is kept at once", flush=True)

    with labels.held(), suppress(KeyboardInterrupt):  # Ctrl-C is the usual end
        serve(subject, drawn.items, labels, port, told)
    STDERR.print(
        f"{len(labels.given):,} of {len(drawn.items):,} labelled, in {plain(str(subject.path))}",
        soft_wrap=True,
    )


def _results(
    folder: RunFolder, every: "list[Subject]", entry: str | None, kind: str | None
) -> None:
    from pipelines.annotation.subject import narrowed

    found, tables = _written(folder, narrowed(every, entry, kind))
    if not found:
        raise InputError(
            f"nobody has labelled anything of {folder.path} yet; `contested annotate` without "
            "--results serves the page to do so"
        )
    console = Console(emoji=False)
    for own in found:
        labelled = f"{len(own.given):,} of {len(own.sample.items):,} labelled by {own.annotator}"
        console.print(plain(f"{own.title}: {labelled}"), soft_wrap=True)
    for table in tables:
        if table.rows:
            show(_narrow(table), console)


def _written(folder: RunFolder, labelled: "list[Subject]") -> "tuple[list[Ratings], list[Table]]":
    """What people labelled, and its tables, written with those and the page of the run."""
    from pipelines.annotation.agreement import all_ratings, all_tables

    found = all_ratings(labelled)
    tables = list(all_tables(found)) if found else []
    if found:
        with folder.locked():
            for table in tables:
                write(table, folder.tables)
            publish(folder)
        made = f"report: {folder.report}   tables: {folder.tables}"
        STDERR.print(plain(made), soft_wrap=True)
    return found, tables


def _narrow(table: "Table") -> "Table":
    """The table without what all its rows share, and what the lines above it say."""

    def told(place: int) -> bool:
        key = table.columns[place].key
        same = key in {"labels", "annotator"} and len({row[place] for row in table.rows}) == 1
        return key not in {"labelled", "items"} and not same

    kept = [place for place in range(len(table.columns)) if told(place)]
    return replace(
        table,
        columns=tuple(table.columns[place] for place in kept),
        rows=tuple(tuple(row[place] for place in kept) for row in table.rows),
    )
