"""How far repeated runs of the same requests differ.

In bf16 an answer depends a little on which requests share its batch and on whether a prefix came
from the cache, so even greedy runs differ. This measures by how much.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from pipelines.conflictscore.result import MEASURES, Result
from pipelines.judge.judgement import Judgement
from pipelines.metrics.estimate import proportion
from pipelines.report.table import Column, Measure, Table

TAGGER_IS_STEADY = (
    "The NLI tagger computes a label once and for all: its labels do not drift, so only what a "
    "language model was asked can differ between repeats."
)


@dataclass(frozen=True)
class Repeat:
    """A run beside the first one: the results of the responses that both have."""

    number: int
    results: Sequence[tuple[Result, Result]]

    @cached_property
    def judgements(self) -> list[tuple[Judgement, Judgement]]:
        """Those of the same response, claim and document."""
        return [
            (judgement, again[judgement.claim, judgement.document])
            for one, two in self.results
            for again in [{(each.claim, each.document): each for each in two.judgements}]
            for judgement in one.judgements
            if (judgement.claim, judgement.document) in again
        ]

    def largest_change(self) -> float | None:
        """Of the probability of a label."""
        changes = (
            abs(share - two.probabilities[label])
            for one, two in self.judgements
            if one.probabilities is not None and two.probabilities is not None
            for label, share in one.probabilities.items()
        )
        return max(changes, default=None)

    def mean_change(self, measure: str) -> float | None:
        """Of one of `MEASURES`."""
        scores = ((getattr(one, measure), getattr(two, measure)) for one, two in self.results)
        changes = [abs(one - two) for one, two in scores if one is not None and two is not None]
        return sum(changes) / len(changes) if changes else None


def drift_table(runs: Sequence[Sequence[Result]]) -> Table:
    """Each repeat against the first run; `runs` are at least two, of equal examples."""
    first = {result.id: result for result in runs[0]}
    tagged = any(each.source.endswith("tagger") for result in runs[0] for each in result.judgements)
    return Table.of(
        [
            Repeat(number, [(first[result.id], result) for result in again if result.id in first])
            for number, again in enumerate(runs[1:], start=1)
        ],
        name="conflictscore-drift",
        title="Drift between repeated runs",
        caption="The same requests asked again; changes are absolute.",
        columns=[
            Column("repeat", "against the first run", lambda own: f"repeat {own.number}"),
            Column("responses", "responses", lambda own: len(own.results)),
            Measure(
                "same_claims",
                "equal claim lists",
                lambda own: proportion(
                    sum(one.claims == two.claims for one, two in own.results), len(own.results)
                ),
            ),
            Column("judgements", "judgements in common", lambda own: len(own.judgements)),
            Measure(
                "same_labels",
                "equal labels",
                lambda own: proportion(
                    sum(one.relation is two.relation for one, two in own.judgements),
                    len(own.judgements),
                ),
            ),
            Column("probability", "largest change of a probability", Repeat.largest_change),
            *(
                Column(name, f"mean change of {title}", partial(Repeat.mean_change, measure=name))
                for name, title in MEASURES.items()
            ),
        ],
        notes=(
            "Judgements in common have the same response, claim and document in both runs.",
            *([TAGGER_IS_STEADY] if tagged else []),
        ),
    )
