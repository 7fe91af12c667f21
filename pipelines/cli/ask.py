"""`contested ask`: what a user's documents say of a claim, both sides of it."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from pipelines.cli.flat import flat
from pipelines.cli.inspection import Inspection, PageOptions, Tell, inspect, models_used
from pipelines.cli.score import MARKS
from pipelines.cli.terminal import plain
from pipelines.conrag.answer import Answer
from pipelines.conrag.generator import generator as generator_of
from pipelines.conrag.pipeline import conrag
from pipelines.conrag.settings import AnswerOptions
from pipelines.errors import InputError
from pipelines.experiment.cost import spent
from pipelines.experiment.experiment import Models
from pipelines.experiment.options import judging
from pipelines.option import Option
from pipelines.report.explorer import ExperimentView
from pipelines.report.glance import ModelUsed
from pipelines.retrieval.dense import Embedder
from pipelines.retrieval.index import Index
from pipelines.text.declarative import affirmed


class AskOptions(AnswerOptions, PageOptions):
    """What a user may choose about one query."""

    index: Annotated[Path, Option("The index, from `contested index build`.")] = Path("index")


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
    needs, claim = options.needs(), _claim(text, options)
    index = Index(options.index, Embedder(options.embedder) if options.embedder else None)
    retrieved = index.search(
        claim or text,
        k=options.settings.depth,
        method=options.method or ("hybrid" if index.about.model else "bm25"),
    )

    async def work(models: Models, tell: Tell) -> Inspection:
        judge = models.judge(judging(options.judge, options.on_overflow))
        writer = generator_of(models.asked, models.prompts) if options.writes else None
        tell("reading the passages")
        answer = await conrag(
            claim or text,
            retrieved,
            labeller=judge.labeller,
            settings=options.settings,
            generator=writer,
            question=claim is None,
        )
        used = models_used(
            tagger=judge.tagger,
            judge=judge.llm.client.model if judge.llm else None,
            writer=writer.client.model if writer else None,
        )

        return Inspection(
            answer,
            lambda console: show(answer, console),
            spent(models.client, judge),
            title="What the documents say",
            view=partial(_view, answer, used),
            about={"query": answer.query, "index": str(options.index)},
        )

    inspect(options, needs, work, as_json=options.as_json, html=options.html)


def _view(answer: Answer, used: list[ModelUsed]) -> ExperimentView:
    from pipelines.conrag.view import answer_view

    return answer_view(answer, used)


def _claim(text: str, options: AskOptions) -> str | None:
    """The claim that a query puts; None where a model answers it first."""
    claim = as_claim(text)
    if claim is None and not options.writes:
        raise InputError(
            f"'{text}' cannot be put as a claim; have a language model answer it first with "
            "--generator llm, or write the claim that passages are to support or refute"
        )
    return claim


def one_line_of(query: str) -> str:
    """A query without superfluous white space; InputError if it is empty, or not UTF-8."""
    text = " ".join(query.split())
    if text.encode("utf-8", "replace").decode() != text:
        raise InputError("the query is not UTF-8; set the terminal to UTF-8")
    if not text:
        raise InputError("the query is empty; give a claim, or a question")
    return text


def as_claim(text: str) -> str | None:
    """The claim that a query puts: a claim as it is, a question of yes or no affirmed.

    None of other questions, which need an answer before passages can be for or against it.
    """
    return affirmed(text) if text.endswith("?") else text


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
    if answer.cut:
        console.print("[yellow]a reply broke off: its whole sentences are here, no more[/yellow]")
    if answer.problem:
        console.print(f"[yellow]no answer was written ({plain(answer.problem)})[/yellow]")
    if answer.model_stance is not None and answer.model_stance is not answer.stance:
        console.print(f"[dim]the model that wrote this says {answer.model_stance.value}[/dim]")
    if not answer.evidence:
        return
    numbers, passages = Column("", justify="right"), Column("passage", ratio=1)
    table = Table(numbers, "tag", "cluster", passages, show_lines=True)
    for row in answer.evidence:
        title = f"[bold]{plain(row.passage.title or row.passage.id)}[/bold]"
        said = f"\n{plain(row.rationale)}" if row.rationale else ""
        if row.reason:
            said += f"\n[dim]the model: {plain(row.reason)}[/dim]"
        tag = f"{MARKS[row.tag or row.relation]} {row.confidence:.0%}"
        table.add_row(
            str(row.number),
            tag if row.tag is None else f"{MARKS[row.relation]} [dim](tagged {tag})[/dim]",
            row.cluster,
            f"{title}{said}",
        )
    console.print()
    console.print(table)
    if answer.unreadable:
        console.print(f"[yellow]{len(answer.unreadable)} labels could not be read[/yellow]")
    for cut in answer.truncations:
        console.print(f"[yellow]{plain(cut.text)}: read {cut.kept} of {cut.tokens} tokens[/yellow]")
