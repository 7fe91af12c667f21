"""CS-C and CS-R, the two measures of ConflictScore (section 3), and three more.

A claim is given by its relations, one per document. D+ are the documents that support it, D- those
that contradict it; irrelevant documents are ignored.
"""

from collections.abc import Sequence
from typing import Literal

from pipelines.judge.judgement import Judgement, Relation, in_conflict

Unevidenced = Literal["beside", "zero"]
"""How to count claims that no document supports or contradicts: "beside", as 0 if other claims have
evidence, while a response without any evidence has no score; or "zero", always as 0."""


def supporting(relations: Sequence[Relation]) -> int:
    """|D+|, the number of documents that support the claim (ConflictScore, section 3)."""
    return sum(relation is Relation.SUPPORTS for relation in relations)


def contradicting(relations: Sequence[Relation]) -> int:
    """|D-|, the number of documents that contradict the claim (ConflictScore, section 3)."""
    return sum(relation is Relation.CONTRADICTS for relation in relations)


def determined(relations: Sequence[Relation]) -> bool:
    """Whether every document's judgement of the claim could be read.

    A claim with an `INVALID` judgement has an unknown |D+| and |D-|. It is left out of CS-R and
    counted separately, so that an unreadable reply never passes for agreement.
    """
    return Relation.INVALID not in relations


def evidenced(relations: Sequence[Relation]) -> bool:
    """Whether some document takes a side on the claim: supports or contradicts it."""
    return Relation.SUPPORTS in relations or Relation.CONTRADICTS in relations


def contradiction_ratio(relations: Sequence[Relation]) -> float | None:
    """|D-| / (|D+| + |D-|) of one claim, in [0, 1] (section 3).

    None if both are empty, which the paper leaves as 0/0.
    """
    evidence = supporting(relations) + contradicting(relations)
    return contradicting(relations) / evidence if evidence else None


def conflict_score_count(
    claims: Sequence[Sequence[Relation]], *, unevidenced: Unevidenced = "beside"
) -> float | None:
    """CS-C: the share of claims with conflicting evidence, in [0, 1]; lower is better (section 3).

    A claim counts if its readable judgements decide whether it is in conflict (`in_conflict`). None
    if no claim counts, or, unless `zero`, if no document takes a side on any claim.
    """
    if unevidenced != "zero" and not any(map(evidenced, claims)):
        return None
    decided = [decision for decision in map(in_conflict, claims) if decision is not None]
    return sum(decided) / len(decided) if decided else None


def conflict_score_ratio(
    claims: Sequence[Sequence[Relation]], *, unevidenced: Unevidenced = "beside"
) -> float | None:
    """CS-R: the mean contradiction ratio over claims, in [0, 1]; lower is better (section 3).

    The paper averages "across all claims" but leaves the ratio of a claim that no document
    supports or contradicts as 0/0. Here such a claim counts as 0: nothing contradicts it, and CS-R
    keeps the denominator of CS-C. None if no determined claim is left to average, or, unless
    `zero`, if no document takes a side on any claim.
    """
    if unevidenced != "zero" and not any(map(evidenced, claims)):
        return None
    values = [contradiction_ratio(claim) or 0.0 for claim in claims if determined(claim)]
    return sum(values) / len(values) if values else None


def supported_share(claims: Sequence[Sequence[Relation]]) -> float | None:
    """Supported: the share of claims that any document supports, in [0, 1] (Figure 2).

    The paper describes it as what FActScore would give: all documents are one source, and a claim
    that another document contradicts still counts. Claims without support but with an unreadable
    judgement are left out; None if no claim remains.
    """
    known = [bool(supporting(claim)) for claim in claims if determined(claim) or supporting(claim)]
    return sum(known) / len(known) if known else None


def evidence_share(claims: Sequence[Sequence[Relation]]) -> float | None:
    """Evidence: the share of claims on which some document takes a side, in [0, 1]; ours.

    A claim with a known side counts even if another judgement is unreadable. A claim without a side
    but with an unreadable judgement is left out; None if no claim remains.
    """
    known = [evidenced(claim) for claim in claims if determined(claim) or evidenced(claim)]
    return sum(known) / len(known) if known else None


def both_sides(judgements: Sequence[Judgement]) -> float | None:
    """Both sides: how well the response shows the side that it shows least, in [0, 1]; ours.

    It is the lowest `backing` among the documents. None if fewer than two documents take a side.
    """
    backed = backing(judgements)
    return min(backed.values()) if len(backed) > 1 else None


def backing(judgements: Sequence[Judgement]) -> dict[str, float]:
    """Document -> how far it backs, rather than denies, the claim that it backs most, in [0, 1].

    The highest P(support) / (P(support) + P(contradiction)) over the claims on which it takes a
    side. Documents that take no side, or whose judgements are unreadable, are left out. A judge
    that gives only labels gives 1 for SUPPORTS and 0 for CONTRADICTS.
    """
    best: dict[str, float] = {}
    for judgement in judgements:
        if evidenced([judgement.relation]):
            support = probability(judgement, Relation.SUPPORTS)
            share = support / (support + probability(judgement, Relation.CONTRADICTS))
            best[judgement.document] = max(best.get(judgement.document, 0.0), share)
    return best


def probability(judgement: Judgement, relation: Relation) -> float:
    """Probability of a relation in a judgement, in [0, 1]; 1 for a label without probabilities."""
    shares = judgement.probabilities or {judgement.relation: 1.0}
    return shares.get(relation, 0.0)
