"""Half a minute of a run, to see how fast its server answers what the run asks."""

from functools import partial
from typing import Any

from pipelines.errors import InputError
from pipelines.experiment.execute import done_in, opened
from pipelines.experiment.experiment import Counting, Experiment, Plan
from pipelines.experiment.options import RunOptions
from pipelines.experiment.rehearse import pace_kind, shuffled
from pipelines.runs.folder import RunFolder
from pipelines.runs.runner import IN_FLIGHT, run_examples
from serving.probe import PROBE_S, Pace, Timed, Watch, remember, watched


async def probe(
    experiment: Experiment[Any, Any],
    plan: Plan[Any, Any],
    options: RunOptions,
    counting: Counting,
) -> Pace | None:
    """How fast the run's own requests are answered, over items of it drawn from all places.

    Servers are found or started as by the run. What the model says is kept in the cache, as it is
    of the run itself; the run folder gets no result. The pace is kept for later estimates; it is
    None where nothing is left to ask.

    Raises:
        InputError: The run asks no language model.
        ServingError: No server can be had.
    """
    if plan.needs.role is None:
        raise InputError(
            f"--probe measures the server of a language model, and of {plan.needs.unasked}; "
            "leave it out"
        )
    watch, folder = Watch(), RunFolder(options.out)
    kind = partial(Timed, watch=watch)
    async with opened(options, plan.needs, folder, counting, kind) as models:
        work = plan.work(models)[0]
        own = plan.items if work.items is None else work.items
        done = done_in(folder.log(work.entry, experiment.result))
        left = [item for item in own if item.id not in done]
        items = [item for _, item in shuffled(left)]

        async def attempt(item: Any) -> None:
            try:
                await work.each(item)
            except experiment.refusals:
                return

        with models.counting("probed " + experiment.counted, len(items)) as counter:
            for client in {id(each): each for each in (models.client, models.judging)}.values():
                if isinstance(client, Timed):
                    await client.ready()
            counter.status("")
            run = run_examples(
                items, attempt, in_flight=IN_FLIGHT, on_result=lambda _: counter.advance()
            )
            pace = await watched(run, watch, PROBE_S)
        if pace is not None:
            remember(pace_kind(work, models, options, plan.needs), pace)
    return pace
