"""`contested lab pairs`: labelled pairs from released data sets."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from nli.labels import LABELS
from nli.pairs import LabelledPair, write_pairs
from pipelines.cli.flat import flat
from pipelines.errors import InputError
from pipelines.option import Option, Options, listed, named
from pipelines.report.progress import say, show, waiting
from pipelines.report.table import Column, Table
from pipelines.supervision.settings import RELEASES, PairSettings


class PairOptions(Options):
    """Which pairs to make, and from what."""

    out: Annotated[Path, Option("File of pairs to write: .jsonl or .jsonl.gz.")]
    release: Annotated[
        list[str] | None,
        Option(f"A released data set. Repeatable. {listed(RELEASES)}", metavar="NAME=PATH"),
    ] = None
    settings: PairSettings = PairSettings()


@flat
def pairs(options: PairOptions) -> None:
    """Make a file of labelled pairs from released data sets, to train or to calibrate with.

    Example:
        contested lab pairs --release scifact=scifact --nli own.jsonl --out pairs.jsonl

    Files may be gzipped. Prints the number of pairs by source and label.
    """
    from pipelines.supervision import recipes

    given = named(options.release or (), "--release", RELEASES)
    releases = {name: Path(path) for name, path in given}
    if not releases and not options.settings.nli:
        raise InputError("no release given; name one: --release scifact=FOLDER, or --nli FILE")
    with waiting() as tell:
        made, notes = recipes.build(
            releases, options.settings, lambda name: tell(f"reading {name}")
        )
        tell("writing")
        write_pairs(options.out, made)
    show(_counts(made, options.out))
    for note in notes:
        say(note)


def _counts(made: Sequence[LabelledPair], out: Path) -> Table:
    """Number of pairs by source and label."""
    kinds = Counter((pair.source, pair.label) for pair in made)
    totals = Counter(pair.source for pair in made)
    labels = [label for label in LABELS if any(label == given for _, given in kinds)]
    return Table(
        "pairs",
        f"{len(made):,} pairs in {out}",
        tuple(Column(key, key) for key in ("source", *labels, "all")),
        tuple(
            (source, *(kinds[source, label] for label in labels), totals[source])
            for source in sorted(totals)
        ),
    )
