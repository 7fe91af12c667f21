"""Calls to a model: its identity, sampling, replies, and cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Generic, TypeVar

from pydantic import BaseModel

Schema = TypeVar("Schema", bound=BaseModel)

ROUNDING = 1e-3
"""How far rounding in 16 bits may push a log-probability above 0."""

MOST_TOKENS = 1_000_000_000
"""More tokens than any call has."""


@dataclass(frozen=True)
class ServedIdentity:
    """Everything that decides a model's answers apart from the request.

    Attributes:
        digest: Digest of the model folder; see `serving.models`.
        engine: Engine, version and numeric type.
        context: Context length in tokens; None if unknown.
    """

    name: str
    digest: str
    engine: str
    context: int | None


@dataclass(frozen=True)
class Sampling:
    """How a completion of at most `max_tokens` is drawn; at temperature 0 greedily, unseeded."""

    max_tokens: int
    temperature: float = 0.0
    seed: int = 0


@dataclass
class Usage:
    """Cost of a client's calls so far, in requests and the servers' tokens.

    Attributes:
        saved_calls: Requests answered from the cache, or by an equal request in flight.
        retries: Requests sent again after a passing fault.
        cached_prefix_tokens: Prompt tokens that the server took from its prefix cache.
    """

    calls: int = 0
    saved_calls: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_prefix_tokens: int = 0

    def add(self, completion: "Completion") -> None:
        """Count a call that a server answered."""
        self.calls += 1
        self.prompt_tokens += completion.prompt_tokens
        self.completion_tokens += completion.completion_tokens
        self.cached_prefix_tokens += completion.cached_prefix_tokens


@dataclass(frozen=True)
class Completion:
    """A text that the model wrote, as stored in the cache.

    Attributes:
        finish_reason: "stop", or "length" if it was cut by `max_tokens`.
        logprobs: Token id -> log-probability at the first position, if requested.
        prompt_logprobs: Log-probability of each prompt token given those before it, from the second
            token on, if requested.
        cached_prefix_tokens: Prompt tokens taken from the server's prefix cache.
    """

    text: str
    finish_reason: str
    logprobs: Mapping[str, float] | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_prefix_tokens: int = 0
    prompt_logprobs: Sequence[float] | None = None

    def __post_init__(self) -> None:
        """Raises ValueError for numbers that no model can give, from a server or an old cache."""
        logprobs = (*(self.logprobs or {}).values(), *(self.prompt_logprobs or ()))
        if not all(type(value) in {int, float} and -inf < value <= ROUNDING for value in logprobs):
            raise ValueError("log-probabilities that are not finite numbers of at most 0")
        counts = (self.prompt_tokens, self.completion_tokens, self.cached_prefix_tokens)
        if not all(type(count) is int and 0 <= count <= MOST_TOKENS for count in counts):
            raise ValueError("counts of tokens that are not numbers from 0 to a billion")

    @property
    def finished(self) -> bool:
        """Whether it ends where the model wanted it to."""
        return self.finish_reason == "stop"


@dataclass(frozen=True)
class Structured(Generic[Schema]):
    """A JSON reply, parsed by the schema and raw, or a one-line reason why it cannot be read.

    `cut` means that the reply ran out of tokens; `value` is then its complete part.
    """

    value: Schema | None
    raw: str
    problem: str | None = None
    cut: bool = False


@dataclass(frozen=True)
class Likelihood:
    """How likely a model finds a text after a prompt, token by token.

    Attributes:
        offsets: Each token's characters [start, end) in the text.
        logprobs: Natural logarithm of its probability given the prompt and the tokens before it.
    """

    offsets: tuple[tuple[int, int], ...]
    logprobs: tuple[float, ...]


@dataclass(frozen=True)
class Choice:
    """A model's probabilities for several labels.

    Attributes:
        probabilities: Label -> probability, summing to 1: how likely constrained sampling at
            temperature 1 writes this label.
        mass: Probability in [0, 1] that the unconstrained model begins with one of the labels.
            A low value means that it wanted to write something else.
    """

    probabilities: Mapping[str, float]
    mass: float

    @property
    def label(self) -> str | None:
        """The most probable label; None in a tie, whatever the order of the labels."""
        return None if self.tied else max(self.probabilities, key=self.probabilities.__getitem__)

    @property
    def tied(self) -> tuple[str, ...]:
        """Labels that tie for the highest probability; empty if one label leads."""
        highest = max(self.probabilities.values())
        leading = tuple(label for label, share in self.probabilities.items() if share == highest)
        return leading if len(leading) > 1 else ()

    @property
    def problem(self) -> str | None:
        """Why there is no label, in one line."""
        return f"equally probable: {', '.join(self.tied)}" if self.tied else None
