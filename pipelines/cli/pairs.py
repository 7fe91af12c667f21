"""`contested lab pairs`: labelled pairs from released data sets."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field
from rich.console import Console

from nli.labels import LABELS
from nli.pairs import SourcedPair, UnlabelledPair, write_pairs
from pipelines.cli.flat import flat
from pipelines.cli.progress import STDERR, say, show
from pipelines.data.released import Split
from pipelines.errors import InputError
from pipelines.option import Only, Option, Options, Seed, listed, named
from pipelines.report.table import Column, Table
from pipelines.report.terminal import plain

RELEASES: Final = {
    "fever": "folder with train.jsonl, shared_task_dev.jsonl and wiki-pages/",
    "scifact": "folder with claims_train.jsonl, claims_dev.jsonl and corpus.jsonl",
    "ragtruth": "folder with response.jsonl and source_info.jsonl",
    "ramdocs": "RAMDocs_test.jsonl",
    "conflictqa": "a conflictQA-*.json",
    "fool-me-twice": "a .jsonl of FoolMeTwice",
    "wice": "a .jsonl of WiCE's entailment_retrieval",
    "climate-fever": "climate-fever.jsonl",
}
"""Released data sets -> what is read of them."""

PANEL = "What else is made or left out"

LABELLED = Only(lambda own: own.unlabelled is None, "--unlabelled")


class PairOptions(Options):
    """Which pairs are made, of what."""

    out: Annotated[Path, Option("File of pairs to write: .jsonl or .jsonl.gz.")]
    release: Annotated[
        list[str] | None,
        Option(f"A released data set. Repeatable. {listed(RELEASES)}", metavar="NAME=PATH"),
    ] = None
    nli: Annotated[
        list[Path] | None,
        Option("A file of labelled pairs that is taken as it is. Repeatable.", only=LABELLED),
    ] = None
    half: Annotated[
        Split,
        Option(
            "Which half of each release; `dev` is the eighth that `train` keeps back. FEVER, "
            "SciFact and RAGTruth have a split of their own. For `train` and `dev`, whatever the "
            "test halves show is left out of everything."
        ),
    ] = "train"
    keep_from: Annotated[
        list[Path] | None,
        Option(
            "A file of labelled pairs to measure with: its premises are left out of everything, "
            "its hypotheses of what is made of the releases. Repeatable.",
            panel=PANEL,
        ),
    ] = None
    leave_out: Annotated[
        list[str] | None,
        Option(
            "A source to leave out, as the table names it. Repeatable.", panel=PANEL, only=LABELLED
        ),
    ] = None
    only_given: Annotated[
        bool,
        Option(
            "Write the pairs of --nli only; the other releases are read for what their test "
            "halves show, which is left out.",
            panel=PANEL,
            only=LABELLED,
        ),
    ] = False
    own_sentences: Annotated[
        bool,
        Option(
            "Make pairs of the documents alone as well: a sentence and its passage, and the same "
            "with a number, date or name exchanged.",
            panel=PANEL,
            only=LABELLED,
        ),
    ] = False
    in_context: Annotated[
        list[str] | None,
        Option(
            "A source of --nli whose groups are pages: make passages of it as well, each sentence "
            "of evidence among others of its page. Repeatable.",
            panel=PANEL,
            only=LABELLED,
        ),
    ] = None
    most: Annotated[
        int | None,
        Field(ge=1),
        Option(
            "Write at most N pairs of each source and label, drawn at random: for `contested lab "
            "calibrate --judge model`, which needs few.",
            panel=PANEL,
            only=LABELLED,
        ),
    ] = None
    unlabelled: Annotated[
        int | None,
        Field(ge=1),
        Option(
            "Write pairs without labels instead, N of each claim: with sentences and passages of "
            "its own documents and of near ones, for `train --unlabelled`.",
            panel=PANEL,
        ),
    ] = None
    views: Annotated[
        int | None,
        Field(ge=1),
        Option(
            "Write, instead of the pairs, N claims that report several views, made of statements "
            "about one text, and claims and documents that deny.",
            panel=PANEL,
            only=LABELLED,
        ),
    ] = None
    seed: Seed = 42


@flat
def pairs(options: PairOptions) -> None:
    """Make a file of labelled pairs from released data sets, to train or to calibrate with.

    Example:
        contested lab pairs --release scifact=scifact --nli own.jsonl --out pairs.jsonl

    Files may be gzipped. Prints how many pairs of each label every source gives.
    """
    from pipelines.supervision import recipes

    given = named(options.release or (), "--release", RELEASES)
    releases = {name: Path(path) for name, path in given}
    if not releases and not options.nli:
        raise InputError("no release is named; give one: --release scifact=FOLDER, or --nli FILE")
    notes: tuple[str, ...] = ()
    made: Sequence[SourcedPair]
    with STDERR.status("") as status:

        def reading(name: str) -> None:
            status.update(f"reading {plain(name)}")

        measured = options.keep_from or ()
        if options.unlabelled is not None:
            made = recipes.build_unlabelled(
                releases,
                options.unlabelled,
                part=options.half,
                keep_from=measured,
                seed=options.seed,
                on_release=reading,
            )
        else:
            made, notes = recipes.build(
                releases,
                options.nli or (),
                part=options.half,
                leave_out=options.leave_out or (),
                only_given=options.only_given,
                keep_from=measured,
                own_sentences=options.own_sentences,
                in_context=options.in_context or (),
                views=options.views,
                most=options.most,
                seed=options.seed,
                on_release=reading,
            )
        status.update("writing")
        write_pairs(options.out, made)
    show(_counts(made, options.out), Console())
    for note in notes:
        say(note)


def _counts(made: Sequence[SourcedPair], out: Path) -> Table:
    """How many pairs of each label every source gives."""
    kinds = Counter(
        (pair.source, None if isinstance(pair, UnlabelledPair) else pair.label) for pair in made
    )
    labels = [label for label in LABELS if any(label == given for _, given in kinds)]
    sources = sorted({source for source, _ in kinds})
    return Table(
        "pairs",
        f"{len(made):,} pairs{'' if labels else ' without labels'} in {out}",
        tuple(Column(key, key) for key in ("source", *labels, "all")),
        tuple(
            (
                source,
                *(kinds[source, label] for label in labels),
                sum(count for (name, _), count in kinds.items() if name == source),
            )
            for source in sources
        ),
    )
