"""`contested run conflicts`: types of conflict, answers by four strategies, and their judges."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final, Literal

import typer
from rich.markup import escape

from pipelines.cli import conflicts_options, options
from pipelines.cli.conflicts_options import (
    ANSWERS_PANEL,
    DEFAULTS,
    JUDGES_PANEL,
    TYPES_PANEL,
    Effect,
    one_of,
)
from pipelines.cli.conflicts_planned import Planned, calls, examined
from pipelines.cli.progress import STDERR, progress
from pipelines.cli.report import publish
from pipelines.conflicts.evaluation.chosen import keeping
from pipelines.conflicts.evaluation.datasets import SAMPLES, Dataset, read
from pipelines.conflicts.evaluation.methods import CLASSIFIERS, STRATEGIES, Compared
from pipelines.conflicts.evaluation.result import Strategy
from pipelines.conflicts.prediction import Classifier
from pipelines.conflicts.question import Query
from pipelines.conflicts.segments import reader
from pipelines.conflicts.settings import ConflictsSettings
from pipelines.conflictscore.settings import Settings
from pipelines.data import jsonl
from pipelines.errors import InputError
from pipelines.runs.folder import RunFolder, file_name
from pipelines.runs.provenance import provenance
from serving import models
from serving.connect import Source

NO_ANSWERS: Final = "none"
"""The `--strategy` that asks for no answers."""


def run_conflicts(
    context: typer.Context,
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
            help="Who predicts types: a classifier of question and evidence without a language "
            "model (`nli`), the model with an explanation (`json`) or with probabilities "
            "(`choice`). Repeatable.",
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
    wanted = _strategies(strategies)
    asked = one_of(classifiers, CLASSIFIERS, "--classifier")
    settings = ConflictsSettings(
        types=types,
        thresholds=conflicts_options.thresholds(threshold),
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
    conflicts_options.refuse_idle(context, _effects(compared, queries, needs))
    judge = _judge_source(source, judge_model) if wanted else None
    for each in (source, judge):
        if each is not None:
            _check_model(each)
    found = options.tagger(tagger, Settings(labeller="nli" if needs.tagger else "llm"), source)
    if dry_run:
        _announce(dataset, queries, compared)
        return
    planned = Planned(
        compared=compared,
        dataset=dataset,
        queries=queries,
        segments=segments,
        source=source if needs.writer else None,
        judge=judge,
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


def _strategies(given: Sequence[str] | None) -> tuple[Strategy, ...]:
    """The strategies that `--strategy` names; none of them where it is "none".

    Raises:
        InputError: One is not known, or "none" stands beside another.
    """
    names = one_of(given or tuple(STRATEGIES), (*STRATEGIES, NO_ANSWERS), "--strategy")
    if NO_ANSWERS in names and len(names) > 1:
        raise InputError(
            "--strategy none stands alone, for it asks for no answers; leave it or the others away"
        )
    return tuple(each for each in STRATEGIES if each in names)


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


def _effects(by: Compared, queries: Sequence[Query], needs: Needs) -> list[Effect]:
    """Which options have an effect on a run."""
    answers = bool(by.strategies)
    # An answer to a query without a type is judged by the type that Pipeline is, or would be, told.
    judged_by = by.settings.types in by.asked and any(
        each.conflict_type is None for each in queries
    )
    return [
        Effect(
            "types",
            "pipeline" in by.strategies
            or (judged_by and bool({"vanilla", "taxonomy-aware"} & {*by.strategies})),
            "name --strategy pipeline",
        ),
        Effect(
            "threshold",
            bool({"nli", "choice"} & {*by.asked}),
            "name --classifier nli or choice",
        ),
        Effect("classifier_file", "nli" in by.asked, "name --classifier nli"),
        Effect(
            "dates",
            bool({"pipeline", "oracle"} & {*by.strategies}),
            "name --strategy pipeline or oracle",
        ),
        Effect("tagger", needs.tagger, "name --classifier nli"),
        *conflicts_options.on_answers(
            answers, "answer_tokens", "judge_by", "behaviour", "against", "judge_model"
        ),
        *conflicts_options.on_the_model(
            needs.writer, "name --classifier json or choice, or another --strategy than none"
        ),
    ]


def _check_model(source: Source) -> None:
    """Refuse a model that was named and is not there, before anything is done or announced.

    A folder that is not registered is looked at alone; its weights are read when it is needed.

    Raises:
        ServingError: There is no such model.
    """
    if source.model is None or source.endpoints:
        return
    folder = Path(source.model).expanduser()
    registered = {each.name for each in models.registered(source.models_dir)}
    if folder.is_dir() and source.model not in registered:
        models.check_folder(folder)
    else:
        models.find(source.model, source.models_dir)


def _judge_source(source: Source, judge_model: str | None) -> Source | None:
    """Where the judging model is; None where the model that answers judges, too."""
    if judge_model is None and (
        source.model or source.endpoints or source.profile.roles.judge == source.profiled
    ):
        return None
    return replace(source, role="judge", model=judge_model, endpoints=())


def _announce(dataset: Dataset, queries: Sequence[Query], by: Compared) -> None:
    sources = sum(len(each.sources) for each in queries)
    made = calls(queries, by)
    print(
        f"{len(queries):,} queries from {dataset.file}, {sources:,} sources\n"
        f"types by {', '.join(CLASSIFIERS[each] for each in by.asked) or 'nobody'}: "
        f"{made.types:,} calls to the model"
    )
    if not by.strategies:
        print("no answers")
        return
    untyped = sum(each.conflict_type is None for each in queries)
    left_out = "oracle" in by.strategies and untyped > 0
    print(
        f"answers by {', '.join(STRATEGIES[each] for each in by.strategies)}: "
        f"{made.answers:,} calls"
        + (f"; Oracle leaves out {untyped:,} queries without a type" if left_out else "")
    )
    print(
        f"judges: {'at most ' if untyped else ''}{made.behaviour:,} calls for behaviour"
        + (
            "; recall and grounding by the tagger"
            if by.settings.judge == "nli"
            else f", {made.recall:,} for recall, and one for each sentence"
        )
        + ("; an answer is judged where a type is given or predicted" if untyped else "")
    )
