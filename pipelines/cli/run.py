"""`contested run`: a pipeline over a file of examples, into a run folder."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from pipelines.cli import options
from pipelines.cli.conflicts_run import run_conflicts
from pipelines.cli.conrag import run_conrag
from pipelines.cli.detection import run_conflict_detection
from pipelines.cli.madam_rag import run_madam_rag
from pipelines.cli.npov_run import run_npov
from pipelines.cli.progress import STDERR, Shown, progress
from pipelines.cli.report import publish
from pipelines.cli.run_all import run_all
from pipelines.cli.score import client_of, spent, threshold
from pipelines.conflictscore import run as conflictscore
from pipelines.conflictscore.drift import TAGGER_IS_STEADY, drift_table
from pipelines.conflictscore.estimate import estimate
from pipelines.conflictscore.result import Result
from pipelines.conflictscore.settings import Settings
from pipelines.data.jsonl import SAMPLES, Dataset, OnError, read
from pipelines.evidence.nli import TaggerFolder
from pipelines.evidence.store import JudgementStore, default_store
from pipelines.report.table import write
from pipelines.runs.folder import RunFolder
from pipelines.runs.provenance import finished, provenance
from serving.connect import Source

app = typer.Typer(
    no_args_is_help=True,
    help="Run a pipeline over a JSONL file. Killed anywhere, the same command goes on from there.",
)


app.command("conflict-detection")(run_conflict_detection)
app.command("conrag")(run_conrag)
app.command("conflicts")(run_conflicts)
app.command("madam-rag")(run_madam_rag)
app.command("npov")(run_npov)
app.command("all", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(
    run_all
)


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
    on_overflow: options.OnOverflow = "error",
    repeat: Annotated[
        int, typer.Option(min=1, help="Ask everything N times anew and measure the drift.")
    ] = 1,
    claims: options.Claims = None,
    k: options.SalientClaims = None,
    labeller: options.Labeller = None,
    tagger: options.Tagger = None,
    risk: options.Risk = None,
    evidence: options.EvidenceMode = None,
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

        contested run conflictscore --labeller nli --claims sentences --out results-nli
    """
    dataset = read(data, on_error=on_error, limit=limit)
    settings = options.settings(
        claims=claims,
        k=k,
        labeller=labeller,
        risk=risk,
        evidence=evidence,
        default_evidence="choice",
        unevidenced=unevidenced,
        on_overflow=on_overflow,
    )
    # Of the whole file, whatever the limit: a run of its beginning is to be gone on with.
    whole = dataset if limit is None else read(data, on_error="skip")
    asks = conflictscore.asks_model(settings, whole.examples)
    options.refuse_idle(
        settings,
        {
            "--endpoint": endpoint,
            "--model": model,
            "--evidence": evidence,
            "--strict": strict,
            "--prompts": prompts,
            "--concurrency": concurrency,
            "--on-overflow": on_overflow == "cut",
            "--tagger": tagger,
            "--risk": risk,
            "--k": k,
        },
        asks=asks,
    )
    source = options.source(
        "judge",
        profile=profile,
        model=model,
        models_dir=models_dir,
        endpoint=endpoint,
        strict=strict,
    )
    judge = options.tagger(tagger, settings, source)
    asked = source if asks else None
    if dry_run:
        asyncio.run(_announce(dataset, settings, asked, prompts, cache, repeat, judge))
        return
    folder = RunFolder(out)

    async def run(shown: Shown) -> list[str]:
        async with client_of(
            asked,
            cache=cache,
            logs=folder.logs,
            concurrency=concurrency,
            on_status=shown.status,
        ) as client:
            with JudgementStore(default_store(cache)) as store:
                costs = []
                for number in range(repeat):
                    scorer = conflictscore.prepare(
                        settings, client, prompts, tagger=judge, store=store, repeat=number
                    )
                    await _run_once(
                        dataset, scorer, folder, number, source.profile.name, on_error, shown
                    )
                    costs.append(spent(scorer))
                shown.status("")
                return costs

    with folder.locked():
        with progress("responses", len(dataset.examples) * repeat) as shown:
            costs = asyncio.run(run(shown))
        for cost in costs:
            STDERR.print(f"[dim]{escape(cost)}[/dim]", soft_wrap=True)
        if repeat > 1:
            if settings.labeller != "llm":
                STDERR.print(f"[dim]{escape(TAGGER_IS_STEADY)}[/dim]", soft_wrap=True)
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
    usage = scorer.usage
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
    looked_up = scorer.from_store()
    if usage.calls or looked_up["pairs"]:
        folder.note(name, finished(usage) | {"store": looked_up})


async def _announce(
    dataset: Dataset,
    settings: Settings,
    asked: Source | None,
    prompts: Path | None,
    cache: Path | None,
    repeat: int,
    tagger: TaggerFolder | None,
) -> None:
    async with client_of(asked, cache=cache) as client:
        scorer = conflictscore.prepare(settings, client, prompts, tagger=tagger)
        cost = estimate(dataset.examples, scorer)
        print(f"{cost.responses:,} responses from {dataset.name}, judged by {scorer.judge}")
        assumed = " (one claim per sentence assumed)" if cost.decomposition_calls else ""
        if tagger is not None:
            print(f"about {cost.tagged_pairs:,} pairs to tag{assumed}")
        if scorer.chosen is not None:
            print(threshold(scorer.chosen))
        if client is None:
            print("no language model is asked")
        else:
            at_most = "at most" if tagger is not None else "about"
            print(
                f"{cost.decomposition_calls:,} decomposition calls, "
                f"{at_most} {cost.evidence_calls:,} evidence calls"
                f"{'' if tagger is not None else ' (one claim per sentence assumed)'}\n"
                f"about {cost.prompt_tokens:,} prompt tokens, "
                f"{cost.distinct_tokens:,} once shared prefixes are read only once\n"
                f"at most {cost.written_tokens:,} tokens written"
            )
        if repeat > 1:
            print(f"all of it {repeat} times over" + (" but the tagging" if tagger else ""))
        for skipped in dataset.skipped:
            print(f"line {skipped.line} is skipped: {skipped.error}")


def _repeats(folder: RunFolder, repeat: int) -> list[list[Result]]:
    return [list(conflictscore.results(folder, number).values()) for number in range(repeat)]
