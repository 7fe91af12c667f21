"""What two judges say of a pair, made into one: relevance and side, each a logit of log-odds.

The probability that a document supports a claim is that of being relevant times that of supporting
where it is; either is the logistic function of the tagger's log-odds and the language model's. The
three labels so have probabilities that sum to 1, and neither step can undo the other. Unfitted, the
tagger decides relevance and the language model the side. `evidence.combining` fits the weights.
"""

from collections.abc import Mapping
from math import exp, log
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from nli.risk import RiskCurve
from pipelines.data.jsonl import first_problem
from pipelines.errors import InputError
from pipelines.evidence.judgement import Relation

Shares = Mapping[Relation, float]
"""Label -> probability in [0, 1], summing to 1."""

LEAST = 1e-6
"""Probabilities below count as this one, so that every log-odds is finite."""

Slope = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""More of a judge's log-odds never makes what it speaks for less likely."""


def log_odds(one: float, other: float) -> float:
    """log(one / other) of two probabilities, neither of them taken below `LEAST`."""
    return log(max(one, LEAST) / max(other, LEAST))


def relevance(shares: Shares) -> float:
    """Log-odds that the document says something of the claim at all."""
    sided = shares[Relation.SUPPORTS] + shares[Relation.CONTRADICTS]
    return log_odds(sided, shares[Relation.IRRELEVANT])


def polarity(shares: Shares) -> float:
    """Log-odds of support against contradiction."""
    return log_odds(shares[Relation.SUPPORTS], shares[Relation.CONTRADICTS])


class Logit(BaseModel):
    """A logistic regression on the log-odds of tagger and model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    intercept: Annotated[float, Field(allow_inf_nan=False)] = 0.0
    tagger: Slope = 0.0
    model: Slope = 0.0

    def probability(self, tagger: float, model: float) -> float:
        """1 / (1 + exp(-(intercept + tagger slope * log-odds + model slope * log-odds)))."""
        found = self.intercept + self.tagger * tagger + self.model * model
        # exp of a large number overflows, of a large negative one it is 0.
        return 1 / (1 + exp(-found)) if found >= 0 else exp(found) / (1 + exp(found))


class Judging(NamedTuple):
    """Whose probabilities are combined: digests of tagger, model and prompt."""

    tagger: str
    model: str
    prompt: str


class Combination(BaseModel):
    """How what tagger and language model say becomes one judgement.

    Attributes:
        relevance: Of relevant against irrelevant, on either judge's log-odds of that.
        polarity: Of support against contradiction where relevant, likewise.
        spared: The tagger's probability of IRRELEVANT above which the model is not asked. It is at
            least 1/2, so that IRRELEVANT is the label that stays.
        fitted_for: Whose probabilities the weights were fitted to; None where nothing was fitted.
        names: Of tagger and model, for people.
        fitted_on: The data, in words.
        strength: Of the penalty on the distance from the unfitted weights.
        risk: How many labels are right by their probability, counted on pairs that were not fitted
            on; None without a fit.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    relevance: Logit = Logit(tagger=1)
    polarity: Logit = Logit(model=1)
    spared: Annotated[float, Field(ge=0.5, le=1)] = 0.5
    fitted_for: Judging | None = None
    names: tuple[str, ...] = ()
    fitted_on: str = ""
    strength: float | None = None
    risk: RiskCurve | None = None

    def spares(self, tagger: Shares) -> bool:
        """Whether the tagger is so sure of irrelevance that the model is not asked."""
        return tagger[Relation.IRRELEVANT] > self.spared

    def shares(self, tagger: Shares, model: Shares) -> dict[Relation, float]:
        """The probabilities of the three labels, from those of tagger and model."""
        relevant = self.relevance.probability(relevance(tagger), relevance(model))
        support = self.polarity.probability(polarity(tagger), polarity(model))
        return {
            Relation.SUPPORTS: relevant * support,
            Relation.CONTRADICTS: relevant * (1 - support),
            Relation.IRRELEVANT: 1 - relevant,
        }

    def as_json(self) -> dict[str, Any]:
        """What decides a judgement, for `run.json`."""
        return self.model_dump(mode="json", exclude={"risk"})


UNFITTED = Combination()
"""The tagger's probability of IRRELEVANT; the rest split by the model's odds of the two sides.

The model is asked where that probability is at most 1/2: above, no answer could change the label.
"""


def read_combination(path: Path) -> Combination:
    """A combination that was fitted before.

    Raises:
        InputError: The file cannot be read, or is no such combination.
    """
    again = "fit it again: contested fit-combination"
    try:
        made = Combination.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise InputError(f"{path} is no combination: {first_problem(error, again)}") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); {again}") from error
    if made.fitted_for is None or made.risk is None:
        raise InputError(f"{path} does not say what it was fitted for; {again}")
    return made
