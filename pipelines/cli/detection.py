"""`contested run conflict-detection`: who sees which conflicts, example by example."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from pipelines.cli import options
from pipelines.cli.progress import STDERR, Shown, progress
from pipelines.cli.report import publish
from pipelines.cli.score import client_of, spent, threshold
from pipelines.conflictscore import run as conflictscore
from pipelines.conflictscore.detection import run as detection
from pipelines.data.jsonl import Dataset, OnError
from pipelines.evidence.examples import SAMPLES, Bench, read
from pipelines.evidence.nli import calibrated
from pipelines.evidence.risk import choose_threshold
from pipelines.evidence.store import JudgementStore, default_store
from pipelines.runs.folder import RunFolder
from pipelines.runs.provenance import finished, provenance
from pipelines.runs.runner import IN_FLIGHT, IN_FLIGHT_UNSERVED


def run_conflict_detection(
    data: Annotated[
        Path,
        typer.Option(
            help="JSONL file of examples, of `contested conflictbench build` or your own; see "
            "docs/conflict-detection.md.",
            show_default="bundled samples",
        ),
    ] = SAMPLES,
    out: Annotated[Path, typer.Option(help="Run folder; made, or continued.")] = Path("results"),
    limit: Annotated[
        int | None, typer.Option(min=1, help="Take only the first N examples.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say how much is to be judged; judge nothing.")
    ] = False,
    on_error: Annotated[
        OnError,
        typer.Option(help="Stop at an example that cannot be judged, or skip and count it."),
    ] = "stop",
    on_overflow: options.OnOverflow = "error",
    name: Annotated[
        str | None,
        typer.Option(
            help="What to call this labeller, so that one folder can hold two of a kind.",
            show_default="nli, cascade, llm-choice, ...",
        ),
    ] = None,
    labeller: options.Labeller = None,
    tagger: options.Tagger = None,
    risk: options.Risk = None,
    evidence: options.EvidenceMode = None,
    prompts: options.Prompts = None,
    profile: options.Profile = None,
    model: options.ModelName = None,
    models_dir: options.ModelsDir = None,
    endpoint: options.Endpoint = None,
    strict: options.Strict = False,
    cache: options.Cache = None,
    concurrency: options.Concurrency = None,
) -> None:
    """Detect conflicting documents, and count how often a labeller is right.

    Leaves in the run folder: `conflict-detection.NAME.jsonl` (every example, label and decision),
    `conflict-detection-errors.jsonl`, `tables/` and `report.html`. Run it again with another
    labeller and the same folder to have both in one table.

    Examples:
        contested run conflict-detection --labeller nli --out results-detection

        contested run conflict-detection --data bench.jsonl --out results-bench
    """
    bench = read(data, limit=limit)
    settings = options.settings(
        claims="whole",  # an example is one claim
        labeller=labeller,
        risk=risk,
        evidence=evidence,
        default_evidence="choice",
        unevidenced="zero",
        on_overflow=on_overflow,
    )
    options.refuse_idle(
        settings,
        {
            "--tagger": tagger,
            "--risk": risk,
            "--evidence": evidence,
            "--model": model,
            "--endpoint": endpoint,
            "--strict": strict,
            "--prompts": prompts,
            "--concurrency": concurrency,
            "--on-overflow": on_overflow == "cut",
        },
        called=f"--labeller {settings.labeller}",
    )
    called = name or (
        f"llm-{settings.evidence}" if settings.labeller == "llm" else settings.labeller
    )
    detection.entry_name(called)
    source = options.source(
        "judge",
        profile=profile,
        model=model,
        models_dir=models_dir,
        endpoint=endpoint,
        strict=strict,
    )
    judge = options.tagger(tagger, settings, source)
    asked = source if settings.asks_model else None
    if dry_run:
        _announce(bench, called)
        if judge is not None and settings.labeller == "cascade":
            chosen = choose_threshold(calibrated(judge), settings.risk, judge.fitted_on)
            print(f"{threshold(chosen)}\nat most {_distinct_pairs(bench):,} evidence calls")
        return
    folder = RunFolder(out)

    async def run(shown: Shown) -> str:
        with JudgementStore(default_store(cache)) as store:
            async with client_of(
                asked,
                cache=cache,
                logs=folder.logs,
                concurrency=concurrency,
                on_status=shown.status,
            ) as client:
                scorer = conflictscore.prepare(settings, client, prompts, tagger=judge, store=store)
                detection.begin(
                    folder,
                    called,
                    config(bench, called, scorer),
                    provenance() | {"profile": source.profile.name},
                )
                await detection.run(
                    bench,
                    scorer.labeller,
                    folder,
                    name=called,
                    on_failure=on_error,
                    in_flight=IN_FLIGHT if scorer.llm is not None else IN_FLIGHT_UNSERVED,
                    on_start=shown.begin,
                    on_result=lambda _: shown.advance(scorer.usage),
                )
                looked_up = scorer.from_store()
                if scorer.usage.calls or looked_up["pairs"]:
                    folder.note(
                        detection.entry_name(called),
                        finished(scorer.usage) | {"store": looked_up},
                    )
                shown.status("")
                return spent(scorer)

    with folder.locked():
        with progress("examples", len(bench.examples)) as shown:
            cost = asyncio.run(run(shown))
        STDERR.print(f"[dim]{escape(cost)}[/dim]", soft_wrap=True)
        publish(folder)
    STDERR.print(f"report: {escape(str(folder.report))}   tables: {escape(str(folder.tables))}")


def config(bench: Bench, name: str, scorer: conflictscore.Scorer) -> dict[str, Any]:
    """Everything that decides a result, for `run.json`.

    Args:
        bench: The examples.
        name: What the labeller is called.
        scorer: Who judges, and how.
    """
    about = conflictscore.config(Dataset(bench.name, bench.digest, ()), scorer)
    settings = about["settings"]
    about["settings"] = {key: settings[key] for key in ("labeller", "risk", "evidence", "cut")}
    about["labeller"] = {"name": name, "identity": scorer.labeller.identity}
    return about


def _announce(bench: Bench, name: str) -> None:
    documents = sum(len(example.documents) for example in bench.examples)
    print(
        f"{len(bench.examples):,} examples from {bench.name}, "
        f"{sum(example.conflict for example in bench.examples):,} of them with conflict\n"
        f"{documents:,} pairs of claim and document, {_distinct_pairs(bench):,} of them different, "
        f"to be judged by {name}"
    )


def _distinct_pairs(bench: Bench) -> int:
    return len(
        {
            (example.claim, document.as_read())
            for example in bench.examples
            for document in example.documents
        }
    )
