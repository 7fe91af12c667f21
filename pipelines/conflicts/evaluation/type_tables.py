"""The tables of predicted conflict types, in the layout of the paper's Table 4."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, product
from typing import Final

from pipelines.conflicts.evaluation import paper
from pipelines.conflicts.evaluation.figures import HERE, RUN, WRITER, bonferroni
from pipelines.conflicts.evaluation.methods import CLASSIFIERS
from pipelines.conflicts.evaluation.scores import Part
from pipelines.conflicts.evaluation.type_scores import (
    BASELINES,
    BY_FORM,
    MAJORITY,
    Predicted,
    baseline,
    predicted,
    predictions,
    shown_classifiers,
)
from pipelines.conflicts.prediction import decide
from pipelines.conflicts.taxonomy import TAXONOMY, ConflictType
from pipelines.metrics.f1 import macro_f1
from pipelines.metrics.mcnemar import mcnemar
from pipelines.metrics.paired import paired_difference
from pipelines.metrics.proportion import proportion
from pipelines.report.table import Column, Row, Table

THRESHOLDS: Final = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
"""Least probabilities of the most probable type; with five types it is never below 0.2."""

CLASSIFIER: Final = Column("classifier", "Classifier")
WITHOUT_MODEL: Final = frozenset({*BASELINES, CLASSIFIERS["nli"]})
"""Classifiers that ask no language model."""


def types(made: Sequence[Part]) -> Table:
    """Table 4: every classifier, and the one that always says the most frequent type."""
    rows: list[Row] = []
    for part in made:
        shown = shown_classifiers(part.results)
        for classifier in (*shown, *(BASELINES if shown else ())):
            own = _predicted(part, classifier)
            pairs = list(own.pairs.values())
            right = sum(own.right().values())
            rows.append(
                (
                    *(part.run, _model(part, classifier), classifier, HERE),
                    *(own.queries, own.failed, own.untyped),
                    *(len(own.abstained), len(own.unreadable)),
                    proportion(right, len(pairs)),
                    proportion(right, own.typed),
                    macro_f1(
                        [gold for gold, _ in pairs],
                        [given for _, given in pairs],
                        list(ConflictType),
                    ),
                )
            )
    quoted: list[Row] = [
        ("CONFLICTS", model, CLASSIFIERS["json"], "paper, Table 4", *(None,) * 6, value, None)
        for model, value in paper.TABLE_4
    ]
    return Table(
        name="conflicts_types",
        title="Conflict types",
        caption="A row is a classifier; accuracy is the share of queries whose type it names.",
        columns=(
            *(RUN, WRITER, CLASSIFIER),
            Column("figures", "Figures"),
            Column("queries", "Queries"),
            Column("failed", "Failed"),
            Column("untyped", "No gold type"),
            Column("abstained", "Abstained"),
            Column("unreadable", "Unreadable"),
            Column("accuracy", "Accuracy", interval=True),
            Column(
                "accuracy_of_all", "Accuracy, abstained and unreadable as not right", interval=True
            ),
            Column("macro_f1", "Macro-F1", interval=True),
        ),
        rows=tuple(rows),
        quoted=tuple(quoted),
        notes=(
            "Accuracy and macro-F1 are over queries with a gold type for which the classifier gave "
            "one. Of all, abstained and unreadable ones count as not right; the paper's figures "
            "stand there, as nothing says that it left any out.",
            f"'{MAJORITY}' reads nothing: it always says the type which most queries of this data "
            "have. It is the least that a classifier must surpass. "
            f"'{BY_FORM}' sees the question alone, and of it whether it asks for yes or no: in "
            "CONFLICTS these are the questions of one collection.",
            f"'{CLASSIFIERS['nli']}' has learned from labelled queries. Nearly all that the one "
            "that comes with the program knows is how questions of a type are asked.",
            "Macro-F1 is the mean over the types that occur, as gold or as given. In brackets 95 % "
            "intervals: Wilson of accuracy, bootstrap of macro-F1.",
            "The paper's rows were measured with larger models on all 458 queries.",
        ),
    )


def confusion(made: Sequence[Part]) -> Table:
    """What each gold type was taken for."""
    rows: list[Row] = []
    for part in made:
        for classifier in shown_classifiers(part.results):
            own = predicted(part.results, classifier)
            pairs = Counter(own.pairs.values())
            abstained, unreadable = (
                Counter(each.values()) for each in (own.abstained, own.unreadable)
            )
            rows += [
                (
                    *(part.run, _model(part, classifier), classifier, gold.short),
                    *(pairs[gold.type, given.type] for given in TAXONOMY),
                    *(abstained[gold.type], unreadable[gold.type]),
                )
                for gold in TAXONOMY
            ]
    return Table(
        name="conflicts_confusion",
        title="What was taken for what",
        caption="A row is a gold type, a column what the classifier said: counts of queries.",
        columns=(
            *(RUN, WRITER, CLASSIFIER),
            Column("gold", "Gold type"),
            *(Column(each.type, each.short) for each in TAXONOMY),
            Column("abstained", "Abstained"),
            Column("unreadable", "Unreadable"),
        ),
        rows=tuple(rows),
        notes=("Failed queries and those without a gold type are left out.",),
    )


def type_differences(made: Sequence[Part]) -> Table:
    """Every classifier less every other of its run, query by query."""
    rows: list[Row] = []
    for part in made:
        shown = shown_classifiers(part.results)
        pairs = [*combinations(shown, 2), *product(shown, BASELINES)]
        for first, second in pairs:
            one, other = (_predicted(part, each).right() for each in (first, second))
            rows.append(
                (
                    *(part.run, part.writer, first, second),
                    paired_difference(one, other, bounds=(-1, 1)),
                    mcnemar(one, other),
                    len(one.keys() & other.keys()),
                )
            )
    return Table(
        name="conflicts_type_differences",
        title="Differences between classifiers",
        caption="Accuracy query by query, the first classifier less the second, over the queries "
        "for which both gave a type.",
        columns=(
            *(RUN, WRITER),
            Column("first", "Classifier"),
            Column("second", "less"),
            Column("difference", "Accuracy", interval=True),
            Column("p", "p (McNemar)"),
            Column("queries", "Queries"),
        ),
        rows=tuple(rows),
        notes=(
            *bonferroni(len(rows), sum(row[5] is not None for row in rows)),
            "In brackets the paired 95 % t interval. McNemar's test is exact.",
        ),
    )


def coverage(made: Sequence[Part]) -> Table:
    """What abstention would bring: accuracy where the most probable type is probable enough."""
    rows: list[Row] = []
    for part in made:
        for classifier in shown_classifiers(part.results):
            probable = [
                (each.asked.conflict_type, found.probabilities)
                for each in part.results
                if each.status != "failed" and each.asked.conflict_type is not None
                if (found := predictions(each).get(classifier)) and found.probabilities
            ]
            for least in THRESHOLDS if probable else ():
                thresholds = dict.fromkeys(ConflictType, least)
                given = [(gold, decide(found, thresholds)) for gold, found in probable]
                kept = [pair for pair in given if pair[1] is not None]
                rows.append(
                    (
                        *(part.run, _model(part, classifier), classifier, f"{least:.1f}"),
                        *(len(probable), len(kept)),
                        proportion(len(kept), len(probable)),
                        proportion(sum(gold == one for gold, one in kept), len(kept)),
                    )
                )
    return Table(
        name="conflicts_coverage",
        title="What abstention would bring",
        caption="Accuracy over the queries whose most probable type has at least such a "
        "probability, and the share of queries that they are.",
        columns=(
            *(RUN, WRITER, CLASSIFIER),
            Column("threshold", "Least probability"),
            Column("queries", "Queries"),
            Column("kept", "Kept"),
            Column("share", "Share kept", interval=True),
            Column("accuracy", "Accuracy of these", interval=True),
        ),
        rows=tuple(rows),
        notes=(
            "Over queries with a gold type for which the classifier gave probabilities, whatever "
            "thresholds it ran with.",
            "In brackets 95 % Wilson intervals. A threshold that is chosen by this table is fitted "
            "to these queries; its accuracy on others will be lower.",
        ),
    )


def _predicted(part: Part, classifier: str) -> Predicted:
    if classifier in BASELINES:
        return baseline(part.results, classifier)
    return predicted(part.results, classifier)


def _model(part: Part, classifier: str) -> str | None:
    return None if classifier in WITHOUT_MODEL else part.writer
