"""Reads ConflictingQA (Wan et al. 2024, "What Evidence Do Language Models Find Convincing?").

github.com/AlexWan0/rag-convincingness releases a pickled pandas table, one row per web page, with
the columns `category`, `search_query`, `search_engine_input`, `search_type`, `url`, `title`,
`text_raw`, `text_window` (the 512 tokens that matter most) and `stance` ("yes" or "no"). A pickle
can run any code, so it is not read here; if you trust the file, convert it to JSON Lines once:
`pandas.read_pickle("data.pkl").to_json("conflictingqa.jsonl", orient="records", lines=True)`. Rows
with the same `search_query` belong together, even if not adjacent.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator

from pipelines.data.records import Text
from pipelines.data.released import read_records
from pipelines.errors import InputError
from pipelines.files import read_bytes


def _lower(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


class WebPage(BaseModel, frozen=True):
    """A web page that answers a contentious question, `search_query`, with yes or no.

    It was found by searching for an affirmation or denial of the question; `text_window` is the
    part most relevant to the question.
    """

    search_query: Text
    text_window: Text
    stance: Annotated[Literal["yes", "no"], BeforeValidator(_lower)]
    title: str | None = None
    url: str | None = None


class ContentiousQuestion(BaseModel, frozen=True):
    """A yes/no question and its pages, in file order."""

    question: Text
    pages: tuple[WebPage, ...]


def read(path: Path) -> list[ContentiousQuestion]:
    """The questions of a ConflictingQA table, in order of their first page.

    Raises:
        InputError: The file cannot be read, is the pickle itself, or an entry is of another format.
    """
    if read_bytes(path)[:1] == b"\x80":
        raise InputError(
            f"{path} is a pickle, which can run code when it is read; if you trust it, write it as "
            'JSON Lines: pandas.read_pickle(PATH).to_json("conflictingqa.jsonl", '
            'orient="records", lines=True)'
        )
    pages: dict[str, list[WebPage]] = {}
    for page in read_records(path, WebPage, "ConflictingQA"):
        pages.setdefault(page.search_query, []).append(page)
    return [
        ContentiousQuestion(question=question, pages=tuple(group))
        for question, group in pages.items()
    ]
