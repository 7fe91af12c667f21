"""Counts what a run would ask: its own pipeline over some items, with stand-ins for the models.

Items are gone through twice, with replies as short as a pipeline can read and with the longest. So
the bounds follow debates that end early or late, documents that agree or not, few claims or many.
Items whose answers the cache has are gone through once more: they took what is to be expected.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pipelines.experiment.execute import done_in
from pipelines.experiment.experiment import Experiment, Models, Plan, RunModels, Work
from pipelines.experiment.forecast import Amounts, Forecast, Range
from pipelines.experiment.needs import Needs
from pipelines.experiment.options import LlmOptions, ModelOptions, RunOptions, source_of
from pipelines.experiment.stand_ins import StandInFolder, stand_ins
from pipelines.metrics.mean import mean
from pipelines.runs.folder import RunFolder
from pipelines.runs.provenance import hardware
from serving.calls import Usage
from serving.probe import remembered
from serving.rehearsal import Rehearsal

ItemT = TypeVar("ItemT")

SAMPLE = 50
"""Most items that are gone through; their calls are scaled to all that are left."""

ENOUGH, LEAST = 400, 3
"""After so many calls no further item is begun, once there are a few: a dry run takes seconds."""

TOGETHER = 5
"""Neighbours that are drawn together, for they may share documents."""

_DATA = frozenset({"data", "half", "sample", "segments", "retrieval"})
"""What a configuration says of its data."""


@dataclass(frozen=True)
class Taken:
    """What an item took that is not there yet, and (`known`) what its calls took that are."""

    stretch: int
    asked: Usage
    known: Usage
    pairs: int


@dataclass(frozen=True)
class Rehearsed:
    """Items that were gone through in one way; the reasons why others could not be."""

    taken: Sequence[Taken]
    refusals: Sequence[str]
    items: int
    done: int

    @property
    def sampled(self) -> int:
        """How many were tried."""
        return len(self.taken) + len(self.refusals)

    def total(self, of: Callable[[Taken], float]) -> float:
        """A sum, scaled to all items that are left."""
        found = sum(map(of, self.taken))
        return found * (self.items - self.done) / self.sampled if self.sampled else 0.0


async def forecast(
    experiment: Experiment[Any, Any], plan: Plan[Any, Any], options: RunOptions
) -> Forecast:
    """What a run would take. No model is asked, and nothing is kept.

    Raises:
        InputError: The run folder is damaged, or the run cannot be made ready.
        ServingError: An endpoint does not answer, or the cache cannot be opened.
    """
    if plan.needs.role is None and plan.needs.tagger is None:
        return Forecast(len(plan.items))
    needs, folder = plan.needs, RunFolder(options.out)
    async with stand_ins(needs, options, folder, full=False) as models:
        works = plan.work(models)
        brief = await _gone_through(experiment, plan, works, models)
        client = models.client
        pace = remembered(pace_kind(works[0], models, options, needs)) if client else None
    async with stand_ins(needs, options, folder, full=True) as models:
        full = await _gone_through(experiment, plan, plan.work(models), models)
    async with stand_ins(needs, options, folder, full=False, recall=True) as models:
        recalled = await _gone_through(experiment, plan, plan.work(models), models, recall=True)
    whole = [
        each
        for each in recalled.taken
        if each.known.calls and not each.asked.calls and not each.pairs
    ]
    return Forecast(
        items=brief.items,
        done=brief.done,
        amounts=_amounts(brief, full, whole),
        sampled=min(brief.sampled, full.sampled),
        spread=_spread(full),
        measured=len(whole),
        took=sum((each.known for each in whole), Usage()),
        model=client.model.name if client else None,
        refused=(len(full.refusals), next(iter(full.refusals), "")),
        missing=client.missing if isinstance(client, Rehearsal) else None,
        pace=pace,
    )


def shuffled(items: Sequence[ItemT], seed: int = 0) -> list[tuple[int, ItemT]]:
    """Items in an order drawn by seed, with the number of their stretch.

    Neighbours of a stretch stay together, for they may share documents.
    """
    starts = list(range(0, len(items), TOGETHER))
    random.Random(seed).shuffle(starts)  # noqa: S311  draws an order, keeps no secret
    return [(start, each) for start in starts for each in items[start : start + TOGETHER]]


async def _gone_through(
    experiment: Experiment[Any, Any],
    plan: Plan[Any, Any],
    works: Sequence[Work[Any, Any]],
    models: RunModels,
    *,
    recall: bool = False,
) -> Rehearsed:
    """Go through a sample of the items that are left; to `recall`, of those that are done, too."""
    taken: list[Taken] = []
    refusals: list[str] = []
    items = done = 0
    for work in works:
        own = plan.items if work.items is None else work.items
        known = done_in(models.folder.log(work.entry, experiment.result))
        left = [item for item in own if item.id not in known]
        items, done = items + len(own), done + len(own) - len(left)
        chosen = shuffled(left)[:SAMPLE]
        if recall:
            chosen = shuffled([item for item in own if item.id in known])[:SAMPLE] + chosen
        first = _spent(work, models)[0].calls
        for stretch, item in chosen:
            before = _spent(work, models)
            try:
                await work.each(item)
            except experiment.refusals as error:
                refusals.append(str(error))
                continue
            asked, found, pairs = _spent(work, models)
            taken.append(Taken(stretch, asked - before[0], found - before[1], pairs - before[2]))
            if asked.calls - first >= ENOUGH and len(taken) >= LEAST:
                break
    return Rehearsed(taken, refusals, items, done)


def _spent(work: Work[Any, Any], models: RunModels) -> tuple[Usage, Usage, int]:
    """What was made up so far, what the cache had, and the pairs that were tagged."""
    clients = {
        id(each): each
        for each in (work.client or models.client, models.judging)
        if isinstance(each, Rehearsal)
    }.values()
    taggers = (models.tagger, models.judge_tagger)
    pairs = sum(each.tagging.pairs for each in taggers if isinstance(each, StandInFolder))
    asked = sum((each.usage for each in clients), Usage())
    return asked, sum((each.recalled.usage for each in clients), Usage()), pairs


def _amounts(brief: Rehearsed, full: Rehearsed, whole: Sequence[Taken]) -> Amounts:
    # Items whose answers the cache has all are left, and take nothing more.
    lacking = brief.total(lambda each: float(each.asked.calls > 0))

    def bounds(of: Callable[[Usage], int]) -> Range:
        low, high = sorted(each.total(lambda one: of(one.asked)) for each in (brief, full))
        if not whole:
            return Range(low, high)
        expected = lacking * sum(of(each.known) for each in whole) / len(whole)
        return Range(low, high, min(max(expected, low), high))

    pairs = sorted(each.total(lambda one: one.pairs) for each in (brief, full))
    return Amounts(
        calls=bounds(lambda usage: usage.calls),
        read=bounds(lambda usage: usage.prompt_tokens),
        shared=bounds(lambda usage: usage.cached_prefix_tokens),
        written=bounds(lambda usage: usage.completion_tokens),
        pairs=Range(*pairs),
    )


def _spread(full: Rehearsed) -> float | None:
    """Half the 95 % interval of tokens read, by their mean; None where no item was left out."""
    if full.sampled >= full.items - full.done:
        return None
    read = [each.asked.prompt_tokens for each in full.taken]
    found = mean(read, [each.stretch for each in full.taken])
    if found is None or found.high is None or not found.value:
        return None
    return (found.high - found.value) / found.value


def pace_kind(
    work: Work[Any, Any], models: Models, options: ModelOptions, needs: Needs
) -> dict[str, Any]:
    """What decides how fast a run's calls are answered, but for the length of its data."""
    machine = hardware()
    clients = [each for each in (models.client, models.judging) if each is not None]
    where = source_of(options, needs.role or "generator")
    return {
        "entry": work.entry.partition(".")[0],
        "config": {name: value for name, value in work.config.items() if name not in _DATA},
        "engines": [where.options(each.model.name).model_dump(mode="json") for each in clients],
        "endpoints": where.endpoints,
        "concurrency": options.concurrency if isinstance(options, LlmOptions) else None,
        "machine": {name: machine[name] for name in ("processor", "cores", "gpus")},
    }
