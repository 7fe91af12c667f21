"""A correction of label probabilities (`evidence.correction`) fitted on labelled pairs."""

from collections.abc import Mapping, Sequence
from typing import Final

from pipelines.errors import InputError
from pipelines.evidence.correction import Correction, LabelT, corrected, logs

Rows = Sequence[Mapping[LabelT, float]]
"""Label -> probability of every pair, all with the same labels."""

FEWEST: Final = 30
"""Pairs below which a fit says nothing."""

FOLDS: Final = 5
"""Most parts that pairs are cut into."""


def fitted(rows: Rows[LabelT], gold: Sequence[LabelT]) -> Correction:
    """The correction with which labelled pairs are most likely, by multinomial regression.

    Maximises sum_i log p'_i(gold_i) - |W|^2 / 2 over W and b: Dirichlet calibration (Kull and
    others, arXiv 1910.12656) with scikit-learn's L2 penalty, under which few pairs change less.

    Args:
        rows: Probabilities, n of them.
        gold: The true labels, n of them.

    Raises:
        InputError: A label is missing.
    """
    from sklearn.linear_model import LogisticRegression

    labels = list(rows[0])
    for label in labels:
        if label not in gold:
            raise InputError(f"too few pairs have the label '{label}'; give pairs of all labels")
    design = [[logs(row)[label] for label in labels] for row in rows]
    made = LogisticRegression(C=1.0, max_iter=10_000, tol=1e-8)
    made.fit(design, [labels.index(one) for one in gold])
    return Correction(
        labels=tuple(labels),
        method="regression",
        weights=tuple(tuple(round(float(w), 6) for w in row) for row in made.coef_),
        bias=tuple(round(float(b), 6) for b in made.intercept_),
        pairs=len(rows),
    )


def cross_corrected(
    rows: Rows[LabelT], gold: Sequence[LabelT], groups: Sequence[str], *, seed: int = 0
) -> list[dict[LabelT, float]]:
    """Rows, each corrected by what was fitted on pairs of other groups.

    Args:
        rows: Probabilities, n of them.
        gold: True labels, n of them.
        groups: What pairs share (a question, a claim), n of them.
        seed: Of the parts that groups are drawn into.

    Raises:
        InputError: There are too few pairs, of one group, or of a label.
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
