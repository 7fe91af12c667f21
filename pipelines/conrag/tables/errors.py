"""The errors of ConRAG by the paper's categories (Table IX), and all of them to be sorted."""

from collections import Counter
from typing import NamedTuple

from pipelines.conrag import paper
from pipelines.conrag.result import ClaimResult, Passage
from pipelines.conrag.tables.categories import CATEGORIES, category, faults
from pipelines.conrag.tables.figures import OURS, Results, of_questions, of_responses
from pipelines.metrics.proportion import proportion
from pipelines.report.table import Column, Measure, Table


class Share(NamedTuple):
    """The errors of a category among all of a data set; `unit` says what is in error."""

    dataset: str
    unit: str
    category: str
    errors: int
    every: int


def error_table(results: Results) -> Table:
    """Table IX: the share of each category among the errors of ConRAG, per data set."""
    shares = []
    for dataset, own in results.items():
        unit = "answers" if of_questions(own) else "sentences" if of_responses(own) else "stances"
        counts = Counter(category(each, OURS) for each in own)
        del counts[None]
        if every := counts.total():
            shares += [Share(dataset, unit, name, counts[name], every) for name in CATEGORIES]
    return Table.of(
        shares,
        name="conrag_errors",
        title="Errors by category",
        caption=f"Errors of {OURS}, each in the first category whose rule holds.",
        columns=[
            Column("dataset", "Data"),
            Column("unit", "Errors of"),
            Column("category", "Category"),
            Column("figures", "Figures", lambda _: "this run, by rules"),
            Measure("share", "Share of errors", lambda own: proportion(own.errors, own.every)),
            Column("errors", "Errors"),
        ],
        quoted=paper.TABLE_IX,
        notes=(
            "Rules look at words and labels and do not understand; the paper does not say how it "
            "sorted. conrag_errors_to_sort.csv has every error, with a column to fill in.",
            "An error is a wrong stance on a claim, or on a sentence of a response (ragtruth); of "
            "an answer (alce), that a sentence is not borne out by what it cites, that one "
            "contradicts the packet, or that something is not said.",
            "Of responses and answers it is not known what each passage says: rules go by tags "
            "there, and by words that a sentence has and its passages do not.",
        ),
    )


class Error(NamedTuple):
    """A claim or question on which something is wrong."""

    dataset: str
    result: ClaimResult
    category: str


def errors_to_sort(results: Results) -> Table:
    """Every error of ConRAG with what a person needs to sort it."""
    return Table.of(
        [
            Error(dataset, each, name)
            for dataset, own in results.items()
            for each in own
            if (name := category(each, OURS)) is not None
        ],
        name="conrag_errors_to_sort",
        title="Errors to sort",
        columns=[
            Column("dataset", "Data"),
            Column("id", "Id", lambda one: one.result.id),
            Column("claim", "Claim", lambda one: one.result.claim),
            Column("gold", "Gold stance", lambda one: str(one.result.stance or "")),
            Column("stance", "Stance", _stance),
            Column("wrong", "What is wrong", lambda one: "; ".join(faults(one.result, OURS))),
            Column("kappa", "κ", lambda one: one.result.kappa),
            Column("answer", "Answer", _answer),
            Column("passages", "Passages", lambda one: "\n".join(map(_said, one.result.passages))),
            Column("by_rules", "Category by rules", lambda one: one.category),
            Column("category", "Category", lambda _: ""),
        ],
    )


def _stance(one: Error) -> str:
    return "" if one.result.question is not None else one.result.outcomes[OURS].stance.value


def _answer(one: Error) -> str:
    """The sentences, with the passages that they cite by their place."""
    places = {each.id: n for n, each in enumerate(one.result.passages, 1)}
    return "\n".join(
        said.text + "".join(f" [{places[name]}]" for name in said.cites if name in places)
        for said in one.result.outcomes[OURS].statements
    )


def _said(passage: Passage) -> str:
    truth = passage.truth.lower() if passage.truth else "unknown"
    return f"[{passage.tag.lower()} {passage.confidence:.2f}, gold {truth}] {passage.text}"
