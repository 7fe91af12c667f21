"""A cluster worker: it receives an item's id and returns its result.

Ray pickles whatever it transfers, so only text is sent, mostly JSON, and this class is passed by
name.
"""

import asyncio
import json
import os
import socket
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, fields
from typing import Any

from pydantic import BaseModel

from pipelines import papers
from pipelines.errors import FIXABLE, InputError
from pipelines.experiment.execute import models_for
from pipelines.experiment.experiment import Experiment, Item, Models, RunModels, Work
from pipelines.report.progress import progress
from pipelines.runs.folder import RunFolder, differences
from serving.calls import Usage
from serving.errors import RequestError, ServingError
from serving.offline import go_offline

MENDABLE = (RequestError, *FIXABLE)
"""Errors that are reported in one line, wherever they occur."""


class Reply(BaseModel, frozen=True):
    """The outcome of an item.

    Attributes:
        result: As JSON; None if the item failed.
        error: Name of the exception class, one of `mendable`; its message is the `reason`.
        counts: Increase of each of `counters` since the last reply of the same work.
    """

    result: str | None = None
    error: str = ""
    reason: str = ""
    counts: tuple[int, ...] = ()


def mendable(experiment: Experiment[Any, Any]) -> dict[str, type[Exception]]:
    """The errors that are reported per item, by name, subclasses before base classes."""
    return {kind.__name__: kind for kind in (*experiment.refusals, *MENDABLE)}


def counters(work: Work[Any, Any], models: Models) -> list[tuple[Any, str]]:
    """The objects and attributes that count the cost of a work: the same list in every process."""
    asked = work.client or models.client
    clients = [] if asked is None else [asked]
    if models.judging is not None and models.judging is not models.client:
        clients.append(models.judging)
    pairs: list[tuple[Any, str]] = [
        (client.usage, field.name) for client in clients for field in fields(Usage)
    ]
    for judge in filter(None, (work.judge, work.second)):
        pairs += [(lookup, name) for lookup in judge.lookups for name in ("asked", "found")]
        pairs += [(judge.tagging, "pairs_tagged")] if judge.tagging else []
    return pairs


def as_sent(work: Work[Any, Any]) -> str:
    """The settings that determine a work's results, as text; equal works have equal text."""
    return json.dumps(work.config, sort_keys=True)


@dataclass
class _Ready:
    """A work with its items by id, its configuration, and the counts reported so far."""

    work: Work[Any, Any]
    items: dict[str, Item]
    config: str
    counters: list[tuple[Any, str]]
    told: list[int]

    def news(self) -> tuple[int, ...]:
        """Increase of each counter since the last call."""
        now = [getattr(who, name) for who, name in self.counters]
        grown = tuple(count - before for count, before in zip(now, self.told, strict=True))
        self.told = now
        return grown


class Worker:
    """The process of one replica group; its models are loaded on the first request.

    Args:
        experiment: Name of the experiment.
        options: The options given for the run, as JSON; defaults are filled in here.
        folder: Working directory of the command; relative paths are resolved against it.
        number: Number of this worker, for its logs.
    """

    def __init__(self, experiment: str, options: str, folder: str, number: int) -> None:
        go_offline()
        self._experiment = papers.experiment(experiment)
        self._options, self._folder, self._number = options, folder, number
        self._opening = asyncio.Lock()
        self._stack = AsyncExitStack()
        self._works: dict[str, _Ready] = {}

    async def answer(self, entry: str, config: str, item: str) -> str:
        """The outcome of an item, by its id: a `Reply` as JSON.

        The work is that of `entry`. Its configuration must equal the calling process's: other
        weights, data or versions here would give other results.
        """
        try:
            ready = await self._ready(entry, config, item)
        except (*MENDABLE, OSError) as error:
            # Not the item's fault, so `--on-error skip` does not apply.
            reason = f"on {socket.gethostname()}: {error}"
            return Reply(error=ServingError.__name__, reason=reason).model_dump_json()
        known = mendable(self._experiment)
        try:
            result = await ready.work.result_of(ready.items[item])
        except tuple(known.values()) as error:
            name = next(name for name, kind in known.items() if isinstance(error, kind))
            reply = Reply(error=name, reason=str(error), counts=ready.news())
        else:
            reply = Reply(result=result.model_dump_json(), counts=ready.news())
        return reply.model_dump_json()

    async def close(self) -> None:
        """Stop everything that this worker started."""
        await self._stack.aclose()

    async def _ready(self, entry: str, config: str, item: str) -> _Ready:
        async with self._opening:
            if not self._works:
                self._works = await self._open()
        ready = self._works.get(entry)
        if ready is None:
            raise InputError(f"there is no {entry} here; do all nodes have the same version?")
        if ready.config != config:
            differing = ", ".join(
                map(str, differences(json.loads(config), json.loads(ready.config)))
            )
            raise InputError(f"the run would differ in {differing}; bring the nodes in line")
        if item not in ready.items:
            raise InputError(f"the data has no '{item}'; give all nodes the same files")
        return ready

    async def _open(self) -> dict[str, _Ready]:
        os.chdir(self._folder)
        options = self._experiment.options.model_validate_json(self._options)
        folder = RunFolder(options.out)
        plan = self._experiment.plan(options)
        logs = folder.logs / f"worker-{self._number}"
        opened = models_for(options, plan.needs, lambda _: None, logs)
        models = RunModels(
            **vars(await self._stack.enter_async_context(opened)), folder=folder, counting=progress
        )
        return {work.entry: _made(work, plan.items, models) for work in plan.work(models)}


def _made(work: Work[Any, Any], items: Sequence[Item], models: Models) -> _Ready:
    counting = counters(work, models)
    work_items = items if work.items is None else work.items
    before = [getattr(who, name) for who, name in counting]
    return _Ready(work, {item.id: item for item in work_items}, as_sent(work), counting, before)
