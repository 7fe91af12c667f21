"""Trains the embedded classifier, and says by cross-validation what it is worth."""

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Any

from pipelines.conflicts.classifier import FURTHEST, Fold, Linear, TypeClassifier, digest_of
from pipelines.conflicts.features import GROUPS, LEARNT, Features, Group
from pipelines.conflicts.taxonomy import ConflictType

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FOLDS = 10

STRENGTHS = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Inverse strengths of the penalty, of which each training chooses one by its own folds."""

INNER_FOLDS = 5
"""Fewer where no type has so many rows."""

DECIMALS = 6
"""Of all numbers that are kept."""


@dataclass(frozen=True)
class LabelledQuery:
    """A query with its features, and the type that annotators gave it."""

    query: str
    features: Features
    type: ConflictType


def names_of(groups: Iterable[Group]) -> tuple[str, ...]:
    """The features of some groups, in order."""
    wanted = set(groups)
    return tuple(name for group, names in GROUPS.items() if group in wanted for name in names)


def fit(rows: Sequence[LabelledQuery], names: Sequence[str], *, seed: int = 0) -> Linear:
    """Multinomial logistic regression with an L2 penalty, its strength chosen by inner folds.

    Features that never vary are left out; where all are, what is learnt is how common each type
    is. The penalty is the one whose log loss on held-out rows is least, so that nothing outside of
    `rows` has a part in it. The seed decides the inner folds.

    Raises:
        ValueError: There is one type only.
    """
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    values = _matrix(rows, names)
    # What the rounding below makes 0 does not vary.
    keep = np.flatnonzero(values.std(axis=0).round(DECIMALS) > 0)
    means, scales = values[:, keep].mean(axis=0), values[:, keep].std(axis=0)
    standard = np.clip((values[:, keep] - means) / scales, -FURTHEST, FURTHEST)
    types = np.array([str(row.type) for row in rows])
    if len(set(types)) < 2:
        raise ValueError("there is one type only, so nothing to tell apart")
    if not keep.size:
        return _by_frequency(rows)
    strength = _strength(standard, types, seed)
    model = LogisticRegression(C=strength, max_iter=2000).fit(standard, types)
    weights, intercepts = _of_each_type(model)
    return Linear(
        features=tuple(names[i] for i in keep),
        means=_rounded(means),
        scales=_rounded(scales),
        types=tuple(ConflictType(name) for name in model.classes_),
        weights=tuple(_rounded(row) for row in weights),
        intercepts=_rounded(intercepts),
    )


def cross_validation(
    rows: Sequence[LabelledQuery], names: Sequence[str], *, folds: int = FOLDS, seed: int = 0
) -> list[Fold]:
    """One classifier for each fold, trained on all the others; folds have all types alike.

    Equal queries are in one fold. The seed decides which query is in which; two types have at least
    two different queries each, and one at least as many as there are folds, at least 2.
    """
    first = {digest_of(row.query): row for row in rows}
    types = [str(row.type) for row in first.values()]
    digests = list(first)
    return [
        Fold(
            held_out=(held_out := frozenset(digests[i] for i in test)),
            linear=fit(
                [row for row in rows if digest_of(row.query) not in held_out], names, seed=seed
            ),
        )
        for _, test in _folds(types, folds, seed)
    ]


def held_out_predictions(rows: Sequence[LabelledQuery], made: Sequence[Fold]) -> list[ConflictType]:
    """The most probable type of each row by the fold that never saw it."""
    by_query = {name: fold.linear for fold in made for name in fold.held_out}
    found = []
    for row in rows:
        shares = by_query[digest_of(row.query)].probabilities(row.features)
        found.append(max(shares, key=lambda each: shares[each]))
    return found


def train(
    rows: Sequence[LabelledQuery],
    trained_on: Mapping[str, str | int],
    tagger: str,
    made: Sequence[Fold],
    *,
    groups: Sequence[Group] = LEARNT,
    seed: int = 0,
) -> TypeClassifier:
    """A classifier of all rows, with those of its cross-validation.

    Args:
        rows: What it learns from.
        trained_on: What they are; kept in the file.
        tagger: Digest of the tagger.
        made: The cross-validation of the same rows and groups.
        groups: Features to learn from.
        seed: As of `fit`.
    """
    return TypeClassifier(
        trained_on=dict(trained_on),
        tagger=tagger,
        whole=fit(rows, names_of(groups), seed=seed),
        folds=tuple(made),
    )


def _by_frequency(rows: Sequence[LabelledQuery]) -> Linear:
    """What gives each type its share of the rows, whatever the features."""
    counts = Counter(row.type for row in rows)
    types = tuple(each for each in ConflictType if each in counts)
    return Linear(
        features=(),
        means=(),
        scales=(),
        types=types,
        weights=((),) * len(types),
        intercepts=tuple(round(log(counts[each] / len(rows)), DECIMALS) for each in types),
    )


def _matrix(rows: Sequence[LabelledQuery], names: Sequence[str]) -> "NDArray[np.float64]":
    """The features, (n, f), with the column's mean for what is not known."""
    import numpy as np

    values = np.array([[row.features[name] for name in names] for row in rows], dtype=np.float64)
    known = np.isfinite(values)
    means = np.where(known, values, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.where(known, values, means)


def _strength(standard: "NDArray[np.float64]", types: "NDArray[np.str_]", seed: int) -> float:
    """The strength whose log loss on held-out rows is least; the least where none can be tried."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    folds = min(INNER_FOLDS, max(Counter(types).values()))
    splits = [
        split
        for split in (_folds(list(types), folds, seed) if folds > 1 else [])
        if len(set(types[split[0]])) > 1
    ]

    def loss(strength: float) -> float:
        total = 0.0
        for train_on, test in splits:
            model = LogisticRegression(C=strength, max_iter=2000)
            model.fit(standard[train_on], types[train_on])
            column = {name: i for i, name in enumerate(model.classes_)}
            shares = model.predict_proba(standard[test])
            for row, name in zip(shares, types[test], strict=True):
                # A type that a fold lacks altogether costs as much with every strength.
                total -= np.log(row[column[name]]) if name in column else 0.0
        return total

    return min(STRENGTHS, key=loss)


def _folds(
    types: Sequence[str], folds: int, seed: int
) -> list[tuple["NDArray[np.intp]", "NDArray[np.intp]"]]:
    from sklearn.model_selection import StratifiedKFold

    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # Misinformation has fewer rows than there are folds; then some folds have none of it.
        warnings.filterwarnings("ignore", message="The least populated class")
        return list(splitter.split(types, types))


def _of_each_type(model: Any) -> tuple["NDArray[np.float64]", "NDArray[np.float64]"]:
    """Weights (t, f) and intercepts (t,); of two types scikit-learn keeps the second's alone."""
    import numpy as np

    weights, intercepts = model.coef_, model.intercept_
    if len(model.classes_) == 2:
        return np.vstack([-weights / 2, weights / 2]), np.hstack([-intercepts / 2, intercepts / 2])
    return weights, intercepts


def _rounded(values: "NDArray[np.float64]") -> tuple[float, ...]:
    return tuple(round(float(value), DECIMALS) for value in values)
