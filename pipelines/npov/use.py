"""From how far a response rests on each argument to how likely it has either error.

What the detectors here compare are arguments with sentences of the response, or with its words. As
in the paper (NPOV, section 3.2) a part of the response is grounded as far as in the argument that
it rests on most, and an argument is used as far as by the part that rests on it most.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from pipelines.npov.example import SIDES, NpovExample, Side
from pipelines.npov.result import ErrorScores

Values = NDArray[np.floating]
"""(arguments, parts): how far a part of the response rests on an argument, or says it."""

Links = tuple[tuple[float, ...], ...]
"""Values as results keep them: of each argument, those of the sentences."""

Pool = Literal["mean", "least"]
"""How parts, and arguments, become one number. The mean, of arguments that of the side where it is
smaller, is the paper's for words (appendix C); the least is what a single error moves most."""


POOLS: tuple[Pool, ...] = get_args(Pool)


@dataclass(frozen=True)
class Use:
    """How far a response rests on its arguments, and says them.

    Attributes:
        sides: Of each argument.
        rests: How far each part of the response rests on each argument.
        says: How far each part says each argument; `rests` where a detector has no direction.
    """

    sides: tuple[Side, ...]
    rests: Values
    says: Values

    @classmethod
    def of(cls, example: NpovExample, rests: Values, says: Values | None = None) -> Self:
        """That of an example's arguments, the pro side's first."""
        sides = tuple(side for side in SIDES for _ in example.arguments(side))
        return cls(sides, rests, rests if says is None else says)

    def errors(self, pool: Pool) -> ErrorScores:
        """How likely either error is: 1 - how far parts are grounded, and arguments used.

        None where there is nothing to compare.
        """
        if not self.rests.size:
            return ErrorScores()
        return ErrorScores(
            hallucination=ungrounded(groundings(self.rests), pool),
            coverage=uncovered(uses(self.says), self.sides, pool),
        )

    def by_pool(self, name: str) -> dict[str, ErrorScores]:
        """The scores of either pool, under what a detector is called with it."""
        return {pooled(name, pool): self.errors(pool) for pool in POOLS}


def kept(rests: Values) -> Links:
    """How far sentences rest on arguments, as results have it."""
    return tuple(tuple(map(float, row)) for row in rests)


def pooled(name: str, pool: Pool) -> str:
    """What a detector is called with a pool: "tagger, least"."""
    return f"{name}, {pool}"


def groundings(rests: Values) -> Values:
    """Of each part of a response how far it rests on the argument that it rests on most: (parts,).

    It is equation 2 of NPOV (appendix C), of arguments.
    """
    return np.asarray(rests.max(axis=0))


def uses(says: Values) -> Values:
    """Of each argument how far the part says it that says it most: (arguments,).

    It is equation 1 of NPOV (appendix C), of parts.
    """
    return np.asarray(says.max(axis=1))


def ungrounded(groundings: Values, pool: Pool) -> float:
    """1 - how far a response's parts, of which there are some, are grounded."""
    return 1 - float(groundings.mean() if pool == "mean" else groundings.min())


def uncovered(uses: Values, sides: Sequence[Side], pool: Pool) -> float:
    """1 - how far arguments are used, on average of the side that is used less, or at least.

    Sides are those of the arguments, of which there are some; a side without is passed over.
    """
    if pool == "least":
        return 1 - float(uses.min())
    own = [[use for use, of in zip(uses, sides, strict=True) if of == side] for side in SIDES]
    return 1 - min(float(np.mean(each)) for each in own if each)


def by_part(words: Values, parts: Sequence[int]) -> Values:
    """Values of parts from those of their words, (arguments, words): their mean.

    `parts` has the number of words of each part, in order; of those without words there is none.
    """
    ends = np.cumsum(parts)
    columns = [
        words[:, end - count : end].mean(axis=1)
        for end, count in zip(ends, parts, strict=True)
        if count
    ]
    return np.stack(columns, axis=1) if columns else words[:, :0]
