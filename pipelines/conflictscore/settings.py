"""Options of ConflictScore."""

from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from pipelines.conflictscore.scores import Unevidenced
from pipelines.experiment.options import JudgedOptions, JudgeModel, Overflow, RunOptions, judging
from pipelines.judge.settings import PANEL, JudgeSettings
from pipelines.option import Choice, Only, Option
from pipelines.runs.folder import file_name, named_after

_WHY_CHOICE: Final = "one token a label in place of about 115, and a probability of each label"

AS_IN_PAPER: Final = (
    Choice(
        "metric.claims",
        "statements",
        "appendix B, Table 6",
        "a document may deny a date and back the place beside it",
    ),
    Choice("metric.judge", "model", "section 3"),
    Choice("metric.evidence", "json", "appendix B, Table 7", _WHY_CHOICE),
    Choice(
        "metric.unevidenced",
        "zero",
        "section 3",
        "a response that no document speaks to would have the score of a perfect one",
    ),
)

DETECTION_AS_IN_PAPER: Final = (
    Choice("judging.judge", "model", "section 4.1"),
    Choice("judging.evidence", "json", "appendix B", _WHY_CHOICE),
)

REGENERATION_AS_IN_PAPER: Final = (
    *AS_IN_PAPER,
    Choice(
        "hedge",
        False,
        "appendix B, Table 13",
        "a response to documents that remain at odds should say so",
    ),
)

REPORTS_AS_IN_PAPER: Final = (*AS_IN_PAPER, Choice("sample", 100, "section 5"))

TRUTHFULQA_AS_IN_PAPER: Final = (
    *AS_IN_PAPER,
    Choice("truth", "model", "section 6.1"),
    Choice("most_documents", 10, "section 6.1"),
    Choice("hedge", False, "appendix B, Table 13"),
)

BENCH_AS_IN_PAPER: Final = (
    Choice(
        "half",
        "all",
        "appendix A",
        "the shipped tagger learned from the training half of some sources, so that it knows it",
    ),
    Choice(
        "claims_by",
        "model",
        "appendix A",
        "rules give the same claim every time, need no model, and quote where they are unsure",
    ),
)


ClaimSource = Literal["atomic", "statements", "salient", "sentences", "whole"]

SPLIT: Final[frozenset[ClaimSource]] = frozenset({"atomic", "statements", "salient"})
"""Ways to make claims that ask a language model."""

Claims = Annotated[
    ClaimSource,
    Option(
        "Judge all claims of a response, as small as they are (`atomic`) or with list items, dates "
        "and places together (`statements`), the k most `salient`, each of its `sentences`, or it "
        "as a `whole`. The last two ask no model.",
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
            only=Only(lambda own: own.claims == "salient", lambda own: f"--claims {own.claims}"),
        ),
    ] = 3
    unevidenced: Annotated[
        Unevidenced,
        Option(
            "How claims without any evidence count: as 0 `beside` others, while a response of such "
            "claims alone has no CS-C and CS-R; or always as `zero`.",
            panel=PANEL,
        ),
    ] = "beside"

    @property
    def named(self) -> str:
        """Who judges and how claims are made, as options."""
        return f"{super().named} --claims {self.claims}"

    @property
    def splits(self) -> bool:
        """Whether a language model splits responses into claims."""
        return self.claims in SPLIT

    def needs_model(self, *, claims_given: bool) -> bool:
        """Whether a language model is needed at all: to judge, or to split some response.

        It splits no response if all bring their claims (`claims_given`).
        """
        return self.by_model or (self.splits and not claims_given)


RunName = Annotated[
    str | None,
    Option(
        "What to call the run; several may share a folder.", shown="after who writes, or judges"
    ),
]
"""For the field `name`."""


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
        return f"{experiment}.{named_after(model) if self.name is None else file_name(self.name)}"
