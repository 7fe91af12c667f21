"""Several numbers of an example as one score, by weights that others taught."""

from collections.abc import Sequence


def cross_validated(
    features: Sequence[Sequence[float]], positive: Sequence[bool], clusters: Sequence[str]
) -> list[float]:
    """Each example's features, weighed by a logistic regression on other clusters; (n,).

    Features are put to one scale, and clusters into five folds, or as many as there are. Scores
    are without the intercept: it follows how many positives a fold leaves over, which would put
    the folds' scores out of order. Empty where some fold's teachers are of one kind alone.
    """
    folds = min(5, len(set(clusters)))
    if folds < 2:
        return []
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold
    from sklearn.preprocessing import StandardScaler

    scaled = StandardScaler().fit_transform(np.asarray(features, dtype=float))
    labels = np.asarray(positive, dtype=bool)
    scores = np.empty(len(labels))
    for taught, asked in GroupKFold(folds).split(scaled, groups=clusters):
        if labels[taught].all() or not labels[taught].any():
            return []
        weights = LogisticRegression().fit(scaled[taught], labels[taught]).coef_[0]
        scores[asked] = scaled[asked] @ weights
    return [float(score) for score in scores]
