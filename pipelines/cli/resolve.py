"""`contested resolve`: one question, its sources, the type of their conflict, a fitting answer."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.table import Table

from pipelines.cli.flat import flat
from pipelines.cli.inspection import PageOptions, inspect
from pipelines.cli.terminal import plain
from pipelines.conflicts.data import Query, Source, written
from pipelines.conflicts.experiment import needs_of
from pipelines.conflicts.pipeline import CLASSIFIERS
from pipelines.conflicts.result import Answer, Outcome, QueryResult, Verdicts
from pipelines.conflicts.taxonomy import CATEGORY, Prediction
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
        show,
        as_json=options.as_json,
        html=options.html,
    )


def show(result: QueryResult, console: Console) -> None:
    """Print the type, the answer with its verdicts, and the sources."""
    asked = result.asked
    console.print(f"[italic]{plain(asked.query)}[/italic]")
    for prediction in result.predictions.values():
        _show_type(prediction, console)
    for outcome in result.outcomes.values():
        if outcome.answer.prediction is not None:
            _show_type(outcome.answer.prediction, console)
        console.print()
        _show_answer(outcome, console)
    table = Table("", "date", title="sources", title_justify="left")
    table.add_column("text", ratio=1)
    for number, source in enumerate(asked.sources, 1):
        date = written(source)
        table.add_row(
            str(number), date.as_text() if date else "–", plain(" ".join(source.text.split()))[:300]
        )
    console.print()
    console.print(table)


def _show_type(found: Prediction, console: Console) -> None:
    by = CLASSIFIERS[found.by]
    if found.problem is not None:
        console.print(f"[yellow]type: could not be read ({plain(found.problem)})[/yellow]")
        return
    if found.type is not None:
        console.print(f"type: [bold]{CATEGORY[found.type].label}[/bold] [dim]({by})[/dim]")
    if found.probabilities:
        shares = ", ".join(
            f"{CATEGORY[each].short.lower()} {share:.2f}"
            for each, share in sorted(found.probabilities.items(), key=lambda pair: -pair[1])
        )
        console.print(f"[dim]{shares}[/dim]")
    if found.explanation:
        console.print(f"[dim]{plain(found.explanation)}[/dim]")


def _show_answer(outcome: Outcome, console: Console) -> None:
    answer, judged = outcome.answer, outcome.judged
    if answer.problem is not None:
        console.print(f"[yellow]answer: could not be read ({plain(answer.problem)})[/yellow]")
        return
    for sentence, verdict in zip(answer.sentences, _verdicts(answer, judged), strict=True):
        cites = "".join(f"[{number}]" for number in sentence.cites)
        unknown = "".join(f"[{number}?]" for number in sentence.unknown)
        console.print(f"{plain(sentence.text)} {plain(cites + unknown)} [dim]{verdict}[/dim]")
    if not answer.finished:
        console.print("[yellow]cut: the answer was longer than --answer-tokens[/yellow]")
    if judged.grounding is not None and judged.grounding.share is not None:
        console.print(f"[dim]factual grounding: {judged.grounding.share:.2f}[/dim]")
    if judged.adherence is not None and judged.adherence.adheres is not None:
        said = "behaves" if judged.adherence.adheres else "does not behave"
        why = plain(judged.adherence.reason)
        console.print(f"[dim]{said} as '{judged.adherence.type}' wants: {why}[/dim]")


def _verdicts(answer: Answer, judged: Verdicts) -> list[str]:
    if judged.grounding is None:
        return [""] * len(answer.sentences)
    return [each.grounds or "not judged" for each in judged.grounding.sentences]


def _sources(paths: list[Path]) -> Iterator[Source]:
    for path in paths:
        if paths.count(path) > 1:
            raise InputError(f"the document {path} is given twice; name each file once")
        text = read_text(path)
        try:
            yield Source.from_text(text)
        except ValidationError as error:
            raise InputError(f"{path} has no text below its first lines; give it some") from error
