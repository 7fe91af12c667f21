"""The folder for data that outlives a run, and files that only their user can read."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISVTX
from typing import BinaryIO

import platformdirs

from serving.errors import ServingError


def default_home() -> Path:
    """`$CONTESTED_HOME`, or the user's data folder (`~/.local/share/contested`).

    It is created, or restricted, so that only its user may enter, since it holds questions and
    answers. A folder that everyone may write to, such as /tmp, stays as it is.
    """
    chosen = os.environ.get("CONTESTED_HOME", "").strip()
    usual = platformdirs.user_data_dir("contested", appauthor=False)
    home = Path(chosen or usual).expanduser().absolute()
    with suppress(OSError):  # reported when a file cannot be written
        home.mkdir(0o700, parents=True, exist_ok=True)
        mode = home.stat().st_mode
        if mode & 0o077 and not mode & S_ISVTX:
            home.chmod(0o700)
    return home


def default_models_dir() -> Path:
    """The folder that registered models live in unless a command is given `--models-dir`."""
    return default_home() / "models"


@contextmanager
def alone(file: Path, on_wait: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Hold a file's lock, which ends with the process in any case; the file is created if missing.

    `on_wait` is called if another process holds it.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW  # a link would lock another file
    with os.fdopen(os.open(file, flags, 0o600)) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def opened_to_append(file: Path) -> BinaryIO:
    """Open a file, created with its folder, to append to it; links and pipes are refused.

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


def write(file: Path, text: str, mode: int = 0o600) -> None:
    """Write a file atomically."""
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    fresh.replace(file)
