"""`contested debate`: one question, one agent for each document, round by round."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from pipelines.cli.flat import flat
from pipelines.cli.inspection import PageOptions, inspect
from pipelines.cli.score import read_documents
from pipelines.cli.terminal import plain
from pipelines.inspection.debate import PanelOptions, debate_needs, debate_settings
from pipelines.inspection.debate import debate as debate_one
from pipelines.inspection.found import one_line_of
from pipelines.madam_rag.blocks import changed, end_of
from pipelines.madam_rag.data import GivenDocument, Question
from pipelines.madam_rag.replies import AgentReply, Conclusion, Debate


class DebatePageOptions(PanelOptions, PageOptions):
    """How a question is debated, and how the result is printed."""


@flat
def debate(
    question: Annotated[str, typer.Argument(help="What is asked.")],
    documents: Annotated[
        list[Path],
        typer.Option(
            help="Text files with the documents, one agent for each; all that follow are taken: "
            "--documents a.txt b.txt c.txt"
        ),
    ],
    options: DebatePageOptions,
    more: Annotated[list[Path] | None, typer.Argument(hidden=True)] = None,
) -> None:
    """Let agents debate a question, one for each document, until nobody changes their answer.

    Every agent answers from its own document; an aggregator brings the answers together, all right
    ones where the question can be meant in several ways; the agents hear of it and answer again.

    Example:
        contested debate "When was the bridge opened?" --documents guide.txt study.txt leaflet.txt
    """
    asked = Question(
        id="question",
        question=one_line_of(question),
        documents=tuple(
            GivenDocument(document=each) for each in read_documents([*documents, *(more or [])])
        ),
    )
    debate_settings(options)  # said before a model is looked for
    inspect(
        options,
        debate_needs(options),
        lambda models, tell: debate_one(asked, options, models, tell),
        lambda found, console: show(asked, found, console),
        as_json=options.as_json,
        html=options.html,
    )


def show(asked: Question, found: Debate, console: Console) -> None:
    """Print the answer and the debate: rounds as columns, agents as rows."""
    console.print(f"[italic]{plain(asked.question)}[/italic]")
    console.print(f"[bold]{_answers(found.concluded)}[/bold]")
    if found.concluded.explanation:
        console.print(plain(found.concluded.explanation))
    table = Table("document", show_lines=True)
    for number in range(1, len(found.rounds) + 1):
        table.add_column(f"round {number}", ratio=1)
    for agent, given in enumerate(asked.documents):
        cells = [
            _reply(each.agents[agent], changed=changed(before, each)[agent])
            for before, each in zip((None, *found.rounds), found.rounds, strict=False)
        ]
        table.add_row(plain(given.document.id), *cells)
    if any(each.aggregate for each in found.rounds):
        cells = [_answers(each.aggregate) if each.aggregate else "" for each in found.rounds]
        table.add_row("[bold]aggregator[/bold]", *cells)
    console.print()
    console.print(table)
    console.print(f"[dim]{plain(end_of(found))}[/dim]")


def _answers(concluded: Conclusion) -> str:
    if concluded.problem is not None:
        return f"[yellow]could not be read ({plain(concluded.problem)})[/yellow]"
    return plain("; ".join(concluded.answers)) or "[dim]no answer[/dim]"


def _reply(reply: AgentReply, *, changed: bool) -> str:
    if reply.answer is None:
        return f"[yellow]could not be read ({plain(reply.problem or '')})[/yellow]"
    mark = " [cyan](changed)[/cyan]" if changed else ""
    return f"[bold]{plain(reply.answer)}[/bold]{mark}\n[dim]{plain(reply.explanation)}[/dim]"
