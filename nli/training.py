"""Fine-tuning of a cross-encoder on labelled pairs, with sentence-transformers' trainer.

A batch is limited by its tokens, not its pairs. Pairs are sorted by length within large shuffled
chunks, so little of a batch is padding. A killed training resumes at the last checkpoint.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from nli.adapter import add_adapter, check_further, save_adapter
from nli.batching import token_budget_batches
from nli.encoder import new_cross_encoder, token_lengths
from nli.errors import TaggerError
from nli.folder import check_files, sha256_of, write_whole
from nli.labels import LABELS
from nli.model import device_of, native_precision, reason
from nli.pairs import LabelledPair
from nli.passes import TrainingSettings, batches

if TYPE_CHECKING:
    import torch
    from sentence_transformers.cross_encoder import CrossEncoder
    from transformers import TrainerState

CHECKPOINTS = "checkpoints"
SETTINGS = "training.json"
WEIGHTS = "model.safetensors"


@dataclass(frozen=True)
class Progress:
    """Progress of a training run: pairs seen, total, and recent mean loss in nats."""

    pairs: int
    total: int
    loss: float | None = None


CURVE = "curve.jsonl"


class CurvePoint(BaseModel):
    """The development pairs scored at one moment.

    Attributes:
        step, pairs: Batches and pairs trained on so far.
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
        except ValidationError:  # cut short by a kill
            continue
        # A run that is resumed at a checkpoint scores the steps after it again.
        points[point.step] = point
    return [points[step] for step in sorted(points)]


def keep_point(out: Path, point: CurvePoint) -> None:
    """Add a point to the curve of a training run."""
    path = out / CURVE
    line = point.model_dump_json()
    at_line_start = not path.exists() or path.read_bytes().endswith(b"\n")
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n" if at_line_start else "\n" + line + "\n")


def evaluation(
    model: "CrossEncoder", dev: Sequence[LabelledPair], *, step: int, pairs: int, batch_tokens: int
) -> CurvePoint:
    """Score the development pairs after `step` updates by `pairs` pairs."""
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


def train(
    settings: TrainingSettings,
    pairs: Sequence[LabelledPair],
    dev: Sequence[LabelledPair],
    out: Path,
    *,
    on_progress: Callable[[Progress], None] = lambda _: None,
    on_evaluation: Callable[[CurvePoint], None] = lambda _: None,
) -> list[CurvePoint]:
    """Train a tagger and leave it in a folder; after a kill the same call resumes.

    Args:
        settings: How it learns.
        pairs: Training pairs.
        dev: Development pairs for the curve; never trained on.
        out: The tagger's folder: safetensors weights of half precision, tokenizer, config with the
            label order, the settings and the validation curve, which is returned. With an adapter,
            the weights are those of adapter and head: see `nli.adapter.merge`.
        on_progress: Called after every batch.
        on_evaluation: Called with every point of the curve.

    Raises:
        TaggerError: No pairs, a label without pairs, an unusable encoder, an adapter of another
            rank or base, or a folder with another training run, another model or a damaged
            checkpoint.
    """
    present = {pair.label for pair in pairs}
    missing = [label for label in LABELS if label not in present]
    if missing:
        raise TaggerError(
            f"no training pair has the label '{missing[0]}'; all three are needed to train a tagger"
        )
    if not dev:
        raise TaggerError("development pairs are missing; name a file of them")
    if round(settings.epochs * sum(settings.repeats.get(pair.source, 1) for pair in pairs)) == 0:
        raise TaggerError(
            f"{settings.epochs:g} passes with these repeats use none of the {len(pairs):,} pairs;"
            " make more passes, or repeat a source at least once"
        )
    if settings.further is not None:
        check_further(settings.further, settings.base, settings.adapter)
    _claim(out, settings, pairs, dev)
    if not _finished(out):
        _fit(out, settings, pairs, dev, on_progress=on_progress, on_point=on_evaluation)
    return curve(out)


def _finished(out: Path) -> bool:
    return any(out.glob("*model.safetensors"))


def _sha256(lines: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()


def _claim(
    out: Path,
    settings: TrainingSettings,
    pairs: Sequence[LabelledPair],
    dev: Sequence[LabelledPair],
) -> None:
    """Record what is trained here, or check that it is the same as before."""
    described = settings.model_dump(mode="json") | {
        "pairs": len(pairs),
        "pairs_sha256": _sha256(pair.model_dump_json() for pair in pairs),
        "dev_sha256": _sha256(pair.model_dump_json() for pair in dev),
    }
    if settings.adapter is not None:
        described["base_sha256"] = sha256_of(settings.base / WEIGHTS)
    path = out / SETTINGS
    if out.resolve() == settings.base.resolve():
        raise TaggerError(f"{out} is the encoder to start from; choose another folder to train in")
    if _finished(out) and not path.exists():
        raise TaggerError(f"{out} holds a model that was not trained here; choose another folder")
    if not path.exists():
        check_files(settings.base)  # refuse it before anything is written
    try:
        out.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            write_whole(path, (json.dumps(described, indent=2) + "\n").encode())
    except OSError as error:
        raise TaggerError(f"{out} cannot be written ({error.strerror}); choose another") from error
    try:
        before = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise TaggerError(f"{path} is damaged; remove the folder, or choose another") from error
    # Settings that an earlier version did not know had their defaults.
    known = {name: field.default for name, field in TrainingSettings.model_fields.items()} | before
    differing = [key for key in described if known.get(key) != described[key]]
    if differing:
        raise TaggerError(
            f"{out} holds a training run with another '{differing[0]}' "
            f"({known.get(differing[0])}); choose another folder, or remove this one"
        )


def _fit(
    out: Path,
    settings: TrainingSettings,
    pairs: Sequence[LabelledPair],
    dev: Sequence[LabelledPair],
    *,
    on_progress: Callable[[Progress], None],
    on_point: Callable[[CurvePoint], None],
) -> None:
    # Slow to import, and only needed to train.
    from datasets import Dataset, disable_progress_bars
    from safetensors.torch import load_file, save_file
    from sentence_transformers import cross_encoder
    from sentence_transformers.base.evaluation import BaseEvaluator
    from sentence_transformers.base.sampler import DefaultBatchSampler
    from sentence_transformers.cross_encoder.losses import CrossEntropyLoss
    from transformers import TrainerCallback
    from transformers.trainer_callback import PrinterCallback
    from transformers.utils import logging

    disable_progress_bars()
    logging.disable_progress_bar()
    logging.set_verbosity_error()  # that the classifier's weights are new is no news
    model = new_cross_encoder(settings.base, max_tokens=settings.max_tokens, seed=settings.seed)
    rank = settings.adapter
    adapter = None if rank is None else add_adapter(model.model, rank, settings.further)
    plan = batches(settings, [pair.source for pair in pairs], token_lengths(model, pairs))
    sizes = list(accumulate((len(batch) for batch in plan), initial=0))

    class PlannedBatches(DefaultBatchSampler):  # type: ignore[misc]  # no type hints
        """All passes as one: a resumed run skips the batches already seen."""

        def __iter__(self) -> Iterator[list[int]]:
            yield from plan

        def __len__(self) -> int:
            return len(plan)

    class PlannedTrainer(cross_encoder.CrossEncoderTrainer):  # type: ignore[misc]  # no type hints
        # Not as an argument of the trainer: it keeps its arguments in every checkpoint.
        def get_batch_sampler(self, dataset: Any, **options: Any) -> PlannedBatches:
            return PlannedBatches(dataset, **options)

        # With an adapter, a checkpoint holds only what is trained.
        def _save(self, output_dir: str, *_: Any, **__: Any) -> None:
            Path(output_dir).mkdir(parents=True, exist_ok=True)
            save_file(self._trained(), Path(output_dir) / WEIGHTS)

        def _load_from_checkpoint(self, checkpoint: str, *_: Any) -> None:
            kept = load_file(Path(checkpoint) / WEIGHTS)
            for name, part in self._trained().items():
                part.copy_(kept[name])

        def _trained(self) -> dict[str, "torch.Tensor"]:
            return {name: p.data for name, p in model.named_parameters() if p.requires_grad}

    class DevelopmentScore(BaseEvaluator):  # type: ignore[misc]  # no type hints
        """Scores the development pairs and keeps the curve."""

        def __call__(
            self, model: "CrossEncoder", *_: Any, steps: int = -1, **__: Any
        ) -> dict[str, float]:
            step = len(plan) if steps == -1 else steps
            room = 4 * settings.batch_tokens  # no room is needed for gradients
            point = evaluation(model, dev, step=step, pairs=sizes[step], batch_tokens=room)
            keep_point(out, point)
            on_point(point)
            return {"accuracy": point.accuracy, "cross_entropy": point.loss}

    class Watch(TrainerCallback):  # type: ignore[misc]  # no type hints
        """Reports progress."""

        loss: float | None = None
        begun = False

        def on_train_begin(self, *_: Any, **__: Any) -> None:
            self.begun = True

        def on_log(self, *_: Any, logs: Mapping[str, float] | None = None, **__: Any) -> None:
            self.loss = (logs or {}).get("loss", self.loss)

        def on_step_end(self, _args: Any, state: "TrainerState", *_: Any, **__: Any) -> None:
            on_progress(Progress(sizes[state.global_step], sizes[-1], self.loss))

    place, watch = device_of(None), Watch()
    precision = native_precision(place)
    trainer = PlannedTrainer(
        model=model,
        args=cross_encoder.CrossEncoderTrainingArguments(
            output_dir=str(out / CHECKPOINTS),
            num_train_epochs=1,
            learning_rate=settings.learning_rate,
            warmup_steps=min(settings.warmup_steps, len(plan) // 10),
            weight_decay=0.01,
            optim="adamw_torch_fused",
            bf16=precision == "bf16",
            fp16=precision == "fp16",
            use_cpu=place.type == "cpu",
            eval_strategy="steps",
            eval_steps=max(1, len(plan) // settings.evaluations),
            save_strategy="steps",
            save_steps=max(1, len(plan) // settings.checkpoints),
            save_total_limit=2,  # a kill while writing one leaves the one before
            logging_steps=20,
            report_to="none",
            disable_tqdm=True,
            seed=settings.seed,
        ),
        train_dataset=Dataset.from_dict(
            {
                "premise": [pair.premise for pair in pairs],
                "hypothesis": [pair.hypothesis for pair in pairs],
                "label": [LABELS.index(pair.label) for pair in pairs],
            }
        ),
        loss=CrossEntropyLoss(model),
        evaluator=DevelopmentScore(),
        callbacks=[watch],
    )
    trainer.remove_callback(PrinterCallback)
    last = _last_checkpoint(out / CHECKPOINTS)
    try:
        trainer.train(resume_from_checkpoint=last and str(last))
    except Exception as error:
        if last is None or watch.begun:
            raise
        raise TaggerError(
            f"{last} cannot be resumed: {reason(error)}; remove it to resume from an earlier"
            " one or from the start"
        ) from error
    if not any(point.step == len(plan) for point in curve(out)):
        trainer.evaluate()
    _save(model, adapter, settings.base, out)


def _last_checkpoint(folder: Path) -> Path | None:
    """The newest whole checkpoint, if any; partial ones are removed.

    The trainer's state is the last file of a checkpoint to be written.
    """
    whole = {}
    for checkpoint in folder.glob("checkpoint-*"):
        try:
            state = json.loads((checkpoint / "trainer_state.json").read_bytes())
            whole[int(state["global_step"])] = checkpoint
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            shutil.rmtree(checkpoint, ignore_errors=True)
    return whole[max(whole)] if whole else None


def _save(model: "CrossEncoder", adapter: Any, base: Path, out: Path) -> None:
    """Write the finished tagger: fp16 weights, and a config that says to load them as fp32.

    If it said fp16, the tagger would by default also compute in fp16, which is slow on CPUs.
    """
    staged = out / "finished"
    if adapter is None:
        halved = {name: weight.half() for name, weight in model.model.state_dict().items()}
        model.model.save_pretrained(staged, state_dict=halved)
    else:
        save_adapter(adapter, base, staged)
    model.tokenizer.save_pretrained(staged)
    # The weights come last: a folder that has them is a finished tagger.
    for file in sorted(staged.iterdir(), key=lambda file: file.suffix == ".safetensors"):
        file.replace(out / file.name)
    staged.rmdir()
    shutil.rmtree(out / CHECKPOINTS)
