"""A neutral response and the arguments it was to be written from."""

import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipelines.data.records import Text
from pipelines.data.text import read_text
from pipelines.errors import InputError

Side = Literal["pro", "con"]
SIDES: tuple[Side, Side] = ("pro", "con")

OPENING = "People see this differently. Here is what both sides say."
"""The sentence that leads from the question to the arguments, unless an example has its own."""

Arguments = Annotated[tuple[Text, ...], Field(min_length=1)]


class NpovExample(BaseModel):
    """A query-response pair (NPOV, section 2.1).

    Attributes:
        question: The user's query.
        pro, con: Arguments of the two perspectives that were given.
        response: What was written from them, without its opening sentence.
        topic: Name of the topic.
        opening: The sentence before the response.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: Text
    pro: Arguments
    con: Arguments
    response: Text
    topic: Text | None = None
    opening: Text = OPENING

    def arguments(self, side: Side) -> tuple[str, ...]:
        """The arguments of a perspective."""
        return self.pro if side == "pro" else self.con


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
    """An example from its fields.

    Args:
        value: The fields.
        where: Where they come from, for people.

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
