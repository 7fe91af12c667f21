"""The evidence packet: what of the retrieved passages the generator is given."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from pipelines.conrag.evidence import SIDES, Cluster, TaggedPassage, jaccard
from pipelines.option import Option
from pipelines.text.words import content_words

PANEL = "Evidence and stance (ConRAG, Table III)"


class PacketSettings(BaseModel, frozen=True, extra="forbid"):
    """How a packet is made up (ConRAG, section 2 and Table III).

    Attributes:
        below_tau: What is shown below tau: the best passage of each side before the most relevant,
            or these alone, as in the paper.
        irrelevant_above: Passages that are irrelevant with a higher probability are not evidence; 1
            leaves all in, as in the paper.
        irrelevant: B_irr, room left beside both sides; B_sup = B_ref = floor((k' - B_irr) / 2).
            The paper gives no figure.
        near_duplicate: Passages of one tag that share this part of their content words (Jaccard)
            are one; None keeps all. Of opposite tags they are what a conflict over one word looks
            like.
    """

    size: Annotated[
        int, Field(ge=2), Option("k', passages of the evidence.", name="--packet", panel=PANEL)
    ] = 8
    tau: Annotated[
        float,
        Field(ge=0, le=1),
        Option("Conflict score from which both sides are shown in equal parts.", panel=PANEL),
    ] = 0.50
    below_tau: Literal["sides", "relevance"] = "sides"
    per_cluster: Annotated[
        int,
        Field(ge=1),
        Option("m, most passages of a cluster before others have had theirs.", panel=PANEL),
    ] = 2
    irrelevant_above: float = Field(0.8, ge=0, le=1)
    irrelevant: int = Field(2, ge=0)
    near_duplicate: float | None = Field(0.9, gt=0, le=1)


def side_budget(settings: PacketSettings) -> int:
    """B_sup = B_ref = floor((k' - B_irr) / 2), at least 1 so that each side is seen."""
    return max(1, (settings.size - settings.irrelevant) // 2)


def first_of_each_side(kappa: float, settings: PacketSettings) -> int:
    """How many passages each side gives before the most relevant fill the packet."""
    if kappa >= settings.tau:
        return side_budget(settings)
    return int(settings.below_tau == "sides")


def select(
    tagged: Sequence[TaggedPassage],
    clusters: Sequence[Cluster],
    kappa: float,
    settings: PacketSettings,
) -> list[TaggedPassage]:
    """Choose the packet P' (ConRAG, section 2, conflict-aware re-ranking).

    Passages that are surely irrelevant are left out first, which the paper does not do.
    From tau on each side first gets its budget, the two in turn, ordered by relevance times
    confidence; below tau each side that there is gets one passage, unless relevance alone decides.
    The most relevant of what is left fill the rest, at first at most m of a cluster, then of any,
    so that the cap leaves no place empty. Of near-duplicates one is taken, so that a packet is
    smaller than k' where too little is left. Ties are broken by id.

    The paper takes the most relevant alone below tau. That may leave out the only passage that a
    stance rests on, so that the answer could not cite it.

    The order of passages decides nothing. Clusters are a partition of them, kappa their conflict
    score, in [0, 1].
    """
    tagged = [
        passage
        for passage in tagged
        if passage.relation in SIDES or passage.confidence <= settings.irrelevant_above
    ]
    cluster_of = {name: cluster.name for cluster in clusters for name in cluster.members}
    words = {passage.id: content_words(passage.passage.text) for passage in tagged}
    chosen: list[TaggedPassage] = []
    taken: Counter[str] = Counter()

    def take(passage: TaggedPassage, *, most: int = settings.per_cluster) -> bool:
        """Choose a passage if the packet and its cluster have room, and nothing is alike."""
        cluster = cluster_of[passage.id]
        repeated = any(
            passage.id == other.id
            or (
                settings.near_duplicate is not None
                and passage.relation is other.relation
                and jaccard(words[passage.id], words[other.id]) >= settings.near_duplicate
            )
            for other in chosen
        )
        if repeated or taken[cluster] >= most or len(chosen) >= settings.size:
            return False
        chosen.append(passage)
        taken[cluster] += 1
        return True

    # rel_i * u_i orders each side, rel_i the rest (ConRAG, section 2, packet construction).
    surest = sorted(tagged, key=lambda one: (-one.relevance * one.confidence, one.id))
    sides = [iter([one for one in surest if one.relation is side]) for side in SIDES]
    for _ in range(first_of_each_side(kappa, settings)):
        for side in sides:
            any(take(passage) for passage in side)  # the next one that may be chosen
    for most in (settings.per_cluster, settings.size):
        for passage in sorted(tagged, key=lambda one: (-one.relevance, one.id)):
            take(passage, most=most)
    return chosen
