"""`contested run conflicts`: types of conflict, answers by four strategies, and their judges."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.markup import escape

from pipelines.cli import conflicts_options, options
from pipelines.cli.conflicts_options import (
    ANSWERS_PANEL,
    DEFAULTS,
    JUDGES_PANEL,
    TYPES_PANEL,
    one_of,
)
from pipelines.cli.conflicts_planned import Planned, examined
from pipelines.cli.progress import STDERR, progress
from pipelines.cli.report import publish
from pipelines.conflicts.evaluation.chosen import keeping
from pipelines.conflicts.evaluation.datasets import SAMPLES, Dataset, read
from pipelines.conflicts.evaluation.methods import CLASSIFIERS, STRATEGIES, Compared
from pipelines.conflicts.prediction import Classifier
from pipelines.conflicts.question import Query
from pipelines.conflicts.segments import reader
from pipelines.conflicts.settings import ConflictsSettings
from pipelines.conflictscore.settings import Settings
from pipelines.data import jsonl
from pipelines.errors import InputError
from pipelines.runs.folder import RunFolder, file_name
from pipelines.runs.provenance import provenance
from serving.connect import Source


def run_conflicts(
    data: Annotated[
        Path | None,
        typer.Option(help="Queries, in the format of CONFLICTS.", show_default="bundled samples"),
    ] = None,
    out: Annotated[Path, typer.Option(help="Run folder; made, or continued.")] = Path("results"),
    name: Annotated[
        str | None,
        typer.Option(
            help="What to call the run; several may share a folder.",
            show_default="the model's name",
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Take only the first N queries.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say how much is to be asked; ask no model.")
    ] = False,
    on_error: Annotated[
        jsonl.OnError,
        typer.Option(help="Stop at a query that cannot be asked, or count it."),
    ] = "stop",
    on_overflow: options.OnOverflow = "error",
    classifiers: Annotated[
        list[str] | None,
        typer.Option(
            "--classifier",
            metavar="NAME",
            help="Who predicts types: the structure of the evidence without a language model "
            "(`nli`), the model with an explanation (`json`) or with probabilities (`choice`). "
            "Repeatable.",
            show_default="all three",
            rich_help_panel=TYPES_PANEL,
        ),
    ] = None,
    types: Annotated[
        Classifier,
        typer.Option(help="Whose type Pipeline is told.", rich_help_panel=TYPES_PANEL),
    ] = DEFAULTS.types,
    threshold: conflicts_options.Thresholds = None,
    classifier_file: conflicts_options.ClassifierFile = None,
    strategies: Annotated[
        list[str] | None,
        typer.Option(
            "--strategy",
            metavar="NAME",
            help="How answers are asked for: `vanilla`, `pipeline`, `taxonomy-aware`, `oracle`; "
            "`none` predicts types alone. Repeatable.",
            show_default="all four",
            rich_help_panel=ANSWERS_PANEL,
        ),
    ] = None,
    answer_tokens: conflicts_options.AnswerTokens = DEFAULTS.answer_tokens,
    dates: conflicts_options.Dates = False,
    embedder: Annotated[
        Path | None,
        typer.Option(
            help="Embedding model that chooses segments anew, where the file has whole pages.",
            show_default="segments as released",
            rich_help_panel=ANSWERS_PANEL,
        ),
    ] = None,
    judge_by: Annotated[
        Literal["llm", "nli"],
        typer.Option(
            "--judge",
            help="Who judges answer recall and grounding; behaviour is always judged by a language "
            "model.",
            rich_help_panel=JUDGES_PANEL,
        ),
    ] = DEFAULTS.judge,
    behaviour: Annotated[
        Literal["json", "choice"],
        typer.Option(
            help="Whether behaviour is judged with a reason, or with a probability in one token.",
            rich_help_panel=JUDGES_PANEL,
        ),
    ] = DEFAULTS.behaviour,
    against: Annotated[
        Literal["cited", "all"],
        typer.Option(
            help="What a sentence must be grounded in: sources that it cites, or any.",
            rich_help_panel=JUDGES_PANEL,
        ),
    ] = DEFAULTS.against,
    judge_model: Annotated[
        str | None,
        typer.Option(
            help="A registered model, or a model folder, that judges.",
            show_default="the profile's judge, or what --model names",
            rich_help_panel=JUDGES_PANEL,
        ),
    ] = None,
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
    """Predict the type of conflict of search results, answer, and judge the answers.

    Each query is answered as it is (Vanilla), with the predicted type (Pipeline), with the whole
    taxonomy (Taxonomy-aware), and with the type that annotators gave (Oracle). Judges say whether
    an answer behaves as its type wants, holds the right answer, and is grounded in its sources.
    Leaves in the run folder: `conflicts.NAME.jsonl` (all answers and verdicts with their evidence),
    `tables/` in the layout of the paper's Tables 2 and 4 to 7, and `report.html`.

    Examples:
        contested run conflicts --limit 2 --judge nli --answer-tokens 96 --out results-conflicts

        contested run conflicts --data conflicts.jsonl --strategy none --classifier nli --out types

        contested run conflicts --data conflicts.jsonl --dry-run
    """
    wanted = () if strategies == ["none"] else one_of(strategies, STRATEGIES, "--strategy")
    asked = one_of(classifiers, CLASSIFIERS, "--classifier")
    settings = ConflictsSettings(
        types=types,
        thresholds=conflicts_options.thresholds(
            threshold, {*asked, *([types] if "pipeline" in wanted else [])}
        ),
        answer_tokens=answer_tokens,
        dates=dates,
        judge=judge_by,
        behaviour=behaviour,
        against=against,
        cut=on_overflow == "cut",
    )
    compared = Compared(
        wanted, asked, settings, classifier=conflicts_options.classifier(classifier_file)
    )
    needs = _needs(compared)
    path = data or SAMPLES
    embedding = None if embedder is None else reader(embedder)
    # Refuses what is no model before anything is read.
    segments = "released" if embedding is None else embedding.digest
    dataset = read(path)
    queries = dataset.queries[:limit]
    if name is not None:
        file_name(name)  # said before a server is started
    source = options.source(
        "generator",
        profile=profile,
        model=model,
        models_dir=models_dir,
        endpoint=endpoint,
        strict=strict,
    )
    if judge_model is not None and not wanted:
        raise InputError("--judge-model has no answers to judge; leave it or --strategy none away")
    found = options.tagger(tagger, Settings(labeller="nli" if needs.tagger else "llm"), source)
    if tagger is not None and found is None:
        raise InputError("--tagger has nothing to judge; leave it away, or add --classifier nli")
    if dry_run:
        _announce(dataset, queries, compared)
        return
    planned = Planned(
        compared=compared,
        dataset=dataset,
        queries=queries,
        segments=segments,
        source=source if needs.writer else None,
        judge=_judge_source(source, judge_model) if wanted else None,
        tagger=found,
        prompts=prompts,
        cache=cache,
        concurrency=concurrency,
    )
    folder = RunFolder(out)
    with folder.locked():
        if embedding is not None:
            choose = keeping(folder, embedding, segments)
            with progress("pages", sum(len(each.sources) for each in queries)) as shown:
                chosen = read(path, choose, limit=limit, on_source=shown.advance)
            planned = replace(planned, queries=chosen.queries)
        with progress("queries", len(queries)) as shown:
            made_with = provenance() | {"profile": source.profile.name}
            cost = asyncio.run(examined(planned, folder, name, on_error, made_with, shown))
        if cost:
            STDERR.print(f"[dim]{escape(cost)}[/dim]", soft_wrap=True)
        publish(folder)
    if compared.classifier is not None and "nli" in compared.asked:
        conflicts_options.tell_of_another_tagger(compared.classifier, found)
    STDERR.print(f"report: {escape(str(folder.report))}   tables: {escape(str(folder.tables))}")


@dataclass(frozen=True)
class Needs:
    """What a run has to load.

    Attributes:
        writer: A language model that predicts or answers.
        tagger: The NLI tagger.
    """

    writer: bool
    tagger: bool


def _needs(by: Compared) -> Needs:
    """What the classifiers, strategies and judges of a run need.

    Raises:
        InputError: Nothing is to be done.
    """
    if not by.asked and not by.strategies:
        raise InputError("nothing is asked for; name a --classifier or a --strategy")
    return Needs(
        writer=bool(by.strategies) or bool({"json", "choice"} & set(by.asked)),
        tagger="nli" in by.asked or (bool(by.strategies) and by.settings.judge == "nli"),
    )


def _judge_source(source: Source, judge_model: str | None) -> Source | None:
    """Where the judging model is; None where the model that answers judges, too."""
    if judge_model is None and (
        source.model or source.endpoints or source.profile.roles.judge == source.profiled
    ):
        return None
    return replace(source, role="judge", model=judge_model, endpoints=())


def _announce(dataset: Dataset, queries: Sequence[Query], by: Compared) -> None:
    sources = sum(len(each.sources) for each in queries)
    answers = len(by.strategies) * len(queries)
    predictions = len({"json", "choice"} & set(by.asked)) * len(queries)
    judges = (
        "recall and grounding by the tagger"
        if by.settings.judge == "nli"
        else "recall and grounding by one for each right answer and each sentence"
    )
    named = ", ".join(STRATEGIES[each] for each in by.strategies)
    print(
        f"{len(queries):,} queries from {dataset.file}, {sources:,} sources\n"
        f"types by {', '.join(CLASSIFIERS[each] for each in by.asked) or 'nobody'}: "
        f"{predictions:,} calls to the model\n"
        + (
            f"answers by {named}: {answers:,} calls, and as many to judge behaviour; {judges}"
            if by.strategies
            else "no answers"
        )
    )
