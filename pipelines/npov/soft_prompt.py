"""A soft prompt: a few vectors before a model's input, the only thing that tuning changes.

Saved as safetensors: one tensor, and what is known of it as JSON in the file's header.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError

from pipelines.errors import InputError
from pipelines.files import replace_bytes
from pipelines.npov.settings import TuningSettings
from pipelines.npov.tuned_on import TunedOn

Task = Literal["response", "hallucination", "coverage"]

Curve = tuple[tuple[int, float], ...]
"""Updates done -> dev loss in nats per target token."""

TENSOR = "vectors"
ABOUT = "soft_prompt"
"""The header's one field: several would be written in any order, and equal prompts not alike."""


class _Header(BaseModel):
    model: str
    task: Task
    settings: TuningSettings
    curve: Annotated[Curve, Field(min_length=1)]
    tuned_on: TunedOn | None = None


@dataclass(frozen=True, eq=False)
class SoftPrompt:
    """Vectors that a model reads before its input, as if they were embeddings of tokens.

    Attributes:
        vectors: (tokens, d), float32.
        model: Digest of the model that they were tuned for, and that alone can read them.
        curve: Dev losses from update 0 on; `vectors` are those of the lowest.
        tuned_on: Topics and examples; None of files from before they told it.
    """

    vectors: NDArray[np.float32]
    model: str
    task: Task
    settings: TuningSettings
    curve: Curve
    tuned_on: TunedOn | None = None

    @property
    def step(self) -> int:
        """The update after which the vectors were taken."""
        return min(self.curve, key=lambda point: point[1])[0]

    @property
    def loss(self) -> float:
        """Their dev loss, in nats per target token."""
        return min(loss for _, loss in self.curve)

    def check(self, task: Task, *, width: int | None = None, model: str | None = None) -> None:
        """Refuse to be used for what it was not tuned for, with d and digest where they are known.

        Raises:
            InputError: It is of another task, width or model.
        """
        if self.task != task:
            raise InputError(f"the soft prompt was tuned for {self.task}, not for {task}")
        own = self.vectors.shape[1]
        if width not in (None, own) or model not in (None, self.model):
            raise InputError(
                f"the soft prompt was tuned for another model ({self.model[:12]}, width {own}) "
                f"than this one ({(model or 'unknown')[:12]}, width {width or own}); name that "
                "model, or tune a prompt for this one"
            )

    def save(self, path: Path) -> None:
        """Write it in one step, so that a kill leaves the old file or the new one.

        Raises:
            InputError: The file cannot be written.
        """
        from safetensors.numpy import save

        header = _Header(
            model=self.model,
            task=self.task,
            settings=self.settings,
            curve=self.curve,
            tuned_on=self.tuned_on,
        )
        about = {ABOUT: json.dumps(header.model_dump())}
        replace_bytes(path, save({TENSOR: np.ascontiguousarray(self.vectors)}, metadata=about))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote, the same to the bit.

        Raises:
            InputError: The file cannot be read, or holds something else.
        """
        tensors, about = read_tensors(path)
        try:
            header, vectors = _Header.model_validate_json(about[ABOUT]), tensors[TENSOR]
            fits = vectors.ndim == 2 and len(vectors) == header.settings.tokens
            if vectors.dtype != np.float32 or not fits:
                raise ValueError(f"{TENSOR} are {vectors.dtype} of shape {vectors.shape}")
            if not np.isfinite(vectors).all():
                raise ValueError(f"{TENSOR} hold what is no number")
        except (KeyError, ValueError) as error:
            raise InputError(
                f"{path} is no soft prompt ({_reason(error)}); name a file of `contested tune-npov`"
            ) from error
        known = (header.model, header.task, header.settings, header.curve, header.tuned_on)
        return cls(vectors, *known)


def read_tensors(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """The tensors of a safetensors file, and the texts of its header.

    Raises:
        InputError: The file is missing, cannot be read, or is of another format.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except OSError as error:
        raise InputError(
            f"{path} cannot be read ({error.strerror or error}); name a file"
        ) from error
    except (SafetensorError, TypeError, ValueError) as error:
        raise InputError(f"{path} is not safetensors, or damaged ({_reason(error)})") from error


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        return str(first["msg"].removeprefix("Value error, "))
    if isinstance(error, KeyError):
        return f"it has no {error.args[0]}"
    return " ".join(str(error).split())[:200]
