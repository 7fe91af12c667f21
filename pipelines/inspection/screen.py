"""Documents screened for statements that contradict each other, before any answer is written."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Self

from pydantic import Field, model_validator

from pipelines.data import jsonl
from pipelines.data.records import Document, NonEmpty
from pipelines.errors import InputError
from pipelines.experiment.experiment import Models
from pipelines.experiment.needs import Needs
from pipelines.experiment.options import ProfileOptions, TaggerOptions, source_of, tagger_named
from pipelines.inspection.task import Inspection, Shown, Task, Tell, models_used, telling
from pipelines.option import Option, Options

if TYPE_CHECKING:
    from pipelines.report.blocks import Card, Grid
    from pipelines.report.texts import Block
    from pipelines.screening import Contradiction, Screening

THRESHOLD: Final = 0.5
"""Lowest probability of a reported contradiction: chosen on a training half, with 3 % false alarms
on the test half."""

MOST_IN_GRID: Final = 12
"""Most documents in a grid that stays readable."""

MOST_SHOWN: Final = 50
"""Contradictions in the terminal and on the page; `--json` has all."""

FOUND: Final = 1
"""Exit code if documents contradict each other, as in `diff`."""


def documents_of_files(paths: Sequence[Path]) -> tuple[Document, ...]:
    """The documents of text files, JSONL files and folders; see `read_documents`."""
    from pipelines.retrieval.documents import read_documents

    try:
        return tuple(read_documents(paths))
    except InputError:
        if len(paths) == 1 and _holds_records(paths[0]):
            raise InputError(f"{paths[0]} holds records; write --data {paths[0]}") from None
        raise


def _holds_records(path: Path) -> bool:
    try:
        return bool(jsonl.read(path, limit=1).examples)
    except InputError:
        return False


def documents_of_records(path: Path) -> dict[str, tuple[Document, ...]]:
    """The documents of each record of a file, by the record's id; see `jsonl.read`."""
    return {example.group: example.documents for example in jsonl.read(path).examples}


class DocumentsAsked(Options):
    """Documents to compare with each other, or a file of records with documents."""

    documents: Annotated[
        NonEmpty[Document] | None,
        Option(
            "Text files, Markdown, JSONL of documents, and folders of these.",
            typed=list[Path] | None,
            read=documents_of_files,
            argument=True,
        ),
        Shown("documents"),
    ] = None
    data: Annotated[
        Mapping[str, tuple[Document, ...]] | None,
        Option(
            "Instead, a JSONL file of records: documents are compared within each record.",
            typed=Path | None,
            read=documents_of_records,
        ),
    ] = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.documents is None) == (self.data is None):
            raise InputError("name either documents, or a file of records with --data")
        if self.documents is not None and len(self.documents) < 2:
            raise InputError("one document cannot be compared with itself; name two or more")
        return self

    def sets(self) -> list[Sequence[Document]]:
        """Sets of documents to compare; those of records are named RECORD/ID."""
        if self.documents is not None:
            return [self.documents]
        return [
            [
                document.model_copy(update={"id": f"{record}/{document.id}"})
                for document in documents
            ]
            for record, documents in (self.data or {}).items()
        ]


class ScreenOptions(TaggerOptions, ProfileOptions):
    """The tagger, and which contradictions are reported."""

    threshold: Annotated[
        float,
        Field(ge=0, le=1),
        Option("Report contradictions with at least this probability."),
    ] = THRESHOLD


def needs(options: ScreenOptions) -> Needs:
    """The tagger; errors are those of `tagger_named`."""
    return Needs(tagger=tagger_named(options.tagger, source_of(options, "judge")))


async def screened(
    asked: DocumentsAsked, options: ScreenOptions, models: Models, tell: Tell
) -> "Inspection[Screening]":
    """Find statements in documents that contradict each other, before any answer is written.

    Examples:
        contested screen samples/bridge/documents

        contested screen papers/ --threshold 0.9 --json

        contested screen --data answers.jsonl --html screened.html

    The tagger compares sentences of different documents that share words, both ways. The exit code
    is 1 if any contradict each other, else 0. Many reported contradictions are false; see
    docs/conrag.md.
    """
    from pipelines.report.explorer import single
    from pipelines.report.glance import count
    from pipelines.screening import screen

    folder = telling(models, tell).tagger
    assert folder is not None  # noqa: S101  (guaranteed by `needs`)
    result = await asyncio.to_thread(lambda: screen(asked.sets(), folder.load(), options.threshold))
    title, used = "Documents that contradict each other", models_used(tagger=folder)
    return Inspection(
        result,
        f"{count(2 * result.compared, 'pair')} read by {folder.caution}",
        title=title,
        view=lambda _: single("screen", title, content(result, options.threshold), used),
        exit_code=FOUND if result.contradictions else 0,
    )


def content(result: "Screening", threshold: float) -> "list[Block]":
    """The likely number of contradictions, a card for each, and a matrix of the documents."""
    from pipelines.report.blocks import Cards
    from pipelines.report.glance import count
    from pipelines.report.texts import Aside, Note, Strong, line

    said = (
        f"{count(len(result.documents), 'document')}, {count(result.statements, 'statement')}, "
        f"{count(result.compared, 'pair')} compared"
    )
    number = len(result.contradictions)
    made: list[Block] = [line(Strong(count(number, "likely contradiction")), Aside(said))]
    if number:
        made.append(Cards(tuple(map(_card, result.contradictions[:MOST_SHOWN]))))
    if number > MOST_SHOWN:
        made.append(Note(f"{number - MOST_SHOWN:,} more are in the JSON"))
    if 2 < len(result.documents) <= MOST_IN_GRID:
        below = f"< {threshold:g}"
        made.append(_grid(result, below))
        made.append(
            Note(
                "The likeliest contradiction between each pair of documents; "
                f"{below}: below the threshold, –: no sentences alike enough to compare"
            )
        )
    return made


def _card(found: "Contradiction") -> "Card":
    from pipelines.report.blocks import Card
    from pipelines.report.texts import Quote

    first, second = found.first, found.second
    return Card(
        f"{first.document} against {second.document}: {found.probability:.2f}",
        (Quote(first.text), Quote(second.text)),
    )


def _grid(result: "Screening", below: str) -> "Grid":
    """The likeliest contradiction between each pair of documents."""
    from pipelines.report.blocks import Grid

    def cell(one: str, other: str) -> tuple[str]:
        likeliest = result.likeliest(one, other)
        if likeliest is None:
            return (below if (one, other) in result.met else "–",)
        return (f"{likeliest:.2f}",)

    names = result.documents
    return Grid(
        "The likeliest contradiction between each pair of documents",
        ("", *names[1:]),
        tuple(
            ((name,), *(("",) for _ in names[1:row]), *(cell(name, other) for other in names[row:]))
            for row, name in enumerate(names[:-1], 1)
        ),
    )


SCREEN = Task(
    name="screen",
    title="Screen documents",
    asked=DocumentsAsked,
    options=ScreenOptions,
    needs=needs,
    inspect=screened,
)
