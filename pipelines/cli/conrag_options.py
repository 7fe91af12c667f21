"""Options of ConRAG that `ask` and `run conrag` share."""

from collections.abc import Mapping
from typing import Annotated, Literal

import typer

from pipelines.cli import options
from pipelines.cli.options import METRIC_PANEL
from pipelines.conflictscore.settings import Judge, Settings
from pipelines.conrag.packet import PacketSettings
from pipelines.conrag.policies import CitationPolicy
from pipelines.conrag.settings import ConragSettings, Margin, Weights
from pipelines.evidence.llm import Mode

SEARCH_PANEL = "Search"
PACKET_PANEL = "Evidence and stance (ConRAG, Table III)"

DEFAULTS = ConragSettings()

Method = Annotated[
    Literal["bm25", "dense", "hybrid"] | None,
    typer.Option(
        "--method",
        help="Search by words, by meaning, or by both with their ranks fused.",
        show_default="hybrid, or bm25 where there are no embeddings",
        rich_help_panel=SEARCH_PANEL,
    ),
]
Depth = Annotated[
    int, typer.Option("--k", min=1, help="Passages that are found.", rich_help_panel=SEARCH_PANEL)
]
Size = Annotated[
    int,
    typer.Option(
        "--packet", min=2, help="k', passages of the evidence.", rich_help_panel=PACKET_PANEL
    ),
]
Tau = Annotated[
    float,
    typer.Option(
        "--tau",
        min=0,
        max=1,
        help="Conflict score from which both sides are shown in equal parts.",
        rich_help_panel=PACKET_PANEL,
    ),
]
PerCluster = Annotated[
    int,
    typer.Option(
        "--per-cluster", min=2, help="m, most passages of a cluster.", rich_help_panel=PACKET_PANEL
    ),
]
Delta = Annotated[
    float,
    typer.Option(
        "--delta",
        min=0,
        help="By how much one side must outweigh the other.",
        rich_help_panel=PACKET_PANEL,
    ),
]
MarginOf = Annotated[
    Margin,
    typer.Option(
        "--margin",
        help="Whether --delta is of summed confidences, as in the paper, or of each side's share "
        "of them.",
        rich_help_panel=PACKET_PANEL,
    ),
]
WeightsBy = Annotated[
    Weights,
    typer.Option(
        "--weights",
        help="Whether passages count alike, as in the paper, or by their relevance.",
        rich_help_panel=PACKET_PANEL,
    ),
]
Sources = Annotated[
    int,
    typer.Option(
        "--sources",
        min=1,
        help="Independent sources (sites, or documents) that a sentence must cite to count as "
        "cited.",
        rich_help_panel=PACKET_PANEL,
    ),
]
Writer = Literal["template", "llm"]

Labeller = Annotated[
    Judge | None,
    typer.Option(
        "--labeller",
        help="Who tags passages: the NLI tagger (`nli`), a language model (`llm`), or the tagger "
        "where it is sure and the language model for the rest (`cascade`).",
        show_default="nli",
        rich_help_panel=METRIC_PANEL,
    ),
]
Evidence = Annotated[
    Mode | None,
    typer.Option(
        "--evidence",
        help="How a language model is asked, where it tags passages.",
        show_default="json",
        rich_help_panel=METRIC_PANEL,
    ),
]


def refuse_idle(
    chosen: Settings,
    *,
    writes: bool,
    tagging: Mapping[str, object],
    model: Mapping[str, object],
) -> None:
    """Refuse options without effect, as `options.refuse_idle`.

    Args:
        chosen: Who tags.
        writes: Whether a language model writes, which needs the options of the model.
        tagging: Options that say how passages are tagged, by name.
        model: Options that say which language model is asked, and how.

    Raises:
        InputError: One has no effect.
    """
    given = dict(tagging) | ({} if writes else dict(model))
    options.refuse_idle(chosen, given, called=f"--labeller {chosen.labeller}")


def settings(
    *,
    depth: int,
    size: int,
    tau: float,
    per_cluster: int,
    delta: float,
    margin: Margin,
    weights: Weights,
    sources: int,
) -> ConragSettings:
    """The parameters of ConRAG that the options name."""
    return ConragSettings(
        depth=depth,
        packet=PacketSettings(size=size, tau=tau, per_cluster=per_cluster),
        delta=delta,
        margin=margin,
        weights=weights,
        policy=CitationPolicy(sources=sources),
    )
