"""A neutral response and the arguments it was to be written from."""

import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, ValidationError

from pipelines.data.records import Text
from pipelines.data.text import read_text
from pipelines.errors import InputError

Side = Literal["pro", "con"]
SIDES: tuple[Side, Side] = ("pro", "con")

OPENING = "People see this differently. Here is what both sides say."
"""The sentence that leads from the question to the arguments, unless an example has its own."""

Arguments = Annotated[tuple[Text, ...], Field(min_length=1)]


class Debate(BaseModel, frozen=True, extra="forbid"):
    """A user's question, and arguments for and against what it asks."""

    question: Text
    pro: Arguments
    con: Arguments

    def arguments(self, side: Side) -> tuple[str, ...]:
        """The arguments of a perspective."""
        return self.pro if side == "pro" else self.con


class Perspectives(Debate):
    """What is to be answered, and from what: as many arguments of either side.

    The question is the topic's own: pro and con are for and against what it asks, which a query in
    other words may ask the other way round.
    """

    topic: Text


class NpovExample(Debate):
    """A query-response pair (NPOV, section 2.1); the response is without its opening sentence."""

    response: Text
    topic: Text | None = None
    opening: Text = OPENING


def read_example(path: Path) -> NpovExample:
    """An example from a JSON file.

    Raises:
        InputError: The file is missing or not JSON, or a field is missing, wrong or unknown.
    """
    try:
        value = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}: not JSON ({error.msg}); mend the file") from error
    except (RecursionError, ValueError) as error:  # nested too deeply, or a number too long
        raise InputError(f"{path}: not JSON that can be read ({error}); mend the file") from error
    return example(value, str(path))


def example(value: object, where: str) -> NpovExample:
    """An example from its fields, which come from `where`.

    Raises:
        InputError: A field is missing, wrong or unknown.
    """
    try:
        return NpovExample.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise InputError(
            f"{where}: {field + ': ' if field else ''}"
            f"{first['msg'].removeprefix('Value error, ')}; an example has question, pro, con and "
            "response"
        ) from error
