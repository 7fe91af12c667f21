"""Types from columns of numbers by a small logistic regression, and its worth on unseen rows.

All that is chosen (which columns, how strong a penalty) is chosen by folds of the rows that are
trained on. So in `nested` no row has a part in a choice that is measured on it.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import log
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STRENGTHS: Final = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""Inverse strengths of the penalty, for columns that `Scaling` has scaled."""

FOLDS: Final = 10
INNER_FOLDS: Final = 5
"""Fewer where no type has so many rows."""

VECTORS: Final = frozenset({"question", "evidence"})
"""Blocks of embeddings, whose columns mean nothing each by itself."""

WEIGHTS: Final = (0.0, 0.1, 0.3, 1.0)
"""What a further row may count, where an own one counts 1."""

LEAST: Final = 1e-3
"""Least probability that a held-out row is charged for: no type that a fold lacks decides alone."""


@dataclass(frozen=True)
class Rows:
    """Labelled rows: blocks of columns by name, (n, d) each, NaN for what is not known; n types."""

    blocks: Mapping[str, "NDArray[np.float64]"]
    types: "NDArray[np.str_]"

    def __len__(self) -> int:
        return len(self.types)

    def at(self, places: "NDArray[np.intp]") -> "Rows":
        """The rows at some places, in their order."""
        return Rows({name: each[places] for name, each in self.blocks.items()}, self.types[places])

    def followed_by(self, other: "Rows", blocks: Sequence[str]) -> "Rows":
        """These rows and others, with some of the blocks."""
        import numpy as np

        return Rows(
            {name: np.vstack([self.blocks[name], other.blocks[name]]) for name in blocks},
            np.concatenate([self.types, other.types]),
        )


class Choice(NamedTuple):
    """What a training chooses: blocks of columns, the strength, and what further rows count."""

    blocks: tuple[str, ...]
    strength: float
    further: float = 0.0


class Scaling:
    """Brings blocks to one size: their rows have a mean squared length of 1.

    Columns are taken less their means, and each to the same variance; those of embeddings keep
    theirs. A value that is not known is the mean, and a column that never varies counts for
    nothing.
    """

    def __init__(self, rows: Rows, blocks: Sequence[str]) -> None:
        import numpy as np

        self._of = {}
        for name in blocks:
            values = rows.blocks[name]
            known = np.isfinite(values)
            means = np.where(known, values, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
            variances = np.where(known, values - means, 0).var(axis=0)
            varies = variances > 1e-12
            if name in VECTORS:
                scales = np.full(len(means), np.sqrt(variances.sum()) or np.inf)
            else:
                scales = np.sqrt(np.where(varies, variances, np.inf) * max(varies.sum(), 1))
            self._of[name] = means, scales

    def __call__(self, rows: Rows) -> "NDArray[np.float64]":
        """The scaled columns of all blocks, (n, d)."""
        import numpy as np

        return np.hstack(
            [
                np.nan_to_num((rows.blocks[name] - means) / scales, nan=0.0)
                for name, (means, scales) in self._of.items()
            ]
        )


class Regression:
    """Multinomial logistic regression with an L2 penalty, on the blocks of a choice.

    Further rows, of other data, count as the choice says; columns are scaled by the own rows alone.

    Raises:
        ValueError: The rows are of one type.
    """

    def __init__(self, rows: Rows, choice: Choice, further: Rows | None = None) -> None:
        import numpy as np
        from sklearn.linear_model import LogisticRegression

        self.choice = choice
        self._scaled = Scaling(rows, choice.blocks)
        self._model = LogisticRegression(C=choice.strength, max_iter=2000)
        if further is None or not choice.further:
            self._model.fit(self._scaled(rows), rows.types)
            return
        every = rows.followed_by(further, choice.blocks)
        weights = np.where(np.arange(len(every)) < len(rows), 1.0, choice.further)
        self._model.fit(self._scaled(every), every.types, sample_weight=weights)

    def probabilities(self, rows: Rows) -> list[dict[str, float]]:
        """Of each row, every type of training with its probability."""
        types = [str(each) for each in self._model.classes_]
        shares = self._model.predict_proba(self._scaled(rows)).tolist()
        return [dict(zip(types, own, strict=True)) for own in shares]


def train(
    rows: Rows,
    wanted: Sequence[tuple[str, ...]],
    *,
    further: Rows | None = None,
    seed: int = 0,
) -> Regression:
    """The regression whose choice has the least log loss on rows that inner folds hold out.

    Args:
        rows: What it learns from; at least two types.
        wanted: The blocks that it may take together.
        further: Rows of other data that it may learn from as well, and that it is not chosen by.
        seed: Decides the folds.
    """
    splits = list(folds(rows.types, INNER_FOLDS, seed))
    weights = WEIGHTS[:1] if further is None else WEIGHTS

    def loss(choice: Choice) -> float:
        return -sum(
            log(max(shares.get(str(gold), 0.0), LEAST))
            for train_on, test in splits
            for shares, gold in zip(
                Regression(rows.at(train_on), choice, further).probabilities(rows.at(test)),
                rows.types[test],
                strict=True,
            )
        )

    choices = (Choice(*each) for each in product(wanted, STRENGTHS, weights))
    return Regression(rows, min(choices, key=loss), further)


class Held(NamedTuple):
    """A row by the regression that was trained without it: probabilities, and what it chose."""

    probabilities: Mapping[str, float]
    choice: Choice


def nested(
    rows: Rows,
    wanted: Sequence[tuple[str, ...]],
    *,
    further: Rows | None = None,
    seed: int = 0,
    on_fold: Callable[[], Any] = lambda: None,
) -> list[Held]:
    """Nested cross-validation: each row by a regression that was chosen and trained without it."""
    found: dict[int, Held] = {}
    for train_on, test in folds(rows.types, FOLDS, seed):
        made = train(rows.at(train_on), wanted, further=further, seed=seed)
        for place, own in zip(test, made.probabilities(rows.at(test)), strict=True):
            found[int(place)] = Held(own, made.choice)
        on_fold()
    return [found[place] for place in range(len(rows))]


def folds(
    types: "NDArray[np.str_]", most: int, seed: int
) -> Iterator[tuple["NDArray[np.intp]", "NDArray[np.intp]"]]:
    """Places to train on and to hold out; folds have all types alike, as far as they can."""
    from sklearn.model_selection import StratifiedKFold

    number = min(most, max(Counter(types.tolist()).values()))
    splitter = StratifiedKFold(number, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # Misinformation has fewer rows than there are folds; then some folds have none of it.
        warnings.filterwarnings("ignore", message="The least populated class")
        yield from splitter.split(types, types)
