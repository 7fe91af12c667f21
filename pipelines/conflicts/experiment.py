"""CONFLICTS over a file of queries: types of conflict, answers by four strategies, their judges."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

from pipelines.conflicts.cost import cost
from pipelines.conflicts.datasets import SAMPLES, read
from pipelines.conflicts.example_scores import SCORES, verdict
from pipelines.conflicts.labellings import LABELLINGS
from pipelines.conflicts.needs import NO_ANSWERS, needs_of, refuse_idle, summary
from pipelines.conflicts.pipeline import CLASSIFIERS, STRATEGIES, Methods, examine
from pipelines.conflicts.presets import AS_IN_PAPER
from pipelines.conflicts.question import Query
from pipelines.conflicts.result import QueryResult, Strategy
from pipelines.conflicts.segments import keeping, reader
from pipelines.conflicts.settings import ANSWERS_PANEL, JUDGES_PANEL, TYPES_PANEL, ConflictsSettings
from pipelines.conflicts.statistics import Statistic, statistics
from pipelines.errors import InputError
from pipelines.evidence.judge import model_of, tagger_of
from pipelines.evidence.nli import nli_labeller
from pipelines.evidence.store import stored
from pipelines.experiment.experiment import Experiment, Models, Plan, RunModels, Work
from pipelines.experiment.needs import judge_source
from pipelines.experiment.options import (
    Overflow,
    RunOptions,
    ServerOptions,
    device_of,
    source_of,
)
from pipelines.experiment.publish import Publication, Runs
from pipelines.option import Option, one_of, refuse_given
from pipelines.runs.folder import file_name, named_after
from serving.client import Client

HELP = """Predict the type of conflict of search results, answer, and judge the answers.

Each query is answered as it is (Vanilla), with the predicted type (Pipeline), with the whole
taxonomy (Taxonomy-aware), and with the type that annotators gave (Oracle). Judges say whether
an answer behaves as its type wants, holds the right answer, and is grounded in its sources.
Leaves in the run folder: `conflicts.NAME.jsonl` (all answers and verdicts with their evidence),
`tables/` in the layout of the paper's Tables 2 and 4 to 7, and `report.html`.

Examples:
    contested run conflicts --limit 2 --judge nli --answer-tokens 96 --out results-conflicts

    contested run conflicts --data conflicts.jsonl --strategy none --classifier choice --out types

    contested run conflicts --data conflicts.jsonl --dry-run
"""

TYPES_ALONE: Final = "types"
"""Name of a run that asks no language model."""

RELEASED: Final = "released"
"""Segments that no embedding model chose anew."""


class ConflictsOptions(RunOptions, ServerOptions):
    """What a user may choose about CONFLICTS."""

    PRESETS: ClassVar = {"as_in_paper": AS_IN_PAPER}

    data: Annotated[
        Path, Option("Queries, in the format of CONFLICTS.", shown="bundled samples")
    ] = SAMPLES
    name: Annotated[
        str | None,
        Option("What to call the run; several may share a folder.", shown="the model's name"),
    ] = None
    on_overflow: Overflow = "error"
    classifiers: Annotated[
        list[str] | None,
        Option(
            "Who predicts types: the model with an explanation (`json`) or with probabilities "
            "(`choice`), or a rule that reads the question alone (`yes-no`). Repeatable.",
            name="--classifier",
            metavar="NAME",
            shown="all three",
            panel=TYPES_PANEL,
        ),
    ] = None
    strategies: Annotated[
        list[str] | None,
        Option(
            "How answers are asked for: `vanilla`, `pipeline`, `taxonomy-aware`, `oracle`; `none` "
            "predicts types alone. Repeatable.",
            name="--strategy",
            metavar="NAME",
            shown="all four",
            panel=ANSWERS_PANEL,
        ),
    ] = None
    embedder: Annotated[
        Path | None,
        Option(
            "Embedding model that chooses segments anew, where the file has whole pages.",
            shown="segments as released",
            panel=ANSWERS_PANEL,
        ),
    ] = None
    judge_model: Annotated[
        str | None,
        Option(
            "A registered model, or a model folder, that judges.",
            shown="the profile's judge, or what --model names",
            panel=JUDGES_PANEL,
        ),
    ] = None
    settings: ConflictsSettings = ConflictsSettings()


def plan(options: ConflictsOptions) -> Plan[Query, QueryResult]:
    """Read the queries; each gets all types, answers and verdicts.

    Raises:
        InputError: The file or an option cannot be used.
        ServingError: There is no such profile, or no such tagger.
    """
    methods = Methods(
        _strategies(options.strategies),
        one_of(options.classifiers, CLASSIFIERS, "--classifier"),
        options.settings.model_copy(update={"cut": options.on_overflow == "cut"}),
    )
    embedder = None
    if options.embedder is not None:
        device = device_of("embedder", source_of(options, "generator"))
        embedder = reader(options.embedder, device=device)
    # Refuses what is no model before anything is read.
    segments = RELEASED if embedder is None else embedder.digest
    dataset = read(options.data)
    queries = dataset.queries[: options.limit]
    if options.name is not None:
        file_name(options.name)  # said before a server is started
    _refuse_types(options.settings, methods, queries)
    refuse_idle(options, options.settings, methods)
    needs = needs_of(methods, options)
    needs = replace(
        needs, judge=judge_source(options, options.judge_model) if methods.strategies else None
    )

    def choose(models: RunModels) -> Sequence[Query]:
        """The queries with segments that the embedding model chose."""
        if embedder is None:
            return queries
        keep = keeping(models.folder, embedder, segments)
        with models.counting("pages", sum(len(each.sources) for each in queries)) as counter:
            chosen = read(options.data, keep, limit=options.limit, on_source=counter.advance)
        return chosen.queries

    def work(models: RunModels) -> Sequence[Work[Query, QueryResult]]:
        judging = models.judging if methods.strategies else None
        tagger = models.tagger
        labeller = None if tagger is None else stored(nli_labeller(tagger), models.store)
        ready = methods.ready(models.client, judging, labeller, models.prompts)
        facts = {"statistics": statistics(dataset.queries, dataset.passed_over)}
        config = {"data": {"name": dataset.file, "sha256": dataset.digest}, "segments": segments}
        return [
            Work(
                _entry(options, models.client.model.name if models.client else ""),
                config | _config(ready, models, judging),
                lambda query: examine(query, ready, on_failure=options.on_error),
                facts=facts,
                items=choose(models),
            )
        ]

    told = summary(dataset.file, queries, methods)
    return Plan(
        queries,
        needs,
        work,
        told,
        cost=partial(cost, methods=methods),
        entries=lambda model: [_entry(options, model)],
    )


def _refuse_types(settings: ConflictsSettings, methods: Methods, queries: Sequence[Query]) -> None:
    """Refuse `--types` where no answer is told or judged by that type.

    An answer to a query without a type is judged by the type that Pipeline is, or would be, told.
    """
    judged_by = settings.types in methods.asked and any(
        each.conflict_type is None for each in queries
    )
    told = {"pipeline", "vanilla", "taxonomy-aware"} if judged_by else {"pipeline"}
    if told.isdisjoint(methods.strategies):
        strategies = ", ".join(methods.strategies) or NO_ANSWERS
        refuse_given(settings, ("types",), f"--strategy {strategies}, for which it decides nothing")


def _strategies(given: Sequence[str] | None) -> tuple[Strategy, ...]:
    """The strategies that `--strategy` names; none of them where it is "none"."""
    names = one_of(given or tuple(STRATEGIES), (*STRATEGIES, NO_ANSWERS), "--strategy")
    if NO_ANSWERS in names and len(names) > 1:
        raise InputError(
            "--strategy none stands alone, for it asks for no answers; leave it or the others out"
        )
    return tuple(each for each in STRATEGIES if each in names)


def _entry(options: ConflictsOptions, model: str) -> str:
    """The name of a run, by its model's; empty where none is asked."""
    named = named_after(model) if model else TYPES_ALONE
    return f"{EXPERIMENT.name}.{options.name or named}"


def _config(methods: Methods, models: Models, judging: Client | None) -> dict[str, Any]:
    """Everything but the data that decides a result; not how many of them are made."""
    config: dict[str, Any] = {
        "strategies": list(methods.strategies),
        "classifiers": list(methods.asked),
        "settings": methods.settings.model_dump(mode="json"),
        "prompts": {prompt.name: prompt.digest for prompt in methods.prompts},
        "sampling": {"temperature": 0.0, "seed": 0},
    }
    if models.client is not None:
        config["model"] = model_of(models.client)
    if judging is not None:
        config["judge"] = model_of(judging)
    if models.tagger is not None:
        config["tagger"] = tagger_of(models.tagger)
    return config


def _failed(query: Query, reason: str) -> QueryResult:
    return QueryResult(id=query.id, asked=query, status="failed", error=reason)


def _publication(runs: Runs[QueryResult]) -> Publication:
    from pipelines.conflicts.tables.every import all_tables
    from pipelines.conflicts.tables.scores import part_of
    from pipelines.conflicts.view import view

    parts = [part_of(name, own, runs.configs[name]) for name, own in runs.results.items()]
    made = all_tables(parts, runs.noted("statistics", tuple[Statistic, ...]))
    return Publication(view(runs.results, made, runs.entries), made)


EXPERIMENT = Experiment(
    name="conflicts",
    title="CONFLICTS",
    help=HELP,
    counted="queries",
    options=ConflictsOptions,
    result=QueryResult,
    plan=plan,
    failed=_failed,
    publish=_publication,
    scores=SCORES,
    verdict=verdict,
    labellings=LABELLINGS,
)
