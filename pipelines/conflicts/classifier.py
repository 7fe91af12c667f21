"""The embedded classifier of conflict types: multinomial logistic regression on the evidence.

It is a JSON file of coefficients, computed without numpy. A file also holds the classifiers of its
cross-validation, so that a question that it was trained on is judged by one that never saw it.
"""

import hashlib
import json
import re
from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from math import exp, fsum
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import BaseModel, Field, ValidationError, model_validator

from pipelines.conflicts.features import MEANING, Features, features
from pipelines.conflicts.prediction import Prediction, decide
from pipelines.conflicts.question import Query
from pipelines.conflicts.structure import Structure
from pipelines.conflicts.taxonomy import ConflictType
from pipelines.data.jsonl import read_bytes
from pipelines.errors import InputError

SHIPPED: Final = Path(__file__).parent / "shipped" / "types.json"
"""The classifier that comes with the program."""

FURTHEST: Final = 3.0
"""Standard deviations from the mean, at most: sources of another length, or on another matter, than
those of training must not decide by a single number."""

REASONS = 3
"""Features that an explanation names."""


Coefficient = Annotated[float, Field(ge=-1e6, le=1e6)]
"""No training gives a larger one, and sums of larger ones would be no numbers."""


class Linear(BaseModel, frozen=True, extra="forbid"):
    """Logistic regression on standardised features.

    There are f features, with their means and positive scales in training, and t types, with
    weights of shape (t, f) and intercepts of shape (t,).
    """

    features: tuple[str, ...]
    means: tuple[Coefficient, ...]
    scales: tuple[Coefficient, ...]
    types: tuple[ConflictType, ...]
    weights: tuple[tuple[Coefficient, ...], ...]
    intercepts: tuple[Coefficient, ...]

    @model_validator(mode="after")
    def _check(self) -> Self:
        width, height = len(self.features), len(self.types)
        if unknown := [name for name in self.features if name not in MEANING]:
            raise ValueError(f"{unknown[0]!r} is no feature of this version")
        if {len(self.means), len(self.scales), *map(len, self.weights)} != {width}:
            raise ValueError(f"means, scales and weights must be of {width} features")
        if {len(self.weights), len(self.intercepts)} != {height} or height < 2:
            raise ValueError(f"weights and intercepts must be of {height} types, at least two")
        if len(set(self.features)) < width or len(set(self.types)) < height:
            raise ValueError("a feature or a type is named twice")
        if min(self.scales, default=1.0) <= 0:
            raise ValueError("a scale must be positive")
        return self

    def standardised(self, values: Features) -> tuple[float, ...]:
        """The features less their means, over their scales, within `FURTHEST`, (f,).

        What is not known is 0.
        """
        return tuple(
            0.0
            if (value := values[name]) is None
            else min(max((value - mean) / scale, -FURTHEST), FURTHEST)
            for name, mean, scale in zip(self.features, self.means, self.scales, strict=True)
        )

    def contributions(self, values: Features, of: ConflictType) -> dict[str, float]:
        """What each feature adds to a type's logit, less what it adds to all logits on average."""
        own = self.weights[self.types.index(of)]
        means = [fsum(column) / len(self.types) for column in zip(*self.weights, strict=True)]
        return {
            name: (weight - mean) * value
            for name, weight, mean, value in zip(
                self.features, own, means, self.standardised(values), strict=True
            )
        }

    def probabilities(self, values: Features) -> dict[ConflictType, float]:
        """The probability of each type, summing to 1; a type that it never saw has 0."""
        standard = self.standardised(values)
        logits = [
            intercept + fsum(weight * value for weight, value in zip(row, standard, strict=True))
            for row, intercept in zip(self.weights, self.intercepts, strict=True)
        ]
        highest = max(logits)
        shares = [exp(logit - highest) for logit in logits]
        found = {name: share / fsum(shares) for name, share in zip(self.types, shares, strict=True)}
        return {each: found.get(each, 0.0) for each in ConflictType}


class Fold(BaseModel, frozen=True, extra="forbid"):
    """One fold of a cross-validation.

    Attributes:
        held_out: `digest_of` the queries that had no part in training.
        linear: Trained on all others.
    """

    held_out: frozenset[Annotated[str, Field(pattern="^[0-9a-f]{16}$")]]
    linear: Linear


class TypeClassifier(BaseModel, frozen=True, extra="forbid"):
    """A classifier with those of its cross-validation.

    Attributes:
        trained_on: File name and SHA-256 of the training data, their number of queries, and the
            fewest sources that one has.
        tagger: Digest of the tagger whose judgements made the features.
        whole: Trained on all queries.
        folds: Trained on parts of them.
    """

    trained_on: dict[str, str | int]
    tagger: str
    whole: Linear
    folds: tuple[Fold, ...]

    @model_validator(mode="after")
    def _check(self) -> Self:
        held_out = [name for fold in self.folds for name in fold.held_out]
        if len(set(held_out)) < len(held_out):
            raise ValueError("a query is held out of two folds")
        return self

    @property
    def digest(self) -> str:
        """SHA-256 of all that decides a prediction."""
        content = self.model_dump(mode="json")
        for fold in content["folds"]:
            fold["held_out"].sort()
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def linear_for(self, query: str) -> Linear:
        """The classifier that has not been trained on a query: that of its fold, or the whole."""
        name = digest_of(query)
        return next((fold.linear for fold in self.folds if name in fold.held_out), self.whole)

    def predict(
        self, query: Query, found: Structure, thresholds: Mapping[ConflictType, float]
    ) -> Prediction:
        """The type of a query's conflict, by the structure of its evidence; see `decide`.

        A source by itself, or several in the same words, are in conflict with nothing, whatever
        the features say.
        """
        if len({source.text for source in query.sources}) < 2:
            none = ConflictType.NO_CONFLICT
            return Prediction(
                type=none,
                by="nli",
                probabilities={each: float(each is none) for each in ConflictType},
                explanation="There is one source, or all say the same words: nothing can be in "
                "conflict.",
            )
        linear = self.linear_for(query.query)
        values = features(query, found)
        probabilities = linear.probabilities(values)
        chosen = decide(probabilities, thresholds)
        likely = max(probabilities, key=lambda each: probabilities[each])
        return Prediction(
            type=chosen,
            by="nli",
            probabilities=probabilities,
            explanation=_explained(linear.contributions(values, likely), likely)
            + self._caution(query),
            abstained=chosen is None,
        )

    def _caution(self, query: Query) -> str:
        fewest = self.trained_on.get("fewest_sources", 0)
        if len(query.sources) >= int(fewest):
            return ""
        return (
            f" It learned from {fewest} sources or more, so of {len(query.sources)} it says little."
        )


def digest_of(query: str) -> str:
    """What a classifier knows a query by: SHA-256 of its words in lower case, 16 digits."""
    return hashlib.sha256(" ".join(re.findall(r"\w+", query.lower())).encode()).hexdigest()[:16]


def read(path: Path) -> TypeClassifier:
    """A classifier from its file.

    Raises:
        InputError: The file cannot be read, or is of no classifier of this version.
    """
    try:
        return TypeClassifier.model_validate_json(read_bytes(path).removeprefix(BOM_UTF8))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(
            f"{path} is no classifier of conflict types ({place + ': ' if place else ''}"
            f"{first['msg'].removeprefix('Value error, ')}); make one with: contested conflicts "
            "train"
        ) from error


def shipped_classifier() -> TypeClassifier:
    """The classifier that comes with the program."""
    return read(SHIPPED)


def _explained(contributions: Mapping[str, float], likely: ConflictType) -> str:
    strongest = sorted(contributions, key=lambda name: -abs(contributions[name]))[:REASONS]
    reasons = [f"{MEANING[name]} ({contributions[name]:+.2f})" for name in strongest]
    return f"Most for and against '{likely}': {'; '.join(reasons)}."


def seen(classifier: TypeClassifier, queries: Sequence[Query]) -> int:
    """How many of the queries a classifier was trained on."""
    known = frozenset[str]().union(*(fold.held_out for fold in classifier.folds))
    return sum(digest_of(each.query) in known for each in queries)
