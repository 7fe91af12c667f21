"""`contested debate`: one question, one agent for each document, round by round."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pipelines.cli import debate_options, options
from pipelines.cli.ask import one_line_of
from pipelines.cli.debate_options import DEFAULTS
from pipelines.cli.progress import STDERR, cost_line
from pipelines.cli.score import read_documents
from pipelines.cli.terminal import plain
from pipelines.errors import InputError
from pipelines.evidence.nli import nli_labeller
from pipelines.evidence.store import JudgementStore, default_store, stored
from pipelines.files import check_writable
from pipelines.madam_rag.debate import debate as hold
from pipelines.madam_rag.debate import panel
from pipelines.madam_rag.evaluation.methods import MADAM, WITH_RELIABILITY, WITHOUT_AGGREGATOR
from pipelines.madam_rag.evaluation.opened import changed, end_of
from pipelines.madam_rag.evaluation.result import Outcome, QuestionResult
from pipelines.madam_rag.question import GivenDocument, Question
from pipelines.madam_rag.transcript import AgentReply, Conclusion, Debate, Reliability
from pipelines.report.page import ModelUsed, write
from pipelines.runs.provenance import provenance
from serving.connect import connect


def debate(
    question: Annotated[str, typer.Argument(help="What is asked.")],
    documents: Annotated[
        list[Path],
        typer.Option(
            help="Text files with the documents, one agent for each; all that follow are taken: "
            "--documents a.txt b.txt c.txt"
        ),
    ],
    more: Annotated[list[Path] | None, typer.Argument(hidden=True)] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write the debate as a page that opens without a network.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the debate as JSON.")] = False,
    rounds: debate_options.Rounds = DEFAULTS.rounds,
    history: debate_options.Told = None,
    agreement: debate_options.AgreeBy = None,
    closing: debate_options.CloseBy = None,
    replies: debate_options.ReplyIn = None,
    as_released: debate_options.AsReleased = False,
    aggregator: Annotated[
        bool,
        typer.Option(
            help="Without one the answer is what the agents answer between them, and they hear "
            "each other.",
            rich_help_panel=debate_options.DEBATE_PANEL,
        ),
    ] = True,
    reliability: debate_options.Reliable = False,
    tagger: options.Tagger = None,
    prompts: options.Prompts = None,
    profile: options.Profile = None,
    model: options.ModelName = None,
    models_dir: options.ModelsDir = None,
    endpoint: options.Endpoint = None,
    strict: options.Strict = False,
    cache: options.Cache = None,
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
    settings = debate_options.settings(
        rounds=rounds,
        history=history,
        agreement=agreement,
        closing=closing,
        replies=replies,
        as_released=as_released,
    )
    if not aggregator:
        if history == "aggregate" or reliability:
            idle = "--reliability" if reliability else "--history aggregate"
            raise InputError(f"{idle} needs an aggregator; leave it or --no-aggregator away")
        settings = settings.without_aggregator()
    if html is not None:
        check_writable(html)
    debate_options.refuse_idle_tagger(tagger, reliability=reliability)
    source = options.source(
        "generator",
        profile=profile,
        model=model,
        models_dir=models_dir,
        endpoint=endpoint,
        strict=strict,
    )
    judge = debate_options.reliability_tagger(tagger, source) if reliability else None

    async def held() -> tuple[Debate, list[ModelUsed], str]:
        with STDERR.status("") as status, JudgementStore(default_store(cache)) as store:
            labeller = None if judge is None else stored(nli_labeller(judge), store)
            async with connect(source, cache=cache, on_status=status.update) as client:
                status.update("debating")
                by = panel(client, prompts, labeller=labeller)
                found = await hold(
                    asked.question, [each.document for each in asked.documents], by, settings
                )
                used = [ModelUsed("agents", client.model.name, client.model.digest)]
                if judge is not None:
                    used.append(ModelUsed("reliability", judge.name, judge.digest))
                return found, used, cost_line(client)

    found, used, cost = asyncio.run(held())
    method = WITH_RELIABILITY if reliability else MADAM if aggregator else WITHOUT_AGGREGATOR
    try:
        if html is not None:
            write_page(html, asked, method, found, used)
    finally:  # what was said is shown though the page cannot be written
        if as_json:
            print(found.model_dump_json(indent=2))
        else:
            show(asked, found, Console(emoji=False))
    STDERR.print(f"[dim]{escape(cost)}[/dim]", soft_wrap=True)
    if html is not None:
        STDERR.print(f"page: {escape(str(html))}", soft_wrap=True)


def write_page(
    path: Path, asked: Question, method: str, found: Debate, models: list[ModelUsed]
) -> None:
    """The debate as a self-contained page.

    Raises:
        InputError: The file cannot be written.
    """
    from pipelines.madam_rag.evaluation.page import one_debate  # noqa: PLC0415  (only for a page)

    outcome = Outcome(concluded=found.concluded, calls=found.calls, debate=found)
    result = QuestionResult(id=asked.id, asked=asked, status="answered", outcomes={method: outcome})
    made_with = {"question": asked.question} | provenance()
    write(path, asked.question, [one_debate(result)], made_with, models=models)


def show(asked: Question, found: Debate, console: Console) -> None:
    """Print the answer and the debate: rounds as columns, agents as rows."""
    console.print(f"[italic]{plain(asked.question)}[/italic]")
    console.print(f"[bold]{_answers(found.concluded)}[/bold]")
    if found.concluded.explanation:
        console.print(plain(found.concluded.explanation))
    table = Table(show_lines=True)
    table.add_column("document")
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
