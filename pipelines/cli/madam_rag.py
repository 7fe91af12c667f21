"""`contested run madam-rag`: a debate of agents beside its baselines, over a data set."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from pipelines.cli import debate_options, options
from pipelines.cli.debate_options import DEFAULTS
from pipelines.cli.progress import STDERR, Shown, cost_line, progress
from pipelines.cli.report import publish
from pipelines.conflictscore.run import model_of, tagger_of
from pipelines.data import jsonl, ramdocs
from pipelines.data.released import Part
from pipelines.errors import InputError
from pipelines.evidence.nli import TaggerFolder, nli_labeller
from pipelines.evidence.store import JudgementStore, default_store, stored
from pipelines.madam_rag.evaluation import methods, run
from pipelines.madam_rag.evaluation.datasets import (
    RAMDOCS,
    SAMPLES,
    Dataset,
    DatasetName,
    read,
    sampled,
)
from pipelines.madam_rag.evaluation.methods import Compared, Experiment
from pipelines.madam_rag.evaluation.statistics import statistics
from pipelines.madam_rag.question import Question
from pipelines.runs.folder import RunFolder
from pipelines.runs.provenance import finished, provenance
from serving.client import Client
from serving.connect import connect

EXPERIMENT_PANEL = "Experiment"


def run_madam_rag(
    dataset: Annotated[
        DatasetName,
        typer.Option(help="What the file is.", rich_help_panel=EXPERIMENT_PANEL),
    ] = "ramdocs",
    data: Annotated[
        Path | None,
        typer.Option(
            help="The file of questions and documents, as released.",
            show_default="bundled samples, of ramdocs",
            rich_help_panel=EXPERIMENT_PANEL,
        ),
    ] = None,
    experiment: Annotated[
        Experiment,
        typer.Option(
            help="What is compared: all `methods` (Table 1); debates with and without aggregator "
            "by `rounds` (Figure 3); methods by how unevenly two right answers have `support` "
            "(Figure 4a), or by how much `misinformation` there is (Figure 4b).",
            rich_help_panel=EXPERIMENT_PANEL,
        ),
    ] = "methods",
    half: Annotated[
        Part,
        typer.Option(
            help="Which half of the questions, by their text.", rich_help_panel=EXPERIMENT_PANEL
        ),
    ] = "all",
    sample: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Draw N questions; the paper draws 1,000 of AmbigDocs.",
            rich_help_panel=EXPERIMENT_PANEL,
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Decides what --sample draws.", rich_help_panel=EXPERIMENT_PANEL)
    ] = 0,
    out: Annotated[Path, typer.Option(help="Run folder; made, or continued.")] = Path("results"),
    limit: Annotated[
        int | None, typer.Option(min=1, help="Take only the first N questions.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say how much is to be asked; ask no model.")
    ] = False,
    on_error: Annotated[
        jsonl.OnError,
        typer.Option(help="Stop at a question that a method cannot be asked, or count it."),
    ] = "stop",
    rounds: debate_options.Rounds = DEFAULTS.rounds,
    history: debate_options.Told = None,
    agreement: debate_options.AgreeBy = None,
    closing: debate_options.CloseBy = None,
    replies: debate_options.ReplyIn = None,
    as_released: debate_options.AsReleased = False,
    reliability: debate_options.Reliable = False,
    tagger: options.Tagger = None,
    prompts: options.Prompts = None,
    profile: options.Profile = None,
    model: options.ModelName = None,
    models_dir: options.ModelsDir = None,
    endpoint: options.Endpoint = None,
    strict: options.Strict = False,
    cache: options.Cache = None,
    concurrency: options.Concurrency = None,
) -> None:
    """Let agents debate, one for each document, and compare with methods that do not.

    No RAG, a prompt with all documents, Astute RAG and MADAM-RAG answer the same questions with the
    same model. Leaves in the run folder: `madam-rag.DATASET.jsonl` (every question, answer and
    debate), `tables/` in the layout of the paper's Table 1 and Figures 3 and 4, and `report.html`
    with every debate. Run it again with another data set or experiment and the same folder to have
    both in one report.

    Examples:
        contested run madam-rag --limit 1 --rounds 1 --out results-debate

        contested run madam-rag --data RAMDocs_test.jsonl --dry-run

        contested run madam-rag --data RAMDocs_test.jsonl --experiment rounds --dry-run
    """
    if data is None and dataset != RAMDOCS:
        raise InputError(f"--dataset {dataset} needs its file; name it with --data")
    if experiment in ("support", "misinformation") and dataset != RAMDOCS:
        raise InputError(
            f"--experiment {experiment} is made from the kinds of documents that ramdocs names; "
            f"leave --dataset {dataset} away"
        )
    debate_options.refuse_idle_tagger(tagger, reliability=reliability)
    settings = debate_options.settings(
        rounds=rounds,
        history=history,
        agreement=agreement,
        closing=closing,
        replies=replies,
        as_released=as_released,
    )
    path = data or SAMPLES
    questions = read(dataset, path, part=half)
    asked = run.posed(
        questions.questions if sample is None else sampled(questions.questions, sample, seed),
        experiment,
        limit,
    )
    if not asked:
        raise InputError(
            f"{path} has no question that --experiment {experiment} can be made of; see "
            "docs/madam-rag.md for what it needs"
        )
    source = options.source(
        "generator",
        profile=profile,
        model=model,
        models_dir=models_dir,
        endpoint=endpoint,
        strict=strict,
    )
    judge = debate_options.reliability_tagger(tagger, source) if reliability else None
    names = methods.compared(experiment, reliability=reliability)
    if dry_run:
        _announce(questions, asked, names, settings.rounds)
        return
    folder = RunFolder(out)
    name = run.run_name(dataset, experiment)

    async def answered(shown: Shown) -> str:
        with JudgementStore(default_store(cache)) as store:
            labeller = None if judge is None else stored(nli_labeller(judge), store)
            async with connect(
                source,
                cache=cache,
                logs=folder.logs,
                concurrency=concurrency,
                on_status=shown.status,
            ) as client:
                by = methods.prepare(names, client, settings, prompts, labeller=labeller)
                drawn = None if sample is None else {"n": sample, "seed": seed}
                folder.begin(
                    run.entry_name(name),
                    config(questions, by, client, judge, drawn, experiment),
                    provenance() | {"profile": source.profile.name},
                )
                if dataset == RAMDOCS and data is not None:
                    found = statistics(ramdocs.read(path))
                    folder.note(run.entry_name(name), {"statistics": found})
                await run.run(
                    asked,
                    by,
                    folder,
                    name=name,
                    on_failure=on_error,
                    on_start=shown.begin,
                    on_result=lambda _: shown.advance(client.usage),
                )
                if client.usage.calls:
                    folder.note(run.entry_name(name), finished(client.usage))
                shown.status("")
                return cost_line(client)

    with folder.locked():
        with progress("questions", len(asked)) as shown:
            cost = asyncio.run(answered(shown))
        STDERR.print(f"[dim]{escape(cost)}[/dim]", soft_wrap=True)
        publish(folder)
    STDERR.print(f"report: {escape(str(folder.report))}   tables: {escape(str(folder.tables))}")


def config(
    questions: Dataset,
    by: Compared,
    client: Client,
    tagger: TaggerFolder | None,
    drawn: dict[str, int] | None,
    experiment: Experiment,
) -> dict[str, Any]:
    """Everything that decides a result, for `run.json`; not how many of them are made.

    Args:
        questions: The data set.
        by: The methods.
        client: The model.
        tagger: Who tells of reliability, if anyone does.
        drawn: Number and seed of `--sample`.
        experiment: What is compared.
    """
    about: dict[str, Any] = {
        "data": {"name": questions.file, "sha256": questions.digest},
        "half": questions.part,
        "sample": drawn,
        "experiment": experiment,
        "methods": list(by.methods),
        "debate": by.settings.model_dump(),
        "model": model_of(client),
        "prompts": {prompt.name: prompt.digest for prompt in by.prompts},
        "sampling": {"temperature": 0.0, "seed": 0},
    }
    if tagger is not None:
        about["tagger"] = tagger_of(tagger)
    return about


def _announce(
    questions: Dataset, asked: list[Question], names: tuple[str, ...], rounds: int
) -> None:
    documents = sum(len(each.documents) for each in asked)
    of_half = "" if questions.part == "all" else f", {questions.part} half"
    most = sum(methods.most_calls(name, asked, rounds) for name in names)
    print(
        f"{len(asked):,} questions from {questions.file}{of_half}, {documents:,} documents\n"
        f"{', '.join(names)}: at most {most:,} calls to the model"
    )
