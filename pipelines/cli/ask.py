"""`contested ask`: what a user's documents say of a claim, both sides of it."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pipelines.cli.flat import flat
from pipelines.cli.progress import STDERR
from pipelines.cli.score import MARKS
from pipelines.cli.terminal import plain
from pipelines.conrag.answer import Answer
from pipelines.conrag.generator import Generator
from pipelines.conrag.generator import generator as generator_of
from pipelines.conrag.pipeline import conrag
from pipelines.conrag.settings import AnswerOptions
from pipelines.errors import InputError
from pipelines.evidence.judge import Judge
from pipelines.experiment.cost import spent
from pipelines.experiment.execute import models_for
from pipelines.experiment.needs import refuse_unneeded
from pipelines.experiment.options import judging
from pipelines.files import check_writable
from pipelines.option import Option
from pipelines.report.explorer import write
from pipelines.report.glance import ModelUsed
from pipelines.retrieval.dense import Embedder
from pipelines.retrieval.index import Index
from pipelines.runs.provenance import provenance
from pipelines.text.declarative import affirmed


class AskOptions(AnswerOptions):
    """What a user may choose about one query."""

    index: Annotated[Path, Option("The index, from `contested index build`.")] = Path("index")
    html: Annotated[
        Path | None, Option("Write the answer as a page that opens without a network.")
    ] = None
    as_json: Annotated[bool, Option("Print the answer as JSON.", name="--json")] = False


@flat
def ask(
    query: Annotated[
        str,
        typer.Argument(
            help="A claim or a question. Questions of yes or no are put as claims; others need "
            "--generator llm."
        ),
    ],
    options: AskOptions,
) -> None:
    """Say what documents hold for a claim and against it, with every sentence cited.

    Passages are found, tagged as supporting or refuting, and grouped; how evenly the two sides are
    balanced is the conflict score. The tagger that comes with the program is asked unless
    `--labeller` says otherwise, and the answer quotes them; then no server is needed.

    Examples:
        contested ask "The Vinland Map is a genuine fifteenth-century map."

        contested ask "Did humans hunt the mammoth to extinction?" --html mammoth.html

        contested ask "When did the last mammoths die?" --generator llm --packet 4
    """
    text = one_line_of(query)
    if as_claim(text) is None and not options.writes:
        raise InputError(
            f"'{text}' cannot be put as a claim; have a language model answer it first with "
            "--generator llm, or write the claim that passages are to support or refute"
        )
    if options.html is not None:
        check_writable(options.html)
    answer, models, cost = asyncio.run(answered(text, options))
    try:
        if options.html is not None:
            write_page(options.html, answer, models, options.index)
    finally:  # what was found is shown though the page cannot be written
        if options.as_json:
            print(answer.model_dump_json(indent=2))
        else:
            show(answer, Console(emoji=False))
    STDERR.print(f"[dim]{escape(cost)}[/dim]", soft_wrap=True)
    if options.html is not None:
        STDERR.print(f"page: {escape(str(options.html))}", soft_wrap=True)


async def answered(text: str, options: AskOptions) -> tuple[Answer, list[ModelUsed], str]:
    """The answer to a query, who gave it, and what that cost, in a line.

    Raises:
        InputError: An option has no effect, or the index cannot be used.
        RequestError, PairError: The query or a passage cannot be judged.
        ServingError: There is no such model, or no server can be had.
    """
    needs = options.needs()
    refuse_unneeded(options, needs)
    claim = as_claim(text)
    index = Index(options.index, Embedder(options.embedder) if options.embedder else None)
    retrieved = index.search(
        claim or text,
        k=options.settings.depth,
        method=options.method or ("hybrid" if index.about.model else "bm25"),
    )
    with STDERR.status("") as status:
        async with models_for(options, needs, status.update) as models:
            judge = models.judge(judging(options.judge, options.on_overflow))
            writer = generator_of(models.asked, models.prompts) if options.writes else None
            status.update("reading the passages")
            answer = await conrag(
                claim or text,
                retrieved,
                labeller=judge.labeller,
                settings=options.settings,
                generator=writer,
                question=claim is None,
            )
            return answer, models_used(judge, writer), spent(models.client, judge)


def one_line_of(query: str) -> str:
    """A query without superfluous white space.

    Raises:
        InputError: It is empty, or not UTF-8.
    """
    text = " ".join(query.split())
    if text.encode("utf-8", "replace").decode() != text:
        raise InputError("the query is not UTF-8; set the terminal to UTF-8")
    if not text:
        raise InputError("the query is empty; give a claim, or a question")
    return text


def as_claim(text: str) -> str | None:
    """The claim that a query puts: a claim as it is, a question of yes or no affirmed.

    Returns:
        None of other questions, which need an answer before passages can be for or against it.
    """
    return affirmed(text) if text.endswith("?") else text


def models_used(judge: Judge, writer: Generator | None) -> list[ModelUsed]:
    """Who tagged the passages, and who wrote the answer."""
    used = []
    if judge.tagger is not None:
        used.append(ModelUsed("tagger", judge.tagger.name, judge.tagger.digest))
    if judge.llm is not None:
        model = judge.llm.client.model
        used.append(ModelUsed("judge", model.name, model.digest))
    if writer is not None:
        used.append(ModelUsed("writer", writer.client.model.name, writer.client.model.digest))
    return used


def write_page(path: Path, answer: Answer, models: list[ModelUsed], index: Path) -> None:
    """The answer as a self-contained page.

    Raises:
        InputError: The file cannot be written.
    """
    from pipelines.conrag.view import answer_view

    made_with = {"query": answer.query, "index": str(index)} | provenance()
    write(path, "What the documents say", [answer_view(answer, models)], made_with)


def show(answer: Answer, console: Console) -> None:
    """Print stance, answer and evidence table; nothing of it steers the terminal."""
    badge = " [reverse] disputed [/reverse]" if answer.disputed else ""
    status = "" if answer.status == "disputed" else f" [bold]{escape(answer.status)}[/bold]"
    console.print(f"[italic]{plain(answer.query)}[/italic]")
    if answer.first_answer:
        console.print(f"[dim]for and against: {plain(' '.join(answer.first_answer))}[/dim]")
    console.print(
        f"{status}{badge}  conflict score {answer.kappa:.2f}, for it {answer.support:.2f}, "
        f"against it {answer.refute:.2f}\n".lstrip()
    )
    for sentence in answer.sentences:
        cites = "".join(f" \\[{number}]" for number in sentence.cites)
        problem = f" [yellow]({escape('; '.join(sentence.problems))})[/yellow]"
        console.print(
            f"{plain(sentence.text)}[cyan]{cites}[/cyan]{problem if sentence.problems else ''}"
        )
    if answer.unsaid:
        console.print(f"[yellow]{plain(answer.unsaid)}[/yellow]")
    if answer.problem:
        console.print(f"[yellow]no answer was written ({plain(answer.problem)})[/yellow]")
    if answer.model_stance is not None and answer.model_stance is not answer.stance:
        console.print(f"[dim]the model that wrote this says {answer.model_stance.value}[/dim]")
    if not answer.evidence:
        return
    table = Table(show_lines=True)
    table.add_column("", justify="right")
    table.add_column("tag")
    table.add_column("cluster")
    table.add_column("passage", ratio=1)
    for row in answer.evidence:
        title = f"[bold]{plain(row.passage.title or row.passage.id)}[/bold]"
        said = f"\n{plain(row.rationale)}" if row.rationale else ""
        table.add_row(
            str(row.number),
            f"{MARKS[row.relation]} {row.confidence:.0%}",
            row.cluster,
            f"{title}{said}",
        )
    console.print()
    console.print(table)
    if answer.unreadable:
        console.print(f"[yellow]{len(answer.unreadable)} labels could not be read[/yellow]")
    for cut in answer.truncations:
        console.print(f"[yellow]{plain(cut.text)}: read {cut.kept} of {cut.tokens} tokens[/yellow]")
