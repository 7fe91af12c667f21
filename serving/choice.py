"""How likely constrained sampling is to write each of several labels, from few tokens."""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence

from serving.errors import ServingError

NextLogprobs = Callable[[list[int], Sequence[int]], Awaitable[Mapping[int, float]]]
"""(tokens, path) -> log-probability of each token as the next one after the path's tokens."""


async def label_shares(
    labels: Mapping[str, Sequence[int]], next_logprobs: NextLogprobs, depth: int = 0
) -> tuple[dict[str, float], float]:
    """Shares of the labels (label -> token ids), walking the tree that their tokens make.

    Where the labels part, the model is asked once for the probabilities of the next tokens; where
    they do not, constrained decoding has no choice and nothing is asked. A label's share is the
    product of the shares along its path. The first `depth` tokens, the same in all, are behind us.

    Returns:
        Label -> share, summing to 1; and the probability in [0, 1] that the unconstrained model
        goes on with any of them where they first part.

    Raises:
        ServingError: A label's tokens are the beginning of another's.
    """
    branches: dict[int, list[str]] = {}
    for label, tokens in labels.items():
        if len(tokens) <= depth:
            raise ServingError(
                f"the model's tokenizer makes '{label}' the beginning of another label; ask by "
                "--evidence json instead"
            )
        branches.setdefault(tokens[depth], []).append(label)
    if len(branches) == 1:
        return await label_shares(labels, next_logprobs, depth + 1)

    path = next(iter(labels.values()))[:depth]
    logprobs = await next_logprobs(list(branches), path)
    weights = {token: math.exp(logprob) for token, logprob in logprobs.items()}
    mass = sum(weights.values())
    shares: dict[str, float] = {}
    for token, members in branches.items():
        # Where rounding leaves no mass at all, nothing tells the branches apart.
        share = weights[token] / mass if mass > 0 else 1 / len(branches)
        if len(members) == 1:
            shares[members[0]] = share
            continue
        alike = {label: labels[label] for label in members}
        below, _ = await label_shares(alike, next_logprobs, depth + 1)
        shares.update({label: share * part for label, part in below.items()})
    return shares, min(mass, 1.0)
