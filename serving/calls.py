"""What a call is asked of, how its answer is drawn, and what calls have cost."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ServedIdentity:
    """What decides a model's answers apart from the request.

    Attributes:
        digest: Of the model folder; see `serving.models`.
        engine: Engine, version and numeric type.
        context: Context length in tokens, or None where it is not known.
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
    """What the calls of a client have cost so far, in requests and the servers' tokens.

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
