"""Shared by loaders of released data sets: entries, checked records, halves, samples.

Releases are JSON Lines or one JSON list, perhaps gzipped, whatever the file is called (ConflictQA's
`.json` files hold lines). So the content decides, not the name.
"""

import gzip
import hashlib
import io
import random
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from pipelines.data.jsonl import MARK, filled_lines, first_problem, parse
from pipelines.errors import InputError
from pipelines.files import LARGEST, opened, read_bytes, read_whole

PACKED = b"\x1f\x8b"
"""Start of a gzip file."""

Half = Literal["train", "test"]
"""Halves of a released set that serves both to train and to measure."""

Part = Literal["train", "test", "all"]
"""A user's choice: one half, or both."""

Split = Literal["train", "dev", "test", "all"]
"""Parts for training; see `split_of`."""

RecordT = TypeVar("RecordT", bound=BaseModel)
ItemT = TypeVar("ItemT")


def half(key: str) -> Half:
    """The half that a text belongs to, by a rule that any program can repeat.

    Keys (the question, else the claim) are stripped and encoded as UTF-8; those with an even SHA-1
    form the training half.
    """
    return "train" if _number(key) % 2 == 0 else "test"


def split_of(key: str) -> Split:
    """The half of a text, but `dev` for one in eight of the training half.

    These are kept for development and calibration; the next three bits of the same number decide.
    """
    part = half(key)
    return "dev" if part == "train" and _number(key) // 2 % 8 == 0 else part


def _number(key: str) -> int:
    return int(hashlib.sha1(key.strip().encode("utf-8"), usedforsecurity=False).hexdigest(), 16)


def in_part(items: Iterable[ItemT], part: Part, key: Callable[[ItemT], str]) -> list[ItemT]:
    """The items of one half by key, or all items, in order."""
    return [item for item in items if part in ("all", half(key(item)))]


def sample(items: Sequence[ItemT], size: int | None, seed: int) -> list[ItemT]:
    """A sample of the items without replacement, in order.

    Args:
        items: In the order of their data.
        size: Size of the sample; None, or too large a size, takes all items.
        seed: The same seed chooses the same items.
    """
    if size is None or size >= len(items):
        return list(items)
    draw = random.Random(seed)  # noqa: S311  draws a sample, keeps no secret
    return [items[place] for place in sorted(draw.sample(range(len(items)), size))]


@dataclass(frozen=True)
class Entry:
    """One JSON value of a file; `where` is "FILE:LINE" or "FILE: entry N", for messages."""

    where: str
    value: Any


def content(path: Path) -> bytes:
    """A file's bytes, unpacked if gzipped, without a byte order mark.

    Raises:
        InputError: The file cannot be read, or is damaged.
    """
    raw = read_bytes(path)
    if raw.startswith(PACKED):
        try:
            raw = read_whole(gzip.GzipFile(fileobj=io.BytesIO(raw)), f"{path}, unpacked,")
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(
                f"{path} is a damaged gzip file ({error}); download it again"
            ) from error
    return raw.removeprefix(MARK)


def entries(path: Path) -> list[Entry]:
    """The JSON values of a file: one per line, or the members of one list.

    Raises:
        InputError: The file cannot be read, holds nothing, or a line is not JSON.
    """
    return entries_in(content(path), str(path))


def entries_in(raw: bytes, name: str) -> list[Entry]:
    """The JSON values in the bytes of the file `name`; raises as `entries`."""
    if raw.lstrip()[:1] == b"[":
        values = parse(raw, f"{name}: ")
        listed = [Entry(f"{name}: entry {n}", value) for n, value in enumerate(values, start=1)]
    else:
        listed = [
            Entry(f"{name}:{n}", parse(line, f"{name}:{n}: ")) for n, line in filled_lines(raw)
        ]
    if not listed:
        raise InputError(
            f"{name} has no entry; name a file with one JSON object per line, or one list"
        )
    return listed


def stream(path: Path) -> Iterator[Entry]:
    """The JSON values of a file of lines, one at a time: for files larger than memory.

    Raises:
        InputError: The file cannot be read, or a line is not JSON.
    """
    try:
        with opened(path) as file:
            packed = file.peek(2)[:2] == PACKED
            lines: io.BufferedIOBase = gzip.GzipFile(fileobj=file) if packed else file
            for number, line in enumerate(iter(partial(lines.readline, LARGEST), b""), start=1):
                if line.strip():
                    yield Entry(f"{path}:{number}", parse(line, f"{path}:{number}: "))
    except (EOFError, zlib.error) as error:
        raise InputError(f"{path} cannot be read ({error}); name another file") from error


def read_records(path: Path, schema: type[RecordT], name: str) -> list[RecordT]:
    """The records of a release, checked against their schema.

    The file holds JSON Lines or a JSON list, gzipped or not; messages call the release by `name`.

    Raises:
        InputError: As `entries`, or an entry is not of this format.
    """
    return [record(entry, schema, name) for entry in entries(path)]


def record(entry: Entry, schema: type[RecordT], name: str) -> RecordT:
    """One entry checked against a schema.

    Raises:
        InputError: It does not match the schema; one line names place and field.
    """
    if not isinstance(entry.value, dict):
        raise InputError(
            f"{entry.where}: {_kind(entry.value)} where {name} has an object; "
            f"name a file in the format of {name}"
        )
    try:
        return schema.model_validate(entry.value)
    except ValidationError as error:
        problem = first_problem(error, f"name a file in the format of {name}")
        raise InputError(f"{entry.where}: {problem}") from error


def cleaned(texts: Iterable[str]) -> tuple[str, ...]:
    """Stripped texts, without empty or repeated ones, in order."""
    return tuple(dict.fromkeys(text for text in map(str.strip, texts) if text))


def _kind(value: Any) -> str:
    kinds = {list: "a list", str: "a string", bool: "a truth value", type(None): "null"}
    return kinds.get(type(value), "a number")
