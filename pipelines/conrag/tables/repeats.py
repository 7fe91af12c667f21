"""Figures over repeated runs with other seeds: mean and standard deviation (ConRAG, section 2).

The paper fixes the seeds of all that is drawn and runs each configuration several times; it does
not say how often, and gives no deviations. What is drawn here is what a language model writes.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import Final, NamedTuple

from pipelines.conrag.hallucination import passage_auc, token_f1
from pipelines.conrag.methods import ABLATIONS
from pipelines.conrag.result import ClaimResult
from pipelines.conrag.tables import figures
from pipelines.conrag.tables.answers import Figure
from pipelines.conrag.tables.figures import Results
from pipelines.report.table import Column, Table

STEADY = (
    "Nothing is drawn where the template writes and the tagger judges: every run is the same, and "
    "deviations are 0."
)

MEASURES: Final[Mapping[str, Figure]] = {
    "stance accuracy": figures.stance_accuracy,
    "macro-F1": figures.stance_macro_f1,
    "evidence F1": figures.mean_evidence_f1,
    "contradiction rate": figures.contradiction_rate,
    "citation precision": lambda own, method: figures.citations(own, method).precision,
    "citation recall": lambda own, method: figures.citations(own, method).recall,
    "gold answers said": figures.answer_recall,
    "token F1": lambda own, method: token_f1(figures.checked(own, method)),
    "passage AUC": lambda own, method: passage_auc(figures.checked(own, method)),
}
"""Those of Table II, in the order of the tables that have them."""


class Draws(NamedTuple):
    """What a figure of a method comes to in each of several runs."""

    dataset: str
    measure: str
    method: str
    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Over the runs."""
        return fmean(self.values)

    @property
    def deviation(self) -> float | None:
        """The sample standard deviation, by n - 1; None of a single run."""
        return stdev(self.values) if len(self.values) > 1 else None


_REPEAT = ".repeat-"


def repeated(dataset: str, number: int) -> str:
    """The name of a data set's run; that of the first is the data set's."""
    return f"{dataset}{_REPEAT}{number}" if number else dataset


def is_repeat(name: str) -> bool:
    """Whether a run of that name is another than the first."""
    return _REPEAT in name


def repeat_table(results: Results) -> Table:
    """Each figure of each method over the runs of a data set that was run more than once."""
    runs: dict[str, list[Sequence[ClaimResult]]] = {}
    for name, own in results.items():
        runs.setdefault(name.partition(_REPEAT)[0], []).append(own)
    return Table.of(
        [each for name, own in runs.items() if len(own) > 1 for each in draws(name, own)],
        name="conrag_repeats",
        title="Repeated runs",
        caption="The same rows, run with one seed after another.",
        columns=[
            Column("dataset", "Data"),
            Column("measure", "Figure"),
            Column("method", "Method"),
            Column("runs", "Runs", lambda one: len(one.values)),
            Column("mean", "Mean"),
            Column("deviation", "Standard deviation"),
            Column("least", "Least", lambda one: min(one.values)),
            Column("most", "Most", lambda one: max(one.values)),
        ],
        notes=(
            "The deviation is of runs (n − 1 in the denominator): how far another seed moves the "
            "figure. The intervals of the other tables say how far other rows would.",
            "At --temperature 0 seeds change nothing, and what is left is drift: a server's "
            "numbers depend a little on which requests share a batch.",
            STEADY,
            "Each run is over the rows that it could do; conrag_failures has the others.",
        ),
    )


def draws(dataset: str, runs: Sequence[Sequence[ClaimResult]]) -> list[Draws]:
    """Figure by figure, method by method; without figures that no run has."""
    runs = [[each for each in own if each.status == "answered"] for own in runs]
    methods = [*figures.shown_methods([each for own in runs for each in own]), *ABLATIONS]
    every = [
        Draws(
            dataset,
            name,
            method,
            tuple(found.value for own in runs if (found := measure(own, method)) is not None),
        )
        for name, measure in MEASURES.items()
        for method in methods
    ]
    return [each for each in every if each.values]
