"""Conflict Detection: label every document, look for both sides (section 4.1); with its metrics."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple, Self

from pydantic import BaseModel

from pipelines.data.records import Document
from pipelines.experiment.metric import Metric, of_each
from pipelines.judge.examples import ContestedClaim
from pipelines.judge.judgement import Judgement, Relation, Truncation, conflicting, in_conflict
from pipelines.judge.protocol import Judge
from pipelines.metrics.estimate import Estimate, percentile_estimate, redrawn_sums, share
from pipelines.metrics.rates import clustered_f1, f1
from pipelines.text.words import content_words, terms


class DetectionResult(BaseModel, frozen=True):
    """A judge's decision on one example: one line of `conflict-detection.JUDGE.jsonl`.

    It is "invalid" if unreadable judgements leave open whether there is a conflict, and "failed" if
    no judgement could be made; such examples are tried again on resuming. The example is kept, so
    that tables and page can be made from results alone.
    """

    id: str
    example: ContestedClaim
    status: Literal["labelled", "invalid", "failed"]
    judgements: tuple[Judgement, ...] = ()
    conflict: bool | None = None
    truncations: tuple[Truncation, ...] = ()
    error: str | None = None

    @classmethod
    def failed(cls, example: ContestedClaim, reason: str) -> Self:
        """The result of an example that could not be judged."""
        return cls(id=example.id, example=example, status="failed", error=reason)

    @property
    def right(self) -> bool | None:
        """Whether the judge is right; None without a decision."""
        return None if self.conflict is None else self.conflict == self.example.conflict

    @property
    def verdict(self) -> str:
        """The decision in words."""
        if self.conflict is None:
            return "undetermined"
        return "conflict" if self.conflict else "no conflict"

    def documents(self) -> Iterator[tuple[Document, Relation, Judgement]]:
        """The judged documents with their true relations; empty if these are unknown."""
        known = self.example.relations
        if known is not None and self.judgements:
            yield from zip(self.example.documents, known, self.judgements, strict=True)


async def detect(example: ContestedClaim, judge: Judge) -> DetectionResult:
    """Decide whether an example's documents conflict over its claim.

    There is a conflict exactly if some document is labelled SUPPORTS and some CONTRADICTS. The
    example is undetermined if unreadable labels leave that open, as in ConflictScore.

    Known relations are hidden from the judge.

    Raises:
        InputError: Claim and documents cannot be labelled.
        ServingError: No server is available, or a document does not fit the context.
    """
    labelled = await judge([example.claim], example.documents)
    relations = [judgement.relation for judgement in labelled.judgements]
    conflict = in_conflict(relations)
    return DetectionResult(
        id=example.id,
        example=example,
        status="invalid" if conflict is None else "labelled",
        judgements=labelled.judgements,
        conflict=conflict,
        truncations=labelled.truncations,
    )


RIGHT: Final[Metric[DetectionResult]] = Metric(
    "right", "Right", of_each(lambda result, _: result.right), test="McNemar"
)


class Verdict(NamedTuple):
    """Whether an example has a conflict, and whether one was found.

    Examples of the same group (a question) are not independent.
    """

    truth: bool
    found: bool
    group: Hashable


def precision(verdicts: Iterable[Verdict]) -> Estimate | None:
    """TP / (TP + FP) with the Wilson interval; None if no conflict was found (Table 2)."""
    return share([verdict.truth for verdict in verdicts if verdict.found])


def recall(verdicts: Iterable[Verdict]) -> Estimate | None:
    """TP / (TP + FN) with the Wilson interval; equals the accuracy on conflicts (Table 2)."""
    return share([verdict.found for verdict in verdicts if verdict.truth])


def accuracy(verdicts: Iterable[Verdict]) -> Estimate | None:
    """(TP + TN) / all with the Wilson interval (Table 2)."""
    return share([verdict.found == verdict.truth for verdict in verdicts])


def accuracy_without_conflict(verdicts: Iterable[Verdict]) -> Estimate | None:
    """TN / (TN + FP) with the Wilson interval, the accuracy without conflict (Table 2)."""
    return share([not verdict.found for verdict in verdicts if not verdict.truth])


RESAMPLES = 2_000


def f1_score(verdicts: Sequence[Verdict]) -> Estimate | None:
    """2 TP / (2 TP + FP + FN) with a percentile bootstrap interval over groups (Table 2).

    Whole groups are drawn with replacement, so that the two examples of a question stay together.
    A resample without any conflict, true or found, has no F1 and is left out.

    Returns:
        A value in [0, 1]; None if no conflict is true or found. A single group has no
        interval.
    """
    return clustered_f1(
        [verdict.truth for verdict in verdicts],
        [verdict.found for verdict in verdicts],
        [verdict.group for verdict in verdicts],
        resamples=RESAMPLES,
    )


def f1_difference(first: Mapping[str, Verdict], second: Mapping[str, Verdict]) -> Estimate | None:
    """F1 of the first detector minus that of the second, on the examples that both decided.

    The 95 % percentile bootstrap interval draws whole groups, the same for both, as in `f1_score`.
    A resample in which either has no F1 is left out.

    Args:
        first: By the names of examples.
        second: By the names of examples; truth and group are taken from `first`.

    Returns:
        A value in [-1, 1]; None if either has no F1. A single group has no interval.
    """
    rows: dict[Hashable, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    shared = [name for name in first if name in second]
    for name in shared:
        row = rows[first[name].group]  # hits of both, then misses of both
        for side, verdict in enumerate((first[name], second[name])):
            row[side] += verdict.truth and verdict.found
            row[2 + side] += verdict.truth != verdict.found
    totals = [sum(column) for column in zip(*rows.values(), strict=True)] or [0, 0, 0, 0]
    one, other = (f1(totals[side], totals[2 + side], 0) for side in (0, 1))
    if one is None or other is None:
        return None
    if len(rows) == 1:
        return Estimate(one - other, None, None, len(shared))

    import numpy as np

    counts = redrawn_sums([*rows.values()], resamples=RESAMPLES)
    hits, misses = 2 * counts[:, :2], counts[:, 2:]
    with np.errstate(invalid="ignore"):
        scores = hits / (hits + misses)
    return percentile_estimate(one - other, scores[:, 0] - scores[:, 1], len(shared))


Detectors = Mapping[str, Sequence[DetectionResult]]
"""Name of a detector -> its results, judges first, then baselines."""


class Mistake(NamedTuple):
    """A document that a judge labelled wrongly (ConflictScore, Figure 3)."""

    judge: str
    result: DetectionResult
    document: Document
    truth: Relation
    judgement: Judgement


def detectors(results: Detectors) -> dict[str, Sequence[DetectionResult]]:
    """The results of all judges, and of the baselines on the same examples."""
    all_results = (result for part in results.values() for result in part)
    examples = {result.id: result.example for result in all_results}.values()
    return {
        **results,
        ALWAYS: [baseline(example) for example in examples],
        LEXICAL: [baseline(example, by_overlap(example)) for example in examples],
    }


def baseline(
    example: ContestedClaim, relations: Sequence[Relation] | None = None
) -> DetectionResult:
    """The decision of a detector without a model: a conflict, unless `relations` say otherwise."""
    judgements = tuple(
        Judgement(claim=example.claim, document=document.id, relation=relation, source="baseline")
        for document, relation in zip(example.documents, relations or (), strict=False)
    )
    return DetectionResult(
        id=example.id,
        example=example,
        status="labelled",
        judgements=judgements,
        conflict=relations is None or conflicting(relations),
    )


def verdicts(results: Sequence[DetectionResult]) -> dict[str, Verdict]:
    """Example -> its decision, for metrics; undetermined examples are left out."""
    return {
        result.id: Verdict(result.example.conflict, result.conflict, result.example.group)
        for result in results
        if result.conflict is not None
    }


def mistakes(results: Detectors) -> list[Mistake]:
    """Every document that judges labelled wrongly, the most confident mistake first.

    Unreadable labels, and labels without a probability, come last. Ties are in the order of judge,
    example and document.
    """
    wrong = [
        Mistake(judge, result, document, truth, judgement)
        for judge, part in results.items()
        for result in part
        for document, truth, judgement in result.documents()
        if judgement.relation is not truth
    ]

    def confidence(mistake: Mistake) -> float:
        sure = mistake.judgement.confidence
        return -1.0 if sure is None else sure

    return sorted(wrong, key=confidence, reverse=True)


def outcome(example: ContestedClaim, conflict: bool | None) -> str:
    """The outcome of an example, in words."""
    if conflict is None:
        return "undetermined"
    if example.conflict:
        return "conflict found" if conflict else "conflict missed"
    return "conflict invented" if conflict else "no conflict found"


ALWAYS = "always conflict"
LEXICAL = "lexical overlap"
BASELINES = (ALWAYS, LEXICAL)
"""Detectors that need no model."""


ON_TOPIC, SUPPORTING = 0.2, 0.65
"""Minimum content-word recall, in [0, 1], of an on-topic document, and of a supporting one: the
thresholds with the best F1 of conflict, averaged over the training halves of RAMDocs, ConflictQA
and CLIMATE-FEVER (seed 0), in steps of 0.05."""


def content_word_recall(claim: str, document: Document) -> float:
    """Share of the claim's content words that occur in the document, in [0, 1].

    Function words count if the claim has no others; a claim without words has recall 0.
    """
    wanted = content_words(claim)
    return len(wanted.intersection(terms(document.as_read()))) / len(wanted) if wanted else 0.0


def overlap_relation(recall: float) -> Relation:
    """The relation that shared words suggest.

    A document with enough of the claim's words supports it. An on-topic one that lacks some of them
    (ideally the answer) contradicts it. Any other is irrelevant.
    """
    if recall >= SUPPORTING:
        return Relation.SUPPORTS
    return Relation.CONTRADICTS if recall >= ON_TOPIC else Relation.IRRELEVANT


def by_overlap(example: ContestedClaim) -> tuple[Relation, ...]:
    """The relations of an example's documents by shared words."""
    return tuple(
        overlap_relation(content_word_recall(example.claim, document))
        for document in example.documents
    )
