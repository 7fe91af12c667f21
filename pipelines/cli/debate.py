"""`contested debate`: one question, one agent for each document, round by round."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from pipelines.cli.ask import one_line_of
from pipelines.cli.flat import flat
from pipelines.cli.inspection import Inspection, PageOptions, Tell, inspect, models_used
from pipelines.cli.score import read_documents
from pipelines.cli.terminal import plain
from pipelines.errors import InputError
from pipelines.evidence.nli import nli_labeller
from pipelines.evidence.store import stored
from pipelines.experiment.cost import cost_line
from pipelines.experiment.experiment import Models
from pipelines.experiment.needs import Needs
from pipelines.experiment.options import ServerOptions, source_of, tagger_named
from pipelines.madam_rag.debate import debate as hold
from pipelines.madam_rag.debate import panel
from pipelines.madam_rag.methods import MADAM, WITH_RELIABILITY, WITHOUT_AGGREGATOR
from pipelines.madam_rag.opened import changed, end_of
from pipelines.madam_rag.question import GivenDocument, Question
from pipelines.madam_rag.result import Outcome, QuestionResult
from pipelines.madam_rag.settings import PANEL, UNTOLD, DebateOptions, DebateSettings
from pipelines.madam_rag.transcript import AgentReply, Conclusion, Debate, Reliability
from pipelines.option import Option
from pipelines.report.explorer import ExperimentView


class PanelOptions(DebateOptions, PageOptions, ServerOptions):
    """How a question is debated, and by which model."""

    aggregator: Annotated[
        bool,
        Option(
            "Without one the answer is what the agents answer between them, and they hear each "
            "other.",
            name="--aggregator/--no-aggregator",
            panel=PANEL,
        ),
    ] = True


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
    options: PanelOptions,
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
    settings = options.debate if options.aggregator else _without_aggregator(options)

    async def work(models: Models, tell: Tell) -> Inspection:
        client, tagger = models.asked, models.tagger
        labeller = None if tagger is None else stored(nli_labeller(tagger), models.store)
        tell("debating")
        found = await hold(
            asked.question,
            [each.document for each in asked.documents],
            panel(client, models.prompts, labeller=labeller),
            settings,
        )

        def view() -> ExperimentView:
            from pipelines.madam_rag.view import question_view

            held = Outcome(concluded=found.concluded, calls=found.calls, debate=found)
            outcomes = {_method(options): held}
            result = QuestionResult(id=asked.id, asked=asked, status="answered", outcomes=outcomes)
            return question_view(result, models_used(agents=client.model, reliability=tagger))

        return Inspection(
            found,
            lambda console: show(asked, found, console),
            cost_line(client),
            title=asked.question,
            view=view,
            about={"question": asked.question},
        )

    inspect(options, _needs(options), work, as_json=options.as_json, html=options.html)


def _needs(options: PanelOptions) -> Needs:
    where = source_of(options, "generator")
    tagger = tagger_named(options.tagger, where) if options.reliability else None
    return Needs(role="generator", tagger=tagger, untagged=UNTOLD)


def _method(options: PanelOptions) -> str:
    if options.reliability:
        return WITH_RELIABILITY
    return MADAM if options.aggregator else WITHOUT_AGGREGATOR


def _without_aggregator(options: DebateOptions) -> DebateSettings:
    """The debate without an aggregator; InputError where an option needs one."""
    told = options.debate.history == "aggregate" and "history" in options.debate.model_fields_set
    if told or options.reliability:
        idle = "--reliability" if options.reliability else "--history aggregate"
        raise InputError(f"{idle} needs an aggregator; leave it or --no-aggregator out")
    return options.debate.without_aggregator()


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
            _reply(
                each.agents[agent],
                changed=changed(before, each)[agent],
                tally=each.reliability[agent] if each.reliability else None,
            )
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


def _reply(reply: AgentReply, *, changed: bool, tally: Reliability | None) -> str:
    if reply.answer is None:
        return f"[yellow]could not be read ({plain(reply.problem or '')})[/yellow]"
    lines = [
        f"[bold]{plain(reply.answer)}[/bold]{' [cyan](changed)[/cyan]' if changed else ''}",
        f"[dim]{plain(reply.explanation)}[/dim]",
    ]
    if tally is not None:
        lines.append(
            f"of {tally.others} others, {tally.support} support it, {tally.refute} contradict it"
        )
    return "\n".join(lines)
