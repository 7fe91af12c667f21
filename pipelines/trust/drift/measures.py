"""What became of a judge's labels, probabilities and verdicts when it was asked again."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from pipelines.conflictscore.detection.detect import DetectionResult
from pipelines.conflictscore.detection.metrics import Verdict, f1_difference
from pipelines.conflictscore.scores import contradiction_ratio, determined
from pipelines.data.records import Document
from pipelines.evidence.judgement import Judgement, Relation
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.flip_rate import flip_rate
from pipelines.metrics.mean import mean
from pipelines.metrics.total_variation import total_variation

Claims = Mapping[str, DetectionResult]
"""Id of a claim -> what a run made of it."""


class Again(NamedTuple):
    """A pair of claim and document, as the first run judged it and as a later one did."""

    claim: DetectionResult
    document: Document
    first: Judgement
    again: Judgement

    @property
    def shift(self) -> float | None:
        """Largest change of the probability of a label; None where one run gives none."""
        one, other = self.first.probabilities, self.again.probabilities
        if one is None or other is None:
            return None
        return max(abs(share - other.get(label, 0.0)) for label, share in one.items())

    @property
    def variation(self) -> float | None:
        """Total variation distance between the probabilities; None likewise."""
        one, other = self.first.probabilities, self.again.probabilities
        return None if one is None or other is None else total_variation(one, other)


@dataclass(frozen=True)
class Drift:
    """A judge's first run, and those under one condition or several.

    Attributes:
        judge: As tables name it.
        condition: Likewise.
        first: What was said first.
        runs: What was said again, by the names of runs.
        usage: Prompt tokens read in those runs, and how many came from the prefix cache.
    """

    judge: str
    condition: str
    first: Claims
    runs: Mapping[str, Claims]
    usage: tuple[int, int] = (0, 0)

    @cached_property
    def pairs(self) -> list[Again]:
        """Every pair of every run that was judged both times."""
        return [
            Again(one, *both)
            for run in self.runs.values()
            for one, other in self._claims(run)
            for both in zip(one.example.documents, one.judgements, other.judgements, strict=True)
        ]

    def flips(self) -> int:
        """How often a label is another than at first; unreadable is a label, too."""
        return sum(each.first.relation is not each.again.relation for each in self.pairs)

    def flipped(self) -> Estimate | None:
        """Share of pairs with another label in some run; see `flip_rate`."""
        return flip_rate(_labels(self.first), [_labels(run) for run in self.runs.values()])

    def largest_shift(self) -> float | None:
        """Of any label's probability in any run."""
        return max((each for pair in self.pairs if (each := pair.shift) is not None), default=None)

    def mean_variation(self) -> Estimate | None:
        """Mean total variation distance of pairs, clustered by question."""
        found = [
            (each, pair.claim.example.group)
            for pair in self.pairs
            if (each := pair.variation) is not None
        ]
        return mean([each for each, _ in found], [group for _, group in found], bounds=(0, 1))

    def verdicts_flipped(self) -> Estimate | None:
        """Share of claims with another verdict on conflict in some run; "undetermined" is one."""
        again = [_verdicts(run) for run in self.runs.values()]
        return flip_rate(_verdicts(self.first), again)

    def change(self, score: Literal["cs_c", "cs_r"]) -> Estimate | None:
        """Mean change of what a claim adds to CS-C or CS-R, later less first, by question."""
        value = _in_conflict if score == "cs_c" else _ratio
        found = [
            (after - before, one.example.group)
            for run in self.runs.values()
            for one, other in self._claims(run)
            if (before := value(one)) is not None and (after := value(other)) is not None
        ]
        return mean([each for each, _ in found], [group for _, group in found], bounds=(-1, 1))

    def f1_change(self) -> Estimate | None:
        """F1 of finding conflicts in the later runs less that in the first one."""
        later, first = {}, {}
        for name, run in self.runs.items():
            for one, other in self._claims(run):
                if one.conflict is not None and other.conflict is not None:
                    truth, group = one.example.conflict, one.example.group
                    later[f"{name}/{one.id}"] = Verdict(truth, other.conflict, group)
                    first[f"{name}/{one.id}"] = Verdict(truth, one.conflict, group)
        return f1_difference(later, first)

    def _claims(self, run: Claims) -> Iterator[tuple[DetectionResult, DetectionResult]]:
        """Claims that were judged both times."""
        for name, one in self.first.items():
            other = run.get(name)
            if other is not None and one.judgements and other.judgements:
                yield one, other


def _labels(claims: Claims) -> dict[Hashable, Relation]:
    return {
        (name, judgement.document): judgement.relation
        for name, each in claims.items()
        for judgement in each.judgements
    }


def _verdicts(claims: Claims) -> dict[str, str]:
    return {name: each.verdict for name, each in claims.items() if each.judgements}


def _in_conflict(claim: DetectionResult) -> float | None:
    return None if claim.conflict is None else float(claim.conflict)


def _ratio(claim: DetectionResult) -> float | None:
    relations = [judgement.relation for judgement in claim.judgements]
    return contradiction_ratio(relations) or 0.0 if determined(relations) else None
