"""`contested score`: look at one answer in depth."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from pipelines.cli.flat import flat
from pipelines.cli.inspection import PageOptions, inspect
from pipelines.data.records import Document, Example
from pipelines.data.text import read_text
from pipelines.errors import InputError
from pipelines.inspection.regenerate import RegenerateOptions, regenerate, regenerate_needs
from pipelines.inspection.score import score as score_one
from pipelines.inspection.score import score_needs


class ScoreOptions(PageOptions, RegenerateOptions):
    """How one answer is scored and written again, and how the result is printed."""


@flat
def score(
    response: Annotated[Path, typer.Option(help="Text file with the answer to look at.")],
    documents: Annotated[
        list[Path],
        typer.Option(
            help="Text files with the documents it was written from, one document each; "
            "all that follow are taken: --documents a.txt b.txt c.txt"
        ),
    ],
    options: ScoreOptions,
    more: Annotated[list[Path] | None, typer.Argument(hidden=True)] = None,
) -> None:
    """Score one answer: its claims, what each document says of them, and four scores.

    Examples:
        contested score --response answer.txt --documents guide.txt study.txt leaflet.txt

        contested score --regenerate --response answer.txt --documents guide.txt study.txt

    CS-C is the share of claims that some documents support and others contradict. CS-R is how much
    of the evidence contradicts, on average over claims. Lower is better: an answer that says that
    its sources disagree is supported by all of them. Evidence is the share of claims that some
    document supports or contradicts. Both sides is how well the answer backs the side that it backs
    least; higher is better.

    With --regenerate a model is shown the claim whose evidence is most at odds, with the passages
    for and against it, and writes again. Before and after stand side by side, with every word that
    changed.
    """
    example = Example(
        id=response.stem,
        group=response.stem,
        response=read_text(response),
        documents=read_documents([*documents, *(more or [])]),
    )
    if options.regenerate:
        inspect(
            options,
            regenerate_needs(options),
            lambda models, tell: regenerate(example, options, models, tell),
            as_json=options.as_json,
            html=options.html,
        )
    else:
        scored = inspect(
            options,
            score_needs(options),
            lambda models, tell: score_one(example, options, models, tell),
            as_json=options.as_json,
            html=options.html,
        )
        if scored.status != "scored":
            raise InputError(f"the response could not be scored: {scored.error}")


def read_documents(paths: list[Path]) -> tuple[Document, ...]:
    """Documents from text files, named after them; InputError if a file or its name is no good."""
    names = [path.stem for path in paths]
    found: dict[str, Document] = {}
    for name, path in zip(names, paths, strict=True):
        called = name if names.count(name) == 1 else str(path)
        if called in found:
            raise InputError(f"the document {called} is given twice; name each file once")
        text = read_text(path)
        try:
            found[called] = Document(id=called, text=text)
        except ValidationError as error:
            raise InputError(
                f"{path}: '{called}' cannot name a document ({error.errors()[0]['msg']}); "
                "rename the file"
            ) from error
    return tuple(found.values())
