"""`contested annotate`: people relabel a judge's examples, to measure agreement."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field
from rich.console import Console

from pipelines.cli.flat import flat
from pipelines.errors import InputError
from pipelines.option import Only, Option, Options
from pipelines.report.progress import say, show
from pipelines.report.terminal import plain
from pipelines.runs.folder import RunFolder, file_name

if TYPE_CHECKING:
    from pipelines.annotation.agreement import Ratings
    from pipelines.annotation.sample import Subject
    from pipelines.report.table import Table

LABELLED = Only(lambda options: not options.results, "--results")


class AnnotateOptions(Options):
    """What to label, and as whom; or a request for the results."""

    run: Annotated[Path, Option("A run folder.", argument=True)]
    sample: Annotated[
        int | None,
        Field(ge=1),
        Option("Number of labels.", shown="100, or all if fewer", only=LABELLED),
    ] = None
    by: Annotated[
        str | None,
        Option(
            "Draw equal numbers by the judge's `label`, or by `source`, `kind`, `variant` or "
            "`group` of the data; or `none`.",
            shown="label",
            only=LABELLED,
        ),
    ] = None
    seed: Annotated[int | None, Option("Seed of the sample.", shown="0", only=LABELLED)] = None
    annotator: Annotated[str, Option("Who labels.")] = "me"
    entry: Annotated[
        str | None,
        Option("Which run of the folder: `conflict-detection.tagger`.", shown="the only one"),
    ] = None
    kind: Annotated[
        str | None,
        Option(
            "Kind of labels: `relation`, `type-choice`, `behaviour`, `grounding`.",
            shown="the only ones",
        ),
    ] = None
    port: Annotated[int, Field(ge=0, le=65535), Option("Port of the page; 0 picks a free one.")] = 0
    results: Annotated[bool, Option("Show how far people agree with the judge.")] = False


@flat
def annotate(options: AnnotateOptions) -> None:
    """Label a sample of what a judge labelled, blind, on a local page.

    Keys: 1, 2, ... give a label, the arrows move, u undoes the last label. Labels are stored in the
    run folder at once; the same command resumes. --results shows how far the judge agrees with
    people, and people with each other. In a folder of `contested lab study-npov`, people label
    responses that no judge has labelled.

    Examples:
        contested annotate results --sample 60 --by label --annotator anna

        contested annotate results --results
    """
    from pipelines import papers
    from pipelines.annotation.responses import to_label
    from pipelines.annotation.sample import Labels, chosen, narrowed, opened, subjects
    from pipelines.annotation.server import serve

    folder = RunFolder(options.run)
    labelled = [*subjects(folder, papers.runs_in(folder)), *to_label(folder)]
    folder.refuse_locked()
    if options.results:
        _show(folder, *_written(folder, narrowed(labelled, options.entry, options.kind)))
        return
    name = file_name(options.annotator, "--annotator")
    subject = chosen(labelled, options.entry, options.kind)
    drawn = opened(subject, options.sample, options.by, options.seed)
    labels = Labels(subject, drawn.items, name)

    def announce(address: str) -> None:
        how = f", drawn by {drawn.by} from {len(subject.items):,}" if subject.judged else ""
        print(
            f"{len(drawn.items):,} {subject.labelling.counted} to label{how}; "
            f"{len(labels.given):,} of them done"
        )
        print(f"open {address}\nCtrl-C stops it; labels are stored at once", flush=True)

    with labels.held(), suppress(KeyboardInterrupt):  # Ctrl-C is the usual end
        serve(subject, drawn.items, labels, options.port, announce)
    say(f"{len(labels.given):,} of {len(drawn.items):,} labelled, in {subject.path}")
    _written(folder, labelled)


def _written(folder: RunFolder, labelled: "list[Subject]") -> "tuple[list[Ratings], list[Table]]":
    """People's labels and the tables made from them; also writes both, and the run's page."""
    from pipelines import papers
    from pipelines.annotation.agreement import all_ratings, all_tables
    from pipelines.annotation.responses import write_labels
    from pipelines.cli.run import publish
    from pipelines.report.table import write

    ratings = all_ratings(labelled)
    tables = list(all_tables(ratings)) if ratings else []
    if ratings:
        with folder.locked():
            write_labels(folder)
            for table in tables:
                write(table, folder.tables)
            if papers.runs_in(folder):
                publish(folder)
                say(f"report: {folder.report}   tables: {folder.tables}")
    return ratings, tables


def _show(folder: RunFolder, every: "list[Ratings]", tables: "list[Table]") -> None:
    if not every:
        raise InputError(
            f"{folder.path} has no labels by people yet; `contested annotate` without --results "
            "serves the page to label"
        )
    console = Console(emoji=False)
    for ratings in every:
        done = f"{len(ratings.given):,} of {len(ratings.sample.items):,}"
        line = f"{ratings.title}: {done} labelled by {ratings.annotator}"
        console.print(plain(line), soft_wrap=True)
    for table in tables:
        if table.rows:
            show(table)
