"""The variants of salience, and of tuning a soft prompt."""

from functools import partial
from typing import Annotated, Final, Self

from pydantic import BaseModel, Field, model_validator

from pipelines.option import Choice, Option
from salience.variants import Aggregation, Average, Engine, Measure, Target

AS_IN_PAPER: Final = (
    Choice(
        "detector",
        "salience",
        "section 3.2",
        "leaving arguments out finds more errors, and takes any model that is served",
    ),
    Choice(
        "design",
        "paper",
        "section 4.2",
        "lengths of responses and numbers of arguments would tell errors",
    ),
    Choice(
        "per_topic",
        18,
        "section 4.1",
        "gradients of a response take about a minute on two cores",
    ),
)


SALIENCE_PANEL: Final = "Salience"

_salience_option = partial(Option, panel=SALIENCE_PANEL)
_tuning_option = partial(Option, panel="Tuning")


class GradientSettings(BaseModel, frozen=True, extra="forbid"):
    """How gradients are taken; the paper's choices by default."""

    engine: Annotated[
        Engine,
        _salience_option(
            "Who computes gradients: `batched`, many at once, or `captum`, one after the other. "
            "They agree to rounding."
        ),
    ] = "batched"
    target: Annotated[
        Target,
        _salience_option(
            "What is differentiated: a token's logit, as in the paper, its log-probability, or its "
            "contrast: the logit less that of the likeliest other token."
        ),
    ] = "logit"
    measure: Annotated[
        Measure,
        _salience_option("Gradient times input, as in the paper, or the norm of the gradient."),
    ] = "input_x_gradient"


class SalienceSettings(GradientSettings):
    """How salience is computed and summed up; the paper's choices by default."""

    aggregation: Aggregation = "max"
    average: Annotated[Average, _salience_option("How words' scores are averaged.")] = "geometric"


class TuningSettings(BaseModel, frozen=True, extra="forbid"):
    """How a soft prompt of so many `tokens` is tuned; the paper's choices by default (appendix B).

    The learning rate falls linearly after the warm-up. The paper does not say how often the dev
    loss is looked at, nor for how many looks it may stay. The seed draws the initial vectors and
    the order of examples.
    """

    tokens: Annotated[int, Field(ge=1)] = 5
    learning_rate: Annotated[
        float, Field(gt=0, allow_inf_nan=False), _tuning_option("Its peak.")
    ] = 0.1
    warmup: Annotated[
        int,
        Field(ge=0),
        _tuning_option(
            "Updates in which the learning rate rises.", shown="500, or a tenth of fewer steps"
        ),
    ] = 500
    steps: Annotated[int, Field(ge=1), _tuning_option("Most updates.")] = 20_000
    batch: Annotated[int, Field(ge=1), _tuning_option("Examples of an update.")] = 16
    evaluate_every: Annotated[
        int,
        Field(ge=1),
        _tuning_option(
            "Updates between two looks at the dev loss.", shown="250, or a tenth of fewer steps"
        ),
    ] = 250
    patience: Annotated[
        int, Field(ge=1), _tuning_option("Looks without a lower dev loss, after which it ends.")
    ] = 8
    # At most what numpy takes; torch takes more.
    seed: Annotated[int, Field(ge=0, le=2**32 - 1), Option("Decides everything that is drawn.")] = 0

    @model_validator(mode="after")
    def _warm_in_time(self) -> Self:
        if self.warmup >= self.steps:
            raise ValueError(
                f"a warm-up of {self.warmup:,} steps does not end within {self.steps:,} steps; "
                "choose other numbers"
            )
        return self
