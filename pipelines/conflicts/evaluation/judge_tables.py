"""How far the judge of behaviour agrees with people, in tables."""

from collections.abc import Sequence

from pipelines.conflicts.judges.validation import (
    PAPER_ACCURACY,
    PAPER_ANSWERS,
    Agreement,
    Rated,
)
from pipelines.conflicts.taxonomy import CATEGORY
from pipelines.report.table import Column, Row, Table
from pipelines.report.text import one_line

RAW_SHOWN = 200
"""Characters of a reply that could not be read."""


def agreement_table(found: Agreement, judge: str, counted: str) -> Table:
    """Accuracy and kappa over all answers and of each type, beside the paper's.

    Args:
        found: From `validation.agreement`.
        judge: Name of the judging model.
        counted: Name of the file with labels.
    """

    def row(name: str, each: Agreement) -> Row:
        read = each.true_positives + each.true_negatives
        read += each.false_positives + each.false_negatives
        return (
            name,
            judge,
            read + each.unreadable,
            each.unreadable,
            each.accuracy,
            each.kappa,
            each.true_positives,
            each.false_positives,
            each.false_negatives,
            each.true_negatives,
        )

    return Table(
        name="conflicts_judge",
        title="The judge against people",
        caption=f"Verdicts on expected behaviour beside the labels of {counted}.",
        columns=(
            Column("type", "Type"),
            Column("judge", "Judge"),
            Column("answers", "Answers"),
            Column("unreadable", "Unreadable"),
            Column("accuracy", "Accuracy", interval=True),
            Column("kappa", "Cohen's kappa", interval=True),
            Column("both_adherent", "Adherent to both"),
            Column("judge_alone", "To the judge alone"),
            Column("people_alone", "To people alone"),
            Column("neither", "To neither"),
        ),
        rows=(
            row("all", found),
            *(row(CATEGORY[type_].label, own) for type_, own in found.of_type.items()),
        ),
        quoted=(
            (
                "all (paper, section 4)",
                "Gemini 2.5 Flash",
                PAPER_ANSWERS,
                None,
                PAPER_ACCURACY,
                *(None,) * 5,
            ),
        ),
        notes=(
            "In brackets are 95 % intervals: Wilson's of accuracy, the asymptotic one of kappa.",
            "Unreadable replies have no part in accuracy and kappa.",
            f"The paper's judge has an accuracy of {PAPER_ACCURACY} on {PAPER_ANSWERS} other "
            "answers.",
        ),
    )


def verdict_table(rated: Sequence[Rated]) -> Table:
    """Every labelled answer with its label and its verdict, and why."""
    verdicts = {True: "adheres", False: "does not", None: "unreadable"}
    return Table(
        name="conflicts_verdicts",
        title="Answers and verdicts",
        caption="Expected behaviour by people and by the judge.",
        columns=(
            Column("id", "Answer"),
            Column("type", "Type"),
            Column("people", "People"),
            Column("judge", "Judge"),
            Column("note", "Why, by people"),
            Column("reason", "Why, by the judge"),
        ),
        rows=tuple(
            (
                each.labelled.id,
                CATEGORY[each.labelled.conflict_type].label,
                verdicts[each.labelled.adherent],
                verdicts[each.adherence.adheres],
                each.labelled.note,
                one_line(
                    each.adherence.reason or each.adherence.problem or each.adherence.raw or "",
                    RAW_SHOWN,
                ),
            )
            for each in rated
        ),
    )
