"""Files that only their user can read."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from serving.errors import ServingError


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Make the folder and lock it; the lock goes with the process, however that ends."""
    folder.mkdir(parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW  # a link in its place would empty another file
    with os.fdopen(os.open(folder.with_suffix(".lock"), flags, 0o600)) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def opened_to_append(file: Path) -> BinaryIO:
    """Open a file, made with its folder, to write behind what it holds; no link, no pipe.

    Raises:
        ServingError: It cannot be opened.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        return os.fdopen(os.open(file, flags, 0o600), "ab")
    except OSError as error:
        raise ServingError(
            f"{file} cannot be written to: {error.strerror}; check the path and its permissions"
        ) from error


def write(file: Path, text: str) -> None:
    """Write a file, whole or not at all."""
    fresh = file.with_suffix(".tmp")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    fresh.replace(file)
