"""The conflict score kappa of ConRAG: how much evidence on two sides disagrees."""

EPSILON = 1e-6
"""The constant of the denominator, much below the confidence of any label (1/3 and more)."""


def kappa(support: float, refute: float, *, epsilon: float = EPSILON) -> float:
    """1 - |U_sup - U_ref| / (U_sup + U_ref + epsilon) (ConRAG, section 2, conflict scoring).

    Where a side has no evidence there is nothing to disagree with, and the score is 0. The formula
    as it stands gives 1 without any evidence at all, which cannot be meant. It lies in [0, 1]; 1 is
    evidence that is balanced.
    """
    if min(support, refute) <= 0:
        return 0.0
    return 1 - abs(support - refute) / (support + refute + epsilon)
