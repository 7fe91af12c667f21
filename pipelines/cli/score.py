"""`contested score`: look at one answer in depth."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pipelines.cli import options
from pipelines.cli.progress import STDERR, cost_line
from pipelines.cli.terminal import plain
from pipelines.conflictscore import run as conflictscore
from pipelines.conflictscore.pipeline import relations_by_claim
from pipelines.conflictscore.result import Result
from pipelines.conflictscore.scores import contradiction_ratio, determined
from pipelines.data.records import Document, Example
from pipelines.data.text import read_text
from pipelines.errors import InputError
from pipelines.evidence.judgement import Relation, conflicting
from pipelines.evidence.llm import Mode
from pipelines.evidence.risk import ChosenThreshold
from pipelines.evidence.store import JudgementStore, default_store
from serving.client import Client
from serving.connect import Source, connect

MARKS = {
    Relation.SUPPORTS: "[green]+ supports[/green]",
    Relation.CONTRADICTS: "[red]- contradicts[/red]",
    Relation.IRRELEVANT: "[dim]. irrelevant[/dim]",
    Relation.INVALID: "[yellow]? unreadable[/yellow]",
}


def score(
    response: Annotated[Path, typer.Option(help="Text file with the answer to look at.")],
    documents: Annotated[
        list[Path],
        typer.Option(
            help="Text files with the documents it was written from, one document each; "
            "all that follow are taken: --documents a.txt b.txt c.txt"
        ),
    ],
    more: Annotated[list[Path] | None, typer.Argument(hidden=True)] = None,
    fast: Annotated[
        bool,
        typer.Option(
            "--fast",
            help="An answer within seconds, without any server: `--labeller nli --claims "
            "sentences`.",
        ),
    ] = False,
    claims: options.Claims = None,
    k: options.SalientClaims = None,
    labeller: options.Labeller = None,
    tagger: options.Tagger = None,
    risk: options.Risk = None,
    evidence: Annotated[
        Mode | None,
        typer.Option(
            help="How a language model is asked. `json` explains each label with a snippet; "
            "`choice` costs one token and gives probabilities; `together` reads all documents in "
            "one call.",
            show_default="json",
            rich_help_panel=options.METRIC_PANEL,
        ),
    ] = None,
    on_overflow: Annotated[
        options.Overflow,
        typer.Option(help="What to do with a text too long for the context; cuts are shown."),
    ] = "error",
    unevidenced: options.UnevidencedClaims = "zero",
    prompts: options.Prompts = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    profile: options.Profile = None,
    model: options.ModelName = None,
    models_dir: options.ModelsDir = None,
    endpoint: options.Endpoint = None,
    strict: options.Strict = False,
    cache: options.Cache = None,
) -> None:
    """Score one answer: its claims, what each document says of them, CS-C and CS-R.

    Examples:
        contested score --response answer.txt --documents guide.txt study.txt leaflet.txt

        contested score --fast --response answer.txt --documents guide.txt study.txt leaflet.txt

    CS-C is the share of claims that some documents support and others contradict. CS-R is how much
    of the evidence contradicts, on average over claims. Lower is better: an answer that says that
    its sources disagree is supported by all of them.
    """
    example = read_example(response, [*documents, *(more or [])])
    if fast:
        if (claims or "sentences", labeller or "nli") != ("sentences", "nli"):
            wrong = "--claims" if claims not in (None, "sentences") else "--labeller"
            raise InputError(
                f"--fast is --labeller nli --claims sentences; leave {wrong} away, or --fast"
            )
        claims, labeller = "sentences", "nli"
    settings = options.settings(
        claims=claims,
        k=k,
        labeller=labeller,
        risk=risk,
        evidence=evidence,
        default_evidence="json",
        unevidenced=unevidenced,
        on_overflow=on_overflow,
    )
    options.refuse_idle(
        settings,
        {
            "--endpoint": endpoint,
            "--model": model,
            "--evidence": evidence,
            "--strict": strict,
            "--prompts": prompts,
            "--on-overflow": on_overflow == "cut",
            "--tagger": tagger,
            "--risk": risk,
            "--k": k,
        },
        called="--fast" if fast else None,
    )
    source = options.source(
        "judge",
        profile=profile,
        model=model,
        models_dir=models_dir,
        endpoint=endpoint,
        strict=strict,
    )
    folder = options.tagger(tagger, settings, source)

    async def scored() -> tuple[Result, str]:
        asked = source if conflictscore.asks_model(settings, [example]) else None
        with STDERR.status("") as status:
            async with client_of(asked, cache=cache, on_status=status.update) as client:
                with JudgementStore(default_store(cache)) as store:
                    scorer = conflictscore.prepare(
                        settings, client, prompts, tagger=folder, store=store
                    )
                    status.update("judging")
                    result = await conflictscore.score(example, scorer)
                    return result, spent(scorer)

    result, cost = asyncio.run(scored())
    if as_json:
        print(result.model_dump_json(indent=2))
        return
    show(result, Console(emoji=False))
    STDERR.print(f"[dim]{escape(cost)}[/dim]", soft_wrap=True)


def threshold(chosen: ChosenThreshold) -> str:
    """The threshold of a cascade and what it keeps, in one line."""
    if chosen.reason:
        return f"no label of the tagger is kept: {chosen.reason}"
    return (
        f"threshold {chosen.threshold:.3f} for a risk of {chosen.risk:g}; it keeps the tagger's "
        f"label of {chosen.point.kept / chosen.curve.pairs:.0%} of the calibration pairs"
    )


@asynccontextmanager
async def client_of(source: Source | None, **how: Any) -> AsyncIterator[Client | None]:
    """A client of a source, as `serving.connect.connect` gives it; none where there is no source.

    Args:
        source: The model that is asked, or None where none is.
        how: As for `connect`.
    """
    if source is None:
        yield None
        return
    async with connect(source, **how) as client:
        yield client


def spent(scorer: conflictscore.Scorer) -> str:
    """What was asked of whom, in one line."""
    parts = [cost_line(scorer.client)] if scorer.client else ["no language model was needed"]
    if scorer.chosen and scorer.chosen.reason:
        parts.append(f"the cascade asked for every pair: {scorer.chosen.reason}")
    kept = scorer.from_store()
    if scorer.tagger:
        parts.append(f"{scorer.pairs_tagged:,} pairs tagged by {scorer.tagger.name}")
    if kept["found"]:
        parts.append(f"{kept['found']:,} of {kept['pairs']:,} judgements from the store")
    return "; ".join(parts)


def read_example(response: Path, documents: list[Path]) -> Example:
    """An example from text files; documents are named after their files.

    Raises:
        InputError: A file is missing, empty or not UTF-8, or its name cannot name a document.
    """
    return Example(
        id=response.stem,
        group=response.stem,
        response=read_text(response),
        documents=read_documents(documents),
    )


def read_documents(paths: list[Path]) -> tuple[Document, ...]:
    """Documents from text files, named after them.

    Raises:
        InputError: As `read_example`.
    """
    names = [path.stem for path in paths]
    ids = [
        name if names.count(name) == 1 else str(path)
        for name, path in zip(names, paths, strict=True)
    ]
    if len(set(ids)) < len(ids):
        twice = next(name for name in ids if ids.count(name) > 1)
        raise InputError(f"the document {twice} is given twice; name each file once")
    return tuple(_document(name, path) for name, path in zip(ids, paths, strict=True))


def _document(name: str, path: Path) -> Document:
    text = read_text(path)
    try:
        return Document(id=name, text=text)
    except ValidationError as error:
        raise InputError(
            f"{path}: '{name}' cannot name a document ({error.errors()[0]['msg']}); rename the file"
        ) from error


def show(result: Result, console: Console) -> None:
    """Print claims, labels and scores as a table."""
    if result.status != "scored":
        raise InputError(f"the response could not be scored: {result.error}")
    width = len(result.documents)
    rows = relations_by_claim(result.judgements, width)
    table = Table(show_lines=True)
    table.add_column("claim", ratio=3)
    for document in result.documents:
        table.add_column(plain(document.id), ratio=1)
    table.add_column("conflict", justify="right")
    for number, (claim, relations) in enumerate(zip(result.claims, rows, strict=True)):
        judged = result.judgements[number * width : (number + 1) * width]
        ratio = contradiction_ratio(relations)
        cells = [
            MARKS[judgement.relation]
            + (
                f" {judgement.probabilities[judgement.relation]:.0%}"
                if judgement.probabilities
                else ""
            )
            for judgement in judged
        ]
        verdict = "yes" if conflicting(relations) else "no"
        if not determined(relations):
            verdict = "undetermined"
        elif ratio is not None:
            verdict = f"{verdict} {ratio:.2f}"
        table.add_row(plain(claim), *cells, verdict)
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
        f"CS-C {_number(result.cs_c)}   CS-R {_number(result.cs_r)}   "
        f"({len(result.claims)} claims{left_out}, {width} documents; lower is better)"
    )
    for cut in result.truncations:
        console.print(f"[yellow]{plain(cut.text)}: read {cut.kept} of {cut.tokens} tokens[/yellow]")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
