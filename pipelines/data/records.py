"""The input of every pipeline: documents, and responses written from them."""

from collections import Counter
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Final, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    StringConstraints,
    model_validator,
)
from pydantic_core import PydanticCustomError

Item = TypeVar("Item")

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""A string with at least one character that is not white space."""

NonEmpty = Annotated[tuple[Item, ...], Field(min_length=1)]
"""A tuple with at least one member."""

Identifier = Annotated[
    Text,
    StringConstraints(max_length=200),
    BeforeValidator(lambda value: str(value) if type(value) is int else value),
]
"""A name; an integer becomes one."""

_DOCUMENTS = ("retrieved_contexts", "retrieval_context", "docs", "contexts", "context")
CALLED: Final = {
    **dict.fromkeys(_DOCUMENTS, "documents"),
    **dict.fromkeys(("actual_output", "answer", "output", "prediction"), "response"),
    **dict.fromkeys(("query", "input", "user_input"), "question"),
}
"""Field names of a record in RAGAS, TruLens, Haystack and DeepEval -> our names.

Earlier names take precedence: DeepEval's `context`, the ideal retrieval, comes last.
"""

DOCUMENT_CALLED: Final = dict.fromkeys(("content", "page_content", "contents"), "text")
"""The same for a document."""


def whole(text: str) -> str:
    """Replace lone surrogates, which cannot be written, with "?"."""
    return text.encode("utf-8", "replace").decode()


Label = Annotated[
    str, BeforeValidator(lambda value: whole(value) if isinstance(value, str) else value)
]
"""A string that may be empty."""


class Document(BaseModel, frozen=True, extra="forbid"):
    """One grounding document.

    Attributes:
        id: Name of the document, unique within its record.
        text: The document's text, the only part that a claim is judged against.
        title: Shown to the model before the text.
        url: Its origin; shown in reports only.
        date: Date of writing, as the source gives it; shown in reports only.
    """

    id: Identifier
    text: Text
    title: Label | None = None
    url: Label | None = None
    date: Label | None = None

    def as_read(self) -> str:
        """The document as a model reads it: its title, if any, and its text."""
        return f"{self.title}\n\n{self.text}" if self.title else self.text


def _with_distinct_ids(documents: tuple[Document, ...]) -> tuple[Document, ...]:
    times = Counter(document.id for document in documents)
    if twice := sorted(name for name in times if times[name] > 1):
        raise ValueError(f"two documents have the id '{twice[0]}'; make them distinct")
    return documents


Documents = Annotated[NonEmpty[Document], AfterValidator(_with_distinct_ids)]
"""At least one document, with distinct ids."""


def called_in(record: Mapping[str, Any]) -> dict[str, str]:
    """`CALLED`, without names for `response` beside `responses`."""
    several = "responses" in record
    return {name: ours for name, ours in CALLED.items() if ours != "response" or not several}


def names_given(
    given: Mapping[str, Any], model: type[BaseModel], called: dict[str, str]
) -> dict[str, str]:
    """Field of the model -> its name in the input: ours, else the first of `called`."""
    others = {ours: name for name, ours in reversed(called.items()) if name in given}
    return others | {name: name for name in model.model_fields if name in given}


def known_fields(
    given: Mapping[str, Any], model: type[BaseModel], called: dict[str, str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The input's fields under the model's names, and the rest of the input.

    Raises:
        ValueError: A name looks like a misspelt field.
    """
    names = names_given(given, model, called)
    other = {name: value for name, value in given.items() if name not in names.values()}
    # Other tools' names count only for what is lacking: the rest may hold names much like them.
    lacking = [name for name, ours in called.items() if ours not in names]
    for name in other:
        if name in called:
            continue
        near = get_close_matches(name, model.model_fields, 1, 0.8)
        if meant := near or get_close_matches(name, lacking, 1, 0.92):  # "inputs" is another word
            raise ValueError(f"there is no field '{name}' (did you mean '{meant[0]}'?)")
    return {ours: given[name] for ours, name in names.items()}, other


def as_document(given: Any, number: int) -> Any:
    """A document from its JSON; a plain text, or one without an id, gets its number as id."""
    if isinstance(given, str):
        return {"id": f"d{number}", "text": given}
    if not isinstance(given, dict):
        return given
    known, _ = known_fields(given, Document, DOCUMENT_CALLED)
    return {"id": f"d{number}"} | known


class Record(BaseModel, frozen=True, extra="forbid"):
    """One line of an input file: documents and one or several responses to judge against them.

    Exactly one of `response` and `responses` is given. `responses` names its variants ("hedged",
    "model-a"), so that they share the documents, are compared in pairs, and cost the documents'
    prefill once.

    Attributes:
        id: Name of the record, unique within its file.
        question: The user's question, if any.
        documents: At least one, with distinct ids.
        response: The text to judge.
        responses: Variant name -> text to judge.
        claims: Claims to judge, so that the response is not decomposed.
        metadata: Other fields, kept unread.
    """

    id: Identifier
    question: Text | None = None
    documents: Documents
    response: Text | None = None
    responses: Annotated[dict[Identifier, Text], Field(min_length=1)] | None = None
    claims: NonEmpty[Text] | None = None
    metadata: dict[str, Any] = {}

    @model_validator(mode="before")
    @classmethod
    def _under_our_names(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        known, other = known_fields(given, cls, called_in(given))
        documents = known.get("documents")
        if isinstance(documents, str):
            documents = [documents]
        if isinstance(documents, list | tuple):
            known["documents"] = tuple(
                as_document(document, n) for n, document in enumerate(documents, 1)
            )
        if isinstance(known.get("claims"), list):
            known["claims"] = tuple(known["claims"])
        if other:
            known["metadata"] = {**known.get("metadata", {}), **other}
        return known

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.response is None and self.responses is None:
            raise PydanticCustomError("no_response", "the field 'response' is missing")
        if self.response is not None and self.responses is not None:
            raise ValueError("give exactly one of 'response' and 'responses'")
        if self.claims is not None and self.responses is not None:
            raise ValueError("'claims' goes with a single 'response', not with 'responses'")
        return self

    def examples(self) -> list["Example"]:
        """The record's responses, one example each, in the order given."""
        variants = self.responses if self.responses is not None else {None: self.response}
        return [
            Example(
                id=self.id if variant is None else f"{self.id}/{variant}",
                group=self.id,
                variant=variant,
                question=self.question,
                response=text or "",
                documents=self.documents,
                claims=self.claims,
            )
            for variant, text in variants.items()
        ]


class Response(BaseModel, frozen=True):
    """A response and the documents to judge it by.

    Attributes:
        id: `record` or `record/variant`.
        group: The record's id. Responses of a group share documents and are not independent, so
            intervals are clustered by it.
        variant: Name of the response within its record, if it has one.
        question, response, documents: As in `Record`.
    """

    id: str
    group: str
    variant: str | None = None
    question: str | None = None
    response: str
    documents: tuple[Document, ...]


class Example(Response, frozen=True):
    """A response, with its claims if given: a pipeline's unit of work."""

    claims: tuple[str, ...] | None = None
