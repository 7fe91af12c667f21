"""Manifests: what was true of a model folder when it was registered, kept beside it."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from serving.errors import ServingError
from serving.folders import FileRecord

SUFFIX = ".manifest.json"
"""A model's manifest is `models_dir/NAME` with this at the end."""


class Source(BaseModel):
    """Where a registered model came from: a `folder` that was added, or a `gguf` file's name.

    Of a GGUF file also its digest, and what its weights were saved as.
    """

    model_config = ConfigDict(frozen=True)

    kind: str
    path: str
    sha256: str | None = None
    dtype: str | None = None


class Manifest(BaseModel):
    """What was true of a model folder when it was registered.

    Attributes:
        digest: As in `Model`.
        created: UTC, ISO 8601.
        files: Of each deciding file, by its name in the folder.
        notes: What a user of the model should know, one sentence each.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    digest: str
    source: Source
    created: str
    files: dict[str, FileRecord]
    notes: tuple[str, ...] = ()


def read_manifest(name: str, models_dir: Path) -> Manifest | None:
    """The manifest of a name, or None. Raises ServingError if it is damaged or cannot be read."""
    file = models_dir / f"{name}{SUFFIX}"
    try:
        return Manifest.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise ServingError(
            f"the manifest {file} is damaged; remove it and add the model again"
        ) from error


def write_manifest(models_dir: Path, content: Manifest) -> None:
    """Write a manifest in one step, whole or not at all. Raises ServingError where it cannot."""
    file = models_dir / f"{content.name}{SUFFIX}"
    fresh = models_dir / f".{content.name}.{os.getpid()}{SUFFIX}"
    try:
        fresh.unlink(missing_ok=True)
        with fresh.open("x", encoding="utf-8") as stream:  # new: not through a link of that name
            stream.write(content.model_dump_json(indent=2) + "\n")
        fresh.replace(file)
    except OSError as error:
        raise ServingError(
            f"{file} cannot be written: {error.strerror}; choose another --models-dir"
        ) from error
    finally:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)


@contextmanager
def only_one(
    name: str, models_dir: Path, on_step: Callable[[str], None] = lambda _: None
) -> Iterator[None]:
    """Let one process at a time register a name; the lock goes with the process, however it ends.

    `on_step` is told when another process has to be waited for.

    Raises:
        ServingError: `models_dir`, which is made if it does not exist, cannot be written to.
    """
    try:
        models_dir.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
        descriptor = os.open(models_dir / f".{name}.lock", flags, 0o644)
    except OSError as error:
        raise ServingError(
            f"the models folder {models_dir} cannot be written to: {error.strerror};"
            " choose another --models-dir"
        ) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_step(f"waiting for another process that is making '{name}'")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
