"""The paper's tables for the runs of a folder (NPOV, section 5, appendices B.1 and C.1)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Final, NamedTuple

from pipelines.metrics.hanley_mcneil import area_difference, bonferroni
from pipelines.npov import paper
from pipelines.npov.areas import (
    Detector,
    Figure,
    Results,
    detectors,
    example_area,
    scores,
    won_pairs,
    word_area,
)
from pipelines.npov.detect import AGGREGATIONS, salience_detector
from pipelines.npov.result import CLASSIFIER, KINDS, ErrorKind
from pipelines.npov.sets import SLICES, Slice
from pipelines.report.failures import REASON, Failure
from pipelines.report.failures import failures as failure_table
from pipelines.report.table import Column, Measure, Table

OVERLAPS: Final = tuple(
    Slice(f"{low:g} to {min(high, 1):g}", None, "full", (low, high))
    for low, high in ((0.0, 0.1), (0.1, 0.3), (0.3, 0.9), (0.9, 1.01))
)
"""Bins of the share of stems that a response without error has of its arguments."""

OF_EXAMPLES: Final = (
    "ROC AUC, with the interval of Hanley and McNeil's standard error. Errors of a column are told "
    "from the examples without any error."
)


class Line(NamedTuple):
    """How well a detector finds both kinds of errors on a test set, or another choice of examples.

    `error_free` is how many examples it has without any error.
    """

    test_set: str
    detector: Detector
    of_kind: Mapping[ErrorKind, Figure]
    error_free: int | None = None

    @property
    def known(self) -> bool:
        """Whether there is an area."""
        return any(area is not None for area, _ in self.of_kind.values())


def _of_kind(kind: ErrorKind, title: str, unit: str = "errors") -> tuple[Column[Line], ...]:
    """The columns of a kind of error: an area, and how many errors or words it is of."""
    return (
        Measure(kind, title, lambda line: line.of_kind[kind][0]),
        Column(f"{kind}_{unit}", unit.capitalize(), lambda line: line.of_kind[kind][1]),
    )


TEST_SET: Final = Column[Line]("test_set", "Test set")
DETECTOR: Final = Column[Line]("detector", "Detector", lambda line: line.detector.title)
ERRORS: Final = (*_of_kind("hallucination", "Hallucination"), *_of_kind("coverage", "Coverage"))
ERROR_FREE: Final = Column[Line]("error_free", "Error-free")


def all_tables(results: Results) -> list[Table]:
    """Every table that the results have something for."""
    every = [each for own in results.values() for each in own]
    lost = sum(each.status == "failed" for each in every)
    note = f"{lost:,} of {len(every):,} results could not be scored and are in no figure."
    made = (detection, comparisons, pairs, words, aggregations, classifiers, overlaps)
    tables = [table for make in made if (table := make(results)).rows]
    return [replace(table, notes=(*table.notes, note)) for table in (*tables, failures(results))]


def detection(results: Results) -> Table:
    """Table 1: errors of whole responses, found by every detector."""
    return Table.of(
        _of_examples(results, detectors(results)),
        name="npov_detection",
        title="Hallucination and coverage errors, by detector",
        columns=[TEST_SET, DETECTOR, *ERRORS, ERROR_FREE],
        quoted=paper.TABLE_1,
        caption=OF_EXAMPLES,
    )


def aggregations(results: Results) -> Table:
    """Table 6: how a word's row or column of the map becomes its score."""
    found = [Detector(run, salience_detector(how)) for run in results for how in AGGREGATIONS]
    return Table.of(
        _of_examples(results, found),
        name="npov_aggregations",
        title="Salience, by aggregation",
        columns=[TEST_SET, replace(DETECTOR, title="Aggregation"), *ERRORS, ERROR_FREE],
        quoted=paper.TABLE_6,
        caption=OF_EXAMPLES,
    )


def classifiers(results: Results) -> Table:
    """Tables 2 and 5: classifiers, by what they were tuned on, which the run's name should say."""
    called = Column[Line]("detector", "Classifier", lambda line: line.detector.run)
    return Table.of(
        _of_examples(results, [Detector(run, CLASSIFIER) for run in results]),
        name="npov_classifiers",
        title="Classifiers",
        columns=[TEST_SET, called, *ERRORS, ERROR_FREE],
        quoted=(*paper.TABLE_2, *paper.TABLE_5),
        caption=OF_EXAMPLES,
    )


def overlaps(results: Results) -> Table:
    """How detectors depend on how many words a response has from its arguments."""
    lines = _of_examples(results, detectors(results), OVERLAPS)
    return Table.of(
        [line for line in lines if line.known],
        name="npov_overlap",
        title="Errors by shared words",
        columns=[
            Column("overlap", "Shared stems", lambda line: line.test_set),
            *(DETECTOR, *ERRORS, ERROR_FREE),
        ],
        caption="Synthetic sets together, by the share of the arguments' stems that the response "
        f"without error has. {OF_EXAMPLES}",
    )


def _of_examples(
    results: Results, found: Sequence[Detector], parts: Sequence[Slice] = SLICES
) -> list[Line]:
    """The areas of detectors on every slice that they have scores of."""
    lines = []
    for part, detector in product(parts, found):
        own = {kind: scores(results, part, kind, detector) for kind in KINDS}
        error_free = max(sum(not wrong for _, wrong in each.values()) for each in own.values())
        if any(own.values()):
            areas = {kind: example_area(own[kind]) for kind in KINDS}
            lines.append(Line(part.title, detector, areas, error_free))
    return lines


def pairs(results: Results) -> Table:
    """Errors beside the response without error that they were made from.

    The paper has no such table. Scores also depend on topic and length, which an area over all
    examples counts against a detector, and this does not.
    """
    return Table.of(
        _with_figures(results, won_pairs),
        name="npov_pairs",
        title="Errors beside what they were made from",
        columns=[TEST_SET, DETECTOR, *ERRORS],
        caption="Share of synthetic errors that score higher than the same response to its own "
        "arguments; ties count half, and 0.5 is chance.",
    )


def words(results: Results) -> Table:
    """Table 3: which words are wrong."""
    return Table.of(
        _with_figures(results, word_area),
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


def _with_figures(
    results: Results, figure: Callable[[Results, Slice, ErrorKind, Detector], Figure]
) -> list[Line]:
    """The detectors on every slice for which there is a figure."""
    lines = [
        Line(part.title, one, {kind: figure(results, part, kind, one) for kind in KINDS})
        for part, one in product(SLICES, detectors(results))
    ]
    return [line for line in lines if line.known]


class Comparison(NamedTuple):
    """Two detectors on the same examples."""

    test_set: str
    error: ErrorKind
    first: str
    second: str
    difference: float
    p: float | None


def comparisons(results: Results) -> Table:
    """Which detectors differ, two by two, on the examples that both scored (NPOV, section 5.1)."""
    found = []
    two_by_two = list(combinations(detectors(results), 2))
    for part, kind, (first, second) in product(SLICES, KINDS, two_by_two):
        one, other = (scores(results, part, kind, each) for each in (first, second))
        shared = [name for name in one if name in other]
        difference = area_difference(
            [one[name][0] for name in shared],
            [other[name][0] for name in shared],
            [one[name][1] for name in shared],
        )
        if difference is not None:
            titles = (part.title, kind, first.title, second.title)
            found.append(Comparison(*titles, difference.value, difference.p))
    tested = sum(each.p is not None for each in found)
    return Table.of(
        found,
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
                lambda each: None if each.p is None else bonferroni(each.p, tested),
            ),
        ],
        caption="Hanley and McNeil's test of areas on the same examples; corrected for all rows of "
        "this table that have a p. Where an area is 0 or 1 there is none.",
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
