"""What a client gives back: texts, JSON, labels, and texts made to fit."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

from pydantic import BaseModel

Schema = TypeVar("Schema", bound=BaseModel)


@dataclass(frozen=True)
class Completion:
    """A text that the model wrote; `finished` is False where it was cut by `max_tokens`."""

    text: str
    finished: bool
    prompt_tokens: int
    completion_tokens: int

    @classmethod
    def of(cls, reply: Mapping[str, Any]) -> Self:
        """A completion from the fields of `serving.requests.Answer`, as the cache keeps them."""
        return cls(
            text=reply["text"],
            finished=reply["finish_reason"] == "stop",
            prompt_tokens=reply["prompt_tokens"],
            completion_tokens=reply["completion_tokens"],
        )


@dataclass(frozen=True)
class Structured(Generic[Schema]):
    """A JSON reply.

    Attributes:
        value: The reply as the schema's model; None where it could not be read.
        raw: The reply as it came.
        problem: Why `value` is None, in one line.
    """

    value: Schema | None
    raw: str
    problem: str | None = None


@dataclass(frozen=True)
class Choice:
    """One label out of several.

    Attributes:
        label: The most probable one; the first of equals.
        probabilities: Label -> probability, summing to 1: how likely constrained sampling at
            temperature 1 is to write this label.
        mass: Probability in [0, 1] that the unconstrained model begins with one of the labels.
            A low value says that it wanted to write something else.
    """

    label: str
    probabilities: Mapping[str, float]
    mass: float


@dataclass(frozen=True)
class Excerpt:
    """A text, or its beginning, that fits the context: `kept` of its `tokens`."""

    text: str
    tokens: int
    kept: int
