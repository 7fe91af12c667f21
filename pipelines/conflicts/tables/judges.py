"""How far the judge of behaviour agrees with people, in tables."""

from collections.abc import Sequence
from dataclasses import replace

from pipelines.conflicts.judges.validation import PAPER_ACCURACY, PAPER_ANSWERS, Rating, agreement
from pipelines.conflicts.taxonomy import CATEGORY
from pipelines.metrics.label_mass import low_label_mass
from pipelines.report.failures import REPLY_SHOWN
from pipelines.report.table import Column, Measure, Table, quote
from pipelines.report.text import one_line


def agreement_table(ratings: Sequence[Rating], judge: str, counted: str) -> Table:
    """Accuracy and kappa over all answers and those of each type, beside the paper's.

    Args:
        ratings: Answers with verdicts.
        judge: Name of the judging model.
        counted: Name of the file with labels.
    """
    groups = {"all": ratings} | {
        category.label: own
        for type_, category in CATEGORY.items()
        if (own := [each for each in ratings if each.labelled.conflict_type is type_])
    }
    return Table.of(
        [(name, len(own), agreement(own)) for name, own in groups.items()],
        name="conflicts_judge",
        title="The judge against people",
        caption=f"Verdicts on expected behaviour beside the labels of {counted}.",
        columns=[
            Column("type", "Type", lambda row: row[0]),
            Column("judge", "Judge", lambda _: judge),
            Column("answers", "Answers", lambda row: row[1]),
            Column("unreadable", "Unreadable", lambda row: row[2].unreadable),
            Measure("accuracy", "Accuracy", lambda row: row[2].accuracy),
            Measure("always_yes", "Always yes", lambda row: row[2].always_yes),
            Measure("kappa", "Cohen's kappa", lambda row: row[2].kappa),
            Measure("area", "AUC", lambda row: row[2].area),
            Column("both_adherent", "Adherent to both", lambda row: row[2].true_positives),
            Column("judge_alone", "To the judge alone", lambda row: row[2].false_positives),
            Column("people_alone", "To people alone", lambda row: row[2].false_negatives),
            Column("neither", "To neither", lambda row: row[2].true_negatives),
        ],
        quoted=quote(
            "type judge answers accuracy",
            ("all (paper, section 4)", "Gemini 2.5 Flash", PAPER_ANSWERS, PAPER_ACCURACY),
        ),
        notes=(
            "In brackets are 95 % intervals: Wilson's of accuracy, the asymptotic one of kappa; "
            "where several answers are to one question, of t and of bootstrap, clustered by "
            "question.",
            "AUC is of the judge's probabilities.",
            "Unreadable replies have no part in accuracy and kappa.",
            f"The paper's judge has an accuracy of {PAPER_ACCURACY} on {PAPER_ANSWERS} other "
            "answers.",
            *low_label_mass(each.adherence.mass for each in ratings),
        ),
    )


def joined(tables: Sequence[Table]) -> Table:
    """The rows of several judges' tables in one; at least one."""
    notes = dict.fromkeys(note for each in tables for note in each.notes)
    rows = tuple(row for each in tables for row in each.rows)
    return replace(tables[0], rows=rows, notes=tuple(notes))


def verdict_table(ratings: Sequence[Rating], judge: str) -> Table:
    """Every labelled answer with its label and the verdict of a judge of that name, and why."""
    verdicts = {True: "adheres", False: "does not", None: "unreadable"}

    def reason(each: Rating) -> str:
        said = each.adherence
        return one_line(said.reason or said.problem or said.raw or "", REPLY_SHOWN)

    return Table.of(
        ratings,
        name="conflicts_verdicts",
        title="Answers and verdicts",
        caption="Expected behaviour by people and by the judge.",
        columns=[
            Column("id", "Answer", lambda each: each.labelled.id),
            Column("type", "Type", lambda each: CATEGORY[each.labelled.conflict_type].label),
            Column("people", "People", lambda each: verdicts[each.labelled.adherent]),
            Column("by", "Judge", lambda _: judge),
            Column("judge", "Verdict", lambda each: verdicts[each.adherence.adheres]),
            Column("note", "Why, by people", lambda each: each.labelled.note),
            Column("reason", "Why, by the judge", reason),
        ],
    )
