"""Step 7 of the study: the paper's tables, its figures beside ours (NPOV, section 5, B.1, C.1)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any, Final, NamedTuple

from pipelines.metrics.agreement import nominal_alpha
from pipelines.metrics.estimate import Estimate, proportion
from pipelines.metrics.ranks import area_difference, bonferroni, clustered_difference
from pipelines.npov.detect import AGGREGATIONS
from pipelines.npov.result import (
    CLASSIFIER,
    COUNT,
    KINDS,
    LENGTH,
    READS_NOTHING,
    SLICES,
    UNEQUAL,
    Detector,
    ErrorKind,
    Figure,
    NpovResult,
    Results,
    Score,
    area,
    detectors,
    salience_detector,
    scores,
    word_area,
)
from pipelines.report.table import Column, Measure, Quoted, Table, quote

PAPER_GENERATOR = "paper, LaMDA 64B"
PAPER_CLASSIFIER = "paper, FLAN-PaLMChilla 62B"


def _quoted(detectors: Sequence[str], *rows: Sequence[Any]) -> tuple[Quoted, ...]:
    """Per test set, and for each of the detectors, the areas of hallucination and coverage."""
    return quote(
        "test_set detector hallucination coverage",
        *(
            (test_set, detector, *areas)
            for test_set, *by_detector in rows
            for detector, areas in zip(detectors, by_detector, strict=True)
        ),
    )


TABLE_1 = _quoted(
    (
        f"ROUGE, {PAPER_GENERATOR}",
        f"salience, {PAPER_GENERATOR}",
        f"classifier, {PAPER_CLASSIFIER}",
    ),
    ("Full organic", (0.840, 0.795), (0.808, 0.852), (0.953, 0.905)),
    ("Unparaphrased synthetic", (0.772, 0.890), (0.736, 0.875), (0.998, 0.986)),
    ("Paraphrased synthetic", (0.680, 0.746), (0.708, 0.831), (0.977, 0.993)),
    ("Ambiguous organic", (0.814, 0.834), (0.772, 0.755), (0.851, 0.756)),
)

TABLE_2 = _quoted(  # detectors are named by the classifiers' training data
    (
        f"error-free and synthetic, {PAPER_CLASSIFIER}",
        f"and paraphrased, {PAPER_CLASSIFIER}",
        f"and development topics, {PAPER_CLASSIFIER}",
        f"and organic errors, {PAPER_CLASSIFIER}",
    ),
    ("Full organic", (0.789, 0.880), (0.828, 0.903), (0.953, 0.905), (0.920, 0.956)),
    ("Ambiguous organic", (0.807, 0.702), (0.820, 0.529), (0.851, 0.756), (0.862, 0.640)),
)

TABLE_5 = _quoted(
    (f"annotation-free, {PAPER_CLASSIFIER}",),
    ("Full organic", (0.739, 0.896)),
    ("Ambiguous organic", (0.732, 0.804)),
)

TABLE_3 = _quoted(  # of words
    (f"ROUGE, {PAPER_GENERATOR}", f"salience, {PAPER_GENERATOR}"),
    ("Full organic", (0.673, 0.669), (0.724, 0.799)),
    ("Unparaphrased synthetic", (0.697, 0.693), (0.710, 0.808)),
    ("Paraphrased synthetic", (0.614, 0.582), (0.673, 0.742)),
    ("Ambiguous organic", (0.542, 0.738), (0.542, 0.740)),
)

PAPER_AGREEMENT = quote(  # section 4.1.1: 188 responses of step 1, 86 of step 2
    "error alpha majority responses annotators",
    ("hallucination, paper", 0.60, 0.90, 188 + 86, 10),
    ("coverage, paper", 0.73, 0.94, 188 + 86, 10),
)

TABLE_6 = _quoted(
    (f"max, {PAPER_GENERATOR}", f"sum, {PAPER_GENERATOR}", f"negative entropy, {PAPER_GENERATOR}"),
    ("Full organic", (0.808, 0.852), (0.846, 0.809), (0.786, 0.664)),
)

OF_EXAMPLES: Final = (
    "ROC AUC of telling a column's errors from error-free examples, with the 95 % interval of a "
    "bootstrap over topics."
)

READ_NOTHING: Final = (
    f"'{LENGTH}', '{COUNT}' and '{UNEQUAL}' read nothing: they are a response's number of words, "
    "its sentences minus the given arguments, and how many more arguments one side has. By "
    "definition, a response with a hallucination makes one argument more than is given, and one "
    "with a coverage error one fewer, unless it has both errors."
)


class Line(NamedTuple):
    """How well a detector detects both kinds of errors on a test set.

    `error_free` is the number of examples without any error, and `topics` the number of topics of
    all examples.
    """

    test_set: str
    detector: Detector
    of_kind: Mapping[ErrorKind, Figure]
    error_free: int | None = None
    topics: int | None = None


def _of_kind(kind: ErrorKind, title: str, unit: str = "errors") -> tuple[Column[Line], ...]:
    """The columns of a kind of error: an area, and its number of errors or words."""
    return (
        Measure(kind, title, lambda line: line.of_kind[kind][0]),
        Column(f"{kind}_{unit}", unit.capitalize(), lambda line: line.of_kind[kind][1]),
    )


TEST_SET: Final = Column[Line]("test_set", "Test set")
DETECTOR: Final = Column[Line]("detector", "Detector", lambda line: line.detector.title)
ERRORS: Final = (*_of_kind("hallucination", "Hallucination"), *_of_kind("coverage", "Coverage"))
ERROR_FREE: Final = Column[Line]("error_free", "Error-free")
TOPICS: Final = Column[Line]("topics", "Topics")


def all_tables(results: Results) -> list[Table]:
    """All tables that the results have rows for."""
    all_results = [result for run in results.values() for result in run]
    lost = sum(result.status == "failed" for result in all_results)
    note = f"{lost:,} of {len(all_results):,} results could not be scored and are left out."
    made = (detection, comparisons, words, aggregations, classifiers, agreement)
    tables = [table for make in made if (table := make(results)).rows]
    return [replace(table, notes=(*table.notes, note)) for table in tables]


def detection(results: Results) -> Table:
    """Table 1: errors of whole responses, by every detector."""
    return Table.of(
        _of_examples(results, detectors(results)),
        name="npov_detection",
        title="Hallucination and coverage errors, by detector",
        columns=[TEST_SET, DETECTOR, *ERRORS, ERROR_FREE, TOPICS],
        quoted=TABLE_1,
        caption=OF_EXAMPLES,
        notes=[READ_NOTHING],
    )


def aggregations(results: Results) -> Table:
    """Table 6: how a word's row or column of the map becomes its score."""
    variants = [Detector(run, salience_detector(way)) for run in results for way in AGGREGATIONS]
    return Table.of(
        _of_examples(results, variants),
        name="npov_aggregations",
        title="Salience, by aggregation",
        columns=[TEST_SET, replace(DETECTOR, title="Aggregation"), *ERRORS, ERROR_FREE],
        quoted=TABLE_6,
        caption=OF_EXAMPLES,
    )


def classifiers(results: Results) -> Table:
    """Tables 2 and 5: classifiers, by their training data, which the run's name should state."""
    called = Column[Line]("detector", "Classifier", lambda line: line.detector.run)
    return Table.of(
        _of_examples(results, [Detector(run, CLASSIFIER) for run in results]),
        name="npov_classifiers",
        title="Classifiers",
        columns=[TEST_SET, called, *ERRORS, ERROR_FREE],
        quoted=(*TABLE_2, *TABLE_5),
        caption=OF_EXAMPLES,
    )


def _of_examples(results: Results, shown: Sequence[Detector]) -> list[Line]:
    """The areas of detectors on every slice that they have scores for."""
    lines = []
    for part, detector in product(SLICES, shown):
        by_kind = {kind: scores(results, part, kind, detector) for kind in KINDS}
        all_scores = [score for found in by_kind.values() for score in found.values()]
        if all_scores:
            areas = {kind: area(by_kind[kind].values()) for kind in KINDS}
            error_free = max(
                sum(not score.wrong for score in found.values()) for found in by_kind.values()
            )
            topics = len({score.cluster for score in all_scores})
            lines.append(Line(part.title, detector, areas, error_free, topics))
    return lines


def words(results: Results) -> Table:
    """Table 3: which words are wrong."""
    lines = [
        Line(
            part.title, detector, {kind: word_area(results, part, kind, detector) for kind in KINDS}
        )
        for part, detector in product(SLICES, detectors(results))
    ]
    rows = [line for line in lines if any(area is not None for area, _ in line.of_kind.values())]
    unmarked = any(area is None for line in rows for area, _ in line.of_kind.values())
    return Table.of(
        rows,
        name="npov_words",
        title="Hallucinated and uncovered words",
        columns=[
            *(TEST_SET, DETECTOR),
            *_of_kind("hallucination", "Hallucinated words", "words"),
            *_of_kind("coverage", "Uncovered words", "words"),
        ],
        quoted=TABLE_3,
        caption="ROC AUC over the content words of responses (hallucinated) and of arguments "
        "(uncovered), with the 95 % interval of a bootstrap over topics.",
        notes=[UNMARKED] if unmarked else [],
    )


UNMARKED: Final = (
    "A set without wrong words has no area: if an argument is repeated, or attributed to the wrong "
    "side, the error is ambiguous and no word is marked."
)


class Comparison(NamedTuple):
    """Two detectors on the same examples; `p` is by topics, `p_of_areas` by Hanley and McNeil."""

    test_set: str
    error: ErrorKind
    first: str
    second: str
    difference: Estimate
    p: float
    p_of_areas: float | None


def comparisons(results: Results) -> Table:
    """Pairwise differences of detectors, on examples that both scored (NPOV, section 5.1).

    Detectors that read nothing are not compared with each other.
    """
    rows = []
    pairs = [
        (first, second)
        for first, second in combinations(detectors(results), 2)
        if not {first.name, second.name} <= {*READS_NOTHING}
    ]
    for part, kind, (first, second) in product(SLICES, KINDS, pairs):
        one, other = (scores(results, part, kind, detector) for detector in (first, second))
        shared = [(score, other[name]) for name, score in one.items() if name in other]
        if (compared := _compared(shared)) is not None:
            rows.append(Comparison(part.title, kind, first.title, second.title, *compared))
    return Table.of(
        rows,
        name="npov_comparisons",
        title="Differences between detectors",
        columns=[
            Column("test_set", "Test set"),
            Column("error", "Error"),
            Column("first", "AUC of"),
            Column("second", "minus AUC of"),
            Measure("difference", "Difference"),
            Column("p", "p"),
            Column("p_corrected", "p, Bonferroni", lambda row: bonferroni(row.p, len(rows))),
            Column("p_of_areas", "p, Hanley and McNeil"),
        ],
        caption="Both detectors on the same examples. Differences have the 95 % interval of a "
        "bootstrap over topics. p is from a test that exchanges the two detectors' scores topic by "
        f"topic; the next column corrects it for the {len(rows):,} rows of this table. The paper's "
        "test, by Hanley and McNeil, assumes that responses are independent, which those on the "
        "same topic are not; it gives no p where an area is 0 or 1.",
    )


def _compared(
    shared: Sequence[tuple[Score, Score]],
) -> tuple[Estimate, float, float | None] | None:
    """The difference of areas with both kinds of p-values; None without an area."""
    first, second = ([pair[n].score for pair in shared] for n in range(2))
    wrong, clusters = [score.wrong for score, _ in shared], [score.cluster for score, _ in shared]
    by_topic = clustered_difference(first, second, wrong, clusters)
    of_areas = area_difference(first, second, wrong)
    if by_topic is None or of_areas is None:
        return None
    return by_topic.difference, by_topic.p, of_areas.p


class Agreement(NamedTuple):
    """Annotators' agreement on one kind of error."""

    error: ErrorKind
    annotators: int
    responses: int
    alpha: Estimate | None
    majority: Estimate | None


def agreement(results: Results) -> Table:
    """Annotators' agreement that there is an error, of any extent, in responses with votes."""
    voted = {result.id: result for run in results.values() for result in run if result.votes}
    return Table.of(
        [_on(kind, list(voted.values())) for kind in KINDS if voted],
        name="npov_agreement",
        title="Agreement between annotators",
        columns=[
            Column("error", "Error"),
            Measure("alpha", "Krippendorff's alpha", lambda row: row.alpha),
            Measure("majority", "Majority agrees with file", lambda row: row.majority),
            Column("responses", "Responses"),
            Column("annotators", "Annotators"),
        ],
        quoted=PAPER_AGREEMENT,
        caption="Whether there is an error, full or ambiguous. Alpha is nominal and has the 95 % "
        "interval of a bootstrap over responses; 1 is full agreement, 0 is chance. The majority "
        "column is the share of responses whose majority of votes agrees with the file; ties are "
        "left out.",
    )


def _on(kind: ErrorKind, results: list[NpovResult]) -> Agreement:
    votes: list[list[bool]] = []
    right = []
    names: set[str] = set()
    for result in results:
        said = {
            name: error != "none"
            for name, vote in result.votes.items()
            if (error := getattr(vote, kind)) is not None
        }
        names |= said.keys()
        votes.append([*said.values()])
        if (most := majority(votes[-1])) is not None:
            right.append(most is (result.known(kind) != "none"))
    return Agreement(
        error=kind,
        annotators=len(names),
        responses=sum(bool(labels) for labels in votes),
        alpha=nominal_alpha(votes),
        majority=proportion(sum(right), len(right)),
    )


def majority(votes: Iterable[bool]) -> bool | None:
    """The label of more than half of the votes; None in a tie, or without votes."""
    count = Counter(votes)
    return None if count[True] == count[False] else count[True] > count[False]
