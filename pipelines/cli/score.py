"""`contested score`: look at one answer in depth."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.table import Column, Table

from pipelines.cli.flat import flat
from pipelines.cli.inspection import PageOptions, inspect
from pipelines.cli.terminal import plain
from pipelines.conflictscore.pipeline import relations_by_claim
from pipelines.conflictscore.regeneration.regenerate import (
    Attempt,
    Ended,
    Kind,
    Regeneration,
    difference,
)
from pipelines.conflictscore.result import Result
from pipelines.conflictscore.scores import contradiction_ratio, determined
from pipelines.data.records import Document, Example
from pipelines.data.text import read_text
from pipelines.errors import InputError
from pipelines.evidence.judgement import Judgement, Relation, in_conflict
from pipelines.inspection.regenerate import RegenerateOptions, regenerate, regenerate_needs
from pipelines.inspection.score import score as score_one
from pipelines.inspection.score import score_needs

MARKS = {
    Relation.SUPPORTS: "[green]+ supports[/green]",
    Relation.CONTRADICTS: "[red]- contradicts[/red]",
    Relation.IRRELEVANT: "[dim]. irrelevant[/dim]",
    Relation.INVALID: "[yellow]? unreadable[/yellow]",
}


ENDS: dict[Ended, str] = {
    "no conflict": "no claim is in conflict",
    "no evidence": "no document takes a side on any claim",
    "no longer falls": "the score did not fall",
    "rounds": "all rounds were used",
    "unchanged": "the writer gave its answer again",
    "unreadable": "the answer could not be scored",
}

STYLES: dict[Kind, str] = {"kept": "", "removed": "red strike", "added": "bold green"}


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
            show_regeneration,
            as_json=options.as_json,
            html=options.html,
        )
    else:
        inspect(
            options,
            score_needs(options),
            lambda models, tell: score_one(example, options, models, tell),
            show,
            as_json=options.as_json,
            html=options.html,
        )


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


def show(result: Result, console: Console) -> None:
    """Print claims, labels and scores as a table."""
    if result.status != "scored":
        raise InputError(f"the response could not be scored: {result.error}")
    width = len(result.documents)
    rows = relations_by_claim(result.judgements, width)
    documents = (Column(plain(document.id), ratio=1) for document in result.documents)
    verdict = Column("conflict", justify="right")
    table = Table(Column("claim", ratio=3), *documents, verdict, show_lines=True)
    for number, (claim, relations) in enumerate(zip(result.claims, rows, strict=True)):
        judged = result.judgements[number * width : (number + 1) * width]
        table.add_row(plain(claim), *map(_cell, judged), _verdict(relations))
    console.print(table)
    for judgement in result.judgements:
        if judgement.snippet or judgement.reasoning:
            console.print(
                f"[bold]{plain(judgement.document)}[/bold] on “{plain(judgement.claim)}”: "
                f"{MARKS[judgement.relation]}"
            )
            if judgement.snippet:
                found = "" if judgement.snippet_found else " (not in the document)"
                console.print(f"  “{plain(judgement.snippet)}”{found}")
            if judgement.reasoning:
                console.print(f"  [dim]{plain(judgement.reasoning)}[/dim]")
    undetermined = result.undetermined_claims
    left_out = f", {undetermined} of them undetermined" if undetermined else ""
    console.print(
        f"{'   '.join(result.figures())}\n"
        f"{len(result.claims)} claims{left_out}, {width} documents; CS-C and CS-R: lower is better"
    )
    if result.evidence == 0:
        console.print(
            "[yellow]no document supports or contradicts any claim of the answer[/yellow]"
        )
    if copied := result.copied_claims:
        console.print(
            f"[yellow]{len(copied)} claims are left out, for the model copied them from its "
            "prompt; a larger one, or --claims sentences, splits better[/yellow]"
        )
    for cut in result.truncations:
        console.print(f"[yellow]{plain(cut.text)}: read {cut.kept} of {cut.tokens} tokens[/yellow]")


def _cell(judgement: Judgement) -> str:
    shares = judgement.probabilities
    sure = f" {shares[judgement.relation]:.0%}" if shares else ""
    return f"{MARKS[judgement.relation]}{sure}"


def _verdict(relations: Sequence[Relation]) -> str:
    conflict = in_conflict(relations)
    if conflict is None:
        return "undetermined"
    ratio = contradiction_ratio(relations) if determined(relations) else None
    return ("yes" if conflict else "no") + ("" if ratio is None else f" {ratio:.2f}")


def show_regeneration(found: Regeneration, console: Console) -> None:
    """Print the score, what was told, before and after side by side, and their scores."""
    before, after = found.before, found.after
    show(before.score, console)
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
    console.print(f"[dim]{asked}; it ended because {ENDS[found.ended]}.[/dim]")


def _show_round(number: int, attempt: Attempt, console: Console) -> None:
    if (feedback := attempt.feedback) is not None:
        console.print(f"round {number}, told of: [bold]{plain(feedback.claim)}[/bold]")
        for relation, quotes in (
            (Relation.SUPPORTS, feedback.supporting),
            (Relation.CONTRADICTS, feedback.contradicting),
        ):
            for quote in quotes:
                console.print(
                    f"  {MARKS[relation]} document {quote.document}: “{plain(quote.text)}”"
                )
    console.print(f"  its answer: {_scores(attempt)}")
    if attempt.ignored:
        console.print("  [yellow]the writer ignored this: the claim stands as it was[/yellow]")


def _scores(attempt: Attempt) -> str:
    score = attempt.score
    if score.status != "scored":
        return f"no score ({plain(score.error or '')})"
    return ", ".join(score.figures())


def _styled(style: str, text: str) -> str:
    return f"[{style}]{plain(text)}[/{style}]" if style else plain(text)
