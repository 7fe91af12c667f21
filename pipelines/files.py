"""Writing files so that a kill leaves the old content or the new, never half of either."""

import errno
import fcntl
import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import psutil

from pipelines.errors import InputError


def replace_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8 in one step: a reader sees the old file or the new one.

    Missing folders are made. Lone surrogates, which UTF-8 cannot hold, become "?".

    Raises:
        InputError: The folder cannot be written, or the path is one.
    """
    replace_bytes(path, text.encode("utf-8", "replace"))


def replace_bytes(path: Path, data: bytes) -> None:
    """Write bytes in one step, as `replace_text`; half a file of a killed process goes away."""
    with _for_a_person(path):
        partial = _partial(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        for left in path.parent.glob(f".{glob.escape(path.name)}.*"):
            writer = left.suffix.removeprefix(".")
            if writer.isdecimal() and not psutil.pid_exists(int(writer)):
                left.unlink(missing_ok=True)
        try:
            with partial.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)


def check_writable(path: Path) -> None:
    """Refuse before long work what `replace_text` would refuse at its end.

    An empty file is written beside the path and taken away again with the folders made for it:
    permissions alone do not tell what a file system takes.
    """
    with _for_a_person(path):
        partial = _partial(path)
        missing = [folder for folder in path.parents if not folder.exists()]
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial.touch()
            partial.unlink()
        finally:
            for folder in missing:
                with suppress(OSError):  # never made, or another process has put something there
                    folder.rmdir()


def _partial(path: Path) -> Path:
    """Where a file is written until it is whole."""
    if path.is_dir():  # "." and "/" have no name to make another of
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    return path.with_name(f".{path.name}.{os.getpid()}")


@contextmanager
def _for_a_person(path: Path) -> Iterator[None]:
    """Turn what the system says of a path that cannot be written into a line for a person."""
    remedy = "choose a folder that can be written"
    try:
        yield
    except OSError as error:
        why = str(error.strerror or error)
        if isinstance(error, IsADirectoryError):
            why, remedy = "it is a folder", f"name a file, or {remedy}"
        elif isinstance(error, FileExistsError | NotADirectoryError):
            why = "a part of its path is a file, not a folder"
        raise InputError(f"{path} cannot be written ({why}); {remedy}") from error


def append_line(path: Path, line: str) -> None:
    """Append one line and hand it to the disk before returning, so that a kill keeps it."""
    try:
        with path.open("ab") as file:
            file.write(line.encode("utf-8", "replace") + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror or error}); free some space or choose "
            "another folder, then start again: nothing written is lost"
        ) from error


def hold(lock: IO[str], taken: str) -> None:
    """Lock a file that is open for writing, for this process alone and as long as it stays open.

    The lock is the system's and dies with the process, however that ends. Where another process
    holds it, an InputError says `taken`.
    """
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise InputError(taken) from None


def held(lock: IO[str]) -> bool:
    """Whether another process, or another opening of the file, holds its lock at the moment."""
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    fcntl.flock(lock, fcntl.LOCK_UN)
    return False
