"""`contested run`: a pipeline over a file of examples, into a run folder."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from pipelines.cli import options
from pipelines.cli.progress import STDERR, Shown, cost_line, progress
from pipelines.cli.report import publish
from pipelines.conflictscore import run as conflictscore
from pipelines.conflictscore.drift import drift_table
from pipelines.conflictscore.estimate import estimate
from pipelines.conflictscore.result import Result
from pipelines.conflictscore.settings import ClaimSource, Settings
from pipelines.data.jsonl import SAMPLES, Dataset, OnError, read
from pipelines.evidence.llm import Mode
from pipelines.report.table import write
from pipelines.runs.folder import RunFolder
from pipelines.runs.provenance import finished, provenance
from serving.connect import Source, connect

app = typer.Typer(
    no_args_is_help=True,
    help="Run a pipeline over a JSONL file. Killed anywhere, the same command goes on from there.",
)


@app.callback()
def group() -> None:
    """Keep `conflictscore` a subcommand while it is the only one."""


@app.command("conflictscore")
def run_conflictscore(
    data: Annotated[
        Path,
        typer.Option(
            help="JSONL file of responses and documents; see docs/input.md.",
            show_default="bundled samples",
        ),
    ] = SAMPLES,
    out: Annotated[Path, typer.Option(help="Run folder; made, or continued.")] = Path("results"),
    limit: Annotated[int | None, typer.Option(min=1, help="Take only the first N records.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it would cost; ask no model.")
    ] = False,
    on_error: Annotated[
        OnError,
        typer.Option(help="Stop at a bad record or an unscorable response, or skip and count it."),
    ] = "stop",
    on_overflow: Annotated[
        options.Overflow,
        typer.Option(help="What to do with a text too long for the context; cuts are recorded."),
    ] = "error",
    repeat: Annotated[
        int, typer.Option(min=1, help="Ask everything N times anew and measure the drift.")
    ] = 1,
    claims: Annotated[
        ClaimSource,
        typer.Option(
            help="Judge all claims of a response, the k most salient, or the response as a whole.",
            rich_help_panel=options.METRIC_PANEL,
        ),
    ] = "atomic",
    k: options.SalientClaims = 3,
    evidence: Annotated[
        Mode,
        typer.Option(
            help="`choice` costs one token and gives probabilities; `json` explains each label "
            "with a snippet; `together` reads all documents in one call.",
            rich_help_panel=options.METRIC_PANEL,
        ),
    ] = "choice",
    unevidenced: options.UnevidencedClaims = "zero",
    prompts: options.Prompts = None,
    profile: options.Profile = None,
    model: options.ModelName = None,
    models_dir: options.ModelsDir = None,
    endpoint: options.Endpoint = None,
    strict: options.Strict = False,
    cache: options.Cache = None,
    concurrency: options.Concurrency = None,
) -> None:
    """Score every response of a file with ConflictScore.

    Leaves in the run folder: `conflictscore.jsonl` (every claim, judgement and score), `tables/`,
    and `report.html`, the page to read.

    Examples:
        contested run conflictscore --data answers.jsonl --out results

        contested run conflictscore --data answers.jsonl --dry-run
    """
    dataset = read(data, on_error=on_error, limit=limit)
    settings = Settings(
        claims=claims, k=k, evidence=evidence, unevidenced=unevidenced, cut=on_overflow == "cut"
    )
    source = options.source(
        "judge",
        profile=profile,
        model=model,
        models_dir=models_dir,
        endpoint=endpoint,
        strict=strict,
    )
    if dry_run:
        asyncio.run(_announce(dataset, settings, source, prompts, cache, repeat))
        return
    folder = RunFolder(out)

    async def run(shown: Shown) -> list[str]:
        async with connect(
            source,
            cache=cache,
            logs=folder.logs,
            concurrency=concurrency,
            on_status=shown.status,
        ) as client:
            costs = []
            for number in range(repeat):
                scorer = conflictscore.prepare(settings, client.repeated(number), prompts)
                await _run_once(
                    dataset, scorer, folder, number, source.profile.name, on_error, shown
                )
                costs.append(cost_line(scorer.client))
            shown.status("")
            return costs

    with folder.locked():
        with progress("responses", len(dataset.examples) * repeat) as shown:
            costs = asyncio.run(run(shown))
        for cost in costs:
            STDERR.print(f"[dim]{escape(cost)}[/dim]", soft_wrap=True)
        if repeat > 1:
            write(drift_table(_repeats(folder, repeat)), folder.tables)
        publish(folder)
    if dataset.skipped:
        STDERR.print(
            f"bad records skipped: {len(dataset.skipped):,}, listed in "
            f"{conflictscore.NAME}.skipped.jsonl; the first is on line "
            f"{dataset.skipped[0].line}: {escape(dataset.skipped[0].error)}",
            soft_wrap=True,
        )
    STDERR.print(f"report: {escape(str(folder.report))}   tables: {escape(str(folder.tables))}")


async def _run_once(
    dataset: Dataset,
    scorer: conflictscore.Scorer,
    folder: RunFolder,
    repeat: int,
    profile: str,
    on_error: OnError,
    shown: Shown,
) -> None:
    name = conflictscore.log_name(repeat)
    usage = scorer.client.usage
    config = conflictscore.config(dataset, scorer)
    folder.begin(name, config, provenance() | {"profile": profile})
    conflictscore.keep_skipped(folder, dataset.skipped, repeat)
    await conflictscore.run(
        dataset,
        scorer,
        folder,
        repeat=repeat,
        on_failure=on_error,
        on_start=shown.begin,
        on_result=lambda _: shown.advance(usage),
    )
    if usage.calls:
        folder.note(name, finished(usage))


async def _announce(
    dataset: Dataset,
    settings: Settings,
    source: Source,
    prompts: Path | None,
    cache: Path | None,
    repeat: int,
) -> None:
    async with connect(source, cache=cache) as client:
        cost = estimate(dataset.examples, conflictscore.prepare(settings, client, prompts))
        print(
            f"{cost.responses:,} responses from {dataset.name}, judged by {client.model.name}\n"
            f"{cost.decomposition_calls:,} decomposition calls, "
            f"about {cost.evidence_calls:,} evidence calls (one claim per sentence assumed)\n"
            f"about {cost.prompt_tokens:,} prompt tokens, "
            f"{cost.distinct_tokens:,} once shared prefixes are read only once\n"
            f"at most {cost.written_tokens:,} tokens written"
        )
        if repeat > 1:
            print(f"all of it {repeat} times over")
        for skipped in dataset.skipped:
            print(f"line {skipped.line} is skipped: {skipped.error}")


def _repeats(folder: RunFolder, repeat: int) -> list[list[Result]]:
    return [list(conflictscore.results(folder, number).values()) for number in range(repeat)]
