"""The tables of predicted conflict types, in the layout of the paper's Table 4."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import Any, Final, NamedTuple

from pipelines.conflicts import paper
from pipelines.conflicts.pipeline import CLASSIFIERS
from pipelines.conflicts.tables.answers import RUN, WRITER
from pipelines.conflicts.tables.scores import (
    BASELINES,
    BY_FORM,
    MAJORITY,
    Classification,
    Part,
    baseline,
    classification,
    predictions,
    shown_classifiers,
)
from pipelines.conflicts.taxonomy import TAXONOMY, Category, decide
from pipelines.metrics.calibration import low_label_mass
from pipelines.metrics.estimate import proportion, share
from pipelines.report.compare import Pair, columns, compare, correction
from pipelines.report.table import HERE, Column, Measure, Table, of_place

THRESHOLDS: Final = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
"""Least probabilities of the most probable type; with five types it is never below 0.2."""

WITHOUT_MODEL: Final = frozenset({*BASELINES, CLASSIFIERS["yes-no"]})
"""Classifiers that ask no language model."""


class Trial(NamedTuple):
    """What a classifier says of the queries of a run."""

    part: Part
    classifier: str
    said: Classification


def trial(part: Part, classifier: str) -> Trial:
    """A classifier, or a baseline, on the queries of a run."""
    by = baseline if classifier in BASELINES else classification
    return Trial(part, classifier, by(part.results, classifier))


CLASSIFIER: Final = Column[Any]("classifier", "Classifier")
MODEL: Final = Column[Any](
    *(WRITER.key, WRITER.title),
    lambda own: None if own.classifier in WITHOUT_MODEL else own.part.writer,
)


def types(made: Sequence[Part]) -> Table:
    """Table 4: every classifier, and the one that always says the most frequent type."""
    return Table.of(
        [
            trial(part, classifier)
            for part in made
            if (shown := shown_classifiers(part.results))
            for classifier in (*shown, *BASELINES)
        ],
        name="conflicts_types",
        title="Conflict types",
        caption="A row is a classifier; accuracy is the share of queries whose type it names.",
        columns=[
            *(RUN, MODEL, CLASSIFIER, HERE),
            Column("queries", "Queries", lambda own: own.said.queries),
            Column("failed", "Failed", lambda own: own.said.failed),
            Column("untyped", "No gold type", lambda own: own.said.untyped),
            Column("abstained", "Abstained", lambda own: own.said.silent("abstained")),
            Column("unreadable", "Unreadable", lambda own: own.said.silent("unreadable")),
            Measure("accuracy", "Accuracy", lambda own: own.said.accuracy),
            Measure(
                "accuracy_of_all",
                "Accuracy, abstained and unreadable as not right",
                lambda own: own.said.accuracy_of_all,
            ),
            Measure("macro_f1", "Macro-F1", lambda own: own.said.macro_f1),
        ],
        quoted=paper.TABLE_4,
        notes=(
            "Accuracy and macro-F1 are over queries with a gold type for which the classifier gave "
            "one. Of all, abstained and unreadable ones count as not right; the paper's figures "
            "stand there, as nothing says that it left any out.",
            f"'{MAJORITY}' reads nothing: it always says the type which most queries of this data "
            "have. It is the least that a classifier must surpass. "
            f"'{BY_FORM}' sees the question alone, and of it whether it asks for yes or no: in "
            "CONFLICTS these are the questions of one collection.",
            f"'{CLASSIFIERS['yes-no']}' says opinions of questions of yes or no, and else no "
            "conflict, whatever the data.",
            "Macro-F1 is the mean over the types that occur, as gold or as given. In brackets 95 % "
            "intervals: Wilson of accuracy, bootstrap of macro-F1.",
            "The paper's rows were measured with larger models on all 458 queries.",
            *low_label_mass(
                (
                    found.mass
                    for part in made
                    for each in part.results
                    for found in each.predictions.values()
                ),
                "the language model's",
            ),
        ),
    )


class Confusion(NamedTuple):
    """What a classifier says of the queries of a gold type: a type, or why none -> queries."""

    part: Part
    classifier: str
    gold: Category
    counts: Mapping[str, int]


def confusion(made: Sequence[Part]) -> Table:
    """What each gold type was taken for."""

    def count(key: str, title: str) -> Column[Confusion]:
        return Column(key, title, lambda own: own.counts[key])

    return Table.of(
        [
            Confusion(part, classifier, gold, counts)
            for part in made
            for classifier in shown_classifiers(part.results)
            for said in [classification(part.results, classifier).said.values()]
            for gold in TAXONOMY
            for counts in [Counter[str](given for truth, given in said if truth == gold.type)]
        ],
        name="conflicts_confusion",
        title="What was taken for what",
        caption="A row is a gold type, a column what the classifier said: counts of queries.",
        columns=[
            *(RUN, MODEL, CLASSIFIER),
            Column("gold", "Gold type", lambda own: own.gold.short),
            *(count(each.type, each.short) for each in TAXONOMY),
            count("abstained", "Abstained"),
            count("unreadable", "Unreadable"),
        ],
        notes=("Failed queries and those without a gold type are left out.",),
    )


def type_differences(made: Sequence[Part]) -> Table:
    """Every classifier less every other of its run, query by query."""
    pairs = []
    for part in made:
        shown = shown_classifiers(part.results)
        for names in (*combinations(shown, 2), *product(shown, BASELINES)):
            first, second = (trial(part, name) for name in names)
            by = {"difference": compare(first.said.right(), second.said.right(), "McNemar")}
            pairs.append(Pair(first, *names, by))
    return Table.of(
        pairs,
        name="conflicts_type_differences",
        title="Differences between classifiers",
        caption="Accuracy query by query, the first classifier less the second, over the queries "
        "for which both gave a type.",
        columns=[
            *map(of_place, (RUN, WRITER)),
            Column("first", "Classifier"),
            Column("second", "less"),
            *columns("difference", "Accuracy", "McNemar", p="p", n="queries"),
        ],
        notes=(
            *correction(pairs),
            "In brackets the paired 95 % t interval. McNemar's test is exact.",
        ),
    )


class Cut(NamedTuple):
    """A classifier that abstains where no type has the least probability.

    `queries` are those that it gave probabilities for; `kept` says of those with a type that is
    probable enough whether it is right.
    """

    part: Part
    classifier: str
    least: float
    queries: int
    kept: Sequence[bool]


def coverage(made: Sequence[Part]) -> Table:
    """What abstention would bring: accuracy where the most probable type is probable enough."""
    return Table.of(
        [
            Cut(part, classifier, least, len(likely), [right for p, right in likely if p >= least])
            for part in made
            for classifier in shown_classifiers(part.results)
            if (likely := _likely(part, classifier))
            for least in THRESHOLDS
        ],
        name="conflicts_coverage",
        title="What abstention would bring",
        caption="Accuracy over the queries whose most probable type has at least such a "
        "probability, and the share of queries that they are.",
        columns=[
            *(RUN, MODEL, CLASSIFIER),
            Column("threshold", "Least probability", lambda own: f"{own.least:.1f}"),
            Column("queries", "Queries"),
            Column("kept", "Kept", lambda own: len(own.kept)),
            Measure("share", "Share kept", lambda own: proportion(len(own.kept), own.queries)),
            Measure("accuracy", "Accuracy of these", lambda own: share(own.kept)),
        ],
        notes=(
            "Over queries with a gold type for which the classifier gave probabilities, whatever "
            "thresholds it ran with.",
            "In brackets 95 % Wilson intervals. A threshold that is chosen by this table is fitted "
            "to these queries; its accuracy on others will be lower.",
        ),
    )


def _likely(part: Part, classifier: str) -> list[tuple[float, bool]]:
    """Probability of the most probable type, and whether it is right, where it gave any."""
    return [
        (max(found.probabilities.values()), decide(found.probabilities, {}) == gold)
        for each in part.results
        if each.status != "failed" and (gold := each.asked.conflict_type) is not None
        if (found := predictions(each).get(classifier)) and found.probabilities
    ]
