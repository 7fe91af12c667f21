"""Reads the JSONL that every pipeline takes, and reports where and why a line is bad."""

import codecs
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pipelines.data.records import (
    DOCUMENT_CALLED,
    Document,
    Example,
    Record,
    called_in,
    names_given,
)
from pipelines.errors import InputError
from pipelines.files import SAMPLES_FOLDER, read_bytes
from pipelines.option import OnError
from serving.errors import in_our_words

Place = tuple[int | str, ...]
"""Location of a field within a value, as pydantic reports it."""

MARK = codecs.BOM_UTF8
"""A byte order mark, which may precede the first line."""

MOST_FIELDS = 10
"""Maximum number of fields that a message lists."""

TABLES = (".csv", ".tsv", ".xlsx", ".parquet")

SAMPLES = SAMPLES_FOLDER / "contested.jsonl"
"""The bundled samples: real contested facts, in our own words."""


@dataclass(frozen=True)
class Skipped:
    """A line that is not a record: its number from 1, and the reason in one line."""

    line: int
    error: str


@dataclass(frozen=True)
class Dataset:
    """The examples of an input file, one per response, in file order, and the skipped lines.

    The digest is the SHA-256 of the file's bytes.
    """

    name: str
    digest: str
    examples: tuple[Example, ...]
    skipped: tuple[Skipped, ...] = ()


def read(path: Path, *, on_error: OnError = "stop", limit: int | None = None) -> Dataset:
    """Read a file of `Record`s; its format is described in docs/input.md.

    Args:
        path: UTF-8, one JSON object per line, or one JSON list or object over several lines; blank
            lines are ignored.
        on_error: `stop` raises at the first bad line, `skip` leaves it out and reports it.
        limit: Take only the first records.

    Raises:
        InputError: The file cannot be read, has no record, or a line is bad (`stop`).
    """
    if path.suffix.lower() in TABLES:
        raise InputError(f"{path} is a table; write one JSON object per line, see docs/input.md")
    content = read_bytes(path)
    text = content.removeprefix(MARK)
    first_line = text.lstrip().partition(b"\n")[0].strip()
    one_value = first_line.startswith(b"[") or first_line == b"{"
    examples: list[Example] = []
    skipped: list[Skipped] = []
    taken: dict[str, int] = {}
    records = 0
    for line, raw in _entries(text, f"{path}: ") if one_value else filled_lines(text):
        if limit is not None and records >= limit:
            break
        try:
            record = _record(raw, line)
            # Results are keyed by `record/variant`, which could also be another record's id.
            names = dict.fromkeys([record.id, *(example.id for example in record.examples())])
            for name in names:
                if name in taken:
                    raise InputError(
                        f"the id '{name}' is already used on line {taken[name]}; make ids distinct"
                    )
        except InputError as error:
            if on_error == "stop":
                where = f"{path}, entry {line}" if one_value else f"{path}:{line}"
                raise InputError(f"{where}: {error}") from None
            skipped.append(Skipped(line, str(error)))
            continue
        taken |= dict.fromkeys(names, line)
        records += 1
        examples += record.examples()
    if not examples:
        if skipped:
            first = skipped[0]
            raise InputError(
                f"{path} has only bad records ({len(skipped):,}); "
                f"the first is on line {first.line}: {first.error}"
            )
        raise InputError(f"{path} has no record; write one JSON object per line, see docs/input.md")
    digest = hashlib.sha256(content).hexdigest()
    return Dataset(path.name, digest, tuple(examples), tuple(skipped))


def filled_lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers from 1.

    Split at line feeds only: some texts hold U+2028, which `str.splitlines` would split at.
    """
    for number, raw in enumerate(content.split(b"\n"), start=1):
        if raw.strip():
            yield number, raw


def _entries(content: bytes, where: str) -> Iterator[tuple[int, bytes]]:
    """The entries of a JSON list, or the only object, with their numbers from 1."""
    value = parse(content, where, _refuse_repetition)
    for number, entry in enumerate(value if isinstance(value, list) else [value], start=1):
        yield number, json.dumps(entry).encode()


def _record(raw: bytes, number: int) -> Record:
    """A record; without an id, its number in the file is the id."""
    value = parse(raw, pairs=_refuse_repetition)
    if isinstance(value, dict) and "id" not in value:
        raw = json.dumps({"id": number, **value}).encode()
    try:
        record = Record.model_validate_json(raw, strict=True)
    except ValidationError as error:
        if _has_half_characters(value):
            raise InputError(
                "a \\u escape is half of a character (a lone surrogate); write both halves, or the "
                "character itself"
            ) from error
        if not isinstance(value, dict):
            raise InputError(first_problem(error, "see docs/input.md")) from error
        instead = _fields_instead(value)
        hints = {**_EMPTY, "missing": instead, "no_response": instead}
        place = partial(_place_in, value)
        raise InputError(first_problem(error, "see docs/input.md", hints, place)) from error
    if len(record.responses or ()) < len(value.get("responses") or ()):
        raise InputError("two of the 'responses' have the same name; make them distinct")
    return record


def parse(
    raw: bytes, where: str = "", pairs: Callable[[list[tuple[str, Any]]], Any] | None = None
) -> Any:
    """One JSON value, its objects built by `pairs`; messages begin with `where`: "FILE:3: ".

    Raises:
        InputError: It is not UTF-8 or not JSON.
    """
    try:
        return json.loads(
            utf8(raw, where), parse_constant=_refuse_constant, object_pairs_hook=pairs
        )
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        comma = " (a trailing comma?)" if error.doc[: error.pos].rstrip().endswith(",") else ""
        raise InputError(
            f"{where}not valid JSON at {line}column {error.colno}: {error.msg}{comma}; write one "
            "object per line, or one list"
        ) from error
    except InputError as error:
        raise InputError(f"{where}{error}") from None
    except (ValueError, RecursionError) as error:  # an integer of thousands of digits, a deep list
        raise InputError(f"{where}cannot be read as JSON ({error})") from error


def utf8(raw: bytes, where: str = "") -> str:
    """Bytes as text; InputError, beginning with `where`, if they are not UTF-8."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{where}not UTF-8 at byte {error.start + 1}; save the file as UTF-8"
        ) from error


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON; leave the field out or write null")


def _refuse_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        counted = Counter(name for name, _ in pairs)
        twice = next(name for name, times in counted.items() if times > 1)
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


_EMPTY = {
    "string_too_short": "give it text or drop the record",
    "too_short": "it needs at least one entry",
}


def _fields_instead(record: Mapping[str, Any]) -> str:
    """A hint for a record without documents or response: which fields it has instead."""
    known = names_given(record, Record, called_in(record)).values()

    def described(name: str) -> str:
        if isinstance(record[name], list) and any(isinstance(item, dict) for item in record[name]):
            return f"'{name}' (a list; if it holds the records, write that list alone)"
        return f"'{name}'"

    unknown = [described(name) for name in record if name not in known]
    has = f"the record has {', '.join(unknown[:MOST_FIELDS])}; " if unknown else ""
    return f"{has}see docs/input.md"


def _place_in(record: Mapping[str, Any], place: Place) -> str:
    """A field as the user's record names it; entries count from 1."""
    field, *inner = place
    name = names_given(record, Record, called_in(record)).get(str(field), str(field))
    if not inner or not isinstance(inner[0], int):
        return _place((name, *inner))
    entry = f"entry {inner[0] + 1} of '{name}'"
    document = record[name][inner[0]] if isinstance(record[name], list) else record[name]
    if len(inner) == 1 or not isinstance(document, dict):
        return entry
    part = str(inner[1])
    names = names_given(document, Document, DOCUMENT_CALLED)
    return f"the field '{names.get(part, part)}' of {entry}"


def _place(place: Place) -> str:
    return f"the field '{'.'.join(map(str, place))}'"


def first_problem(
    error: ValidationError,
    hint: str,
    hints: Mapping[str, str] = {},
    place: Callable[[Place], str] = _place,
) -> str:
    """The first wrong field, the number of others, and how to fix it, in one line.

    `hints` maps pydantic's error types to hints that replace `hint`; `place` names the field.
    """
    first = error.errors(include_url=False)[0]
    where = place(first["loc"]) if first["loc"] else ""
    match first["type"]:
        case "missing":
            what = f"{where} is missing"
        case "extra_forbidden":
            what = f"there is no {where.removeprefix('the ')}"
        case "string_too_short" | "too_short":
            what = f"{where} is empty"
        case _:
            message = in_our_words(first["msg"])
            what = f"{where}: {message}" if where else message
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return f"{what}{more}; {hints.get(first['type'], hint)}"
