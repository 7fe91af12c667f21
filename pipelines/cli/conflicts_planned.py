"""What `run conflicts` is to do, once its options are read, and doing it."""

import re
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pipelines.cli.progress import Shown, cost_line
from pipelines.conflicts.classifier import TypeClassifier, seen
from pipelines.conflicts.evaluation import run
from pipelines.conflicts.evaluation.datasets import Dataset
from pipelines.conflicts.evaluation.methods import Compared, prepare
from pipelines.conflicts.evaluation.statistics import statistics
from pipelines.conflicts.question import Query
from pipelines.conflicts.taxonomy import ANSWERABLE
from pipelines.conflictscore.run import model_of, tagger_of
from pipelines.data import jsonl
from pipelines.evidence.nli import TaggerFolder, nli_labeller
from pipelines.evidence.store import JudgementStore, default_store, stored
from pipelines.runs.folder import RunFolder, file_name
from pipelines.runs.provenance import finished
from pipelines.runs.runner import IN_FLIGHT, IN_FLIGHT_UNSERVED
from serving.client import Client
from serving.connect import Source, connect

TYPES_ALONE: Final = "types"
"""Name of a run that asks no language model."""


@dataclass(frozen=True)
class Planned:
    """What is to be run, before any model is there.

    Attributes:
        compared: Strategies, classifiers and settings.
        dataset: The whole file.
        queries: Those of it that are examined.
        segments: What chose them: the digest of an embedding model, or "released".
        source: The model that predicts and answers; None where none is needed.
        judge: The model that judges; None where it is the same, or nothing is to be judged.
        tagger: The NLI tagger; None where none is needed.
        prompts: Folder with prompts of the user's own.
        cache: Of completions; None is the common one.
        concurrency: Most requests in flight.
    """

    compared: Compared
    dataset: Dataset
    queries: Sequence[Query]
    segments: str
    source: Source | None
    judge: Source | None
    tagger: TaggerFolder | None
    prompts: Path | None
    cache: Path | None
    concurrency: int | None


@dataclass(frozen=True)
class Calls:
    """How many calls a run makes to language models; fewer where the cache has the answer.

    Attributes:
        types: To predict types.
        answers: To answer.
        behaviour: To judge behaviour, where every type and every answer can be read.
        recall: To judge answer recall, likewise; by the tagger none is made.
    """

    types: int
    answers: int
    behaviour: int
    recall: int


def calls(queries: Sequence[Query], by: Compared) -> Calls:
    """Count the calls of a run; see `methods.examine` for what is asked, and when.

    Args:
        queries: That are examined.
        by: Classifiers and strategies; they need not be ready.
    """
    answered = [
        (query, strategy)
        for query in queries
        for strategy in by.strategies
        if strategy != "oracle" or query.conflict_type is not None
    ]
    # Without the type that annotators gave, behaviour is judged by the one that was predicted.
    typed = [
        query
        for query, strategy in answered
        if query.conflict_type is not None
        or strategy == "taxonomy-aware"
        or by.settings.types in by.asked
    ]
    recalled = [
        query
        for query in typed
        if query.gold_answer is not None
        and (query.conflict_type is None or query.conflict_type in ANSWERABLE)
    ]
    return Calls(
        types=len({"json", "choice"} & {*by.asked}) * len(queries),
        answers=len(answered),
        behaviour=len(typed),
        recall=len(recalled) if by.settings.judge == "llm" else 0,
    )


async def examined(
    planned: Planned,
    folder: RunFolder,
    name: str | None,
    on_error: jsonl.OnError,
    made_with: Mapping[str, Any],
    shown: Shown,
) -> str:
    """Examine the queries into the folder; what it cost, a line for each model."""
    compared = planned.compared
    async with AsyncExitStack() as stack:
        store = stack.enter_context(JudgementStore(default_store(planned.cache)))
        tagger = planned.tagger

        async def client_of(source: Source) -> Client:
            return await stack.enter_async_context(
                connect(
                    source,
                    cache=planned.cache,
                    logs=folder.logs,
                    concurrency=planned.concurrency,
                    on_status=shown.status,
                )
            )

        writing = None if planned.source is None else await client_of(planned.source)
        judging = writing if compared.strategies else None
        if planned.judge is not None:
            judging = await client_of(planned.judge)
        by = prepare(
            compared.strategies,
            compared.classifiers,
            compared.settings,
            writing=writing,
            judging=judging,
            labeller=None if tagger is None else stored(nli_labeller(tagger), store),
            classifier=compared.classifier,
            overrides=planned.prompts,
        )
        called = file_name(name or (_in_file(writing.model.name) if writing else TYPES_ALONE))
        entry = run.entry_name(called)
        folder.begin(entry, config(planned, by, writing, judging), made_with)
        folder.note(entry, _counted(planned))
        await run.run(
            planned.queries,
            by,
            folder,
            name=called,
            on_failure=on_error,
            in_flight=IN_FLIGHT if writing else IN_FLIGHT_UNSERVED,
            on_start=shown.begin,
            on_result=lambda _: shown.advance(writing.usage if writing else None),
        )
        if writing is not None and writing.usage.calls:
            folder.note(entry, finished(writing.usage))
        if judging is not None and judging is not writing and judging.usage.calls:
            folder.note(entry, {"usage_of_judge": finished(judging.usage)["usage"]})
        shown.status("")
        clients = dict.fromkeys(each for each in (writing, judging) if each is not None)
        return "\n".join(cost_line(each) for each in clients)


def config(
    planned: Planned, by: Compared, writing: Client | None, judging: Client | None
) -> dict[str, Any]:
    """Everything that decides a result, for `run.json`; not how many of them are made.

    Args:
        planned: What is to be run.
        by: What is compared.
        writing: The model that predicts and answers, if any does.
        judging: The model that judges, if any does.
    """
    about: dict[str, Any] = {
        "data": {"name": planned.dataset.file, "sha256": planned.dataset.digest},
        "segments": planned.segments,
        "strategies": list(by.strategies),
        "classifiers": list(by.asked),
        "settings": by.settings.model_dump(mode="json"),
        "model": _tagger(planned.tagger) if writing is None else model_of(writing),
        "prompts": {prompt.name: prompt.digest for prompt in by.prompts},
        "sampling": {"temperature": 0.0, "seed": 0},
    }
    if judging is not None:
        about["judge"] = model_of(judging)
    if planned.tagger is not None:
        about["tagger"] = tagger_of(planned.tagger)
    if "nli" in by.asked:
        about["classifier"] = _classifier(by.classifier)
    return about


def _counted(planned: Planned) -> dict[str, Any]:
    """What the report says of the data: counts, and how many queries the classifier knows."""
    dataset, classifier = planned.dataset, planned.compared.classifier
    asked = classifier is not None and "nli" in planned.compared.asked
    return {
        "statistics": statistics(dataset.queries, dataset.passed_over),
        "seen_in_training": seen(classifier, dataset.queries) if classifier and asked else 0,
    }


def _classifier(trained: TypeClassifier | None) -> dict[str, Any]:
    assert trained is not None  # noqa: S101  the command always has one
    return {"sha256": trained.digest, "trained_on": trained.trained_on}


def _tagger(tagger: TaggerFolder | None) -> Mapping[str, Any]:
    assert tagger is not None  # noqa: S101  a run without a model has a tagger
    return tagger_of(tagger)


def _in_file(model: str) -> str:
    """A model's name as a part of a file's name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", model)[-60:].strip("-._") or "model"
