"""Options of a debate, and of the experiment that compares it."""

from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import BaseModel, Field

from pipelines.experiment.options import RunOptions, ServerOptions
from pipelines.option import Choice, Only, Option, WithPresets

AS_IN_PAPER: Final = (
    Choice("debate.replies", "text"),  # appendix C
    Choice("sample", 1000),  # section 5.1
    Choice("consolidations", 2),  # appendix B
)

AS_RELEASED: Final = (
    Choice("debate.history", "agents"),
    Choice("debate.agreement", "contained"),
    Choice("debate.closing", "previous"),
    Choice("debate.replies", "released"),
    Choice("debate.agent_tokens", 128),
    Choice("debate.conclusion_tokens", 128),
)


PANEL: Final = "Debate (MADAM-RAG, section 4)"
EXPERIMENT_PANEL: Final = "Experiment"

DatasetName = Literal["ramdocs", "ambigdocs", "faitheval"]
ExperimentName = Literal["methods", "rounds", "support", "misinformation"]

History = Literal["aggregate", "agents"]
Agreement = Literal["same", "contained"]
Closing = Literal["last", "previous"]
Replies = Literal["json", "text", "released"]
Form = Literal["json", "text"]


class DebateSettings(BaseModel, frozen=True, extra="forbid"):
    """How a debate is held.

    The defaults are those of the paper's section 4; `presets` has those of its released code.

    Attributes:
        rounds: T, the maximum number of rounds, at least 1.
        history: `aggregate` is section 4's, `agents` that of the prompt in appendix C.
        agreement: `same` is section 4's, `contained` the released code's, where every answer
            contains an empty one, and "unknown" and "not stated" differ.
        closing: `last` is A(R^(t_end)) in section 4; `previous` takes the conclusion of the round
            before if the agents agree, which saves a call.
        replies: `text` is appendix C's. `released` follows the released code: its prompts do not
            fence documents, it cuts replies at fixed marks, and a debate of a single round has no
            final answer.
        agent_tokens: Maximum tokens of an agent's reply; `conclusion_tokens` is for all others.
        aggregator: Whether an aggregator takes part. Without one, the joint answer combines the
            agents' answers (section 6.1), and agents read each other's replies.
    """

    rounds: Annotated[int, Field(ge=1), Option("T, the maximum number of rounds.", panel=PANEL)] = 3
    history: Annotated[
        History,
        Option(
            "What agents read from the previous round: the aggregator's answer (`aggregate`), or "
            "the other agents' replies (`agents`).",
            panel=PANEL,
        ),
    ] = "aggregate"
    agreement: Agreement = "same"
    closing: Closing = "last"
    replies: Annotated[
        Replies,
        Option(
            "Format of replies: `json` by a schema, or free `text`. `released` uses the prompts "
            "and parser of the paper's released code, which does not fence documents.",
            panel=PANEL,
        ),
    ] = "json"
    aggregator: bool = True
    agent_tokens: Annotated[
        int, Field(ge=1), Option("Maximum tokens of an agent's reply.", panel=PANEL)
    ] = 256
    conclusion_tokens: Annotated[
        int, Field(ge=1), Option("Maximum tokens of all other replies.", panel=PANEL)
    ] = 512

    @property
    def form(self) -> Form:
        """The form of replies: JSON by schema, or free text."""
        return "json" if self.replies == "json" else "text"

    def without_aggregator(self) -> Self:
        """The same debate without an aggregator (section 6.1)."""
        return self.model_copy(update={"aggregator": False, "history": "agents"})


class DebateOptions(WithPresets, frozen=True, extra="forbid"):
    """Options of a debate."""

    PRESETS: ClassVar = {"as_released": AS_RELEASED}

    debate: DebateSettings = DebateSettings()
    as_released: Annotated[
        bool,
        Option(
            "Use the settings of the paper's released code: prompts, parser, end of a debate, "
            "128 tokens per reply; docs/differences.md lists them.",
            name="--as-released",
            panel=PANEL,
        ),
    ] = False


class MadamOptions(RunOptions, DebateOptions, ServerOptions):
    """Let agents debate, one per document, and compare this with methods without a debate.

    No RAG, a prompt with all documents, Astute RAG and MADAM-RAG answer the same questions with the
    same model. Writes `madam-rag.DATASET.jsonl`, `tables/` in the layout of the paper's Table 1 and
    Figures 3 to 5, and `report.html`. Other data sets and experiments can share the folder.

    Examples:
        contested run madam-rag --limit 1 --rounds 1 --out results-debate

        contested run madam-rag --data RAMDocs_test.jsonl --experiment rounds --dry-run
    """

    ITEMS: ClassVar = "questions"
    PRESETS: ClassVar = {"as_in_paper": AS_IN_PAPER, **DebateOptions.PRESETS}

    dataset: Annotated[DatasetName, Option("Format of the file.", panel=EXPERIMENT_PANEL)] = (
        "ramdocs"
    )
    data: Annotated[
        Path | None,
        Option(
            "The file of questions and documents, as released.",
            shown="bundled samples, for ramdocs",
            panel=EXPERIMENT_PANEL,
        ),
    ] = None
    experiment: Annotated[
        ExperimentName,
        Option(
            "What to compare: all `methods` (Table 1); debates with and without aggregator, by "
            "`rounds` (Figure 3); methods by uneven `support` of two right answers (Figure 4a), "
            "or by the amount of `misinformation` (Figure 4b).",
            panel=EXPERIMENT_PANEL,
        ),
    ] = "methods"
    consolidations: Annotated[
        int,
        Field(ge=0),
        Option(
            "How often Astute RAG consolidates memory and documents before it answers; appendix "
            'B says "iteratively" and gives no number.',
            panel=EXPERIMENT_PANEL,
        ),
    ] = 1
    sample: Annotated[
        int | None,
        Field(ge=1),
        Option(
            "Draw N questions at random, or take all if there are fewer.", panel=EXPERIMENT_PANEL
        ),
    ] = None
    seed: Annotated[
        int,
        Option(
            "Seed of --sample.",
            panel=EXPERIMENT_PANEL,
            only=Only(
                lambda options: options.sample is not None, "questions not drawn by --sample"
            ),
        ),
    ] = 0
