"""Files of others are read within limits; ours are written whole, and never through a link."""

import errno
import fcntl
import glob
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import IO, Any

from pipelines.errors import InputError

LARGEST = 1 << 31
"""Bytes of the largest file that is read into memory."""


SAMPLES_FOLDER = Path(__file__).parent / "data" / "samples"
"""The samples that ship with the program."""


def or_sample(path: Path) -> Path:
    """The path; if nothing is there, the sample of that name: `samples/bridge/answer.txt`."""
    sample = SAMPLES_FOLDER.joinpath(*path.parts[1:])
    named = path.parts[:1] == ("samples",) and not path.exists() and sample.exists()
    return sample if named else path


@contextmanager
def opened(path: Path) -> Iterator[io.BufferedReader]:
    """A file, or a pipe such as `<(command)`, opened for reading.

    A named pipe that nobody writes at the moment is empty; it is not waited for.

    Raises:
        InputError: It is missing, a folder, a device or a socket, or may not be read.
    """
    try:
        with open(or_sample(path), "rb", opener=_at_once) as file:
            mode = os.fstat(file.fileno()).st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or file.isatty()):
                raise InputError(f"{path} is a device; name a file")
            os.set_blocking(file.fileno(), True)
            yield file
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; check the path") from None
    except OSError as error:
        raise InputError(
            f"{path} cannot be read ({error.strerror or error}); name another file"
        ) from error


def _at_once(name: str, flags: int) -> int:
    return os.open(name, flags | os.O_NONBLOCK)


def read_bytes(path: Path, largest: int = LARGEST) -> bytes:
    """The bytes of a file or pipe, at most `largest`; InputError as `opened`, or if it has more."""
    with opened(path) as file:
        return read_whole(file, str(path), largest, os.fstat(file.fileno()).st_size)


def read_whole(file: io.BufferedIOBase, name: str, largest: int = LARGEST, size: int = 0) -> bytes:
    """What is left of a file, of `size` bytes at least; InputError if it is more than `largest`."""
    content = io.BytesIO()
    while size <= largest and (part := file.read(1 << 20)):
        size = max(size, content.tell() + content.write(part))
    if size > largest:
        raise InputError(f"{name} has more than {largest >> 20:,} MB; give a smaller file")
    return content.getvalue()


def refuse_links(*paths: Path) -> None:
    """Refuse links, pipes and devices in the place of our files and folders, and in the latter.

    A folder may come from a stranger. So that nothing outside is read or written through it, it
    holds files and folders alone; missing paths are passed over.
    """
    for path in paths:
        inside = (Path(top, name) for top, *names in os.walk(path) for name in chain(*names))
        for file in chain([path], inside):
            with suppress(FileNotFoundError, NotADirectoryError):
                mode = file.lstat().st_mode
                if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                    kind = "a link" if stat.S_ISLNK(mode) else "a pipe or device"
                    raise InputError(f"{file} is {kind}, and not followed; put a file in its place")


def open_unfollowed(path: Path, mode: str = "a") -> IO[Any]:
    """Open a file of ours for writing; a link in its place is an OSError.

    Modes are those that do not empty it: "a" (for locks, too), "ab", "r+b".
    """
    flags = os.O_NOFOLLOW | os.O_NONBLOCK
    return open(path, mode, opener=lambda name, given: os.open(name, given | flags, 0o666))


def replace_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8 in one step: a reader sees the old file or the new one.

    Missing folders are made. Lone surrogates, which UTF-8 cannot hold, become "?".

    Raises:
        InputError: The folder cannot be written, or the path is one.
    """
    replace_bytes(path, text.encode("utf-8", "replace"))


def replace_bytes(path: Path, data: bytes) -> None:
    """Write bytes in one step, as `replace_text`; half a file of a killed process goes away."""
    import psutil  # here, so that help need not load it

    with _for_a_person(path):
        partial = _partial(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        for left in path.parent.glob(f".{glob.escape(path.name)}.*"):
            writer = left.suffix.removeprefix(".")
            if writer.isdecimal() and not psutil.pid_exists(int(writer)):
                left.unlink(missing_ok=True)
        partial.unlink(missing_ok=True)
        try:
            with partial.open("xb") as file:  # new: not through a link of that name
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
            partial.unlink(missing_ok=True)
            partial.touch(exist_ok=False)
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
        with open_unfollowed(path, "ab") as file:
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
