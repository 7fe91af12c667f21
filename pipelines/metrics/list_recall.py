"""Recall and recall-5 of a list of answers (ALCE of QAMPARI: Gao et al. 2023, section 3.2)."""

from collections.abc import Sequence

from pipelines.metrics.answer_recall import normalised

ENOUGH = 5
"""Answers that recall-5 takes for all of them."""


def list_recall(
    items: Sequence[str], gold: Sequence[Sequence[str]], *, most: int | None = None
) -> float:
    """Share of the gold answers of which an alias is among the items, in [0, 1].

    With `most`, min(most, answers found) / min(most, answers): recall-5 has 5. Aliases and items
    are equal after normalisation. ValueError without a gold answer.
    """
    if not gold:
        raise ValueError("recall needs a gold answer")
    said = {normalised(item) for item in items}
    found = sum(any(normalised(alias) in said for alias in aliases) for aliases in gold)
    enough = len(gold) if most is None else min(most, len(gold))
    return min(found, enough) / enough
