"""All that a tuning needs to go on after a kill, in one safetensors file beside the prompt's."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.errors import InputError
from pipelines.files import replace_bytes
from pipelines.npov.soft_prompt import Curve, read_tensors

_OPTIMISER = "optimiser."


@dataclass(frozen=True, eq=False)
class State:
    """A tuning, as it was when the dev loss was looked at.

    Attributes:
        described: What is tuned, on what and how, as JSON; another tuning has another.
        vectors: (tokens, d), those of the last update.
        best: (tokens, d), those of the lowest dev loss.
        momentum: What the optimiser remembers.
        curve: Step -> dev loss, up to now.
    """

    described: str
    vectors: NDArray[np.float32]
    best: NDArray[np.float32]
    momentum: dict[str, NDArray[Any]]
    curve: Curve

    def write(self, out: Path) -> None:
        """Keep it beside the file of the prompt that is tuned; an `InputError` if it cannot be."""
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
    """Refuse to tune a prompt that is there already, unless it is being tuned.

    Raises:
        InputError: It is there, and nothing to resume.
    """
    if out.exists() and not state_path(out).exists():
        raise InputError(f"{out} is there already; name another file, or remove it")


def read_state(out: Path, described: str) -> State | None:
    """The state of this tuning to resume; None where nothing was begun.

    Raises:
        InputError: There is a finished prompt already, the state of another tuning, or a damaged
            one.
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
        return State(
            described=described,
            vectors=tensors["vectors"],
            best=tensors["best"],
            momentum={
                name.removeprefix(_OPTIMISER): value
                for name, value in tensors.items()
                if name.startswith(_OPTIMISER)
            },
            curve=tuple((int(step), float(loss)) for step, loss in json.loads(about["curve"])),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is damaged; remove it to begin anew") from error
