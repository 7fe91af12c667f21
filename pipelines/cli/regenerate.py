"""`contested regenerate`: one answer, written again from the conflict that was found in it."""

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer
from pydantic import Field
from rich.console import Console
from rich.table import Table

from pipelines.cli.flat import flat
from pipelines.cli.inspection import PageOptions, inspect
from pipelines.cli.score import read_example
from pipelines.cli.terminal import plain
from pipelines.conflictscore.pipeline import Scorer, prepare
from pipelines.conflictscore.regeneration.difference import Kind, difference
from pipelines.conflictscore.regeneration.feedback import Feedback, Quote
from pipelines.conflictscore.regeneration.regenerate import (
    Attempt,
    Ended,
    Regeneration,
    Writer,
    writer,
)
from pipelines.conflictscore.regeneration.regenerate import (
    regenerate as write_again,
)
from pipelines.conflictscore.settings import Claims, Settings
from pipelines.errors import InputError
from pipelines.evidence.settings import Labeller
from pipelines.experiment.cost import cost_line
from pipelines.experiment.experiment import Models
from pipelines.experiment.needs import writer_needs
from pipelines.experiment.options import JudgeModel, Overflow, ServerOptions, judging
from pipelines.inspection.found import Inspection, Tell, models_used, one_line_of
from pipelines.option import Option
from pipelines.report.explorer import ExperimentView
from pipelines.report.glance import ModelUsed

PANEL = "Regeneration"

ENDS: dict[Ended, str] = {
    "no conflict": "no claim is in conflict",
    "no longer falls": "the score did not fall",
    "rounds": "all rounds were used",
    "unchanged": "the writer gave its answer again",
    "unreadable": "the answer could not be scored",
}

STYLES: dict[Kind, str] = {"kept": "", "removed": "red strike", "added": "bold green"}


class SidesSettings(Settings):
    """The metric of a response that is written again: by the tagger, sentence by sentence.

    So another model judges than writes, and a sentence that names both sides stays one claim.
    """

    labeller: Labeller = "nli"
    claims: Claims = "sentences"


class RegenerateOptions(PageOptions, ServerOptions):
    """How an answer is scored and written again, and by which models."""

    rounds: Annotated[
        int, Field(ge=1, le=10), Option("Most times to ask for another answer.", panel=PANEL)
    ] = 1
    keep: Annotated[
        Literal["best", "last"],
        Option(
            "Which answer is the result: the `best` by score, so never one that scores worse than "
            "yours, or the `last`.",
            panel=PANEL,
        ),
    ] = "best"
    hedge: Annotated[
        bool,
        Option(
            "Whether the writer is asked to name both sides where documents remain at odds. "
            "Without, it is asked for the most truthful answer alone, as in the paper.",
            name="--hedge/--no-hedge",
            panel=PANEL,
        ),
    ] = True
    answer_tokens: Annotated[
        int, Field(ge=16), Option("Most tokens of an answer.", panel=PANEL)
    ] = 256
    judge_model: JudgeModel = None
    metric: SidesSettings = SidesSettings()
    on_overflow: Overflow = "error"


@flat
def regenerate(
    response: Annotated[Path, typer.Option(help="Text file with the answer to improve.")],
    documents: Annotated[
        list[Path],
        typer.Option(
            help="Text files with the documents it was written from, one document each; all that "
            "follow are taken: --documents a.txt b.txt c.txt"
        ),
    ],
    options: RegenerateOptions,
    more: Annotated[list[Path] | None, typer.Argument(hidden=True)] = None,
    question: Annotated[
        str | None, typer.Option(help="What was asked; shown to the writer.")
    ] = None,
) -> None:
    """Score an answer, tell a model where its documents disagree, and let it write again.

    The model is shown the claim whose evidence is most at odds, with the passages for and against
    it. Before and after stand side by side, with every word that changed.

    Examples:
        contested regenerate --response answer.txt --documents guide.txt study.txt

        contested regenerate --response answer.txt --documents guide.txt leaflet.txt --rounds 3
    """
    example = read_example(response, [*documents, *(more or [])])
    if question is not None:
        example = example.model_copy(update={"question": one_line_of(question)})
    settings = judging(options.metric, options.on_overflow)
    needs = writer_needs(options, settings, options.judge_model, splits=settings.splits)

    async def work(models: Models, tell: Tell) -> Inspection[Regeneration]:
        author = writer(
            models.asked,
            models.prompts,
            tokens=options.answer_tokens,
            hedged=options.hedge,
            cut=settings.cut,
        )
        scorer = prepare(
            settings, models.judging, models.prompts, tagger=models.tagger, store=models.store
        )
        tell("writing")
        found = await write_again(example, author, scorer, rounds=options.rounds, keep=options.keep)
        title = example.question or "An answer, written again"
        judge = scorer.judge.llm.client.model if scorer.judge.llm else None
        used = models_used(writes=author.client.model, judges=judge, tags=models.tagger)
        return Inspection(
            found,
            f"{_who(author, scorer)}\n{cost_line(author.client)}",
            title=title,
            view=partial(_view, found, used, title),
            about={"response": example.id},
        )

    inspect(options, needs, work, show, as_json=options.as_json, html=options.html)


def _view(found: Regeneration, used: list[ModelUsed], title: str) -> ExperimentView:
    from pipelines.conflictscore.regeneration.view import regeneration_view

    return regeneration_view(found, used, title)


def _who(author: Writer, scorer: Scorer) -> str:
    """Who wrote and who judged, with a warning where that is one model."""
    told = f"written by {author.client.model.name}, judged by {scorer.judge.name}"
    if scorer.judge.llm is not None and scorer.judge.llm.client is author.client:
        told += ": the same model judges what it writes; --labeller nli does not"
    return told


def show(found: Regeneration, console: Console) -> None:
    """Print what was told, before and after side by side, and the scores.

    Raises:
        InputError: The answer could not be scored.
    """
    before, after = found.before, found.after
    if before.score.status != "scored":
        raise InputError(f"the response could not be scored: {before.score.error}")
    for number, attempt in enumerate(found.attempts[1:], start=1):
        _show_round(number, attempt, console)
    table = Table(show_lines=True)
    table.add_column(f"before: {_scores(before)}", ratio=1)
    table.add_column(f"after: {_scores(after)}" if found.chosen else "after: kept", ratio=1)
    pieces = difference(before.response, after.response)
    sides: tuple[set[Kind], set[Kind]] = {"kept", "removed"}, {"kept", "added"}
    table.add_row(
        *(
            "".join(_styled(STYLES[kind], text) for kind, text in pieces if kind in shown)
            for shown in sides
        )
    )
    console.print(table)
    rounds = len(found.attempts) - 1
    asked = f"{rounds} round{'' if rounds == 1 else 's'}"
    console.print(f"[dim]{asked}; it ended because {ENDS[found.ended]}. Lower is better.[/dim]")


def _show_round(number: int, attempt: Attempt, console: Console) -> None:
    if attempt.feedback is not None:
        console.print(f"round {number}, told of: [bold]{plain(attempt.feedback.claim)}[/bold]")
        _show_sides(attempt.feedback, console)
    console.print(f"  its answer: {_scores(attempt)}")
    if attempt.ignored:
        console.print("  [yellow]the writer ignored this: the claim stands as it was[/yellow]")


def _show_sides(feedback: Feedback, console: Console) -> None:
    sides: tuple[tuple[str, tuple[Quote, ...]], ...] = (
        ("[green]+ supports[/green]", feedback.supporting),
        ("[red]- contradicts[/red]", feedback.contradicting),
    )
    for mark, quotes in sides:
        for quote in quotes:
            console.print(f"  {mark} document {quote.document}: “{plain(quote.text)}”")


def _scores(attempt: Attempt) -> str:
    score = attempt.score
    if score.cs_c is None:
        return f"no score ({plain(score.error or '')})"
    return ", ".join(score.figures())


def _styled(style: str, text: str) -> str:
    return f"[{style}]{plain(text)}[/{style}]" if style else plain(text)
