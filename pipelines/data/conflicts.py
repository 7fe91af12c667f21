"""Reads CONFLICTS (Cattan et al. 2025): questions with search results and the type of conflict.

Two formats, told apart by their fields:

- `conflicts.jsonl` of github.com/google-research-datasets/rag_conflicts. One object per line with
  `source` (the data set that the question is from), `question`, `conflict_type`, `correct_answer`
  (empty for most questions without a single right answer) and `search_results`, each with `title`,
  `url`, `snippet`, `date`, `response_str` (the text of the page) and `short_text` (the segment of
  512 tokens that matters most). Any field of a result may be missing, null or empty. A user's file
  may leave out the type: its questions are then answered but not scored.
- A part of it, as redistributed by others: `query`, `conflict_type`, `gold_answer`, `docs` (each
  with `url`, `text`, `date` and sometimes `title`) and `official_index_1based`, the line in the
  official file. Its texts begin with the page's title and snippet, and, unlike the release, some
  answers to questions of opinion cite documents ("[d1]"); both are left as they are.

A result's text is its `short_text`, else its `snippet`, else its page. A result without any text
cannot be cited: it is left out and counted, and the others are numbered from 1 without gaps.
"""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, AliasChoices, BaseModel, BeforeValidator, Field

from pipelines.data.records import Label, NonEmpty
from pipelines.data.released import entries, record
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


def official_label(label: str) -> str:
    """The matching member of `LABELS`; case, white space, and "or" for "and" do not matter.

    Raises:
        ValueError: No label matches.
    """
    if (official := _BY_FORM.get(_form(label))) is None:
        known = ", ".join(repr(name) for name in LABELS)
        raise ValueError(f"{label!r} is not a type of conflict; the types are {known}")
    return official


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


class SearchResult(BaseModel, frozen=True):
    """A search result in either format; missing fields are empty.

    The release has `short_text`, its segment, and `response_str`, its whole page; a part of it has
    `text`. Dates are as released: "2024-07-30", "NA", "2 days ago".
    """

    title: _Loose = ""
    url: _Loose = ""
    date: _Loose = ""
    text: _Loose = ""
    short_text: _Loose = ""
    snippet: _Loose = ""
    response_str: _Loose = ""

    @property
    def segment(self) -> str:
        """Its text: the segment, else the snippet, else the whole page."""
        return self.short_text or self.text or self.snippet or self.response_str


class ConflictsRow(BaseModel, frozen=True):
    """A question with its search results, under the names of either format.

    Attributes:
        conflict_type: One of `LABELS`; None if the file does not give one.
        correct_answer: The annotators' right answer; may be empty.
        results: At least one; see `sources`.
        origin: The question's source data set, as released; may be empty.
        number: Line in the official file, from 1; if not given, position in this file.
    """

    query: _Asked = Field(validation_alias=AliasChoices("question", "query"))
    conflict_type: _Type | None = None
    correct_answer: _Loose = Field(
        "", validation_alias=AliasChoices("correct_answer", "gold_answer")
    )
    results: NonEmpty[SearchResult] = Field(validation_alias=AliasChoices("search_results", "docs"))
    origin: _Loose = Field("", validation_alias="source")
    number: int = Field(0, ge=1, validation_alias="official_index_1based")

    @property
    def sources(self) -> tuple[SearchResult, ...]:
        """The results that have a text."""
        return tuple(result for result in self.results if result.segment)

    @property
    def passed_over(self) -> int:
        """Number of results without any text."""
        return len(self.results) - len(self.sources)


def read(path: Path) -> list[ConflictsRow]:
    """The questions of a file in either format, in file order.

    Raises as `read_records`, also if no search result of a question has a text.
    """
    rows = []
    for place, entry in enumerate(entries(path), start=1):
        row = record(entry, ConflictsRow, NAME)
        if not row.sources:
            raise InputError(
                f"{entry.where}: none of the {len(row.results)} search results has a text; "
                f"name a file in the format of {NAME}"
            )
        rows.append(row if row.number else row.model_copy(update={"number": place}))
    return rows
