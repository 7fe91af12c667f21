"""ROUGE-1: how many words of one text stand in another (Lin 2004)."""

from collections import Counter
from collections.abc import Hashable, Sequence


def rouge1_recall(reference: Sequence[Hashable], text: Sequence[Hashable]) -> float | None:
    """Share of a reference's words that a text has, each as often as it has it (ROUGE-1 recall).

    Words may be stems. With the two exchanged this is ROUGE-1 precision: the share of the text's
    words that the reference has. The share, in [0, 1], is None without one.
    """
    if not reference:
        return None
    shared = Counter(reference) & Counter(text)
    return shared.total() / len(reference)
