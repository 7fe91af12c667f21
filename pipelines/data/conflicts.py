"""Reads CONFLICTS (Cattan et al. 2025): questions with search results and the type of conflict.

Two formats, told apart by their fields:

- `conflicts.jsonl` of github.com/google-research-datasets/rag_conflicts. One object per line with
  `source` (the data set that the question is from), `question`, `conflict_type`, `correct_answer`
  (empty for most questions without a single right answer) and `search_results`, each with `title`,
  `url`, `snippet`, `date`, `response_str` (the text of the page) and `short_text` (the segment of
  512 tokens that matters most). Any field of a result may be missing, null or empty. A user's file
  may leave out the type: its questions are then answered but not scored.
- A part of it as third parties passed it on: `query`, `conflict_type`, `gold_answer`, `docs` (each
  with `url`, `text`, `date` and, some, `title`) and `official_index_1based`, the line in the
  official file. Its texts begin with the page's title and snippet, and, unlike the release, some
  answers to questions of opinion cite documents ("[d1]"); both are left as they are.

A result's text is its `short_text`, else its `snippet`, else its page. A result without any text
cannot be cited: it is left out and counted, and the others are numbered from 1 without gaps.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from pipelines.data.records import Label, NonEmpty
from pipelines.data.released import Entry, entries, record
from pipelines.errors import InputError

NAME = "CONFLICTS"

LABELS = (
    "No conflict",
    "Complementary information",
    "Conflicting opinions and research outcomes",
    "Conflict due to outdated information",
    "Conflict due to misinformation",
)
"""The types of conflict as the release writes them."""


@dataclass(frozen=True)
class ConflictsResult:
    """A search result with a text: its segment, else its snippet, else its whole page.

    Missing fields are empty. Dates are as released: "2024-07-30", "NA", "2 days ago".
    """

    text: str
    url: str = ""
    title: str = ""
    snippet: str = ""
    date: str = ""
    page: str = ""


@dataclass(frozen=True)
class ConflictsRow:
    """A question with its search results.

    Attributes:
        sources: The results with a text, in order; `passed_over` counts the others.
        conflict_type: One of `LABELS`; None if the file does not give one.
        correct_answer: The annotators' right answer; may be empty.
        origin: The question's source data set, as released; None if not given.
        number: Line in the official file, from 1, or else position in this file.
    """

    query: str
    sources: tuple[ConflictsResult, ...]
    conflict_type: str | None
    correct_answer: str
    origin: str | None
    number: int
    passed_over: int = 0


def official_label(label: str) -> str:
    """The matching member of `LABELS`, ignoring white space and case, and "or" for "and".

    Raises:
        ValueError: No label matches.
    """
    if (found := _BY_FORM.get(_form(label))) is None:
        known = ", ".join(repr(each) for each in LABELS)
        raise ValueError(f"{label!r} is no type of conflict; there are {known}")
    return found


def read(path: Path) -> list[ConflictsRow]:
    """The questions of a file in either format, in file order.

    Raises as `read_records`, also if no search result of a question has a text.
    """
    return [_row(entry, place) for place, entry in enumerate(entries(path), start=1)]


def _form(label: str) -> str:
    return " ".join("and" if word == "or" else word for word in label.casefold().split())


_BY_FORM = {_form(label): label for label in LABELS}


def _string(value: object) -> object:
    """Turn null into an empty string and a number into digits: a date may be a bare year."""
    if value is None:
        return ""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_number else value


_Loose = Annotated[Label, BeforeValidator(_string), AfterValidator(str.strip)]
_Asked = Annotated[Label, AfterValidator(str.strip), Field(min_length=1)]
_Type = Annotated[str, AfterValidator(official_label)]


class _Result(BaseModel):
    """A search result in either format: `short_text` and what follows, or `text`."""

    title: _Loose = ""
    url: _Loose = ""
    date: _Loose = ""
    text: _Loose = ""
    short_text: _Loose = ""
    snippet: _Loose = ""
    response_str: _Loose = ""

    def as_released(self) -> ConflictsResult:
        return ConflictsResult(
            text=self.short_text or self.text or self.snippet or self.response_str,
            url=self.url,
            title=self.title,
            snippet=self.snippet,
            date=self.date,
            page=self.response_str,
        )


class _Official(BaseModel):
    query: _Asked = Field(validation_alias="question")
    conflict_type: _Type | None = None
    answer: _Loose = Field("", validation_alias="correct_answer")
    results: NonEmpty[_Result] = Field(validation_alias="search_results")
    source: _Loose = ""


class _Partial(BaseModel):
    query: _Asked
    conflict_type: _Type
    answer: _Loose = Field("", validation_alias="gold_answer")
    results: NonEmpty[_Result] = Field(validation_alias="docs")
    official_index_1based: Annotated[int, Field(ge=1)] | None = None


def _row(entry: Entry, place: int) -> ConflictsRow:
    given = entry.value if isinstance(entry.value, dict) else {}
    row: _Official | _Partial
    if "docs" in given and "search_results" not in given:
        row = record(entry, _Partial, NAME)
        origin, number = None, row.official_index_1based or place
    else:
        row = record(entry, _Official, NAME)
        origin, number = row.source or None, place
    results = [each.as_released() for each in row.results]
    sources = tuple(each for each in results if each.text)
    if not sources:
        raise InputError(
            f"{entry.where}: none of the {len(results)} search results has a text; "
            f"name a file in the format of {NAME}"
        )
    return ConflictsRow(
        query=row.query,
        sources=sources,
        conflict_type=row.conflict_type,
        correct_answer=row.answer,
        origin=origin,
        number=number,
        passed_over=len(results) - len(sources),
    )
