"""The parameters of ConRAG."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from pipelines.conrag.graph import EdgeWeights
from pipelines.conrag.packet import PANEL, PacketSettings
from pipelines.conrag.policies import CitationPolicy
from pipelines.conrag.stance import DELTA
from pipelines.option import Option
from pipelines.retrieval.index import DEPTH

Margin = Literal["sum", "share"]
Weights = Literal["equal", "relevance"]

SEARCH_PANEL = "Search"


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

    depth: Annotated[
        int, Field(ge=1), Option("Passages that are found.", name="--k", panel=SEARCH_PANEL)
    ] = DEPTH
    packet: PacketSettings = PacketSettings()
    edges: EdgeWeights = EdgeWeights()
    delta: Annotated[
        float,
        Field(ge=0),
        Option("By how much one side must outweigh the other.", panel=PANEL),
    ] = DELTA
    margin: Annotated[
        Margin,
        Option(
            "Whether --delta is of summed confidences, as in the paper, or of each side's share "
            "of them.",
            panel=PANEL,
        ),
    ] = "sum"
    weights: Annotated[
        Weights,
        Option(
            "Whether passages count alike, as in the paper, or by their relevance.", panel=PANEL
        ),
    ] = "equal"
    policy: CitationPolicy = CitationPolicy()
