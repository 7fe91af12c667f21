"""Reads the JSONL that every pipeline takes, and says of each bad line where and why."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from pipelines.data.records import Example, Record
from pipelines.errors import InputError

OnError = Literal["stop", "skip"]

SAMPLES = Path(__file__).parent / "samples" / "contested.jsonl"
"""The bundled samples: real contested facts, in our own words."""


@dataclass(frozen=True)
class Skipped:
    """A line that is not a record.

    Attributes:
        line: Its number, from 1.
        error: One line: what is wrong and how to mend it.
    """

    line: int
    error: str


@dataclass(frozen=True)
class Dataset:
    """The examples of an input file.

    Attributes:
        name: The file's name.
        digest: SHA-256 of the file's bytes.
        examples: One per response, in the file's order.
        skipped: Lines left out under `on_error="skip"`.
    """

    name: str
    digest: str
    examples: tuple[Example, ...]
    skipped: tuple[Skipped, ...] = ()


def read(path: Path, *, on_error: OnError = "stop", limit: int | None = None) -> Dataset:
    """Read a JSONL file of `Record`s; its format is described in docs/input.md.

    Args:
        path: UTF-8, one JSON object per line; blank lines are passed over.
        on_error: `stop` raises at the first bad line, `skip` leaves it out and says so in the
            result.
        limit: Take only the first records.

    Raises:
        InputError: The file cannot be read, has no record, or a line is bad (`stop`).
    """
    content = read_bytes(path)
    examples: list[Example] = []
    skipped: list[Skipped] = []
    taken: dict[str, int] = {}
    records = 0
    for line, raw in _lines(content):
        if limit is not None and records >= limit:
            break
        try:
            record = _record(raw)
            # Results are kept by `record/variant`, which another record may be called.
            names = dict.fromkeys([record.id, *(example.id for example in record.examples())])
            for name in names:
                if name in taken:
                    raise InputError(
                        f"the id '{name}' stands already on line {taken[name]}; make ids distinct"
                    )
        except InputError as error:
            if on_error == "stop":
                raise InputError(f"{path}:{line}: {error}") from None
            skipped.append(Skipped(line, str(error)))
            continue
        taken |= dict.fromkeys(names, line)
        records += 1
        examples += record.examples()
    if not examples:
        if skipped:
            first = skipped[0]
            raise InputError(
                f"{path} has bad records only ({len(skipped):,}); "
                f"the first is on line {first.line}: {first.error}"
            )
        raise InputError(f"{path} has no record; write one JSON object per line, see docs/input.md")
    digest = hashlib.sha256(content).hexdigest()
    return Dataset(path.name, digest, tuple(examples), tuple(skipped))


def read_bytes(path: Path) -> bytes:
    """A file's bytes.

    Raises:
        InputError: It is missing, a folder, or may not be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; check the path") from None
    except OSError as error:
        raise InputError(
            f"{path} cannot be read ({error.strerror}); name a file that can"
        ) from error


def _lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    for number, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if raw.strip():
            yield number, raw


def _record(raw: bytes) -> Record:
    try:
        text = raw.decode("utf-8")
        value = json.loads(
            text, parse_constant=_refuse_constant, object_pairs_hook=_refuse_repetition
        )
    except UnicodeDecodeError as error:
        raise InputError(
            f"not UTF-8 at byte {error.start + 1} of the line; save the file as UTF-8"
        ) from error
    except json.JSONDecodeError as error:
        raise InputError(
            f"not valid JSON at column {error.colno}: {error.msg}; write one object per line"
        ) from error
    except RecursionError:
        raise InputError("nested too deeply to be a record; see docs/input.md") from None
    except ValueError as error:  # an integer of thousands of digits
        raise InputError("a number is too long to be read; write it as a string") from error
    try:
        record = Record.model_validate_json(text, strict=True)
    except ValidationError as error:
        if _has_half_characters(value):
            raise InputError(
                "a \\u escape is half of a character (a lone surrogate); write both halves, or the "
                "character itself"
            ) from error
        raise InputError(_first_problem(error)) from error
    if len(record.responses or ()) < len(value.get("responses") or ()):
        raise InputError("two of the 'responses' have the same name; make them distinct")
    return record


def _refuse_constant(name: str) -> Any:
    raise InputError(f"{name} is not JSON; leave the field out or write null")


def _refuse_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"the field '{twice}' is given twice; leave one of them out")
    return value


def _has_half_characters(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return True
    except RecursionError:
        pass
    return False


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"]))
    message = first["msg"].removeprefix("Value error, ")
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    match first["type"]:
        case "missing":
            return f"the field '{place}' is missing{more}; see docs/input.md"
        case "extra_forbidden":
            return f"there is no field '{place}'{more}; see docs/input.md"
        case "string_too_short":
            return f"the field '{place}' is empty{more}; give it text or drop the record"
        case "too_short":
            return f"the field '{place}' is empty{more}; it needs at least one entry"
        case _:
            return f"{f'the field {place!r}: ' if place else ''}{message}{more}; see docs/input.md"
