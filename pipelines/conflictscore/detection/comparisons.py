"""Detectors of conflicts on the same examples: how far they differ, and how sure that is."""

from collections.abc import Mapping, Sequence
from itertools import combinations

from pipelines.conflictscore.detection.baselines import ALWAYS, LEXICAL
from pipelines.conflictscore.detection.decisions import Detectors
from pipelines.conflictscore.detection.detect import DetectionResult
from pipelines.conflictscore.detection.metrics import Verdict, f1_difference
from pipelines.report.compare import Comparison, Pair, columns, compare, correction
from pipelines.report.table import Column, Measure, Table


def comparisons(sources: Mapping[str, Detectors]) -> Table:
    """Each labeller less every other one and less the baselines, source by source.

    By source, `sources` has the results of all detectors on it, labellers before baselines.
    """
    pairs = [
        _pair(source, first, second, every)
        for source, every in sources.items()
        for first, second in combinations(every, 2)
        if first not in (ALWAYS, LEXICAL)
    ]
    return Table.of(
        pairs,
        name="conflict_detection_comparisons",
        title="Detectors compared",
        caption="The first less the second, on the examples that both decided.",
        columns=[
            Column("source", "Source", lambda pair: pair.at),
            Column("first", "First"),
            Column("second", "Second"),
            Measure("f1", "F1", lambda pair: pair.measures["f1"].difference),
            *columns("accuracy", "Accuracy", "McNemar", p="p", n="examples"),
        ],
        notes=(
            "In brackets the 95 % interval: of F1 by bootstrap over questions (2,000 resamples, "
            "seed 0), of accuracy by t. p is of accuracy; it and that interval take examples as "
            "independent, although the two of one question are not.",
            *correction(pairs),
        ),
    )


def _pair(source: str, first: str, second: str, every: Detectors) -> Pair[str]:
    one, other = (_decided(every[name]) for name in (first, second))
    right = compare(_right(every[first]), _right(every[second]), "McNemar")
    f1 = Comparison(f1_difference(one, other), None, right.n)
    return Pair(source, first, second, {"f1": f1, "accuracy": right})


def _decided(results: Sequence[DetectionResult]) -> dict[str, Verdict]:
    return {
        each.id: Verdict(each.example.conflict, each.conflict, each.example.group)
        for each in results
        if each.conflict is not None
    }


def _right(results: Sequence[DetectionResult]) -> dict[str, float]:
    return {each.id: float(each.right) for each in results if each.right is not None}
