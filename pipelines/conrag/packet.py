"""The evidence packet: the retrieved passages that the generator is given."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from pipelines.conrag.evidence import SIDES, Cluster, TaggedPassage, jaccard
from pipelines.option import Option
from pipelines.text.words import content_words

PANEL = "Evidence and stance (ConRAG, Table III)"


class PacketSettings(BaseModel, frozen=True, extra="forbid"):
    """How a packet is selected (ConRAG, section 2 and Table III).

    Attributes:
        below_tau: Selection below tau: the best passage of each side before the most relevant, or
            only the most relevant, as in the paper.
        irrelevant_above: Passages that are irrelevant with a higher probability are not evidence; 1
            keeps all, as in the paper.
        irrelevant: B_irr, room left beside both sides; B_sup = B_ref = floor((k' - B_irr) / 2).
            The paper gives no figure.
        near_duplicate: Passages with the same tag that share this part of their content words
            (Jaccard) count as one; None keeps all. With opposite tags, such passages show a
            conflict over one word.
    """

    size: Annotated[
        int, Field(ge=2), Option("k', passages of the evidence.", name="--packet", panel=PANEL)
    ] = 8
    tau: Annotated[
        float,
        Field(ge=0, le=1),
        Option("From this conflict score on, both sides get equal space.", panel=PANEL),
    ] = 0.50
    below_tau: Literal["sides", "relevance"] = "sides"
    per_cluster: Annotated[
        int,
        Field(ge=1),
        Option("m, most passages from one cluster while others can fill the packet.", panel=PANEL),
    ] = 2
    irrelevant_above: float = Field(0.8, ge=0, le=1)
    irrelevant: int = Field(2, ge=0)
    near_duplicate: float | None = Field(0.9, gt=0, le=1)


def side_budget(settings: PacketSettings) -> int:
    """B_sup = B_ref = floor((k' - B_irr) / 2), at least 1 so that each side is seen."""
    return max(1, (settings.size - settings.irrelevant) // 2)


def first_of_each_side(kappa: float, settings: PacketSettings) -> int:
    """Number of passages that each side gives before the most relevant fill the packet."""
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
    From tau on, the sides take turns until each has its budget, ordered by relevance times
    confidence; below tau, each side with a passage gets one, unless relevance alone decides.
    The most relevant remaining passages fill the rest, at first at most m of a cluster, then any,
    so that the cap leaves no place empty. Only one of several near-duplicates is taken, so a packet
    is smaller than k' if too few passages remain. Ties are broken by id.

    Below tau the paper takes only the most relevant passages. That may leave out the only passage
    behind a stance, so that the answer could not cite it.

    The order of passages does not matter. Clusters are a partition of them, kappa is their conflict
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
        """Choose a passage if the packet and its cluster have room and hold nothing similar."""
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
    surest = sorted(
        tagged, key=lambda candidate: (-candidate.relevance * candidate.confidence, candidate.id)
    )
    sides = [
        iter([candidate for candidate in surest if candidate.relation is side]) for side in SIDES
    ]
    for _ in range(first_of_each_side(kappa, settings)):
        for side in sides:
            any(take(passage) for passage in side)  # the next one that can be chosen
    for most in (settings.per_cluster, settings.size):
        for passage in sorted(tagged, key=lambda candidate: (-candidate.relevance, candidate.id)):
            take(passage, most=most)
    return chosen
