"""The items of an answer that is a list (ALCE of QAMPARI: Gao et al. 2023, their code)."""

from pipelines.metrics.answer_recall import normalised


def list_items(output: str) -> list[str]:
    """The items of a comma-separated list, as they stand there; empty ones are left out.

    Points at its end go, then commas. A name with a comma in it is two items, as in ALCE. An item
    of which normalisation leaves nothing is empty.
    """
    parts = output.rstrip().rstrip(".").rstrip(",").split(",")
    return [part.strip() for part in parts if normalised(part)]
