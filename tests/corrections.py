"""Corrections of label probabilities by a bias only."""

from collections.abc import Sequence

from pipelines.files import replace_text
from pipelines.judge.correction import Correction, StoredCorrection, correction_file


def of_bias(labels: Sequence[str], bias: Sequence[float]) -> Correction:
    """Add a bias to the log-probabilities, without changing their weights."""
    size = range(len(labels))
    weights = tuple(tuple(float(row == column) for column in size) for row in size)
    return Correction(labels=tuple(labels), method="bias", weights=weights, bias=tuple(bias))


def store(correction: Correction, model: str, prompt: str) -> None:
    """Store a correction under digests of model and prompt, as `contested lab calibrate` does."""
    made = StoredCorrection(
        correction=correction, name="m", model=model, prompt=prompt, pairs="pairs.jsonl"
    )
    replace_text(correction_file(model, prompt), made.model_dump_json())
