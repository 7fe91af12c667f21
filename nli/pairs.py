"""Premise-hypothesis pairs with their labels, and the files that hold them."""

import gzip
import json
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from nli.errors import TaggerError
from nli.folder import read_whole, write_whole
from nli.labels import Label, label_of


class Pair(NamedTuple):
    """A text taken as given (a document), and a statement about it (a claim)."""

    premise: str
    hypothesis: str


class LabelledPair(BaseModel):
    """A pair, neither text blank, with the label that people (or a weak rule) gave it.

    Attributes:
        label: How they relate. Read in any spelling that `labels.label_of` knows.
        source: The data set that it comes from, for tables per source.
        group: What a split must keep together (a topic, a question), if anything.
    """

    model_config = ConfigDict(frozen=True)

    premise: str = Field(pattern=r"\S")
    hypothesis: str = Field(pattern=r"\S")
    label: Label
    source: str
    group: str | None = None

    @field_validator("label", mode="before")
    @classmethod
    def _known_spelling(cls, value: Any) -> Any:
        label = label_of(value) if isinstance(value, str) else None
        if label is None:
            raise ValueError(
                f"the label {value!r} is not known; write entailment, contradiction or neutral"
            )
        return label

    @property
    def pair(self) -> Pair:
        """The pair without its label."""
        return Pair(self.premise, self.hypothesis)


def read_pairs(path: Path) -> list[LabelledPair]:
    """Read labelled pairs, one JSON object per line.

    Fields: premise, hypothesis, label (entailment, SUPPORTS, refute, NOT ENOUGH INFO, ...), source
    and, optionally, group; others are ignored, and so are blank lines.

    The file is UTF-8, gzipped if its name ends in `.gz`.

    Raises:
        TaggerError: The file cannot be read or holds no pairs, or a line is not a pair; the message
            names file and line.
    """
    try:
        content = read_whole(path)
        text = content.decode("utf-8-sig")
    except FileNotFoundError:
        raise TaggerError(f"{path} does not exist; check the path") from None
    except UnicodeDecodeError as error:
        place = content[: error.start].count(b"\n") + 1
        raise TaggerError(f"{path}:{place}: not UTF-8; save the file as UTF-8") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TaggerError(f"{path} is not complete gzip data ({error}); fetch it again") from error
    except OSError as error:
        raise TaggerError(f"{path} cannot be read ({error.strerror}); name another file") from error
    pairs: list[LabelledPair] = []
    # Not splitlines(): JSON strings may hold the other line ends that it splits at.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                pairs.append(LabelledPair.model_validate_json(line))
            except ValidationError as error:
                raise TaggerError(f"{path}:{number}: {_first_problem(error)}") from None
    if not pairs:
        raise TaggerError(
            f"{path} holds no pairs; write one JSON object with premise, hypothesis, label and "
            "source per line"
        )
    return pairs


def write_pairs(path: Path, pairs: Iterable[LabelledPair]) -> None:
    """Write pairs, in their order, as `read_pairs` reads them.

    The file is written whole or not at all, its folder is made if missing, and the same pairs give
    the same bytes: the gzip header has neither a time nor a name.

    Raises:
        TaggerError: The file cannot be written.
    """
    lines = (json.dumps(pair.model_dump(exclude_none=True), ensure_ascii=False) for pair in pairs)
    content = "".join(f"{line}\n" for line in lines).encode()
    if path.suffix == ".gz":
        content = gzip.compress(content, mtime=0)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        raise TaggerError(
            f"{path} cannot be written ({error.strerror}); choose another place"
        ) from error


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"]))
    match first["type"]:
        case "missing":
            return f"the field '{place}' is missing; add it"
        case "string_pattern_mismatch":
            return f"the field '{place}' is empty; give it text or drop the line"
        case "json_invalid":
            return f"{first['msg']}; write one JSON object per line"
        case _:
            message = first["msg"].removeprefix("Value error, ")
            return f"the field '{place}': {message}" if place else message
