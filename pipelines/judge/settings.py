"""Options that decide who judges claims by documents."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, Field, model_validator

from pipelines.option import Only, Option

PANEL = "Metric"

JudgeName = Literal["model", "tagger", "cascade"]

Mode = Literal["choice", "json", "together"]
"""How a language model is asked; see `judge.model`."""


def _by_judge(settings: "JudgeSettings") -> str:
    return f"--judge {settings.judge}"


Evidence = Annotated[
    Mode,
    Option(
        "How a language model is asked. `choice` costs one token and gives probabilities; `json` "
        "explains each label with a snippet; `together` reads all documents in one call.",
        panel=PANEL,
        only=Only(lambda settings: settings.judge != "tagger", _by_judge),
    ),
]


class JudgeSettings(BaseModel, frozen=True, extra="forbid"):
    """Who judges claims by documents.

    `judge.cascade` explains `risk`, in (0, 1), `judge.model` the values of `evidence`. With `cut`
    a text too long for the context may be cut; cuts are recorded.
    """

    BY_PROFILE: ClassVar[tuple[str, ...]] = ("judge",)
    """Fields that a command takes from the profile if the user gives none."""

    judge: Annotated[
        JudgeName,
        Option(
            "Who judges claims by documents: a language `model`, the NLI `tagger`, or a "
            "`cascade` of the two: the tagger where it is sure, the model elsewhere.",
            shown="the profile's; model with --endpoint or --model",
            panel=PANEL,
        ),
    ] = "model"
    risk: Annotated[
        float,
        Field(gt=0, lt=1),
        Option(
            "For `--judge cascade`: the largest share of pairs that may keep a wrong label from "
            "the tagger. It sets the threshold.",
            panel=PANEL,
            only=Only(lambda settings: settings.judge == "cascade", _by_judge),
        ),
    ] = 0.05
    evidence: Evidence = "choice"
    cut: bool = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.judge == "cascade" and self.evidence == "together":
            raise ValueError(
                "'together' reads all documents in one call, a cascade asks for single ones; "
                "choose 'choice' or 'json'"
            )
        return self

    @property
    def named(self) -> str:
        """Who judges, as an option: "--judge tagger"."""
        return f"--judge {self.judge}"

    @property
    def unsaid(self) -> tuple[str, ...]:
        """The fields of `BY_PROFILE` that were not given."""
        return tuple(name for name in self.BY_PROFILE if name not in self.model_fields_set)

    @property
    def kind(self) -> str:
        """Default name of its judge: "tagger", "model-choice"."""
        return f"model-{self.evidence}" if self.judge == "model" else self.judge

    @property
    def by_model(self) -> bool:
        """Whether a language model judges anything."""
        return self.judge != "tagger"

    @property
    def by_choice(self) -> bool:
        """Whether a language model gives label probabilities, which can be corrected."""
        return self.by_model and self.evidence == "choice"

    @property
    def by_tagger(self) -> bool:
        """Whether the tagger judges anything."""
        return self.judge != "model"

    def judging(self) -> dict[str, Any]:
        """The settings that decide a judgement, for `run.json`."""
        return self.model_dump(include=set(JudgeSettings.model_fields))
