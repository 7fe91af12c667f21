"""The validation curve of a training run: development pairs scored during training."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from nli.batching import token_budget_batches
from nli.encoder import token_lengths
from nli.labels import LABELS
from nli.model import native_precision
from nli.pairs import LabelledPair

if TYPE_CHECKING:
    from sentence_transformers.cross_encoder import CrossEncoder

CURVE = "curve.jsonl"


class CurvePoint(BaseModel):
    """The development pairs scored at one moment.

    Attributes:
        step, pairs: Batches and pairs passed.
        loss: Mean cross-entropy of the development pairs, in nats.
        accuracy: Share labelled right, in [0, 1].
    """

    model_config = ConfigDict(frozen=True)

    step: int
    pairs: int
    loss: float
    accuracy: float


def curve(out: Path) -> list[CurvePoint]:
    """The validation curve that a training run left, in order of steps."""
    path = out / CURVE
    points = {}
    for line in path.read_bytes().split(b"\n") if path.exists() else []:
        try:
            point = CurvePoint.model_validate_json(line)
        except ValidationError:  # a kill tore it
            continue
        # A run that is resumed at a checkpoint scores again what came after it.
        points[point.step] = point
    return [points[step] for step in sorted(points)]


def keep_point(out: Path, point: CurvePoint) -> None:
    """Add a point to the curve of a training run."""
    path = out / CURVE
    line = point.model_dump_json()
    whole = not path.exists() or path.read_bytes().endswith(b"\n")
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n" if whole else "\n" + line + "\n")


def evaluation(
    model: "CrossEncoder", dev: Sequence[LabelledPair], *, step: int, pairs: int, batch_tokens: int
) -> CurvePoint:
    """Score the development pairs, in batches of `batch_tokens`, after `step` and `pairs`."""
    import torch

    texts = [[pair.premise, pair.hypothesis] for pair in dev]
    logits = torch.empty(len(dev), len(LABELS))
    precision = native_precision(model.device)
    dtype = torch.float16 if precision == "fp16" else torch.bfloat16
    for batch in token_budget_batches(token_lengths(model, dev), budget=batch_tokens):
        with torch.autocast(model.device.type, dtype, enabled=precision != "fp32"):
            scores = model.predict(
                [texts[index] for index in batch],
                batch_size=len(batch),
                activation_fn=torch.nn.Identity(),
                convert_to_tensor=True,
                show_progress_bar=False,
            )
        logits[batch] = scores.float().cpu()
    labels = torch.tensor([LABELS.index(pair.label) for pair in dev])
    right = logits.argmax(dim=1) == labels
    return CurvePoint(
        step=step,
        pairs=pairs,
        loss=torch.nn.functional.cross_entropy(logits, labels).item(),
        accuracy=right.float().mean().item(),
    )
