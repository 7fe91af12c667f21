"""Precision of a list of answers (ALCE of QAMPARI: Gao et al. 2023, section 3.2)."""

from collections.abc import Sequence

from pipelines.metrics.answer_recall import normalised


def list_precision(items: Sequence[str], gold: Sequence[Sequence[str]]) -> float:
    """Share of the items that are an alias of a gold answer after normalisation, in [0, 1].

    An item that is given twice counts twice. 0 without an item, as in ALCE's code.
    """
    if not items:
        return 0.0
    names = {normalised(alias) for aliases in gold for alias in aliases}
    return sum(normalised(item) in names for item in items) / len(items)
