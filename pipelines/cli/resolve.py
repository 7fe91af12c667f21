"""`contested resolve`: one question, its sources, the type of their conflict, a fitting answer."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from pipelines.cli.flat import flat
from pipelines.cli.inspection import PageOptions, inspect
from pipelines.conflicts.data import Query, Source
from pipelines.conflicts.experiment import needs_of
from pipelines.data.text import read_text
from pipelines.errors import InputError
from pipelines.inspection.found import one_line_of
from pipelines.inspection.resolve import TypedAnswerOptions, methods_of
from pipelines.inspection.resolve import resolve as resolve_one


class ResolveOptions(TypedAnswerOptions, PageOptions):
    """How a question is answered, and how the result is printed."""


@flat
def resolve(
    query: Annotated[str, typer.Argument(help="What is asked.")],
    documents: Annotated[
        list[Path],
        typer.Option(
            help="Text files with the sources; all that follow are taken: --documents a.txt b.txt. "
            "A file may begin with lines 'Date: 2021-03-01', 'Title: ...', 'URL: ...'."
        ),
    ],
    options: ResolveOptions,
    more: Annotated[list[Path] | None, typer.Argument(hidden=True)] = None,
) -> None:
    """Say how sources disagree over a question, and answer as that type of disagreement wants.

    No conflict is answered plainly; complementary answers are brought together; of opinions both
    sides are told; of outdated information the latest counts; misinformation is passed over. Every
    sentence of the answer cites sources, and is judged by them.

    Examples:
        contested resolve "When was the bridge opened?" --documents guide.txt study.txt leaflet.txt

        contested resolve "Is it tolled?" --documents guide.txt leaflet.txt --strategy none
    """
    sources = tuple(_sources([*documents, *(more or [])]))
    asked = Query(id="query", query=one_line_of(query), sources=sources)
    methods = methods_of(options)
    inspect(
        options,
        needs_of(methods, options),
        lambda models, tell: resolve_one(asked, options, methods, models, tell),
        as_json=options.as_json,
        html=options.html,
    )


def _sources(paths: list[Path]) -> Iterator[Source]:
    for path in paths:
        if paths.count(path) > 1:
            raise InputError(f"the document {path} is given twice; name each file once")
        text = read_text(path)
        try:
            yield Source.from_text(text)
        except ValidationError as error:
            raise InputError(f"{path} has no text below its first lines; give it some") from error
