"""A correction of label probabilities (`judge.correction`) fitted on labelled pairs."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from nli.pairs import LabelledPair
from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.judge.correction import Correction, LabelT, corrected, logs
from pipelines.judge.judge import Judge
from pipelines.judge.judgement import Relation
from serving.errors import RequestError

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
    true = np.array([[label == one for label in labels] for one in gold], dtype=float)

    def loss(bias: Any) -> tuple[float, Any]:
        made = given + bias
        missed = logsumexp(made, axis=1).sum() - (made * true).sum()
        slope = (softmax(made, axis=1) - true).sum(axis=0) + bias / SPREAD**2
        return float(missed + (bias**2).sum() / (2 * SPREAD**2)), slope

    found = minimize(loss, np.zeros(len(labels)), jac=True, method="L-BFGS-B")
    return Correction(
        labels=tuple(labels),
        method="bias",
        bias=tuple(round(float(number), 6) for number in found.x),
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
            found = await judge([pair.hypothesis], [Document(id="premise", text=pair.premise)])
        except RequestError:
            return None
        finally:
            on_done()
        return found.judgements[0].probabilities

    return await asyncio.gather(*map(shares, pairs))
