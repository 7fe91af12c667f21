"""The paper's tables for the runs of a folder (NPOV, section 5, appendices B.1 and C.1)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final, NamedTuple

from pipelines.metrics.estimate import Estimate
from pipelines.metrics.hanley_mcneil import area_difference, bonferroni
from pipelines.metrics.mean import mean
from pipelines.npov import paper
from pipelines.npov.areas import (
    Areas,
    Detector,
    Results,
    areas,
    detectors,
    scored,
    won_pairs,
    word_area,
)
from pipelines.npov.detect import AGGREGATIONS, salience_detector
from pipelines.npov.result import CLASSIFIER, KINDS, ErrorKind, NpovResult
from pipelines.npov.sets import SLICES, Slice
from pipelines.report.failures import REASON, Failure
from pipelines.report.failures import failures as failure_table
from pipelines.report.table import Column, Measure, Table

OVERLAPS: Final = ((0.0, 0.1), (0.1, 0.3), (0.3, 0.9), (0.9, 1.01))
"""Bins of the share of stems that a response without error has of its arguments."""

OF_EXAMPLES: Final = (
    "ROC AUC, with the interval of Hanley and McNeil's standard error. Errors of a column are told "
    "from the examples without any error."
)


class Line(NamedTuple):
    """A detector on a test set, or another choice of examples."""

    test_set: str
    detector: str
    areas: Areas


def _of_kind(kind: ErrorKind, title: str, unit: str) -> tuple[Column[Line], Column[Line]]:
    """The columns of a kind of error: an area, and how many errors or words it is of."""
    return (
        Measure(kind, title, lambda line: line.areas.of_kind[kind][0]),
        Column(f"{kind}_{unit}", unit.capitalize(), lambda line: line.areas.of_kind[kind][1]),
    )


TEST_SET: Final = Column[Line]("test_set", "Test set")
DETECTOR: Final = Column[Line]("detector", "Detector")
ERRORS: Final = (
    *_of_kind("hallucination", "Hallucination", "errors"),
    *_of_kind("coverage", "Coverage", "errors"),
)
ERROR_FREE: Final = Column[Line]("error_free", "Error-free", lambda line: line.areas.error_free)


def all_tables(results: Results) -> list[Table]:
    """Every table that the results have something for."""
    made = [detection(results), comparisons(results), words(results), aggregations(results)]
    made += [pairs(results), classifiers(results), overlaps(results)]
    every = [each for own in results.values() for each in own]
    lost = sum(each.status == "failed" for each in every)
    note = f"{lost:,} of {len(every):,} results could not be scored and are in no figure."
    return [
        replace(table, notes=(*table.notes, note))
        for table in (*made, failures(results))
        if table.rows or table.name == "npov_failures"
    ]


def detection(results: Results) -> Table:
    """Table 1: errors of whole responses, found by every detector."""
    return Table.of(
        _lines(results, [(each.title, each) for each in detectors(results)]),
        name="npov_detection",
        title="Hallucination and coverage errors, by detector",
        columns=[TEST_SET, DETECTOR, *ERRORS, ERROR_FREE],
        quoted=paper.TABLE_1,
        caption=OF_EXAMPLES,
    )


class Pair(NamedTuple):
    """Two detectors on the same examples."""

    test_set: str
    error: ErrorKind
    first: str
    second: str
    difference: float
    p: float | None


def comparisons(results: Results) -> Table:
    """Which detectors differ, two by two, on the examples that both scored (NPOV, section 5.1)."""
    pairs = []
    for each in SLICES:
        for kind in KINDS:
            for first, second in combinations(detectors(results), 2):
                one = scored(results, each, kind, first)
                other = scored(results, each, kind, second)
                shared = [name for name in one if name in other]
                difference = area_difference(
                    [one[name][0] for name in shared],
                    [other[name][0] for name in shared],
                    [one[name][1] for name in shared],
                )
                if difference is not None:
                    titles = (each.title, kind, first.title, second.title)
                    pairs.append(Pair(*titles, difference.value, difference.p))
    tested = sum(pair.p is not None for pair in pairs)
    return Table.of(
        pairs,
        name="npov_comparisons",
        title="Differences between detectors",
        columns=[
            Column("test_set", "Test set"),
            Column("error", "Error"),
            Column("first", "AUC of"),
            Column("second", "minus AUC of"),
            Column("difference", "Difference"),
            Column("p", "p"),
            Column(
                "p_corrected",
                "p, Bonferroni",
                lambda pair: None if pair.p is None else bonferroni(pair.p, tested),
            ),
        ],
        caption="Hanley and McNeil's test of areas on the same examples; corrected for all rows of "
        "this table that have a p. Where an area is 0 or 1 there is none.",
    )


def pairs(results: Results) -> Table:
    """Errors beside the response without error that they were made from.

    The paper has no such table. Scores also depend on topic and length, which an area over all
    examples counts against a detector, and this does not.
    """
    lines = []
    for each in SLICES:
        for detector in detectors(results):
            won = {kind: won_pairs(results, each, kind, detector) for kind in KINDS}
            shares = {kind: (_mean(own), len(own)) for kind, own in won.items()}
            if any(won.values()):
                lines.append(Line(each.title, detector.title, Areas(shares)))
    return Table.of(
        lines,
        name="npov_pairs",
        title="Errors beside what they were made from",
        columns=[TEST_SET, DETECTOR, *ERRORS],
        caption="Share of synthetic errors that score higher than the same response to its own "
        "arguments; ties count half, and 0.5 is chance.",
    )


def words(results: Results) -> Table:
    """Table 3: which words are wrong."""
    lines = []
    for each in SLICES:
        for detector in detectors(results):
            found = {kind: word_area(results, each, kind, detector) for kind in KINDS}
            if any(area is not None for area, _ in found.values()):
                lines.append(Line(each.title, detector.title, Areas(found)))
    return Table.of(
        lines,
        name="npov_words",
        title="Hallucinated and uncovered words",
        columns=[
            *(TEST_SET, DETECTOR),
            *_of_kind("hallucination", "Hallucinated words", "words"),
            *_of_kind("coverage", "Uncovered words", "words"),
        ],
        quoted=paper.TABLE_3,
        caption="ROC AUC over content words: those of responses, and those of arguments. Words of "
        "examples made from the same one are not independent; intervals (DeLong) take that into "
        "account.",
    )


def aggregations(results: Results) -> Table:
    """Table 6: how a word's row or column of the map becomes its score."""
    found = [Detector(run, salience_detector(how)) for run in results for how in AGGREGATIONS]
    return Table.of(
        _lines(results, [(each.title, each) for each in found]),
        name="npov_aggregations",
        title="Salience, by aggregation",
        columns=[TEST_SET, Column("detector", "Aggregation"), *ERRORS, ERROR_FREE],
        quoted=paper.TABLE_6,
        caption=OF_EXAMPLES,
    )


def classifiers(results: Results) -> Table:
    """Tables 2 and 5: classifiers, by what they were tuned on, which the run's name should say."""
    return Table.of(
        _lines(results, [(run, Detector(run, CLASSIFIER)) for run in results]),
        name="npov_classifiers",
        title="Classifiers",
        columns=[TEST_SET, Column("detector", "Classifier"), *ERRORS, ERROR_FREE],
        quoted=(*paper.TABLE_2, *paper.TABLE_5),
        caption=OF_EXAMPLES,
    )


def overlaps(results: Results) -> Table:
    """How detectors depend on how many words a response has from its arguments."""
    every = Slice("all synthetic", "", "full")
    return Table.of(
        [
            Line(f"{low:g} to {min(high, 1):g}", detector.title, found)
            for low, high in OVERLAPS
            for detector in detectors(results)
            if (found := areas(results, every, detector, _shares(low, high))) is not None
            if any(area is not None for area, _ in found.of_kind.values())
        ],
        name="npov_overlap",
        title="Errors by shared words",
        columns=[
            Column("overlap", "Shared stems", lambda line: line.test_set),
            *(DETECTOR, *ERRORS, ERROR_FREE),
        ],
        caption="Synthetic sets together, by the share of the arguments' stems that the response "
        f"without error has. {OF_EXAMPLES}",
    )


def failures(results: Results) -> Table:
    """Examples that could not be scored, which are in no other table."""
    return failure_table(
        (
            Failure((each.id, run), "failed", each.reason or "")
            for run, own in results.items()
            for each in own
            if each.status == "failed"
        ),
        name="npov_failures",
        title="Not scored",
        places=[
            Column("example", "Example", lambda at: at[0]),
            Column("run", "Run", lambda at: at[1]),
        ],
        said=[REASON],
    )


def _lines(results: Results, named: Sequence[tuple[str, Detector]]) -> list[Line]:
    """The areas of detectors on every test set that they have scores of."""
    return [
        Line(each.title, title, found)
        for each in SLICES
        for title, detector in named
        if (found := areas(results, each, detector)) is not None
    ]


def _mean(won: Sequence[tuple[str, float]]) -> Estimate | None:
    return mean([score for _, score in won], [name for name, _ in won], bounds=(0, 1))


def _shares(low: float, high: float) -> Callable[[NpovResult], bool]:
    return lambda result: result.overlap is not None and low <= result.overlap < high
