"""The parameters of ConRAG."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from pipelines.conrag.graph import EdgeWeights
from pipelines.conrag.packet import PacketSettings
from pipelines.conrag.policies import CitationPolicy
from pipelines.conrag.stance import DELTA
from pipelines.retrieval.index import DEPTH

Margin = Literal["sum", "share"]
Weights = Literal["equal", "relevance"]


class ConragSettings(BaseModel):
    """The parameters of ConRAG; defaults of Table III, where it gives one.

    Attributes:
        depth: k, passages retrieved.
        packet: Size k', threshold tau, passages per cluster m, budgets.
        edges: What joins passages in the similarity graph.
        delta: Margin of the stance decision.
        margin: Whether the margin is of sums, as in the paper, or of shares.
        weights: Whether passages count alike in U_sup and U_ref, as in the paper's evaluation, or
            each by its relevance, one of the weights that it names as an extension.
        policy: What a sentence must cite.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    depth: int = Field(DEPTH, ge=1)
    packet: PacketSettings = PacketSettings()
    edges: EdgeWeights = EdgeWeights()
    delta: float = Field(DELTA, ge=0)
    margin: Margin = "sum"
    weights: Weights = "equal"
    policy: CitationPolicy = CitationPolicy()
