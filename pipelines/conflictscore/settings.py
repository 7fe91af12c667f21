"""Options of ConflictScore."""

from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field, model_validator

from pipelines.conflictscore.scores import Unevidenced
from pipelines.data.released import Part
from pipelines.experiment.options import JudgedOptions, JudgeModel, Overflow, RunOptions, judging
from pipelines.files import SAMPLES_FOLDER
from pipelines.judge.settings import PANEL, JudgeSettings
from pipelines.option import Choice, Only, Option

TRUTHFULQA_PANEL, REPORTS_PANEL = "TruthfulQA", "Reports"

TruthJudgeName = Literal["model", "tagger"]

AS_IN_PAPER: Final = (
    Choice("metric.claims", "statements"),  # appendix B, Table 6
    Choice("metric.judge", "model"),  # section 3
    Choice("metric.evidence", "json"),  # appendix B, Table 7
    Choice("metric.unevidenced", "zero"),  # section 3
)

DETECTION_AS_IN_PAPER: Final = (
    Choice("judging.judge", "model"),  # section 4.1
    Choice("judging.evidence", "json"),  # appendix B
)

REGENERATION_AS_IN_PAPER: Final = (
    *AS_IN_PAPER,
    Choice("hedge", False),  # appendix B, Table 13
)

REPORTS_AS_IN_PAPER: Final = (*AS_IN_PAPER, Choice("sample", 100))  # section 5

TRUTHFULQA_AS_IN_PAPER: Final = (
    *AS_IN_PAPER,
    Choice("truth", "model"),  # section 6.1
    Choice("most_documents", 10),  # section 6.1
    Choice("hedge", False),  # appendix B, Table 13
)

BENCH_AS_IN_PAPER: Final = (
    Choice("half", "all"),  # appendix A
    Choice("claims_by", "model"),  # appendix A
)


ClaimSource = Literal["atomic", "statements", "salient", "sentences", "whole"]

SPLIT: Final[frozenset[ClaimSource]] = frozenset({"atomic", "statements", "salient"})
"""Ways to make claims that ask a language model."""

Claims = Annotated[
    ClaimSource,
    Option(
        "Which claims to judge: all of them, split fully (`atomic`) or with list items, dates "
        "and places kept together (`statements`); the k most `salient`; every one of the "
        "`sentences`; or the response as a `whole`. The last two ask no model.",
        shown="the profile's; atomic with --endpoint or --model",
        panel=PANEL,
    ),
]


class Settings(JudgeSettings):
    """The metric's variants (section 3 and Limitations)."""

    BY_PROFILE: ClassVar = ("judge", "claims")

    claims: Claims = "atomic"
    k: Annotated[
        int,
        Field(ge=1, le=20),
        Option(
            "How many claims `--claims salient` asks for.",
            panel=PANEL,
            only=Only(lambda it: it.claims == "salient", lambda it: f"--claims {it.claims}"),
        ),
    ] = 3
    unevidenced: Annotated[
        Unevidenced,
        Option(
            "How claims without any evidence count: as 0 `beside` other claims, but a response "
            "with only such claims has no CS-C or CS-R; or always as `zero`.",
            panel=PANEL,
        ),
    ] = "beside"

    @property
    def named(self) -> str:
        """The judge and the way claims are made, as options."""
        return f"{super().named} --claims {self.claims}"

    @property
    def splits(self) -> bool:
        """Whether a language model splits responses into claims."""
        return self.claims in SPLIT

    def needs_model(self, *, claims_given: bool) -> bool:
        """Whether a language model is needed, to judge or to split responses.

        Nothing is split if all responses come with claims (`claims_given`).
        """
        return self.by_model or (self.splits and not claims_given)


RunName = Annotated[
    str | None,
    Option(
        "Name of the run; several can share a folder.", shown="the writer's or the judge's name"
    ),
]
"""Type of the field `name`."""


class ScoredOptions(RunOptions, JudgedOptions):
    """Options of every experiment that scores responses."""

    on_overflow: Overflow = "error"
    metric: Settings = Settings()

    @property
    def scoring(self) -> Settings:
        """The metric, with the rule for texts that are too long."""
        return judging(self.metric, self.on_overflow)


class WriterOptions(ScoredOptions):
    """Options of experiments whose responses a model writes."""

    name: RunName = None
    judge_model: JudgeModel = None

    def entry(self, experiment: str, model: str) -> str:
        """Name of the run in `run.json`, by the writer; InputError if it cannot name a file."""
        from pipelines.runs.folder import file_name, named_after

        return f"{experiment}.{named_after(model) if self.name is None else file_name(self.name)}"


class ScoreOptions(ScoredOptions):
    """Score every response of a file with ConflictScore.

    Writes into the run folder: `conflictscore.jsonl` (claims, judgements and scores), `tables/`,
    and `report.html`, the page to read.

    Examples:
        contested run conflictscore --data answers.jsonl --out results

        contested run conflictscore --data answers.jsonl --dry-run

        contested run conflictscore --judge tagger --claims sentences --out results-tagged
    """

    ITEMS: ClassVar = "responses"
    PRESETS: ClassVar = {"as_in_paper": AS_IN_PAPER}

    data: Annotated[
        Path,
        Option(
            "JSONL file of responses and documents; see docs/input.md.", shown="bundled samples"
        ),
    ] = SAMPLES_FOLDER / "contested.jsonl"


class DetectionOptions(RunOptions, JudgedOptions):
    """Detect conflicting documents, and count how often a judge is right.

    Writes into the run folder: `conflict-detection.NAME.jsonl` (examples, labels and decisions),
    `tables/` and `report.html`. Run it again with another judge and the same folder to compare both
    in one table.

    Examples:
        contested run conflict-detection --judge tagger --out results-detection

        contested run conflict-detection --data bench.jsonl --out results-bench
    """

    ITEMS: ClassVar = "examples"
    PRESETS: ClassVar = {"as_in_paper": DETECTION_AS_IN_PAPER}

    data: Annotated[
        Path,
        Option(
            "JSONL file of examples, from `contested lab conflictbench` or your own; see "
            "docs/conflict-detection.md.",
            shown="bundled samples",
        ),
    ] = SAMPLES_FOLDER / "conflict_detection.jsonl"
    name: RunName = None
    on_overflow: Overflow = "error"
    judging: JudgeSettings = JudgeSettings()


class TruthOptions(WriterOptions):
    """Answer TruthfulQA from documents, and again once the conflict is known.

    Each question is answered plainly (RAG) and with a warning of conflicts (Control-RAG). Where
    documents disagree about RAG's answer, it is rewritten twice: with feedback on the conflict
    (Regenerated-RAG) and, for comparison, without. Writes into the run folder:
    `truthfulqa.NAME.jsonl`, `tables/` in the layout of the paper's Tables 4 and 5, and
    `report.html` with all answers to each question.

    Examples:
        contested run truthfulqa --judge tagger --claims sentences --truth tagger --dry-run

        contested run truthfulqa --data TruthfulQA.csv --index my-index --out results-truth
    """

    ITEMS: ClassVar = "questions"
    PRESETS: ClassVar = {"as_in_paper": TRUTHFULQA_AS_IN_PAPER}

    data: Annotated[
        Path,
        Option(
            "TruthfulQA's CSV of 2021 or 2025, or questions with their own documents.",
            shown="bundled questions",
        ),
    ] = SAMPLES_FOLDER / "misconceptions.jsonl"
    documents: Annotated[
        Path | None, Option("JSON Lines with the documents of questions; see docs/score.md.")
    ] = None
    index: Annotated[Path | None, Option("Index to search for questions without documents.")] = None
    most_documents: Annotated[
        int, Field(ge=1), Option("Maximum documents of a question.", panel=TRUTHFULQA_PANEL)
    ] = 10
    answer_tokens: Annotated[
        int, Field(ge=16), Option("Maximum tokens of a free-form answer.", panel=TRUTHFULQA_PANEL)
    ] = 256
    hedge: Annotated[
        bool,
        Option(
            "When rewriting, ask for both sides where documents disagree; the paper's prompt "
            "asks only for the most truthful answer.",
            name="--hedge",
            panel=TRUTHFULQA_PANEL,
        ),
    ] = False
    truth: Annotated[
        TruthJudgeName,
        Option(
            "Who judges free-form answers: the language `model`, or the `tagger`, which judges "
            "truth only.",
            shown="the profile's; model with --endpoint or --model",
            panel=TRUTHFULQA_PANEL,
        ),
    ] = "model"

    @model_validator(mode="before")
    @classmethod
    def _truth_by_profile(cls, given: dict[str, Any]) -> dict[str, Any]:
        return {"truth": cls.usual(given).judge} | given


class ReportOptions(WriterOptions):
    """Let a model write reports from documents that disagree, and score them.

    A report about the main entity of each question is written under three prompts: plain (RAG),
    balanced, and super-balanced; a copy of the first document is the baseline. Writes into the run
    folder: `report-writing.NAME.jsonl`, `tables/` in the layout of the paper's Table 3, and
    `report.html`. Several models can share a folder: each is a separate run.

    Examples:
        contested run report-writing --limit 1 --judge tagger --claims sentences --report-tokens 96

        contested run report-writing --data conflictingqa.jsonl --sample 20 --dry-run
    """

    ITEMS: ClassVar = "reports"
    PRESETS: ClassVar = {"as_in_paper": REPORTS_AS_IN_PAPER}

    data: Annotated[
        Path,
        Option(
            "Questions with documents: our input format, or ConflictingQA as released.",
            shown="bundled samples",
        ),
    ] = SAMPLES_FOLDER / "contested.jsonl"
    sample: Annotated[
        int,
        Field(ge=1),
        Option("Maximum number of questions; a random sample of them.", panel=REPORTS_PANEL),
    ] = 100
    seed: Annotated[int, Field(ge=0), Option("Seed of the sample.", panel=REPORTS_PANEL)] = 0
    report_tokens: Annotated[
        int, Field(ge=16), Option("Maximum tokens of a report.", panel=REPORTS_PANEL)
    ] = 512


class BothSidesOptions(ScoredOptions):
    """Compare ConflictScore with people's verdicts on whether answers show both sides.

    The answers are WikiContradict's: five models, two contradicting passages, two prompts. Writes
    areas under the ROC curve, next to those of answer length and hedging words. Runs with other
    judges in the same folder share a table.

    Examples:
        contested run both-sides --judge tagger --claims sentences --out results-both

        contested run both-sides --data wiki_contradict_simple_humaneval.jsonl --dry-run
    """

    ITEMS: ClassVar = "answers"
    PRESETS: ClassVar = {"as_in_paper": AS_IN_PAPER}

    data: Annotated[
        Path,
        Option("wiki_contradict_simple_humaneval.jsonl of WikiContradict.", shown="our samples"),
    ] = SAMPLES_FOLDER / "both_sides.jsonl"
    half: Annotated[Part, Option("Which half of the questions.")] = "all"
    name: RunName = None
