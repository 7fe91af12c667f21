"""Runs an experiment: opens its models, begins or resumes, stores each result, and closes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pipelines.errors import InputError
from pipelines.experiment.cost import asked_of, cost_line, spent
from pipelines.experiment.experiment import (
    Counter,
    Counting,
    Experiment,
    ItemT,
    Models,
    Plan,
    ResultT,
    RunModels,
    Work,
)
from pipelines.experiment.needs import Needs
from pipelines.experiment.options import (
    LlmOptions,
    ModelOptions,
    ProfileOptions,
    RunOptions,
    ServedOptions,
    source_of,
)
from pipelines.judge.protocol import PairError
from pipelines.judge.store import JudgementStore, default_store
from pipelines.metrics.calibration import mean_label_mass
from pipelines.option import OnError, switched
from pipelines.runs.folder import ResultLog, RunFolder
from pipelines.runs.provenance import finished, provenance
from serving.client import Client
from serving.connect import OnDemand, Source, connect

Placing = Callable[[Work[Any, Any], RunModels], Work[Any, Any]]
"""Moves a job elsewhere: the same `Work` with another `result_of` and `places`."""

UNDONE = frozenset({"failed", "incomplete"})
"""Statuses of results that are tried again."""

IN_FLIGHT = 64
"""Examples at a time if no server asks for more: their pairs are tagged in common batches."""


class Executed(NamedTuple):
    """Cost of a run, in lines, and its mean label mass in [0, 1]; None if no label has one."""

    costs: Sequence[str]
    label_mass: float | None


ExampleT = TypeVar("ExampleT")
DoneT = TypeVar("DoneT")


async def unlimited() -> None:
    """Always room for another example."""


async def run_examples(
    examples: Sequence[ExampleT],
    work: Callable[[ExampleT], Awaitable[DoneT]],
    *,
    in_flight: int,
    room: Callable[[], Awaitable[None]] = unlimited,
    on_result: Callable[[DoneT], None],
) -> None:
    """Run a pipeline over examples, started in order, `in_flight` at a time.

    The server batches whatever is in flight; there is no other batching. An example starts when
    `room` returns. `on_result` gets each result as it comes. The first exception stops the rest and
    is raised.
    """
    waiting = iter(examples)
    turn = asyncio.Lock()

    async def worker() -> None:
        while True:
            async with turn:
                await room()
                example = next(waiting, None)
            if example is None:
                return
            on_result(await work(example))

    workers = [asyncio.create_task(worker()) for _ in range(min(in_flight, len(examples)))]
    try:
        await asyncio.gather(*workers)
    finally:
        for task in workers:
            task.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


async def execute(
    experiment: Experiment[ItemT, ResultT],
    plan: Plan[ItemT, ResultT],
    options: RunOptions,
    counting: Counting,
    placing: Placing = lambda work, _: work,
    *,
    on_begun: Callable[[], None] = lambda: None,
) -> Executed:
    """Make the results that are missing from the run folder.

    The same call resumes a run that was killed.

    Args:
        experiment: The experiment to run.
        plan: Its plan, made from the options.
        options: Where results go, which models are asked, and whether an item that fails stops the
            run.
        counting: Shows progress.
        placing: Decides which processes do the work; this process by default.
        on_begun: Called once the models are known and the folder has accepted the configuration.

    Raises:
        InputError: The folder holds results of another configuration, or `Plan.work` raised it.
        RequestError: An item failed, under `--on-error stop`.
        ServingError: The model is missing, or no server is available.
    """
    folder = RunFolder(options.out)
    async with opened(options, plan.needs, folder, counting) as models:
        works = [placing(work, models) for work in plan.work(models)]
        costs: list[str] = []
        masses: list[float | None] = []
        with models.counting(experiment.counted, len(plan.items) * len(works)) as counter:

            def announce(done: int) -> None:
                on_begun()
                counter.begin(done)

            for number, work in enumerate(works):
                usage = client.usage if (client := work.client or models.client) else None
                results = await resume(
                    experiment,
                    plan.items if work.items is None else work.items,
                    work,
                    folder,
                    made_with=provenance()
                    | {"profile": models.profile, "preset": switched(options)},
                    on_error=options.on_error,
                    # Many at a time, since items may make one call after another. If items make
                    # many calls at once, `room` holds back others, which would only use memory.
                    in_flight=max(client.concurrency, IN_FLIGHT) if client else IN_FLIGHT,
                    room=client.room if client else unlimited,
                    on_start=counter.begin if number else announce,
                    on_result=lambda _, usage=usage: counter.advance(usage),  # type: ignore[misc]
                )
                costs += _note_costs(work, models)
                masses += [mass for result in results for mass in experiment.label_masses(result)]
            counter.status("")
        return Executed(costs, mean_label_mass(masses))


async def resume(
    experiment: Experiment[ItemT, ResultT],
    items: Sequence[ItemT],
    work: Work[ItemT, ResultT],
    folder: RunFolder,
    *,
    made_with: Mapping[str, Any],
    on_error: OnError = "stop",
    in_flight: int = IN_FLIGHT,
    room: Callable[[], Awaitable[None]] = unlimited,
    on_start: Callable[[int], None] = lambda _: None,
    on_result: Callable[[ResultT], None] = lambda _: None,
) -> list[ResultT]:
    """Begin or resume a work in a folder: do the items whose result is missing or failed.

    Items start as in `run_examples`, and results are stored as they come. `on_start` gets the
    number of items that an earlier run did, `on_result` each new result. Errors are those of
    `execute`.

    Returns:
        All results, in the order of the items.
    """
    for other, entry in folder.entries(experiment.name).items():
        # Tables compare such runs item by item.
        if any(entry["config"].get(key) != work.config[key] for key in experiment.common):
            raise InputError(
                f"{folder.path} holds results of {other} on other {experiment.counted}; name "
                "another --out"
            )
    folder.begin(work.entry, work.config, made_with)
    if work.facts:
        folder.note(work.entry, work.facts)
    log = folder.log(work.entry, experiment.result)
    log.mend()
    done = done_in(log)
    on_start(sum(item.id in done for item in items))

    async def attempt(item: ItemT) -> ResultT:
        try:
            return await work.result_of(item)
        except experiment.refusals as error:
            if on_error == "stop" and not isinstance(error, PairError):
                raise type(error)(f"'{item.id}': {error}") from error
            return experiment.failed(item, str(error))

    def keep(result: ResultT) -> None:
        log.append(result)
        on_result(result)

    if left := [item for item in items if item.id not in done]:
        await run_examples(
            left,
            attempt,
            in_flight=(experiment.in_flight or in_flight) * work.places(),
            room=room,
            on_result=keep,
        )
    return log.settle([item.id for item in items])


def done_in(log: ResultLog[Any]) -> set[str]:
    """Items in a log that need not be done again."""
    return {name for name, result in log.read().items() if result.status not in UNDONE}


def _note_costs(work: Work[Any, Any], models: RunModels) -> list[str]:
    """Note the cost of a work in `run.json`, and return it in lines."""
    client, judging = work.client or models.client, models.judging
    looked_up = work.judge.from_store() if work.judge else {"pairs": 0}
    if client is not None and (client.usage.calls or looked_up["pairs"]):
        models.folder.note(work.entry, finished(client.usage))
        if client.answered_as:
            models.folder.note(work.entry, {"answered_as": client.answered_as})
    if looked_up["pairs"]:
        models.folder.note(work.entry, {"store": looked_up})
    if work.judge and work.judge.tagging and (device := work.judge.tagging.device):
        # Noted beside the configuration: a run may be resumed on another device.
        models.folder.note(work.entry, {"tagger_device": device})
    costs = [spent(client, work.judge)] if client or work.judge else []
    if work.second and (judged := asked_of(work.second)):
        costs.append("; ".join(judged))
    if judging is not None and judging is not models.client:
        costs.append(cost_line(judging))
        if judging.usage.calls:
            usage = finished(judging.usage)["usage"]
            models.folder.note(work.entry, {"usage_of_judge": usage})
    return costs


@asynccontextmanager
async def models_for(
    options: ProfileOptions,
    needs: Needs,
    on_status: Callable[[str], None],
    logs: Path | None = None,
) -> AsyncIterator[Models]:
    """Open the models that are needed. A server starts with the first request.

    Its logs go to the folder `logs`; `on_status` gets what is being waited for. ServingError if
    a model is missing.
    """
    served = options if isinstance(options, ServedOptions) else None
    cache = served.cache if served else None
    together: list[OnDemand] = []
    async with AsyncExitStack() as stack:

        async def client_of(source: Source) -> Client:
            return await stack.enter_async_context(
                connect(
                    source,
                    cache=cache,
                    logs=logs,
                    concurrency=served.concurrency if served else None,
                    on_status=on_status,
                    together=together,
                )
            )

        where = source_of(options, needs.role or "generator")
        if needs.judge is not None:  # one placement for both
            where = replace(where, profile=needs.judge.profile)
        client = None if needs.role is None else await client_of(where)
        yield Models(
            store=stack.enter_context(JudgementStore(default_store(cache))),
            profile=where.profile.name,
            client=client,
            judging=client if needs.judge is None else await client_of(needs.judge),
            tagger=needs.tagger,
            judge_tagger=needs.judge_tagger,
            prompts=options.prompts if isinstance(options, LlmOptions) else None,
        )


@asynccontextmanager
async def opened(
    options: ModelOptions, needs: Needs, folder: RunFolder, counting: Counting
) -> AsyncIterator[RunModels]:
    """The models of a run; `counting` shows what is being waited for. See `models_for`."""
    shown: list[Counter] = []

    @contextmanager
    def showing(what: str, total: int) -> Iterator[Counter]:
        with counting(what, total) as counter:
            shown.append(counter)
            yield counter
            shown.pop()

    def tell(text: str) -> None:
        if shown:
            shown[-1].status(text)

    async with models_for(options, needs, tell, folder.logs) as models:
        yield RunModels(**vars(models), folder=folder, counting=showing)
