"""One label of several: how likely constrained sampling is to write each, from few tokens."""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from serving.errors import ServingError

NextLogprobs = Callable[[list[int], Sequence[int]], Awaitable[Mapping[int, float]]]
"""(tokens, path) -> log-probability of each token as the next one after the path's tokens."""


@dataclass(frozen=True)
class Choice:
    """What a model finds of several labels.

    Attributes:
        probabilities: Label -> probability, summing to 1: how likely constrained sampling at
            temperature 1 is to write this label.
        mass: Probability in [0, 1] that the unconstrained model begins with one of the labels.
            A low value says that it wanted to write something else.
    """

    probabilities: Mapping[str, float]
    mass: float

    @property
    def label(self) -> str | None:
        """The most probable label; None in a tie, which no order of the labels decides."""
        return None if self.tied else max(self.probabilities, key=self.probabilities.__getitem__)

    @property
    def tied(self) -> tuple[str, ...]:
        """Labels that are equally and most probable; empty where one label is."""
        most = max(self.probabilities.values())
        first = tuple(label for label, share in self.probabilities.items() if share == most)
        return first if len(first) > 1 else ()

    @property
    def problem(self) -> str | None:
        """Why there is no label, in one line."""
        return f"equally probable: {', '.join(self.tied)}" if self.tied else None


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
