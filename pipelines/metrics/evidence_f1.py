"""Evidence F1: how well the units that a system calls evidence match the gold ones."""

from collections.abc import Collection, Hashable, Sequence

from pipelines.metrics.f1 import f1


def evidence_f1(
    predicted: Collection[Hashable], gold_sets: Sequence[Collection[Hashable]]
) -> float | None:
    """F1 over evidence units of one claim (ConRAG, Table II), against the best of its gold sets.

    The paper does not say how claims are averaged; here each claim has a value, and a table gives
    their mean, so that claims with much evidence count no more than others.

    Units are sentences or passages. Gold sets are each enough by itself, as in WiCE and FEVER. F1,
    in [0, 1], is None where there is no gold evidence to find.
    """
    found = set(predicted)
    scores = []
    for gold in map(set, gold_sets):
        if gold:
            hits = len(found & gold)
            scores.append(f1(hits, len(found) - hits, len(gold) - hits) or 0.0)
    return max(scores, default=None)
