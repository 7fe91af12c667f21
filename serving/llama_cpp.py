"""llama.cpp's server behind `--endpoint`: what is asked of it in other words than of vLLM."""

from collections.abc import Mapping
from typing import Any, Final

ENGINE: Final = "llama.cpp"
"""What the name of the engine begins with in a `ServedIdentity`."""

OWNER: Final = "llamacpp"
"""What it says in `owned_by` of a model's card."""

MOST_LIKELY: Final = 2048
"""Tokens whose log-probabilities are asked for, to find labels among them."""

ALL: Final = 1_000_000
"""More tokens than any vocabulary has: for labels that are not among the most likely."""

# Without these it would leave out unlikely tokens, which vLLM does not.
_WHOLE_DISTRIBUTION: Final = {"top_k": 0, "top_p": 1.0, "min_p": 0.0}
_VLLM_ONLY: Final = ("logprob_token_ids", "allowed_token_ids", "return_tokens_as_token_ids")


def engine(build: str, quantisation: str) -> str:
    """Engine, build and quantisation, as far as the server tells them."""
    return " ".join(filter(None, (ENGINE, build, quantisation)))


def body(request: Mapping[str, Any], most: int = MOST_LIKELY) -> dict[str, Any]:
    """A request of ours as llama.cpp understands it.

    It cannot be asked for the log-probabilities of given tokens, but for those of the `most` likely
    ones, which are of the whole distribution, as vLLM's are. Where it would end at once it gives
    none; told to ignore that, it gives the same.
    """
    wanted = {key: value for key, value in request.items() if key not in _VLLM_ONLY}
    labels = {"top_logprobs": most, "ignore_eos": True} if "logprob_token_ids" in request else {}
    return wanted | labels | _WHOLE_DISTRIBUTION
