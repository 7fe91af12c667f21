"""A soft prompt: a few vectors before a model's input, the only thing that tuning changes.

Saved as safetensors: one tensor, and what is known of it as JSON in the file's header.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError

from pipelines.errors import InputError
from pipelines.files import read_bytes, replace_bytes
from pipelines.npov.example import NpovExample
from pipelines.npov.settings import TuningSettings
from pipelines.npov.synthesis import Design
from pipelines.npov.topics import in_words, topic_key

NAMED = 3
"""Shared topics that an error names."""


class Subject(BaseModel, frozen=True):
    """A controversial topic: what a user asks of it, and its name where that is known."""

    question: str
    topic: str | None = None

    @property
    def keys(self) -> set[str]:
        """What no other topic has: its question and its name, by any of the site's names."""
        found = {f"question {in_words(self.question)}"}
        return found if self.topic is None else found | {f"topic {topic_key(self.topic)}"}


class TunedOn(BaseModel, frozen=True):
    """Topics and examples that a soft prompt was tuned on.

    Attributes:
        learned: Topics of the examples that it learned from.
        watched: Topics of those by which its best step was chosen.
        template: Responses without error, written by a template, that it learned from.
        annotated: Others without error, which people have annotated.
        synthetic: Examples with an error put into them.
        organic: Examples with an error that people have found.
        paraphrased: How many of all these are in other words than their arguments.
        design: How arguments and synthetic errors were drawn; None of files from before they told
            it, which is the paper's way.
    """

    learned: tuple[Subject, ...]
    watched: tuple[Subject, ...]
    template: int = 0
    annotated: int = 0
    synthetic: int = 0
    organic: int = 0
    paraphrased: int = 0
    design: Design | None = None

    @property
    def told(self) -> str:
        """In a line: "topics 9, responses by template 72, synthetic errors 216, design matched"."""
        counts = (
            ("topics", len(self.learned)),
            ("responses by template", self.template),
            ("annotated responses without error", self.annotated),
            ("synthetic errors", self.synthetic),
            ("organic errors", self.organic),
            ("paraphrased", self.paraphrased),
        )
        found = [f"{what} {count:,}" for what, count in counts if count]
        return ", ".join(found + ([f"design {self.design}"] if self.design else []))

    def shared(self, measured: Iterable[Subject]) -> list[str]:
        """Topics among those measured that it was tuned on or chosen by, by their names."""
        known = {key for each in (*self.learned, *self.watched) for key in each.keys}
        found = (each.topic or each.question for each in measured if known & each.keys)
        return list(dict.fromkeys(found))


def refuse_shared(tuned_on: TunedOn | None, measured: Iterable[Subject], file: Path) -> None:
    """Refuse to measure with a soft prompt, of a file, on topics that it was tuned on.

    None is known of prompts that were tuned before their files told it; they pass.

    Raises:
        InputError: There are such topics.
    """
    shared = tuned_on.shared(measured) if tuned_on else []
    if shared:
        named = ", ".join(f"'{each}'" for each in shared[:NAMED])
        more = f" and {len(shared) - NAMED:,} more" if len(shared) > NAMED else ""
        raise InputError(
            f"{file} was tuned on topics that are measured ({named}{more}); measure others "
            "(--split, --data, --organic), or tune a prompt on others"
        )


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
                f"{path} is no soft prompt ({_reason(error)}); name one of contested lab tune-npov"
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


Files = Mapping[Task, Path | None]
"""What a soft prompt is given for -> its file; None where the model is taken as it is."""


def opened(files: Files, measured: Iterable[NpovExample]) -> dict[Task, SoftPrompt]:
    """The soft prompts that are given, tuned for what they are given for, and on other topics.

    A table cannot tell how much of an area is what a prompt remembers. So it is refused, and not
    marked, to measure on topics that it learned from or was chosen by.

    Raises:
        InputError: A file is no such soft prompt, or was tuned on a topic that is measured.
    """
    subjects = [Subject(question=each.question, topic=each.topic) for each in measured]
    found = {}
    for task, path in files.items():
        if path is not None:
            found[task] = SoftPrompt.load(path)
            found[task].check(task)
            refuse_shared(found[task].tuned_on, subjects, path)
    return found


def untold(files: Files, prompts: Mapping[Task, SoftPrompt]) -> list[str]:
    """What to say of prompts of which nobody knows what they were tuned on."""
    return [
        f"{files[task]} does not tell its topics (it was tuned before files did), so nobody has "
        "checked that these are others"
        for task, prompt in prompts.items()
        if prompt.tuned_on is None
    ]


def described(files: Files, prompts: Mapping[Task, SoftPrompt]) -> dict[str, Any]:
    """What `run.json` has of them: digests, and what they were tuned on where that is known."""
    found: dict[str, Any] = {
        "prompts": {
            task: None if path is None else sha256(read_bytes(path)).hexdigest()
            for task, path in files.items()
        }
    }
    if told := {task: each.tuned_on.told for task, each in prompts.items() if each.tuned_on}:
        found["tuned_on"] = told
    return found


def notes(run: str, config: Mapping[str, Any]) -> Iterator[str]:
    """A run's soft prompts, from its configuration, in a sentence each under every table."""
    for task, digest in config.get("prompts", {}).items():
        if digest is not None:
            known = config.get("tuned_on", {}).get(task, "examples that its file does not tell")
            yield f"{run}: soft prompt for {task} (sha256 {digest[:12]}), tuned on {known}."


def named(config: Mapping[str, Any]) -> Sequence[str]:
    """The beginnings of their digests."""
    return [digest[:12] for digest in config.get("prompts", {}).values() if digest]
