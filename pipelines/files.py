"""File access: size limits on reading, atomic writes, and no writing through links."""

import errno
import fcntl
import glob
import hashlib
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
"""Maximum size, in bytes, of a file that is read into memory."""


SAMPLES_FOLDER = Path(__file__).parent / "data" / "samples"
"""The samples that ship with the program."""


def or_sample(path: Path) -> Path:
    """The path, or the bundled sample of that name if it does not exist.

    For example `samples/bridge/answer.txt`.
    """
    sample = SAMPLES_FOLDER.joinpath(*path.parts[1:])
    named = path.parts[:1] == ("samples",) and not path.exists() and sample.exists()
    return sample if named else path


@contextmanager
def opened(path: Path) -> Iterator[io.BufferedReader]:
    """A file, or a pipe such as `<(command)`, opened for reading.

    A named pipe without a writer reads as empty, without waiting.

    Raises:
        InputError: The path is missing, a folder, a device or a socket, or is not readable.
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
    """The bytes of a file or pipe, at most `largest`; InputError as in `opened`, or if larger."""
    with opened(path) as file:
        return read_whole(file, str(path), largest, os.fstat(file.fileno()).st_size)


def file_digest(path: Path) -> str:
    """SHA-256 of a file's bytes, as hex; InputError as in `opened`, or if it is a pipe."""
    refuse_pipe(path)
    return hashlib.sha256(read_bytes(path)).hexdigest()


def refuse_pipe(path: Path) -> None:
    """Refuse a pipe that is read for its digest, too: the first reading leaves it empty."""
    if path.is_fifo():
        raise InputError(f"{path} is a pipe, which can be read only once; save it as a file first")


def read_whole(file: io.BufferedIOBase, name: str, largest: int = LARGEST, size: int = 0) -> bytes:
    """The rest of a file; InputError if it, or its known `size`, exceeds `largest`."""
    content = io.BytesIO()
    while size <= largest and (part := file.read(1 << 20)):
        size = max(size, content.tell() + content.write(part))
    if size > largest:
        raise InputError(f"{name} has more than {largest >> 20:,} MB; give a smaller file")
    return content.getvalue()


def refuse_links(*paths: Path) -> None:
    """Refuse links, pipes and devices at our paths and inside our folders.

    A folder may come from a stranger. It may contain only files and folders, so that nothing
    outside is read or written through it. Missing paths are skipped.
    """
    for path in paths:
        inside = (Path(top, name) for top, *names in os.walk(path) for name in chain(*names))
        for file in chain([path], inside):
            with suppress(FileNotFoundError, NotADirectoryError):
                mode = file.lstat().st_mode
                if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                    kind = "a link" if stat.S_ISLNK(mode) else "a pipe or device"
                    raise InputError(f"{file} is {kind}, which is refused; use a regular file")


def open_unfollowed(path: Path, mode: str = "a") -> IO[Any]:
    """Open one of our files for writing; OSError if the path is a link.

    Only modes that do not truncate the file are allowed: "a" (also for locks), "ab", "r+b".
    """
    flags = os.O_NOFOLLOW | os.O_NONBLOCK
    return open(path, mode, opener=lambda name, given: os.open(name, given | flags, 0o666))


def replace_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8 atomically: a reader sees either the old file or the new one.

    Missing folders are created. Lone surrogates, which UTF-8 cannot encode, become "?".

    Raises:
        InputError: The folder is not writable, or the path is a folder.
    """
    replace_bytes(path, text.encode("utf-8", "replace"))


def replace_bytes(path: Path, data: bytes) -> None:
    """Write bytes atomically, as in `replace_text`.

    A partial file left by a killed process is removed.
    """
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
            with partial.open("xb") as file:  # a new file: not through a link with that name
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)


def check_writable(path: Path) -> None:
    """Fail before long work if `replace_text` would fail afterwards.

    An empty file is created beside the path and removed again, with any folders made for it:
    permissions alone do not show whether a file system accepts writes.
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
                with suppress(OSError):  # never created, or another process has put something there
                    folder.rmdir()


def _partial(path: Path) -> Path:
    """Where a file is written until it is complete."""
    if path.is_dir():  # "." and "/" have no name to derive another from
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    return path.with_name(f".{path.name}.{os.getpid()}")


@contextmanager
def _for_a_person(path: Path) -> Iterator[None]:
    """Turn an OSError about an unwritable path into one line for the user."""
    remedy = "choose a writable folder"
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
    """Append one line and fsync it before returning, so that it survives a kill."""
    try:
        with open_unfollowed(path, "ab") as file:
            file.write(line.encode("utf-8", "replace") + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror or error}); free some space or choose "
            "another folder, then start again: what was written is kept"
        ) from error


def hold(lock: IO[str], taken: str) -> None:
    """Lock a file that is open for writing, exclusively, for as long as it stays open.

    The operating system holds the lock and releases it when the process ends, however that happens.
    If another process holds it, raises InputError with the message `taken`.
    """
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise InputError(taken) from None


def held(lock: IO[str]) -> bool:
    """Whether another process, or another open handle of the file, currently holds its lock."""
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    fcntl.flock(lock, fcntl.LOCK_UN)
    return False
