"""Corrections of label probabilities by a bias alone."""

from collections.abc import Sequence

from pipelines.files import replace_text
from pipelines.judge.correction import Correction, StoredCorrection, correction_file


def of_bias(labels: Sequence[str], bias: Sequence[float]) -> Correction:
    """A correction of these labels by these numbers."""
    return Correction(labels=tuple(labels), method="bias", bias=tuple(bias))


def store(correction: Correction, model: str, prompt: str) -> None:
    """As `contested lab calibrate` stores it for a model and a prompt, by their digests."""
    made = StoredCorrection(
        correction=correction, name="m", model=model, prompt=prompt, pairs="pairs.jsonl"
    )
    replace_text(correction_file(model, prompt), made.model_dump_json())
