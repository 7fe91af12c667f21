"""Reads plain text files."""

from pathlib import Path

from pipelines.data.jsonl import read_bytes
from pipelines.errors import InputError


def read_text(path: Path, *, strip: bool = True) -> str:
    """A file's text, with `strip` without white space around it.

    Raises:
        InputError: The file is missing, or as `decoded`.
    """
    return decoded(read_bytes(path), str(path), strip=strip)


def decoded(data: bytes, name: str, *, strip: bool = True) -> str:
    """The text that a file of this name holds, likewise.

    Raises:
        InputError: It is empty, not UTF-8, or holds NUL characters, as binary files and UTF-16 do.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} is not UTF-8 at byte {error.start + 1}; save the file as UTF-8"
        ) from error
    if "\0" in text:
        raise InputError(
            f"{name} has a NUL character, so it is no UTF-8 text; save it as text in UTF-8"
        )
    if not text.strip():
        raise InputError(f"{name} is empty; give it text")
    return text.strip() if strip else text
