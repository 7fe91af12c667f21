"""What `contested nli` and `contested calibrate` share: options, loading, tables, pages."""

import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field
from rich.console import Console, JustifyMethod
from rich.table import Table as Printed

from nli.pairs import LabelledPair, PairT
from pipelines.cli.progress import progress
from pipelines.judge.tagger import SHIPPED
from pipelines.option import Option
from pipelines.report.terminal import plain

if TYPE_CHECKING:
    from nli.tagger import Tagger
    from pipelines.report.table import Table

Precision = Literal["auto", "fp32", "bf16", "fp16", "int8"]

LARGEST_SEED = 2**32 - 1
"""What numpy, and with it scikit-learn, takes; torch takes more."""

Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED), Option("Decides everything that is drawn.")]


def load(model: Path | None, precision: Precision) -> "Tagger":
    """The tagger in a folder, or the one that comes with the program; TaggerError if unusable."""
    from nli.tagger import Tagger, shipped

    return Tagger.load(model or shipped(), precision=precision)


def name_of(model: Path | None) -> str:
    """What tables call a tagger."""
    return SHIPPED if model is None else model.resolve().name


def probabilities_of(
    tagger: "Tagger", rows: Sequence[LabelledPair], what: str
) -> tuple[list[tuple[float, float, float]], float]:
    """What a tagger gives to each pair, in the order of `LABELS`, and the seconds it took."""
    with progress(what, len(rows)) as bar:
        start = time.perf_counter()
        tags = tagger.tag([pair.pair for pair in rows], bar.add)
        seconds = time.perf_counter() - start
    return [one.probabilities for one in tags], seconds


def drawn(rows: list[PairT], limit: int | None, seed: int) -> list[PairT]:
    """So many of the pairs, drawn at random; all of them, in their order, without a limit."""
    if limit is None or limit >= len(rows):
        return rows
    return random.Random(seed).sample(rows, limit)  # noqa: S311  (a sample, not a secret)


def show(table: "Table", console: Console) -> None:
    """Print a table of results."""
    from pipelines.report.table import as_shown, shown

    printed = Printed(title=plain(table.title), title_justify="left")
    for index, column in enumerate(table.columns):
        text = any(isinstance(row[index], str) for row in table.rows)
        side: JustifyMethod = "left" if text else "right"
        printed.add_column(plain(column.title), justify=side, overflow="fold")
    for row in (*table.rows, *table.quoted):
        printed.add_row(*(plain(shown(cell)) for cell in as_shown(table, row)))
    console.print(printed)
