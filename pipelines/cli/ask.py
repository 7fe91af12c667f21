"""`contested ask`: what a user's documents say of a claim, both sides of it."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table

from pipelines.cli.flat import flat
from pipelines.cli.inspection import PageOptions, inspect
from pipelines.cli.score import MARKS
from pipelines.cli.terminal import plain
from pipelines.conrag.answer import Answer
from pipelines.conrag.evidence import SIDES
from pipelines.conrag.settings import AnswerOptions
from pipelines.inspection.ask import ask as ask_one
from pipelines.inspection.ask import claim_of, search
from pipelines.inspection.found import one_line_of
from pipelines.option import Option
from pipelines.retrieval.dense import Embedder
from pipelines.retrieval.index import Index


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
    needs = options.needs()
    claim = claim_of(text, options)
    index = Index(options.index, Embedder(options.embedder) if options.embedder else None)
    retrieved = search(index, claim or text, options)
    inspect(
        options,
        needs,
        lambda models, tell: ask_one(
            text, retrieved, options, models, tell, index=str(options.index)
        ),
        show,
        as_json=options.as_json,
        html=options.html,
    )


def show(answer: Answer, console: Console) -> None:
    """Print stance, answer and evidence table; nothing of it steers the terminal."""
    badge = " [reverse] disputed [/reverse]" if answer.disputed else ""
    status = "" if answer.status == "disputed" else f" [bold]{plain(answer.status)}[/bold]"
    unsure = f"; {answer.unsure} of {len(answer.tags)} tags unsure" if answer.unsure else ""
    console.print(f"[italic]{plain(answer.query)}[/italic]")
    if answer.first_answer:
        console.print(f"[dim]for and against: {plain(' '.join(answer.first_answer))}[/dim]")
    console.print(
        f"{status}{badge}  conflict score {answer.kappa:.2f}, for it {answer.support:.2f}, "
        f"against it {answer.refute:.2f}{unsure}\n".lstrip()
    )
    for sentence in answer.sentences:
        cites = "".join(f" \\[{number}]" for number in sentence.cites)
        problem = f" [yellow]({plain('; '.join(sentence.problems))})[/yellow]"
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
    if answer.evidence:
        console.print()
        console.print(_evidence(answer))
    sided = sum(relation in SIDES for relation in answer.relations.values())
    if left := sided - sum(row.relation in SIDES for row in answer.evidence):
        console.print(
            f"[dim]{left} more take a side, not in the evidence (--packet, --per-cluster)[/dim]"
        )
    if answer.unreadable:
        console.print(f"[yellow]{len(answer.unreadable)} labels could not be read[/yellow]")
    for cut in answer.truncations:
        console.print(f"[yellow]{plain(cut.text)}: read {cut.kept} of {cut.tokens} tokens[/yellow]")


def _evidence(answer: Answer) -> Table:
    numbers, passages = Column("", justify="right"), Column("passage", ratio=1)
    table = Table(numbers, "tag", "cluster", passages, show_lines=True)
    for row in answer.evidence:
        title = f"[bold]{plain(row.passage.title or row.passage.id)}[/bold]"
        said = f"\n{plain(row.rationale)}" if row.rationale else ""
        if row.reason:
            said += f"\n[dim]the model: {plain(row.reason)}[/dim]"
        sure = f"{row.confidence:.0%}{', unsure' if row.unsure else ''}"
        tag = f"{MARKS[row.tag or row.relation]} {sure}"
        table.add_row(
            str(row.number),
            tag if row.tag is None else f"{MARKS[row.relation]} [dim](tagged {tag})[/dim]",
            row.cluster,
            f"{title}{said}",
        )
    return table
