"""Label probabilities corrected for what a judge favours whatever it reads.

A language model that chooses among labels has a leaning of its own: prompt, order and wording of
the labels sway it. A correction is linear in log-probabilities:

    p' proportional to exp(W log p + b)

Without labelled pairs W is the identity, and b takes away the mean leaning (`batch_prior`,
`contextual_prior`); with labelled pairs b alone or both are fitted (`evidence.fitted_priors`).
Labels are any strings: relations, types of conflict, yes and no.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from math import exp, fsum, log
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, model_validator

from pipelines.data.jsonl import first_problem
from pipelines.errors import InputError
from pipelines.metrics.estimate import Estimate

LabelT = TypeVar("LabelT", bound=str)

Method = Literal["none", "batch", "batch-mean", "contextual", "bias", "matrix"]

FLOOR: Final = 1e-9
"""The least probability whose logarithm is taken: one label of no probability decides nothing."""

Rows = Sequence[Mapping[LabelT, float]]
"""Of each pair label -> probability, all with the same labels."""


class Correction(BaseModel):
    """How probabilities are corrected, and what that was learned from.

    Attributes:
        labels: In the order of the numbers below.
        weights: W, (L, L): row l makes the new log-probability of label l.
        bias: b, (L,), in nats; its sum is 0, as a constant added to all has no effect.
        pairs: How many pairs (or content-free inputs) it was learned from.
        digest: SHA-256 of the pairs that were asked, by `digest_of`; "" where there are none.
        labeller: Identity of the labeller whose probabilities they are.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    labels: Annotated[tuple[str, ...], Field(min_length=2)]
    method: Method
    weights: tuple[tuple[FiniteFloat, ...], ...]
    bias: tuple[FiniteFloat, ...]
    pairs: Annotated[int, Field(ge=0)] = 0
    digest: str = ""
    labeller: str = ""

    @model_validator(mode="after")
    def _check(self) -> Self:
        size = len(self.labels)
        if len(set(self.labels)) < size:
            raise ValueError("a label stands twice")
        if [len(row) for row in (*self.weights, self.bias)] != [size] * (size + 1):
            raise ValueError(f"{size} labels want a bias of {size} and a {size} x {size} matrix")
        return self

    @classmethod
    def of_bias(cls, labels: Sequence[str], method: Method, bias: Sequence[float]) -> Self:
        """A correction that adds to log-probabilities and leaves the rest as it is."""
        size = len(labels)
        mean = fsum(bias) / size
        unchanged = tuple(
            tuple(float(row == column) for column in range(size)) for row in range(size)
        )
        centred = tuple(each - mean for each in bias)
        return cls(labels=tuple(labels), method=method, weights=unchanged, bias=centred)

    def learned(self, pairs: int, digest: str, labeller: str) -> Self:
        """The correction, with what it was learned from."""
        return self.model_copy(update={"pairs": pairs, "digest": digest, "labeller": labeller})

    def in_words(self) -> str:
        """For people: "batch, from 256 pairs: SUPPORTS −0.20, CONTRADICTS −1.10, ..."."""
        added = ", ".join(
            f"{label} " + f"{each:+.2f}".replace("-", "−")
            for label, each in zip(self.labels, self.bias, strict=True)
        )
        size = len(self.labels)
        matrix = f", after a {size} x {size} matrix" if self.method == "matrix" else ""
        return f"{self.method}, from {self.pairs:,} pairs: {added}{matrix}"


def unchanged(labels: Sequence[str]) -> Correction:
    """The correction that changes nothing."""
    return Correction.of_bias(labels, "none", [0.0] * len(labels))


def logs(probabilities: Mapping[LabelT, float]) -> dict[LabelT, float]:
    """Log-probabilities in nats, none below that of `FLOOR`."""
    return {label: log(max(p, FLOOR)) for label, p in probabilities.items()}


def corrected(probabilities: Mapping[LabelT, float], correction: Correction) -> dict[LabelT, float]:
    """The corrected probabilities, by the same labels in the same order, summing to 1.

    Raises:
        ValueError: They are of other labels than the correction.
    """
    if set(probabilities) != set(correction.labels):
        raise ValueError(
            f"probabilities of {', '.join(probabilities)}, and a correction of "
            f"{', '.join(correction.labels)}"
        )
    given = {str(label): value for label, value in logs(probabilities).items()}
    made = {
        label: fsum(w * given[other] for w, other in zip(row, correction.labels, strict=True)) + b
        for label, row, b in zip(
            correction.labels, correction.weights, correction.bias, strict=True
        )
    }
    highest = max(made.values())
    shares = {label: exp(made[str(label)] - highest) for label in probabilities}
    total = fsum(shares.values())
    return {label: share / total for label, share in shares.items()}


def likeliest(
    probabilities: Mapping[LabelT, float], ties: Mapping[LabelT, float] | None = None
) -> LabelT:
    """The most probable label; of equals the one that `ties` gives more, else the first."""
    second = ties or {}
    return max(probabilities, key=lambda label: (probabilities[label], second.get(label, 0.0)))


def batch_prior(rows: Rows[LabelT], *, mean: Literal["log", "probability"] = "log") -> Correction:
    """Batch calibration: takes from each label its mean over unlabelled pairs.

    b_l = -(1/n) sum_i log p_il. Zhou and others ("Batch Calibration", arXiv 2309.17249, section 3)
    divide by the mean probability, b_l = -log((1/n) sum_i p_il), which is `mean="probability"`.
    The mean of logarithms is the default: a constant shift of log-probabilities is undone exactly.

    Either evens labels out, also those that are rare in truth.

    Args:
        rows: The probabilities of at least one pair.
        mean: Of logarithms, or of probabilities as in the paper.
    """
    labels = list(rows[0])
    if mean == "log":
        found = [logs(row) for row in rows]
        bias = [-fsum(row[label] for row in found) / len(rows) for label in labels]
        return Correction.of_bias(labels, "batch", bias)
    return Correction.of_bias(labels, "batch-mean", _against_means(rows))


def contextual_prior(rows: Rows[LabelT]) -> Correction:
    """Contextual calibration: divides by what the judge says of inputs without content.

    b_l = -log of the mean probability of label l over inputs such as "N/A" (Zhao and others,
    "Calibrate Before Use", arXiv 2102.09690, section 5: W = diag(p_cf)^-1, b = 0, on
    probabilities).

    Args:
        rows: The probabilities for at least one such input.
    """
    return Correction.of_bias(list(rows[0]), "contextual", _against_means(rows))


def _against_means(rows: Rows[LabelT]) -> list[float]:
    means = (fsum(row[label] for row in rows) / len(rows) for label in rows[0])
    return [-log(max(each, FLOOR)) for each in means]


def digest_of(pairs: Iterable[tuple[str, ...]]) -> str:
    """SHA-256 of pairs of texts, in their order, with their labels if they have any."""
    text = json.dumps([list(each) for each in pairs], ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class HeldOut(BaseModel, frozen=True, extra="forbid"):
    """What a way to correct is worth on pairs that it was not learned from.

    Attributes:
        log_likelihood: Mean log-probability of the true label, in nats, at most 0.
        accuracy: Share of pairs whose most probable label is the true one.
    """

    method: Method
    log_likelihood: Estimate
    accuracy: Estimate


class FittedPrior(BaseModel, frozen=True, extra="forbid"):
    """A file of `contested fit-prior`: a correction, and by what figures it was chosen.

    Attributes:
        name, model, prompt: Of the model its name, and digests of model and prompt; "" in files of
            earlier versions.
        pairs: The file of pairs that it was fitted to.
    """

    correction: Correction
    held_out: tuple[HeldOut, ...] = ()
    name: str = ""
    model: str = ""
    prompt: str = ""
    pairs: str = ""


def correction_in(config: Mapping[str, Any]) -> Correction | None:
    """The correction of a run, from its configuration in `run.json`; None where it has none.

    Raises:
        InputError: It is damaged.
    """
    if "prior" not in config:
        return None
    try:
        return Correction.model_validate(config["prior"])
    except ValidationError as error:
        raise InputError(
            "the correction of label probabilities in run.json is damaged: "
            f"{first_problem(error, 'name another folder')}"
        ) from error


def read_prior(path: Path) -> FittedPrior:
    """Read the file of a correction; InputError where it is none."""
    try:
        return FittedPrior.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(
            f"--prior {path} cannot be read ({error.strerror}); name the file of a "
            "correction, or a word that --help lists"
        ) from error
    except ValidationError as error:
        raise InputError(
            f"{path} is no correction: {first_problem(error, 'make one with contested fit-prior')}"
        ) from error
