"""What types are worth on queries that had no part in making them: the table of `measuring`."""

from collections.abc import Sequence
from typing import Final

from pipelines.conflicts.aside import set_aside
from pipelines.conflicts.measuring import BY_FORM, Labelled, Measured
from pipelines.conflicts.taxonomy import ConflictType
from pipelines.metrics.accuracy import accuracy
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.f1 import macro_f1
from pipelines.report.compare import Comparison, compare
from pipelines.report.table import Column, Measure, Table

PARTS: Final = {False: "cross-validated", True: "set aside"}


def measured_table(labelled: Sequence[Labelled], found: Sequence[Measured]) -> Table:
    """Accuracy and macro-F1 of every method, and its accuracy less that of the yes/no rule."""
    gold = {
        aside: [each.type for each in labelled if set_aside(each.query.query) == aside]
        for aside in PARTS
    }

    def right(each: Measured) -> dict[int, bool]:
        pairs = zip(gold[each.aside], each.predicted, strict=True)
        return {place: one == other for place, (one, other) in enumerate(pairs)}

    rule = {each.aside: right(each) for each in found if each.method == BY_FORM}

    def less_rule(each: Measured) -> Comparison:
        return compare(right(each), rule[each.aside], "McNemar")

    def difference(each: Measured) -> Estimate | None:
        return None if each.method == BY_FORM else less_rule(each).difference

    return Table.of(
        found,
        name="conflicts_measured",
        title="Types on queries that had no part in them",
        caption="A row is a method on the queries that it is trained on, cross-validated, or on "
        "those set aside.",
        columns=[
            Column("queries_are", "Queries are", lambda each: PARTS[each.aside]),
            Column("method", "Method", lambda each: each.method),
            Column("queries", "Queries", lambda each: len(each.predicted)),
            Measure(
                "accuracy", "Accuracy", lambda each: accuracy(gold[each.aside], each.predicted)
            ),
            Measure(
                "macro_f1",
                "Macro-F1",
                lambda each: macro_f1(gold[each.aside], each.predicted, list(ConflictType)),
            ),
            Measure("difference", "Accuracy less the yes/no rule's", difference),
            Column(
                "p",
                "p (McNemar)",
                lambda each: None if each.method == BY_FORM else less_rule(each).p,
            ),
            Column("chosen", "Chosen", _chosen),
        ],
        notes=(
            "In brackets 95 % intervals: Wilson of accuracy, bootstrap over queries of macro-F1, "
            "paired t of the difference. Another division into folds gives other figures; no "
            "interval counts that.",
            "The rule says of questions of yes or no, and of others, the type that is the most "
            "frequent in training.",
            "'Chosen' is what most trainings chose, in inner folds of their own queries: 'signals' "
            "are of tagger, dates and numbers, 'question' and 'evidence' embeddings, 'chances' the "
            "language model's log-probabilities; C is the inverse strength of the penalty, "
            "and × what a further query counts where one of these counts 1.",
            "Set aside are the queries whose SHA-256 is a multiple of 3. Of the labelled queries "
            "the others alone were trained on and chosen by. Mean log-probabilities are of the "
            "queries that are measured; no label is looked at.",
        ),
    )


def _chosen(each: Measured) -> str | None:
    return max(each.chosen, key=lambda name: each.chosen[name]) if each.chosen else None
