"""F1 of a list of answers, with recall or with recall-5 (ALCE of QAMPARI, section 3.2)."""


def list_f1(precision: float, recall: float) -> float:
    """Harmonic mean of an answer's precision and recall, in [0, 1]; 0 where both are 0."""
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0
