"""A soft prompt: a few vectors before a model's input, the only thing that tuning changes.

Stored as safetensors: one tensor, and its description as JSON in the file's header.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError

from pipelines.errors import InputError
from pipelines.files import replace_bytes
from pipelines.npov.example import NpovExample
from pipelines.npov.topics import NAMED, Subject
from serving.errors import in_our_words


class TunedOn(BaseModel, frozen=True):
    """Topics and examples that a soft prompt was tuned on.

    Attributes:
        learned: Topics of the examples that it learned from.
        watched: Topics of the examples that its best step was chosen by.
        examples: Numbers of examples that it learned from, by their origin, and how many of them
            are paraphrased.
    """

    learned: tuple[Subject, ...]
    watched: tuple[Subject, ...]
    examples: Mapping[str, int] = {}

    @property
    def told(self) -> str:
        """In one line: "topics 9, responses by template 72, synthetic errors 216"."""
        counts = ", ".join(f"{origin} {count:,}" for origin, count in self.examples.items())
        return f"topics {len(self.learned):,}, responses {counts}"

    def refuse_shared(self, measured: Iterable[Subject], file: Path) -> None:
        """Refuse to measure the soft prompt in `file` on topics that it was tuned on or chosen by.

        Raises:
            InputError: A measured topic is one of them.
        """
        known = {key for subject in (*self.learned, *self.watched) for key in subject.keys}
        names = (subject.topic or subject.question for subject in measured if known & subject.keys)
        if shared := [f"'{name}'" for name in dict.fromkeys(names)]:
            more = f" and {len(shared) - NAMED:,} more" if len(shared) > NAMED else ""
            raise InputError(
                f"{file} was tuned on topics that are measured ({', '.join(shared[:NAMED])}{more})"
                "; measure others, or tune a prompt on others"
            )


Task = Literal["response", "hallucination", "coverage"]

Curve = tuple[tuple[int, float], ...]
"""Updates done -> dev loss in nats per target token."""

TENSOR = "vectors"
ABOUT = "soft_prompt"
"""The header's only field: several would be written in any order, so equal prompts could differ."""


class TuningSettings(BaseModel, frozen=True, extra="forbid"):
    """How a soft prompt of `tokens` vectors is tuned; the paper's choices by default (appendix B).

    The learning rate falls linearly after the warm-up. The paper does not say how often the dev
    loss is measured, nor for how many measurements it may stall. The seed draws the initial vectors
    and the order of examples.
    """

    tokens: Annotated[int, Field(ge=1)] = 5
    learning_rate: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 0.1
    warmup: Annotated[int, Field(ge=0)] = 500
    steps: Annotated[int, Field(ge=1)] = 20_000
    batch: Annotated[int, Field(ge=1)] = 16
    evaluate_every: Annotated[int, Field(ge=1)] = 250
    patience: Annotated[int, Field(ge=1)] = 8
    # The largest seed that numpy takes; torch takes more.
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)] = 0


class _Header(BaseModel, frozen=True):
    model: str
    task: Task
    settings: TuningSettings
    curve: Annotated[Curve, Field(min_length=1)]
    tuned_on: TunedOn


class SoftPrompt(_Header, frozen=True, arbitrary_types_allowed=True):
    """Vectors that a model reads before its input, as if they were embeddings of tokens.

    Attributes:
        model: Digest of the model that they were tuned for, the only one that can read them.
        curve: Dev losses from update 0 on; `vectors` are those with the lowest.
        tuned_on: Topics and examples.
        vectors: (tokens, d), float32.
    """

    vectors: NDArray[np.float32]

    @property
    def step(self) -> int:
        """The update after which the vectors were taken."""
        return min(self.curve, key=lambda point: point[1])[0]

    def check(self, task: Task, *, width: int | None = None, model: str | None = None) -> None:
        """Refuse a task, or a width or model if given, that the prompt was not tuned for.

        Raises:
            InputError: The task, width or model differs.
        """
        if self.task != task:
            raise InputError(f"the soft prompt was tuned for {self.task}, not for {task}")
        tuned = self.vectors.shape[1]
        if width not in (None, tuned) or model not in (None, self.model):
            raise InputError(
                f"the soft prompt was tuned for another model ({self.model[:12]}, width {tuned}) "
                f"than this one ({(model or 'unknown')[:12]}, width {width or tuned}); name that "
                "model, or tune a prompt for this one"
            )

    @property
    def data(self) -> bytes:
        """The file, in safetensors' format."""
        from safetensors.numpy import save

        about = {ABOUT: json.dumps(self.model_dump(exclude={"vectors"}))}
        return bytes(save({TENSOR: np.ascontiguousarray(self.vectors)}, metadata=about))

    @property
    def digest(self) -> str:
        """SHA-256 of the file."""
        return sha256(self.data).hexdigest()

    def save(self, path: Path) -> None:
        """Write it atomically: a kill leaves the old file or the new one.

        Raises:
            InputError: The file cannot be written.
        """
        replace_bytes(path, self.data)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a file written by `save`, bit for bit.

        Raises:
            InputError: The file cannot be read, or is not a soft prompt.
        """
        tensors, about = read_tensors(path)
        try:
            header, vectors = _Header.model_validate_json(about[ABOUT]), tensors[TENSOR]
            fits = vectors.ndim == 2 and len(vectors) == header.settings.tokens
            if vectors.dtype != np.float32 or not fits:
                raise ValueError(f"{TENSOR} are {vectors.dtype} of shape {vectors.shape}")
            if not np.isfinite(vectors).all():
                raise ValueError(f"{TENSOR} are not all finite")
        except (KeyError, ValueError) as error:
            raise InputError(
                f"{path} is not a soft prompt ({_reason(error)}); name one in a study's prompts/"
            ) from error
        return cls(vectors=vectors, **dict(header))


def read_tensors(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """The tensors of a safetensors file, and the texts of its header.

    Raises:
        InputError: The file is missing, cannot be read, or has another format.
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
        raise InputError(
            f"{path} is damaged or not a safetensors file ({_reason(error)})"
        ) from error


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        return in_our_words(first["msg"])
    if isinstance(error, KeyError):
        return f"it has no {error.args[0]}"
    return " ".join(str(error).split())[:200]


def opened(
    files: Sequence[Path], tasks: Sequence[Task], measured: Iterable[NpovExample]
) -> dict[Task, SoftPrompt]:
    """Load soft prompts, by task; refuse other tasks, and prompts tuned on measured topics.

    A table cannot show how much of an area is due to memory. So measuring on topics that a prompt
    learned from or was chosen by is refused, not just marked.

    Raises:
        InputError: A file is not such a soft prompt, two have the same task, or one was tuned on a
            measured topic.
    """
    subjects = [Subject(question=example.question, topic=example.topic) for example in measured]
    prompts: dict[Task, SoftPrompt] = {}
    for path in files:
        prompt = SoftPrompt.load(path)
        if prompt.task not in tasks:
            wanted = " or ".join(tasks)
            raise InputError(
                f"the soft prompt {path} was tuned for {prompt.task}, not for {wanted}"
            )
        if prompt.task in prompts:
            raise InputError(f"two soft prompts were tuned for {prompt.task}; leave one out")
        prompt.tuned_on.refuse_shared(subjects, path)
        prompts[prompt.task] = prompt
    return prompts


def described(prompts: Mapping[Task, SoftPrompt]) -> dict[str, Any]:
    """A description for `run.json`: digests, and the data that prompts were tuned on."""
    return {
        "prompts": {task: prompt.digest for task, prompt in prompts.items()},
        "tuned_on": {task: prompt.tuned_on.told for task, prompt in prompts.items()},
    }


def notes(run: str, config: Mapping[str, Any]) -> Iterator[str]:
    """A sentence on each soft prompt of a run, from its configuration, to put under tables."""
    for task, data in config.get("tuned_on", {}).items():
        digest = config["prompts"][task]
        yield f"{run}: soft prompt for {task} (sha256 {digest[:12]}), tuned on {data}."
