"""Label probabilities of a language model, corrected for its bias among labels.

The prompt and the labels' order and wording sway a model's choice, whatever it reads. A correction
adds a bias to log-probabilities:

    p' proportional to exp(log p + b)

`contested lab calibrate --judge model` fits one to labelled pairs; see `fitted`. It belongs to one
model and one prompt, by their digests. Labels may be any strings.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, fsum, log
from pathlib import Path
from typing import Annotated, Any, Final, Self, TypeVar

from pydantic import BaseModel, Field, FiniteFloat, ValidationError, model_validator

from nli.pairs import LabelledPair
from pipelines.data.jsonl import first_problem
from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.files import read_bytes
from pipelines.judge.judgement import Judgement, Judgements, Relation
from pipelines.judge.protocol import Judge, identity_of
from pipelines.metrics.estimate import Estimate
from serving.errors import RequestError
from serving.home import default_home

LabelT = TypeVar("LabelT", bound=str)

FLOOR: Final = 1e-9
"""Smallest probability whose logarithm is taken, so that a zero does not decide everything."""

SHIPPED: Final = Path(__file__).with_name("corrections")
"""Corrections bundled with the program, fitted on pairs of training halves."""


class Correction(BaseModel, frozen=True):
    """A correction of probabilities, and what it was learned from.

    Attributes:
        labels: In the order of the bias.
        method: How b was found: "bias" from labels, "batch" as the mean log-probability of pairs.
        bias: b, (L,), in nats.
        pairs: Number of pairs that it was learned from.
        digest: SHA-256 of their file.
        judge: Identity of the judge that gave the probabilities.

    Files of older versions also have weights, which were always the identity and are ignored.
    """

    labels: Annotated[tuple[str, ...], Field(min_length=2)]
    method: str
    bias: tuple[FiniteFloat, ...]
    pairs: Annotated[int, Field(ge=0)] = 0
    digest: str = ""
    judge: str = ""

    @model_validator(mode="after")
    def _check(self) -> Self:
        size = len(self.labels)
        if len(set(self.labels)) < size:
            raise ValueError("a label appears twice")
        if len(self.bias) != size:
            raise ValueError(f"{size} labels need a bias of {size} numbers")
        return self

    def in_words(self) -> str:
        """For people: "bias, from 256 pairs: SUPPORTS −0.20, CONTRADICTS −1.10, ..."."""
        added = ", ".join(
            f"{label} " + f"{number:+.2f}".replace("-", "−")
            for label, number in zip(self.labels, self.bias, strict=True)
        )
        return f"{self.method}, from {self.pairs:,} pairs: {added}"


class HeldOut(BaseModel, frozen=True):
    """Figures on labelled pairs; a correction's are on pairs that it was not fitted on.

    Attributes:
        method: As in `Correction`; "none" without one.
        log_likelihood: Mean log-probability of the true label, in nats, at most 0.
        accuracy: Share of pairs whose most probable label is the true one.
    """

    method: str
    log_likelihood: Estimate
    accuracy: Estimate


class StoredCorrection(BaseModel, frozen=True, extra="forbid"):
    """A file of `contested lab calibrate --judge model`.

    Attributes:
        held_out: Figures uncorrected and corrected.
        name, model, prompt: Name of the model, and digests of model and prompt.
        pairs: The file of pairs that it was fitted to.
    """

    correction: Correction
    held_out: tuple[HeldOut, ...] = ()
    name: str
    model: str
    prompt: str
    pairs: str


def correction_file(model: str, prompt: str) -> Path:
    """Path of the correction of a model and a prompt, by their digests."""
    return default_home() / "corrections" / f"{model[:32]}-{prompt[:32]}.json"


def correction_of(model: str, prompt: str) -> Correction | None:
    """The correction of a model and a prompt, by their digests: the stored one, else the shipped.

    None if neither exists; InputError if the stored one is damaged.
    """
    stored = correction_file(model, prompt)
    for file in (*([stored] if stored.exists() else []), *sorted(SHIPPED.glob("*.json"))):
        record = read_correction(file)
        if (record.model, record.prompt) == (model, prompt):
            return record.correction
    return None


def read_correction(file: Path) -> StoredCorrection:
    """Read a stored correction; InputError if it is missing, unreadable or damaged."""
    again = "make it again with contested lab calibrate, or delete it"
    try:
        return StoredCorrection.model_validate_json(read_bytes(file))
    except ValidationError as error:
        raise InputError(f"{file} is not a correction: {first_problem(error, again)}") from error


def correction_in(config: Mapping[str, Any]) -> Correction | None:
    """The correction of a run, from its configuration in `run.json`; None if it used none.

    Raises:
        InputError: It is damaged.
    """
    if "correction" not in config:
        return None
    try:
        return Correction.model_validate(config["correction"])
    except ValidationError as error:
        raise InputError(
            "the correction of label probabilities in run.json is damaged: "
            f"{first_problem(error, 'name another folder')}"
        ) from error


def logs(probabilities: Mapping[LabelT, float]) -> dict[LabelT, float]:
    """Log-probabilities in nats, at least that of `FLOOR`."""
    return {label: log(max(p, FLOOR)) for label, p in probabilities.items()}


def corrected(probabilities: Mapping[LabelT, float], correction: Correction) -> dict[LabelT, float]:
    """The corrected probabilities, by the same labels in the same order, summing to 1.

    Raises:
        ValueError: The labels differ from the correction's.
    """
    if set(probabilities) != set(correction.labels):
        raise ValueError(
            f"probabilities of {', '.join(probabilities)}, but a correction of "
            f"{', '.join(correction.labels)}"
        )
    bias = dict(zip(correction.labels, correction.bias, strict=True))
    made = {label: value + bias[label] for label, value in logs(probabilities).items()}
    highest = max(made.values())
    shares = {label: exp(value - highest) for label, value in made.items()}
    total = fsum(shares.values())
    return {label: share / total for label, share in shares.items()}


@dataclass(frozen=True)
class CorrectedJudge:
    """A judge whose labels come from the corrected probabilities of another.

    That judge asks the store of judgements, which keeps raw ones under its identity, so a new
    correction does not ask a model again.
    """

    judge: Judge
    correction: Correction

    @property
    def identity(self) -> str:
        """The judge's identity and the correction's numbers, whatever their source."""
        numbers = self.correction.model_dump(include={"labels", "bias"})
        return identity_of("corrected", {"judge": self.judge.identity, **numbers})

    async def __call__(self, claims: Sequence[str], documents: Sequence[Document]) -> Judgements:
        """One judgement per (claim, document), ordered by claim, then document."""
        answer = await self.judge(claims, documents)
        made = tuple(
            corrected_judgement(judgement, self.correction) for judgement in answer.judgements
        )
        return replace(answer, judgements=made)


def corrected_judgement(judgement: Judgement, correction: Correction) -> Judgement:
    """The judgement by corrected probabilities, with the raw ones beside them.

    A judgement without probabilities (an unreadable reply) stays as it is. A snippet belongs to the
    raw label, so it is dropped if the label changes.
    """
    if judgement.probabilities is None:
        return judgement
    made = corrected(judgement.probabilities, correction)
    relation = max(made, key=made.__getitem__)
    kept = {} if relation is judgement.relation else {"snippet": None, "snippet_found": None}
    return judgement.model_copy(
        update={
            **kept,
            "relation": relation,
            "probabilities": made,
            "raw_probabilities": judgement.probabilities,
        }
    )


Rows = Sequence[Mapping[LabelT, float]]
"""Label -> probability for each pair, all with the same labels."""

FEWEST: Final = 30
"""Fewest pairs for a fit."""

FOLDS: Final = 5
"""Most folds of cross-validation."""


SPREAD: Final = 3.0
"""Standard deviation, in nats, of the normal prior of a bias around zero."""


def fitted(rows: Rows[LabelT], gold: Sequence[LabelT]) -> Correction:
    """The bias that makes labelled pairs most likely.

    Maximises sum_i log p'_i(gold_i) - |b|^2 / (2 SPREAD^2).

    Args:
        rows: Probabilities, n of them.
        gold: The true labels, n of them.

    Raises:
        InputError: A label is missing.
    """
    import numpy as np
    from scipy.optimize import minimize
    from scipy.special import logsumexp, softmax

    labels = list(rows[0])
    for label in labels:
        if label not in gold:
            raise InputError(f"too few pairs have the label '{label}'; give pairs of all labels")
    given = np.array([[logs(row)[label] for label in labels] for row in rows])
    true = np.array([[label == gold_label for label in labels] for gold_label in gold], dtype=float)

    def loss(bias: Any) -> tuple[float, Any]:
        made = given + bias
        missed = logsumexp(made, axis=1).sum() - (made * true).sum()
        slope = (softmax(made, axis=1) - true).sum(axis=0) + bias / SPREAD**2
        return float(missed + (bias**2).sum() / (2 * SPREAD**2)), slope

    optimum = minimize(loss, np.zeros(len(labels)), jac=True, method="L-BFGS-B")
    return Correction(
        labels=tuple(labels),
        method="bias",
        bias=tuple(round(float(number), 6) for number in optimum.x),
        pairs=len(rows),
    )


def cross_corrected(
    rows: Rows[LabelT], gold: Sequence[LabelT], groups: Sequence[str], *, seed: int = 0
) -> list[dict[LabelT, float]]:
    """Rows corrected by fits on the pairs of other groups (cross-validation).

    Args:
        rows: Probabilities, n of them.
        gold: True labels, n of them.
        groups: The pairs' questions or claims, n of them.
        seed: Decides which part a group belongs to.

    Raises:
        InputError: Too few pairs, or pairs of one group only, or too few of a label.
    """
    from sklearn.model_selection import GroupKFold

    count = len(set(groups))
    if len(rows) < FEWEST or count < 2:
        raise InputError(
            f"{len(rows)} pairs of {count} groups are too few; at least {FEWEST}, and pairs of "
            "two groups (or claims, where pairs name no group), are needed"
        )
    parts = GroupKFold(min(FOLDS, count), shuffle=True, random_state=seed)
    made: dict[int, dict[LabelT, float]] = {}
    for inside, outside in parts.split(rows, groups=groups):
        correction = fitted([rows[place] for place in inside], [gold[place] for place in inside])
        made |= {place: corrected(rows[place], correction) for place in outside}
    return [made[place] for place in range(len(rows))]


async def shares_of(
    judge: Judge, pairs: Sequence[LabelledPair], on_done: Callable[[], None] = lambda: None
) -> list[Mapping[Relation, float] | None]:
    """A judge's probabilities for n pairs; None for a pair that failed or is unreadable."""

    async def shares(pair: LabelledPair) -> Mapping[Relation, float] | None:
        try:
            answer = await judge([pair.hypothesis], [Document(id="premise", text=pair.premise)])
        except RequestError:
            return None
        finally:
            on_done()
        return answer.judgements[0].probabilities

    return await asyncio.gather(*map(shares, pairs))
