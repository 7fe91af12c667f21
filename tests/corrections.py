"""Corrections of label probabilities by a bias only."""

from collections.abc import Sequence

from pipelines.files import replace_text
from pipelines.judge.correction import Correction, StoredCorrection, correction_file


def of_bias(labels: Sequence[str], bias: Sequence[float]) -> Correction:
    """A correction that adds a bias to the log-probabilities of labels."""
    return Correction(labels=tuple(labels), method="bias", bias=tuple(bias))


def store(correction: Correction, model: str, prompt: str) -> None:
    """Store a correction under digests of model and prompt, as `contested lab calibrate` does."""
    made = StoredCorrection(
        correction=correction, name="m", model=model, prompt=prompt, pairs="pairs.jsonl"
    )
    replace_text(correction_file(model, prompt), made.model_dump_json())
