"""What a combination of tagger and language model is worth, as a table."""

from collections.abc import Sequence

from pipelines.report.table import Column, Table
from pipelines.report.tagger import ACCURACY, BINS, BRIER, ECE, MACRO_F1, PAIRS, Named


def combination_table(series: Sequence[Named], data: str) -> Table:
    """A row per judge of the same pairs."""
    return Table.of(
        series,
        name="combination-fit",
        title="Tagger, model and both",
        columns=[
            Column("judge", "Judge", lambda row: row[0]),
            PAIRS,
            ACCURACY,
            MACRO_F1,
            ECE,
            BRIER,
        ],
        caption=f"Labelled pairs of {data}. Fitted: by cross-validation in which no group is on "
        "both sides and each fold chooses its penalty without what it is measured on.",
        notes=(
            "Of pairs that were not asked of the model, every row has the tagger's label.",
            f"ECE has {BINS} bins; Brier is the sum over the three labels, from 0 to 2 (lower is "
            "better).",
        ),
    )
