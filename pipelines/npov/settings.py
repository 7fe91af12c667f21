"""The variants of salience, and of tuning a soft prompt."""

from typing import Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from pipelines.option import Option
from salience.variants import Aggregation, Average, Engine, Measure, Target

SALIENCE_PANEL: Final = "Salience"
TUNING_PANEL: Final = "Tuning"

LARGEST_SEED: Final = 2**32 - 1
"""What numpy takes; torch takes more."""


class GradientSettings(BaseModel):
    """How gradients are taken; the paper's choices by default.

    Attributes:
        engine: Who computes gradients.
        target: What is differentiated.
        measure: What is made of embedding and gradient.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    engine: Annotated[
        Engine,
        Option(
            "Who computes gradients: `batched`, many at once, or `captum`, one after the other. "
            "They agree to rounding.",
            panel=SALIENCE_PANEL,
        ),
    ] = "batched"
    target: Annotated[
        Target,
        Option(
            "What is differentiated: a token's logit, as in the paper, or its log-probability.",
            panel=SALIENCE_PANEL,
        ),
    ] = "logit"
    measure: Annotated[
        Measure,
        Option(
            "Gradient times input, as in the paper, or the norm of the gradient.",
            panel=SALIENCE_PANEL,
        ),
    ] = "input_x_gradient"


class SalienceSettings(GradientSettings):
    """How salience is computed and summed up; the paper's choices by default.

    Attributes:
        aggregation: How a word's row or column becomes a score.
        average: How words' scores become one of a response.
    """

    aggregation: Aggregation = "max"
    average: Annotated[Average, Option("How words' scores are averaged.", panel=SALIENCE_PANEL)] = (
        "geometric"
    )


class TuningSettings(BaseModel):
    """How a soft prompt is tuned; the paper's choices by default (NPOV, appendix B).

    Attributes:
        tokens: Vectors of the prompt.
        learning_rate: Its peak.
        warmup: Steps in which the learning rate rises to its peak; it falls linearly thereafter.
        steps: Most updates of the vectors.
        batch: Examples of an update.
        evaluate_every: Updates between two looks at the dev loss. The paper does not say.
        patience: Looks without a lower dev loss, after which tuning ends; likewise.
        seed: For the initial vectors and the order of examples.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    tokens: Annotated[int, Field(ge=1)] = 5
    learning_rate: Annotated[
        float, Field(gt=0, allow_inf_nan=False), Option("Its peak.", panel=TUNING_PANEL)
    ] = 0.1
    warmup: Annotated[
        int,
        Field(ge=0),
        Option(
            "Updates in which the learning rate rises.",
            shown="500, or a tenth of fewer steps",
            panel=TUNING_PANEL,
        ),
    ] = 500
    steps: Annotated[int, Field(ge=1), Option("Most updates.", panel=TUNING_PANEL)] = 20_000
    batch: Annotated[int, Field(ge=1), Option("Examples of an update.", panel=TUNING_PANEL)] = 16
    evaluate_every: Annotated[
        int,
        Field(ge=1),
        Option(
            "Updates between two looks at the dev loss.",
            shown="250, or a tenth of fewer steps",
            panel=TUNING_PANEL,
        ),
    ] = 250
    patience: Annotated[
        int,
        Field(ge=1),
        Option("Looks without a lower dev loss, after which it ends.", panel=TUNING_PANEL),
    ] = 8
    seed: Annotated[
        int, Field(ge=0, le=LARGEST_SEED), Option("Decides everything that is drawn.")
    ] = 0

    @model_validator(mode="after")
    def _warm_in_time(self) -> Self:
        if self.warmup >= self.steps:
            raise ValueError(
                f"a warm-up of {self.warmup:,} steps does not end within {self.steps:,} steps; "
                "choose other numbers"
            )
        return self
