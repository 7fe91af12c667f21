"""CONFLICTS over a file of queries: types of conflict, answers by four strategies, their judges."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from pydantic import BaseModel

from pipelines.conflicts.data import Query, keeping, read, reader, statistics
from pipelines.conflicts.labellings import LABELLINGS
from pipelines.conflicts.metrics import METRICS, verdict
from pipelines.conflicts.pipeline import CLASSIFIERS, STRATEGIES, Methods, examine
from pipelines.conflicts.result import QueryResult, Strategy
from pipelines.conflicts.settings import ConflictsOptions
from pipelines.conflicts.strategies import EXPLANATION_TOKENS
from pipelines.conflicts.view import PAGE
from pipelines.errors import InputError
from pipelines.experiment.cost import Cost, calls
from pipelines.experiment.experiment import Experiment, Plan, RunModels, Work
from pipelines.experiment.needs import Needs, judge_source
from pipelines.experiment.options import (
    ServerOptions,
    device_of,
    source_of,
    tagger_named,
)
from pipelines.judge.run_judge import model_of, tagger_of
from pipelines.judge.store import stored
from pipelines.judge.tagger import tagger_judge
from pipelines.option import one_of, refuse_given
from pipelines.runs.folder import file_name, named_after

CHARACTERS_PER_TOKEN, CHARACTERS_OF_A_SENTENCE = 4, 10
"""The English average, and a length that few sentences fall below."""


def cost(query: Query, methods: Methods) -> Cost:
    """Cost of a call per type that a model predicts, a call per answer, and its verdicts.

    An answer is judged in one call on its behaviour, one on the gold answer, and one (or a pair per
    source) for each of its sentences of at least ten characters. Pipeline may repeat another
    strategy's call, and an unreadable answer is not judged.
    """
    strategies = methods.strategies_for(query)
    total = calls(len({"json", "choice"}.intersection(methods.asked)))
    if "taxonomy-aware" in strategies:
        most = EXPLANATION_TOKENS + methods.settings.answer_tokens
        total += calls(1) + _judged(query, methods, most)
    if plain := {*strategies} - {"taxonomy-aware"}:
        total += calls(len(plain), len(plain - {"pipeline"}) or 1)
        total += _judged(query, methods, methods.settings.answer_tokens).times(len(plain))
    return total


def _judged(query: Query, methods: Methods, answer: int) -> Cost:
    """Cost of verdicts on an answer of at most `answer` tokens."""
    sentences = answer * CHARACTERS_PER_TOKEN // CHARACTERS_OF_A_SENTENCE + 1
    gold = query.gold_answer is not None
    if methods.settings.judge == "tagger":
        return calls(1, 0) + Cost(pairs=sentences * len(query.sources) + gold)
    return calls(1 + gold + sentences, 0)


NO_ANSWERS: Final = "none"
"""The value of `--strategy` that asks for no answers."""


def needs_of(methods: Methods, options: ServerOptions) -> Needs:
    """The models that classifiers, strategies and judges need.

    Raises:
        InputError: The tagger cannot be used.
        ServingError: The profile or the tagger is missing.
    """
    where, answering = source_of(options, "generator"), bool(methods.strategies)
    by_model = answering or not {"json", "choice"}.isdisjoint(methods.asked)
    by_tagger = answering and methods.settings.judge == "tagger"
    return Needs(
        role="generator" if by_model else None,
        tagger=tagger_named(options.tagger, where) if by_tagger else None,
        unasked=f"--strategy none and {_types(methods)}, which ask no language model",
        untagged="verdicts by a language model alone",
    )


def refuse_idle(options: BaseModel, settings: BaseModel, methods: Methods) -> None:
    """Refuse options of a command, and settings within them, that have no effect without answers.

    Raises:
        InputError: Such an option was given.
    """
    if not methods.strategies:
        idle = ("answer_tokens", "judge", "against", "judge_model")
        for given in (options, settings):
            refuse_given(given, idle, f"--strategy {NO_ANSWERS}")


def _types(methods: Methods) -> str:
    return f"types by {' and '.join(methods.asked) or 'the answer itself'}"


def summary(file: str, queries: Sequence[Query], methods: Methods) -> str:
    """Summary of a file for `--dry-run`: the data, and who predicts, answers and judges."""
    sources = sum(len(query.sources) for query in queries)
    said = [
        f"{len(queries):,} queries from {file}, {sources:,} sources",
        f"types by {', '.join(CLASSIFIERS[name] for name in methods.asked)}",
        f"answers by {', '.join(STRATEGIES[name] for name in methods.strategies) or 'nobody'}",
    ]
    untyped = sum(query.conflict_type is None for query in queries)
    if "oracle" in methods.strategies and untyped:
        said[-1] += f"; Oracle leaves out {untyped:,} queries without a type"
    if methods.strategies and methods.settings.judge == "tagger":
        said.append("recall and grounding by the tagger")
    return "\n".join(said)


TYPES_ALONE: Final = "types"
"""Name of a run that asks no language model."""

RELEASED: Final = "released"
"""Marks segments as released, not chosen by an embedding model."""


def plan(options: ConflictsOptions) -> Plan[Query, QueryResult]:
    """Read the queries, to predict types, answer and judge.

    Raises:
        InputError: The file or an option cannot be used.
        ServingError: The profile or the tagger is missing.
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
    # A folder that is not a model is refused before anything is read.
    segments = RELEASED if embedder is None else embedder.digest
    dataset = read(options.data)
    queries = dataset.queries[: options.limit]
    if options.name is not None:
        file_name(options.name)  # a bad name is refused before a server is started
    refuse_idle(options, options.settings, methods)
    if not methods.strategies:
        refuse_given(options.settings, ("types",), f"--strategy {NO_ANSWERS}")
    needs = needs_of(methods, options)
    needs = replace(
        needs, judge=judge_source(options, options.judge_model) if methods.strategies else None
    )

    def choose(models: RunModels) -> Sequence[Query]:
        """The queries with segments that the embedding model chose."""
        if embedder is None:
            return queries
        keep = keeping(models.folder, embedder, segments)
        with models.counting("pages", sum(len(query.sources) for query in queries)) as counter:
            chosen = read(options.data, keep, limit=options.limit, on_source=counter.advance)
        return chosen.queries

    def work(models: RunModels) -> Sequence[Work[Query, QueryResult]]:
        judging = models.judging if methods.strategies else None
        tagger = models.tagger
        judge = None if tagger is None else stored(tagger_judge(tagger), models.store)
        ready = methods.ready(models.client, judging, judge, models.prompts)
        facts = {"statistics": statistics(dataset.queries, dataset.passed_over)}
        config: dict[str, Any] = {
            "data": {"name": dataset.file, "sha256": dataset.digest},
            "segments": segments,
            "settings": methods.settings.model_dump(mode="json"),
            "strategies": list(methods.strategies),
            "classifiers": list(methods.asked),
            "prompts": {prompt.name: prompt.digest for prompt in ready.prompts},
            "sampling": {"temperature": 0.0, "seed": 0},
            **({"model": model_of(models.client)} if models.client else {}),
            **({"judge": model_of(judging)} if judging else {}),
            **({"tagger": tagger_of(models.tagger)} if models.tagger else {}),
        }
        return [
            Work(
                _entry(options, models.client.model.name if models.client else ""),
                config,
                lambda query: examine(query, ready, on_failure=options.on_error),
                facts=facts,
                items=choose(models),
            )
        ]

    return Plan(
        queries,
        needs,
        work,
        summary(dataset.file, queries, methods),
        cost=partial(cost, methods=methods),
        entries=lambda model: [_entry(options, model)],
    )


def _strategies(given: Sequence[str] | None) -> tuple[Strategy, ...]:
    """The strategies that `--strategy` names; empty for "none"."""
    names = one_of(given or tuple(STRATEGIES), (*STRATEGIES, NO_ANSWERS), "--strategy")
    if NO_ANSWERS in names and len(names) > 1:
        raise InputError(
            "--strategy none asks for no answers, so it cannot be combined with others; leave it "
            "or the others out"
        )
    return tuple(strategy for strategy in STRATEGIES if strategy in names)


def _entry(options: ConflictsOptions, model: str) -> str:
    """The entry of a run; its name is by default the model's, or "types" without a model."""
    named = named_after(model) if model else TYPES_ALONE
    return f"{EXPERIMENT.name}.{options.name or named}"


EXPERIMENT = Experiment(
    name="conflicts",
    title="CONFLICTS",
    options=ConflictsOptions,
    result=QueryResult,
    plan=plan,
    failed=lambda query, reason: QueryResult(
        id=query.id, asked=query, status="failed", error=reason
    ),
    page=PAGE,
    metrics=METRICS,
    verdict=verdict,
    labellings=LABELLINGS,
)
