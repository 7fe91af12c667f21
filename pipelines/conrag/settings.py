"""The parameters of ConRAG, and options shared by data sets and single queries."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal

from pydantic import BaseModel, BeforeValidator, Field

from pipelines.conrag.answer import CitationPolicy
from pipelines.conrag.evidence import DELTA, EdgeWeights
from pipelines.conrag.packet import PANEL, PacketSettings
from pipelines.data.released import Part
from pipelines.errors import InputError
from pipelines.experiment.needs import Needs, judge_needs, judge_source, refuse_no_judge
from pipelines.experiment.options import (
    JudgedOptions,
    Overflow,
    RunOptions,
    judge_model_option,
    source_of,
    tagger_named,
)
from pipelines.judge.settings import PANEL as METRIC_PANEL
from pipelines.judge.settings import Evidence, JudgeName, JudgeSettings
from pipelines.option import Choice, Only, Option
from pipelines.retrieval.dense import default_embedder
from pipelines.retrieval.index import DEPTH, Method

if TYPE_CHECKING:
    from serving.profile import Role

AS_IN_PAPER: Final = (
    Choice("judging.judge", "tagger"),  # section 2
    Choice("generator", "model"),  # section 2
    Choice("settings.sort", "model"),  # section 2
    Choice("settings.packet.below_tau", "relevance"),  # section 2
    Choice("settings.packet.irrelevant_above", 1.0),  # section 2
    Choice("settings.weights", {}),  # section 2
    Choice("settings.policy.numbers", "free"),  # section 2
    Choice("citing.judged_by", "model", where=("dataset", ("alce", "ragtruth"))),  # section 3
    Choice("among", "all", where=("dataset", ("scifact", "fever"))),  # section 2
    Choice("half", "all"),  # section 3
)


def read_weights(given: Sequence[str]) -> dict[str, float]:
    """Source -> its weight, from texts such as "example.org=0.5".

    Raises:
        ValueError: A text lacks a source or a weight of at least 0.
    """
    weights = {}
    for text in given:
        name, _, weight = text.rpartition("=")
        if not name or not re.fullmatch(r"\d+(\.\d+)?", weight, re.ASCII):
            raise ValueError(f"'{text}' is not a source's weight; write SOURCE=NUMBER, 0 or more")
        weights[name] = float(weight)
    return weights


WriterName = Literal["template", "model"]
Sort = Literal["tags", "model"]
"""Whether the evidence is sorted by its tags, or by the model that writes from it."""

Scope = Literal["own", "all"]
"""Where passages are searched: among a claim's own, or those of all claims."""

DatasetName = Literal["claims", "fool-me-twice", "scifact", "fever", "ragtruth", "alce"]

SEED = 42
"""Table III, random seed."""

SEARCH_PANEL = "Data and search"
WRITING_PANEL = "Writing"


class ConragSettings(BaseModel, frozen=True, extra="forbid"):
    """The parameters of ConRAG; defaults are those of Table III, if it has one.

    Weighting passages in U_sup and U_ref by the reliability of their sources is an extension that
    the paper names (section 2, conflict scoring).
    """

    depth: Annotated[
        int, Field(ge=1), Option("Number of passages to retrieve.", name="--k", panel=SEARCH_PANEL)
    ] = DEPTH
    packet: PacketSettings = PacketSettings()
    edges: EdgeWeights = EdgeWeights()
    delta: Annotated[
        float, Field(ge=0), Option("Margin by which one side must outweigh the other.", panel=PANEL)
    ] = DELTA
    weights: Annotated[
        dict[str, float],
        BeforeValidator(lambda given: read_weights(given) if isinstance(given, list) else given),
        Option(
            "Weight of a source's passages (a site or a document) in the sums; others weigh 1. "
            "Repeatable.",
            name="--weight",
            metavar="SOURCE=W",
            shown="",
            panel=PANEL,
            typed=list[str] | None,
        ),
    ] = {}
    sort: Annotated[
        Sort,
        Option(
            "How to sort the evidence that a language model writes from: by the `tags`, or, as "
            "in the paper, by that `model`, which is told the tags.",
            panel=PANEL,
        ),
    ] = "tags"
    policy: CitationPolicy = CitationPolicy()


class TaggingSettings(JudgeSettings):
    """Who tags passages as supporting or refuting; by default the tagger, which needs no server."""

    BY_PROFILE: ClassVar = ()

    judge: Annotated[
        JudgeName,
        Option(
            "Who tags passages: the `tagger`, a language `model`, or a `cascade` of the two: the "
            "tagger where it is sure, the model elsewhere.",
            panel=METRIC_PANEL,
        ),
    ] = "tagger"
    evidence: Evidence = "json"


class AnswerOptions(JudgedOptions):
    """How passages are found and tagged, and who writes the answer from them."""

    on_overflow: Overflow = "error"
    method: Annotated[
        Method | None,
        Option(
            "Search by words, by meaning, or by both with fused ranks.",
            panel=SEARCH_PANEL,
            shown="hybrid, or bm25 without embeddings",
        ),
    ] = None
    embedder: Annotated[
        Path | None,
        Option(
            "Folder of a sentence-transformers model, for search by meaning.",
            panel=SEARCH_PANEL,
            shown="all-MiniLM-L6-v2, if its package is installed",
            only=Only(lambda options: options.method != "bm25", "--method bm25"),
        ),
    ] = None
    generator: Annotated[
        WriterName | None,
        Option("Who writes: a template that quotes, or a language model.", shown="template"),
    ] = None
    settings: ConragSettings = ConragSettings()
    judging: TaggingSettings = TaggingSettings()

    @property
    def writes(self) -> bool:
        """Whether a language model writes."""
        return self.generator == "model"

    def needs(self) -> Needs:
        """The models.

        Raises:
            InputError: A language model is to sort but none writes; and as `judge_needs`.
            ServingError: As `judge_needs`.
        """
        if self.settings.sort == "model" and not self.writes:
            raise InputError("--sort model asks the model that writes; add --generator model")
        tags = self.judging.by_model
        role: Role = "judge" if tags else "generator"
        return judge_needs(self, self.judging, role=role, asks=tags or self.writes)

    def embedding(self) -> Path | None:
        """Folder of the embedding model for the index of passages; None without one.

        Raises:
            InputError: Search by meaning is requested, but the model is missing.
        """
        path = None if self.method == "bm25" else self.embedder or default_embedder()
        if self.method in ("dense", "hybrid") and path is None:
            raise InputError(
                f"--method {self.method} needs an embedding model; name one with --embedder"
            )
        return path


class CitationJudgeSettings(BaseModel, frozen=True, extra="forbid"):
    """Who judges; by default the profile's tagger, whoever tags, to keep runs comparable."""

    judged_by: Annotated[
        Literal["tagger", "model"],
        Option(
            "Who judges whether passages support answers (alce, and ragtruth with --generator "
            "model): the tagger, or a language model other than the one that selects the "
            "evidence.",
            name="--citation-judge",
            panel=METRIC_PANEL,
        ),
    ] = "tagger"
    judge_model: Annotated[
        str | None,
        judge_model_option(
            METRIC_PANEL,
            Only(lambda settings: settings.judged_by == "model", "--citation-judge tagger"),
        ),
    ] = None


class ConragOptions(RunOptions, AnswerOptions):
    """Compare ConRAG with its baselines and ablations, claim by claim.

    All methods share passages, tags and the template that writes. A language model is needed only
    if `--judge` or `--generator` asks for one. Data sets in the same folder share its tables.

    Examples:
        contested run conrag --out results-conrag

        contested run conrag --dataset fool-me-twice --data dev.jsonl --limit 20
    """

    ITEMS: ClassVar = "claims"
    PRESETS: ClassVar = {"as_in_paper": AS_IN_PAPER}

    dataset: Annotated[
        DatasetName,
        Option("Format of --data; `claims` is described in docs/conflict-detection.md."),
    ] = "claims"
    data: Annotated[
        Path | None, Option("The file of claims or questions.", shown="bundled claims")
    ] = None
    corpus: Annotated[
        Path | None,
        Option(
            "corpus.jsonl of scifact, the folder wiki-pages of fever, or source_info.jsonl of "
            "ragtruth.",
            panel=SEARCH_PANEL,
        ),
    ] = None
    half: Annotated[
        Part | None,
        Option(
            "Which half of the claims. The tagger was trained on the other half of fool-me-twice.",
            shown="test of fool-me-twice, else all",
            panel=SEARCH_PANEL,
        ),
    ] = None
    among: Annotated[
        Scope,
        Option(
            "Search a claim's `own` passages, or those of `all` claims.",
            panel=SEARCH_PANEL,
        ),
    ] = "own"
    temperature: Annotated[
        float,
        Field(ge=0, le=2),
        Option(
            "Sampling temperature of the model that writes; 0 is greedy.",
            panel=WRITING_PANEL,
            only=Only(lambda options: options.writes, "--generator template"),
        ),
    ] = 0.0
    seed: Annotated[
        int,
        Field(ge=0),
        Option(
            "Seed for what a language model writes.",
            panel=WRITING_PANEL,
            only=Only(lambda options: options.temperature > 0, "--temperature 0"),
        ),
    ] = SEED
    citing: CitationJudgeSettings = CitationJudgeSettings()

    def needs(self) -> Needs:
        """The models, including the judge of the answers' citations.

        If another language model judges, the profile's generator tags and writes.
        """
        needs = super().needs()
        if not self.judged:
            return needs
        if self.citing.judged_by == "tagger":
            tagger = tagger_named(None, source_of(self, needs.role or "generator"))
            return replace(needs, judge_tagger=tagger)
        judge = judge_source(self, self.citing.judge_model)
        refuse_no_judge(self, judge or source_of(self, "generator"), "--citation-judge tagger")
        return replace(needs, role="generator", judge=judge)

    @property
    def questions(self) -> bool:
        """Whether the data are questions, with passages that come ranked."""
        return self.dataset == "alce"

    @property
    def writes(self) -> bool:
        """Whether a language model writes; only one can answer questions."""
        return self.generator == "model" or self.questions

    @property
    def judged(self) -> bool:
        """Whether a judge, not the data's labels, decides how passages relate to answers."""
        return self.questions or (self.dataset == "ragtruth" and self.writes)

    @property
    def part(self) -> Part:
        """The half of the claims to use."""
        return self.half or ("test" if self.dataset == "fool-me-twice" else "all")
