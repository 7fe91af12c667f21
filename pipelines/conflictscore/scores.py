"""CS-C and CS-R: the two measures of ConflictScore (section 3), and nothing else.

A claim enters as its relations, one per document. D+ are the documents that support it, D- those
that contradict it; irrelevant documents count for nothing.
"""

from collections.abc import Sequence
from typing import Literal

from pipelines.evidence.judgement import Relation, in_conflict

Unevidenced = Literal["zero", "exclude"]
"""What a claim without any supporting or contradicting document adds to CS-R; see
`conflict_score_ratio`."""


def supporting(relations: Sequence[Relation]) -> int:
    """|D+|, the number of documents that support the claim (ConflictScore, section 3)."""
    return sum(relation is Relation.SUPPORTS for relation in relations)


def contradicting(relations: Sequence[Relation]) -> int:
    """|D-|, the number of documents that contradict the claim (ConflictScore, section 3)."""
    return sum(relation is Relation.CONTRADICTS for relation in relations)


def determined(relations: Sequence[Relation]) -> bool:
    """Whether every document's judgement of the claim could be read.

    A claim with an `INVALID` judgement has an unknown |D+| and |D-|. It is left out of CS-R and
    counted beside it, so that an unreadable reply never passes for agreement.
    """
    return Relation.INVALID not in relations


def contradiction_ratio(relations: Sequence[Relation]) -> float | None:
    """|D-| / (|D+| + |D-|) of one claim, in [0, 1] (section 3).

    None where the claim has neither, which the paper leaves as 0/0.
    """
    evidence = supporting(relations) + contradicting(relations)
    return contradicting(relations) / evidence if evidence else None


def conflict_score_count(claims: Sequence[Sequence[Relation]]) -> float | None:
    """CS-C: the share of claims with conflicting evidence, in [0, 1]; lower is better (section 3).

    A claim counts where what could be read of its judgements decides the matter (`in_conflict`);
    None where no claim does.
    """
    decided = [found for relations in claims if (found := in_conflict(relations)) is not None]
    return sum(decided) / len(decided) if decided else None


def conflict_score_ratio(
    claims: Sequence[Sequence[Relation]], *, unevidenced: Unevidenced = "zero"
) -> float | None:
    """CS-R: the mean contradiction ratio over claims, in [0, 1]; lower is better (section 3).

    The paper averages "across all claims" but leaves the ratio of a claim that no document
    supports or contradicts as 0/0. By default such a claim counts as 0: nothing contradicts it, and
    CS-R keeps the denominator of CS-C. With `exclude` the mean runs over evidenced claims only, so
    that CS-R says how one-sided the evidence is where there is any. It is None where no determined
    claim is left to average.
    """
    ratios = [contradiction_ratio(relations) for relations in claims if determined(relations)]
    if unevidenced == "exclude":
        values = [ratio for ratio in ratios if ratio is not None]
    else:
        values = [0.0 if ratio is None else ratio for ratio in ratios]
    return sum(values) / len(values) if values else None
