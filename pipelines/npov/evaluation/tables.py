"""The paper's tables for the runs of a folder (NPOV, section 5, appendices B.1 and C.1)."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

from pipelines.metrics.hanley_mcneil import area_difference, bonferroni
from pipelines.metrics.mean import mean
from pipelines.npov.evaluation import paper
from pipelines.npov.evaluation.areas import (
    Detector,
    Results,
    areas,
    detectors,
    scored,
    won_pairs,
    word_area,
)
from pipelines.npov.evaluation.detect import AGGREGATIONS, salience_detector
from pipelines.npov.evaluation.result import CLASSIFIER, KINDS, NpovResult
from pipelines.npov.evaluation.sets import SLICES, Slice
from pipelines.report.table import Cell, Column, Row, Table

OVERLAPS = ((0.0, 0.1), (0.1, 0.3), (0.3, 0.9), (0.9, 1.01))
"""Bins of the share of stems that a response without error has of its arguments."""

_AREAS = (
    Column("hallucination", "Hallucination", interval=True),
    Column("hallucination_errors", "Errors"),
    Column("coverage", "Coverage", interval=True),
    Column("coverage_errors", "Errors"),
    Column("error_free", "Error-free"),
)
_OF_EXAMPLES = (
    "ROC AUC, with the interval of Hanley and McNeil's standard error. Errors of a column are told "
    "from the examples without any error."
)


def all_tables(results: Results) -> list[Table]:
    """Every table that the results have something for.

    Args:
        results: From `run.results`.
    """
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
    quoted = [
        (title, f"{name}, {by}", hallucination, None, coverage, None, None)
        for title, *figures in paper.TABLE_1
        for name, by, hallucination, coverage in zip(
            ("ROUGE", "salience", "classifier"),
            (paper.GENERATOR, paper.GENERATOR, paper.CLASSIFIER),
            figures[:3],
            figures[3:],
            strict=True,
        )
    ]
    return Table(
        "npov_detection",
        "Hallucination and coverage errors, by detector",
        (Column("test_set", "Test set"), Column("detector", "Detector"), *_AREAS),
        tuple(
            (each.title, detector.title, *cells)
            for each in SLICES
            for detector in detectors(results)
            if (cells := areas(results, each, detector)) is not None
        ),
        tuple(quoted),
        caption=_OF_EXAMPLES,
    )


def comparisons(results: Results) -> Table:
    """Which detectors differ, two by two, on the examples that both scored (NPOV, section 5.1)."""
    found = []
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
                    compared = (each.title, kind, first.title, second.title)
                    found.append((*compared, difference.value, difference.p))
    tested = sum(row[-1] is not None for row in found)
    return Table(
        "npov_comparisons",
        "Differences between detectors",
        (
            Column("test_set", "Test set"),
            Column("error", "Error"),
            Column("first", "AUC of"),
            Column("second", "minus AUC of"),
            Column("difference", "Difference"),
            Column("p", "p"),
            Column("p_corrected", "p, Bonferroni"),
        ),
        tuple((*row, None if row[-1] is None else bonferroni(row[-1], tested)) for row in found),
        caption="Hanley and McNeil's test of areas on the same examples; corrected for all rows of "
        "this table that have a p. Where an area is 0 or 1 there is none.",
    )


def pairs(results: Results) -> Table:
    """Errors beside the response without error that they were made from.

    The paper has no such table. Scores also depend on topic and length, which an area over all
    examples counts against a detector, and this does not.
    """
    rows: list[Row] = []
    for each in SLICES:
        for detector in detectors(results):
            found: list[Cell] = []
            for kind in KINDS:
                won = won_pairs(results, each, kind, detector)
                found += [
                    mean([score for _, score in won], [source for source, _ in won], bounds=(0, 1)),
                    len(won),
                ]
            if any(found[1::2]):
                rows.append((each.title, detector.title, *found))
    return Table(
        "npov_pairs",
        "Errors beside what they were made from",
        (
            Column("test_set", "Test set"),
            Column("detector", "Detector"),
            Column("hallucination", "Hallucination", interval=True),
            Column("hallucination_errors", "Errors"),
            Column("coverage", "Coverage", interval=True),
            Column("coverage_errors", "Errors"),
        ),
        tuple(rows),
        caption="Share of synthetic errors that score higher than the same response to its own "
        "arguments; ties count half, and 0.5 is chance.",
    )


def words(results: Results) -> Table:
    """Table 3: which words are wrong."""
    rows: list[Row] = []
    for each in SLICES:
        for detector in detectors(results):
            cells = [word_area(results, each, kind, detector) for kind in KINDS]
            if any(area is not None for area, _ in cells):
                counts: list[Cell] = [cell for pair in cells for cell in pair]
                rows.append((each.title, detector.title, *counts))
    return Table(
        "npov_words",
        "Hallucinated and uncovered words",
        (
            Column("test_set", "Test set"),
            Column("detector", "Detector"),
            Column("hallucination", "Hallucinated words", interval=True),
            Column("hallucination_words", "Words"),
            Column("coverage", "Uncovered words", interval=True),
            Column("coverage_words", "Words"),
        ),
        tuple(rows),
        tuple(
            (title, f"{name}, {paper.GENERATOR}", hallucination, None, coverage, None)
            for title, *figures in paper.TABLE_3
            for name, hallucination, coverage in zip(
                ("ROUGE", "salience"), figures[:2], figures[2:], strict=True
            )
        ),
        caption="ROC AUC over content words: those of responses, and those of arguments. Words of "
        "examples made from the same one are not independent; intervals (DeLong) take that into "
        "account.",
    )


def aggregations(results: Results) -> Table:
    """Table 6: how a word's row or column of the map becomes its score."""
    return Table(
        "npov_aggregations",
        "Salience, by aggregation",
        (
            Column("test_set", "Test set"),
            Column("detector", "Aggregation"),
            *_AREAS,
        ),
        tuple(
            (each.title, detector.title, *cells)
            for each in SLICES
            for run in results
            for detector in (Detector(run, salience_detector(how)) for how in AGGREGATIONS)
            if (cells := areas(results, each, detector)) is not None
        ),
        tuple(
            ("Full organic", f"{how}, {paper.GENERATOR}", hallucination, None, coverage, None, None)
            for how, hallucination, coverage in paper.TABLE_6
        ),
        caption=_OF_EXAMPLES,
    )


def classifiers(results: Results) -> Table:
    """Tables 2 and 5: classifiers, by what they were tuned on, which the run's name should say."""
    quoted = [
        (title, f"{trained}, {paper.CLASSIFIER}", hallucination, None, coverage, None, None)
        for title, trained, hallucination, coverage in paper.TABLE_2
    ]
    quoted += [
        (title, f"annotation-free, {paper.CLASSIFIER}", hallucination, None, coverage, None, None)
        for title, hallucination, coverage in paper.TABLE_5
    ]
    return Table(
        "npov_classifiers",
        "Classifiers",
        (Column("test_set", "Test set"), Column("detector", "Classifier"), *_AREAS),
        tuple(
            (each.title, run, *cells)
            for each in SLICES
            for run in results
            if (cells := areas(results, each, Detector(run, CLASSIFIER))) is not None
        ),
        tuple(quoted),
        caption=_OF_EXAMPLES,
    )


def overlaps(results: Results) -> Table:
    """How detectors depend on how many words a response has from its arguments."""
    every = Slice("all synthetic", "", "full")
    rows = []
    for low, high in OVERLAPS:
        title = f"{low:g} to {min(high, 1):g}"
        for detector in detectors(results):
            found = areas(results, every, detector, _shares(low, high))
            if found is not None and (found[0] is not None or found[2] is not None):
                rows.append((title, detector.title, *found))
    return Table(
        "npov_overlap",
        "Errors by shared words",
        (Column("overlap", "Shared stems"), Column("detector", "Detector"), *_AREAS),
        tuple(rows),
        caption="Synthetic sets together, by the share of the arguments' stems that the response "
        f"without error has. {_OF_EXAMPLES}",
    )


def failures(results: Results) -> Table:
    """Examples that could not be scored, which are in no other table."""
    return Table(
        "npov_failures",
        "Not scored",
        (Column("example", "Example"), Column("run", "Run"), Column("reason", "Reason")),
        tuple(
            (each.id, run, each.reason or "")
            for run, own in results.items()
            for each in own
            if each.status == "failed"
        ),
    )


def _shares(low: float, high: float) -> Callable[[NpovResult], bool]:
    return lambda result: result.overlap is not None and low <= result.overlap < high
