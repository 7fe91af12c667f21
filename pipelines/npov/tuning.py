"""Soft prompt tuning: a few vectors before the input are learned, the model stays as it is.

As the paper does it (NPOV, sections 2.1 and 3.3, appendix B), after Lester et al. (2021). Killed
anywhere, the same call resumes at the last look at the dev loss: all that it needs to go on is in a
safetensors file beside the prompt's.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.errors import InputError
from pipelines.files import replace_bytes
from pipelines.npov.likelihood import Pair, tokenised
from pipelines.npov.settings import TuningSettings
from pipelines.npov.soft_prompt import Curve, SoftPrompt, Task, read_tensors
from pipelines.npov.tuned_on import TunedOn
from pipelines.npov.tuner import Tuner
from salience.decoder import Decoder

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
    tuned_on: TunedOn | None = None,
    on_progress: Callable[[int, int, float], None] = lambda *_: None,
    on_evaluation: Callable[[int, float], None] = lambda *_: None,
) -> SoftPrompt:
    """Tune a soft prompt, and leave the one of the lowest dev loss in a file.

    While it is tuned, `out` holds the best prompt so far. What it is watched by (`dev`) is never
    learned. `model` is the digest of the decoder's folder, and `tuned_on` is what the prompt's file
    is to tell of the examples. A batch too large for a forward pass is passed in parts whose
    gradients are summed. `on_progress` is told the updates done, the most there will be, and the
    last training loss; `on_evaluation` the step and the dev loss, in nats per target token.

    Raises:
        InputError: There is nothing to learn or to watch by, an example does not fit the model,
            the loss is not finite, or `out` is there already and no unfinished tuning of the same.
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
        return SoftPrompt(state.best, model, task, settings, state.curve, tuned_on)

    def looked(best: NDArray[np.float32], curve: Curve, step: int) -> State:
        loss, vectors = tuner.loss(watched), tuner.vectors()
        better = all(loss < other for _, other in curve)
        best = vectors if better else best
        now = State(described, vectors, best, tuner.momentum(), (*curve, (step, loss)))
        now.write(out)
        if better:
            prompt(now).save(out)
        on_evaluation(step, loss)
        return now

    if state is None:
        state = looked(tuner.vectors(), (), 0)
    else:
        tuner.restore(state.vectors, state.momentum)
    while not ended(settings, state.curve):
        done = state.curve[-1][0]
        upto = min(settings.steps, done + settings.evaluate_every)
        for step in range(done + 1, upto + 1):
            batch = [learned[place] for place in batch_places(settings, len(learned), step)]
            on_progress(step, settings.steps, tuner.update(batch, rate(settings, step)))
        state = looked(state.best, state.curve, upto)
    # Once more: a kill may have fallen between the last state and its prompt.
    prompt(state).save(out)
    state_path(out).unlink(missing_ok=True)
    return prompt(state)


def ended(settings: TuningSettings, curve: Curve) -> bool:
    """Whether all updates are done, or the dev loss has not fallen for so many looks."""
    best = min(range(len(curve)), key=lambda look: curve[look][1])
    return curve[-1][0] >= settings.steps or len(curve) - 1 - best >= settings.patience


def rate(settings: TuningSettings, step: int) -> float:
    """The learning rate of update `step`, from 1: a linear rise to the peak, then a linear fall."""
    rise = step / settings.warmup if settings.warmup else 1.0
    fall = (settings.steps - step + 1) / (settings.steps - settings.warmup)
    return settings.learning_rate * min(rise, fall, 1.0)


def batch_places(settings: TuningSettings, count: int, step: int) -> list[int]:
    """Which of `count` examples update `step`, from 1, learns from.

    Each comes once in a pass, in an order drawn anew. It depends on the seed and the step alone, so
    a tuning that goes on needs no memory of it.
    """
    first = (step - 1) * settings.batch
    orders: dict[int, list[int]] = {}
    found = []
    for number in range(first, first + settings.batch):
        turn, place = divmod(number, count)
        if turn not in orders:
            draw = Random(f"{settings.seed} {turn}")  # noqa: S311  (an order, not a secret)
            orders[turn] = draw.sample(range(count), count)
        found.append(orders[turn][place])
    return found


@dataclass(frozen=True, eq=False)
class State:
    """A tuning, as it was when the dev loss was looked at.

    What is tuned, on what and how is `described` as JSON. Vectors, (tokens, d), are those of the
    last update, and the `best` those of the lowest dev loss.
    """

    described: str
    vectors: NDArray[np.float32]
    best: NDArray[np.float32]
    momentum: dict[str, NDArray[Any]]
    curve: Curve

    def write(self, out: Path) -> None:
        """Keep it beside the prompt's file; an `InputError` where that cannot be written."""
        from safetensors.numpy import save

        tensors = {"vectors": self.vectors, "best": self.best}
        tensors |= {_OPTIMISER + name: value for name, value in self.momentum.items()}
        about = {"described": self.described, "curve": json.dumps(self.curve)}
        whole = {name: np.ascontiguousarray(each) for name, each in tensors.items()}
        replace_bytes(state_path(out), save(whole, metadata=about))


def state_path(out: Path) -> Path:
    """Where the state of an unfinished tuning is kept."""
    return out.with_name(f"{out.name}.unfinished")


def refuse_finished(out: Path) -> None:
    """Refuse, by an `InputError`, to tune a prompt that is there and not being tuned."""
    if out.exists() and not state_path(out).exists():
        raise InputError(f"{out} is there already; name another file, or remove it")


def _read_state(out: Path, described: str) -> State | None:
    """The state of this tuning to resume; None where nothing was begun.

    An `InputError` says that there is a finished prompt, or the state of another tuning, or a
    damaged one.
    """
    refuse_finished(out)
    path = state_path(out)
    if not path.exists():
        return None
    tensors, about = read_tensors(path)
    try:
        if about["described"] != described:
            raise InputError(
                f"{path} is of another tuning (other examples, settings or model); name another "
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
        raise InputError(f"{path} is damaged; remove it to begin anew") from error
