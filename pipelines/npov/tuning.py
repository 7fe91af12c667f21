"""Soft prompt tuning: a few vectors before the input are learned, the model stays unchanged.

It follows the paper (NPOV, sections 2.1 and 3.3, appendix B), after Lester et al. (2021). After a
kill at any point, the same call resumes at the last measurement of the dev loss: everything that it
needs is in a safetensors file beside the prompt's.
"""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.errors import InputError
from pipelines.files import replace_bytes
from pipelines.npov.classifier import (
    Pair,
    Tokens,
    batches,
    log_probabilities,
    scored,
    tokenised,
    with_prompt,
)
from pipelines.npov.soft_prompt import (
    Curve,
    SoftPrompt,
    Task,
    TunedOn,
    TuningSettings,
    read_tensors,
)
from salience.decoder import Decoder

WEIGHT_DECAY = 1e-5

FREQUENT = 5_000
"""Number of frequent tokens that the first vectors are drawn from."""

_ONE_BYTE = re.compile(r"<0x[0-9A-F]{2}>|.", re.DOTALL)


class Tuner:
    """The vectors being learned, through peft, and their optimiser; the model stays frozen."""

    def __init__(self, decoder: Decoder, settings: TuningSettings) -> None:
        import torch
        from transformers.optimization import Adafactor

        self.reserved = settings.tokens
        self.model = with_prompt(decoder, initial_vectors(decoder, settings))
        (self.weight,) = [
            parameter for parameter in self.model.parameters() if parameter.requires_grad
        ]
        assert self.weight.dtype == torch.float32  # noqa: S101 - updates of bf16 would be lost
        self.optimiser = Adafactor(
            [self.weight],
            lr=settings.learning_rate,
            scale_parameter=False,
            relative_step=False,
            weight_decay=WEIGHT_DECAY,
        )

    def vectors(self) -> NDArray[np.float32]:
        """(tokens, d), a copy."""
        return np.array(self.weight.detach().cpu().numpy())

    def momentum(self) -> dict[str, NDArray[Any]]:
        """The optimiser's state."""
        import torch

        state = self.optimiser.state[self.weight]
        return {name: torch.as_tensor(value).cpu().numpy() for name, value in state.items()}

    def restore(self, vectors: NDArray[np.float32], momentum: dict[str, NDArray[Any]]) -> None:
        """Continue from stored `vectors` and `momentum`."""
        import torch

        with torch.no_grad():
            self.weight.copy_(torch.from_numpy(vectors))
        state = {
            # Step counts are used as numbers, everything else as tensors.
            name: int(value.item())
            if name == "step"
            else torch.from_numpy(value).to(self.weight.device)
            for name, value in momentum.items()
        }
        if state:
            self.optimiser.state[self.weight] = state

    def loss(self, items: Sequence[Tokens]) -> float:
        """Nats per target token."""
        values = scored(self.model, items, reserved=self.reserved)
        return _finite(-float(np.concatenate(values).mean(dtype=np.float64)))

    def update(self, items: Sequence[Tokens], rate: float) -> float:
        """One step; returns the loss before it, the mean over all target tokens of the batch."""
        count = sum(len(item.asked) for item in items)
        total = 0.0
        for part in batches(items):
            values = log_probabilities(self.model, [items[n] for n in part], reserved=self.reserved)
            loss = -sum(value.sum() for value in values) / count
            loss.backward()
            total += float(loss.detach())
        self.optimiser.param_groups[0]["lr"] = rate
        self.optimiser.step()
        self.optimiser.zero_grad()
        return _finite(total)


def initial_vectors(decoder: Decoder, settings: TuningSettings) -> NDArray[np.float32]:
    """Embeddings of frequent tokens, drawn at random, as the model's layers see them: (tokens, d).

    If there are too few frequent tokens, some are repeated.
    """
    import torch

    embed = decoder.model.get_input_embeddings()
    usable = frequent_tokens(decoder.tokenizer, embed.weight.shape[0])
    draw = Random(settings.seed)  # noqa: S311  (a sample, not a secret)
    chosen = draw.sample(usable, settings.tokens) if len(usable) >= settings.tokens else usable
    # Through the layer, not its weights: some models scale the embeddings.
    with torch.no_grad():
        vectors = embed(torch.tensor(chosen, device=decoder.model.device)).float().cpu().numpy()
    return np.resize(vectors, (settings.tokens, vectors.shape[1]))


def frequent_tokens(tokenizer: Any, vocabulary: int) -> list[int]:
    """Token ids that stand in for the 5,000 most frequent tokens, among those with an embedding.

    Token frequencies are not known offline. Vocabularies of byte pairs are in the order in which
    pairs were merged, the most frequent pair first. So the lowest ids are taken, except those of
    special and added tokens, single characters and bytes.

    Raises:
        InputError: No token qualifies.
    """
    special = {*tokenizer.all_special_ids, *tokenizer.get_added_vocab().values()}
    texts = tokenizer.convert_ids_to_tokens(range(min(vocabulary, len(tokenizer))))
    usable = (
        token
        for token, text in enumerate(texts)
        if token not in special and text and not _ONE_BYTE.fullmatch(text)
    )
    tokens = list(islice(usable, FREQUENT))
    if not tokens:
        raise InputError("the model's vocabulary has only single characters; use another model")
    return tokens


def _finite(loss: float) -> float:
    if not np.isfinite(loss):
        raise InputError(
            "the loss is not a finite number; lower the learning rate, or compute in fp32"
        )
    return loss


_OPTIMISER = "optimiser."


def tune(
    decoder: Decoder,
    train: Sequence[Pair],
    dev: Sequence[Pair],
    out: Path,
    *,
    task: Task,
    model: str,
    settings: TuningSettings,
    tuned_on: TunedOn,
    on_progress: Callable[[int, int, float], None] = lambda *_: None,
) -> SoftPrompt:
    """Tune a soft prompt, and save the one with the lowest dev loss.

    During tuning, `out` holds the best prompt so far. Examples in `dev` only measure the loss and
    are never learned. `model` is the digest of the decoder's folder, and `tuned_on` is the record
    of examples for the prompt's file. A batch too large for a forward pass is passed in parts whose
    gradients are summed. `on_progress` gets the updates done, the most there will be, and the last
    training loss, in nats per target token.

    Raises:
        InputError: There are no training or no dev examples, an example does not fit the model, the
            loss is not finite, or `out` exists and is not from an unfinished run of this tuning.
    """
    if not train or not dev:
        which = "dev" if train else "training"
        raise InputError(f"there are no {which} examples; name data that has some")
    described = json.dumps(
        {
            "model": model,
            "task": task,
            "precision": decoder.precision,
            "settings": settings.model_dump(),
            "examples": hashlib.sha256(json.dumps([train, dev]).encode()).hexdigest(),
        }
    )
    state = _read_state(out, described)
    learned = tokenised(decoder, train, reserved=settings.tokens)
    watched = tokenised(decoder, dev, reserved=settings.tokens)
    tuner = Tuner(decoder, settings)

    def prompt(state: State) -> SoftPrompt:
        return SoftPrompt(
            vectors=state.best,
            model=model,
            task=task,
            settings=settings,
            curve=state.curve,
            tuned_on=tuned_on,
        )

    def looked(best: NDArray[np.float32], curve: Curve, step: int) -> State:
        loss, vectors = tuner.loss(watched), tuner.vectors()
        better = all(loss < other for _, other in curve)
        best = vectors if better else best
        now = State(described, vectors, best, tuner.momentum(), (*curve, (step, loss)))
        now.write(out)
        if better:
            prompt(now).save(out)
        return now

    if state is None:
        state = looked(tuner.vectors(), (), 0)
    else:
        tuner.restore(state.vectors, state.momentum)
    while not ended(settings, state.curve):
        done = state.curve[-1][0]
        stop = min(settings.steps, done + settings.evaluate_every)
        for step in range(done + 1, stop + 1):
            batch = [learned[place] for place in batch_places(settings, len(learned), step)]
            on_progress(step, settings.steps, tuner.update(batch, rate(settings, step)))
        state = looked(state.best, state.curve, stop)
    # Save it again, in case an earlier kill came between the last state and its prompt.
    prompt(state).save(out)
    state_path(out).unlink(missing_ok=True)
    return prompt(state)


def ended(settings: TuningSettings, curve: Curve) -> bool:
    """Whether all updates are done, or the dev loss has stalled for `patience` measurements."""
    best = min(range(len(curve)), key=lambda number: curve[number][1])
    return curve[-1][0] >= settings.steps or len(curve) - 1 - best >= settings.patience


def rate(settings: TuningSettings, step: int) -> float:
    """The learning rate of update `step`, from 1: a linear rise to the peak, then a linear fall."""
    rise = step / settings.warmup if settings.warmup else 1.0
    fall = (settings.steps - step + 1) / (settings.steps - settings.warmup)
    return settings.learning_rate * min(rise, fall, 1.0)


def batch_places(settings: TuningSettings, count: int, step: int) -> list[int]:
    """Which of `count` examples update `step`, from 1, learns from.

    A pass uses every example once, in a newly drawn order. A batch depends only on the seed and the
    step, so resuming needs no record of earlier ones.
    """
    first = (step - 1) * settings.batch
    orders: dict[int, list[int]] = {}
    places = []
    for number in range(first, first + settings.batch):
        turn, place = divmod(number, count)
        if turn not in orders:
            draw = Random(f"{settings.seed} {turn}")  # noqa: S311  (an order, not a secret)
            orders[turn] = draw.sample(range(count), count)
        places.append(orders[turn][place])
    return places


@dataclass(frozen=True, eq=False)
class State:
    """A tuning at a measurement of the dev loss.

    Its data, settings and model are `described` as JSON. Vectors, (tokens, d), are those of the
    last update, and `best` those with the lowest dev loss.
    """

    described: str
    vectors: NDArray[np.float32]
    best: NDArray[np.float32]
    momentum: dict[str, NDArray[Any]]
    curve: Curve

    def write(self, out: Path) -> None:
        """Store it beside the prompt's file; InputError if that cannot be written."""
        from safetensors.numpy import save

        tensors = {"vectors": self.vectors, "best": self.best}
        tensors |= {_OPTIMISER + name: value for name, value in self.momentum.items()}
        about = {"described": self.described, "curve": json.dumps(self.curve)}
        contiguous = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
        replace_bytes(state_path(out), save(contiguous, metadata=about))


def state_path(out: Path) -> Path:
    """Path of the state of an unfinished tuning."""
    return out.with_name(f"{out.name}.unfinished")


def _read_state(out: Path, described: str) -> State | None:
    """The state to resume this tuning from; None if it has not started.

    InputError if there is a finished prompt, the state of another tuning, or a damaged one.
    """
    path = state_path(out)
    if not path.exists():
        if out.exists():
            raise InputError(f"{out} already exists; name another file, or remove it")
        return None
    tensors, about = read_tensors(path)
    try:
        if about["described"] != described:
            raise InputError(
                f"{path} is from another tuning (other examples, settings or model); name another "
                "--out, or remove it"
            )
        momentum = {
            name.removeprefix(_OPTIMISER): value
            for name, value in tensors.items()
            if name.startswith(_OPTIMISER)
        }
        curve = tuple((int(step), float(loss)) for step, loss in json.loads(about["curve"]))
        return State(described, tensors["vectors"], tensors["best"], momentum, curve)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is damaged; remove it to start again") from error
