"""`contested nli`: the relation tagger, from released data to calibrated weights."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from pydantic import Field
from rich.console import Console
from rich.table import Table as Printed

from nli.labels import LABELS
from nli.pairs import write_pairs
from pipelines.cli import nli_train
from pipelines.cli.flat import flat
from pipelines.cli.progress import STDERR
from pipelines.cli.tagging import Seed
from pipelines.data.released import Split
from pipelines.errors import InputError
from pipelines.option import Option, Options
from pipelines.report.terminal import plain

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="""Train the relation tagger.

The tagger is a small cross-encoder: it says whether a document supports a claim, refutes it, or is
irrelevant to it, with calibrated probabilities. One comes with `contested`; any local cross-encoder
with three NLI labels works. `contested score` and `contested ask` tag with it, `contested
calibrate` measures and calibrates it. See docs/nli.md.
""",
)

RELEASES = "Releases"


def _release(help_: str) -> Option:
    return Option(help_, panel=RELEASES)


class PairReleases(Options):
    """Released data sets, by where they are."""

    fever: Annotated[
        Path | None, _release("Folder with train.jsonl, shared_task_dev.jsonl and wiki-pages/.")
    ] = None
    scifact: Annotated[
        Path | None, _release("Folder with claims_train.jsonl, claims_dev.jsonl and corpus.jsonl.")
    ] = None
    ragtruth: Annotated[
        Path | None, _release("Folder with response.jsonl and source_info.jsonl.")
    ] = None
    ramdocs: Annotated[Path | None, _release("RAMDocs_test.jsonl.")] = None
    conflictqa: Annotated[Path | None, _release("A conflictQA-*.json.")] = None
    fool_me_twice: Annotated[Path | None, _release("A .jsonl of FoolMeTwice.")] = None
    wice: Annotated[Path | None, _release("A .jsonl of WiCE's entailment_retrieval.")] = None
    climate_fever: Annotated[Path | None, _release("climate-fever.jsonl.")] = None

    def named(self) -> dict[str, Path]:
        """Name of a release -> where it is, of those that are given."""
        return {name.replace("_", "-"): path for name, path in self if path is not None}


class PairOptions(Options):
    """Which pairs are made, of what."""

    out: Annotated[Path, Option("File of pairs to write: .jsonl or .jsonl.gz.")]
    nli: Annotated[
        list[Path] | None, _release("A file of labelled pairs that is taken as it is. Repeatable.")
    ] = None
    releases: PairReleases = PairReleases()
    leave_out: Annotated[
        list[str] | None, Option("A source to leave out, as the table names it. Repeatable.")
    ] = None
    only_given: Annotated[
        bool,
        Option(
            "Write the pairs of --nli only; the other releases are read for what their test "
            "halves show, which is left out."
        ),
    ] = False
    keep_from: Annotated[
        list[Path] | None,
        Option(
            "A file of labelled pairs to measure with: its premises are left out of everything, "
            "its hypotheses of what is made of the releases. Repeatable."
        ),
    ] = None
    half: Annotated[
        Split,
        Option(
            "Which half of each release; `dev` is the eighth that `train` keeps back. FEVER, "
            "SciFact and RAGTruth have a split of their own. For `train` and `dev`, whatever the "
            "test halves show is left out of everything."
        ),
    ] = "train"
    own_sentences: Annotated[
        bool,
        Option(
            "Make pairs of the documents alone as well: a sentence and its passage, and the same "
            "with a number, date or name exchanged."
        ),
    ] = False
    in_context: Annotated[
        list[str] | None,
        Option(
            "A source of --nli whose groups are pages: make passages of it as well, each sentence "
            "of evidence among others of its page. Repeatable."
        ),
    ] = None
    most: Annotated[
        int | None,
        Field(ge=1),
        Option(
            "Write at most N pairs of each source and label, drawn at random: for `contested "
            "calibrate --judge model`, which needs few."
        ),
    ] = None
    unlabelled: Annotated[
        int | None,
        Field(ge=1),
        Option(
            "Write pairs without labels instead, N of each claim: with sentences and passages of "
            "its own documents and of near ones, for `train --unlabelled`."
        ),
    ] = None
    views: Annotated[
        int | None,
        Field(ge=1),
        Option(
            "Write, instead of the pairs, N claims that report several views, made of statements "
            "about one text, and claims and documents that deny."
        ),
    ] = None
    seed: Seed = 42


@app.command()
@flat
def pairs(options: PairOptions) -> None:
    """Make a file of labelled pairs from released data sets, to train or to calibrate with.

    Example:
        contested nli pairs --scifact scifact --nli own.jsonl --out pairs.jsonl

    Files may be gzipped. Prints how many pairs of each label every source gives.
    """
    # The loaders of eight releases, which no other command needs.
    from pipelines.supervision import recipes
    from pipelines.supervision.views import views

    releases = options.releases.named()
    if not releases and not options.nli:
        raise InputError("no release is named; give one: --scifact FOLDER, or --nli FILE")
    if options.unlabelled is not None:
        _pairs_without_labels(options, options.unlabelled)
        return
    with STDERR.status("") as status:
        built = recipes.build(
            releases,
            options.nli or (),
            part=options.half,
            leave_out=options.leave_out or (),
            only_given=options.only_given,
            keep_from=options.keep_from or (),
            own_sentences=options.own_sentences,
            in_context=options.in_context or (),
            seed=options.seed,
            on_release=lambda name: status.update(f"reading {plain(name)}"),
        )
        status.update("writing")
        made = list(built.pairs)
        if options.views is not None:
            made = views(made, options.views, options.seed)
        if options.most is not None:
            made = recipes.at_most(made, options.most, options.seed)
        write_pairs(options.out, made)
    title = plain(f"{len(made):,} pairs in {options.out}")
    shown = Printed("source", title=title, title_justify="left")
    for heading in (*LABELS, "all"):
        shown.add_column(heading, justify="right")
    for source, count in recipes.counts(made).items():
        cells = [count[label] for label in LABELS]
        shown.add_row(plain(source), *(f"{each:,}" for each in (*cells, sum(count.values()))))
    Console().print(shown)
    for note in built.notes:
        STDERR.print(plain(note), soft_wrap=True)


def _pairs_without_labels(options: PairOptions, per_claim: int) -> None:
    from pipelines.supervision import recipes

    given = options.model_dump(
        include={"nli", "leave_out", "in_context", "most", "views"}, exclude_none=True
    )
    given |= {name: True for name in ("only_given", "own_sentences") if getattr(options, name)}
    for name in given:
        raise InputError(f"--{name.replace('_', '-')} is not for --unlabelled; leave it out")
    with STDERR.status("") as status:
        made = recipes.build_unlabelled(
            options.releases.named(),
            per_claim,
            part=options.half,
            keep_from=options.keep_from or (),
            seed=options.seed,
            on_release=lambda name: status.update(f"reading {plain(name)}"),
        )
        status.update("writing")
        write_pairs(options.out, made)
    title = plain(f"{len(made):,} pairs without labels in {options.out}")
    shown = Printed("source", "pairs", title=title, title_justify="left")
    for source, count in sorted(Counter(pair.source for pair in made).items()):
        shown.add_row(plain(source), f"{count:,}")
    Console().print(shown)


app.command()(nli_train.train)


@app.command()
def merge(
    base: Annotated[Path, typer.Option(help="Folder of the model that the adapter belongs to.")],
    out: Annotated[Path, typer.Option(help="Folder of the tagger; made.")],
    adapter: Annotated[
        Path | None,
        typer.Option(help="Folder of `train --adapter`.", show_default="the one of contested"),
    ] = None,
) -> None:
    """Make a tagger of an adapter and its base.

    Example:
        contested nli merge --base all-mpnet-base-v2 --adapter adapter --out tagger
    """
    from nli import adapter as adapters

    adapters.merge(base, adapter or adapters.shipped_adapter(), out)
    STDERR.print(f"tagger: {plain(str(out))}", soft_wrap=True)
