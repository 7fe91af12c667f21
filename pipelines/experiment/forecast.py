"""Estimated cost of a run: calls and pairs by formula; hours and tokens by a probe."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipelines.experiment.cost import Cost
from pipelines.experiment.execute import IN_FLIGHT, done_in, opened, run_examples
from pipelines.experiment.experiment import Counting, Experiment, Plan
from pipelines.experiment.options import RunOptions, source_of
from pipelines.metrics.estimate import mean
from pipelines.runs.folder import RunFolder
from serving import models
from serving.connect import Source, resolve
from serving.errors import ServingError

PROBED = 5
"""Items in a probe; the first starts servers and loads models, and is not timed."""

UNKNOWN = "unknown"


@dataclass(frozen=True)
class Pace:
    """Measurements of a probe.

    Attributes:
        seconds: For each timed item.
        wall: Wall-clock seconds for all of them, side by side.
        in_flight: Most items that a run works on at a time.
        known: Answers and judgements that were already stored and took no time.
        read, written: Mean number of tokens per probed item.
    """

    seconds: tuple[float, ...]
    wall: float
    in_flight: int
    known: int = 0
    read: float = 0.0
    written: float = 0.0

    def lines(self, left: int) -> list[str]:
        """Hours for the remaining items, with a 95 % interval, and tokens, for people."""
        together = sum(self.seconds) / self.wall
        estimate = mean(self.seconds, bounds=(0.0, float("inf")))
        assert estimate is not None  # noqa: S101  an item was timed
        at_once = min(self.in_flight, len(self.seconds))

        def hours(seconds: float) -> str:
            made = left * seconds / together / 3600
            return f"{made:,.0f}" if made >= 10 else f"{made:.2g}"

        spread = ""
        if estimate.low is not None and estimate.high is not None:
            spread = f" ({hours(estimate.low)} to {hours(estimate.high)})"
        text = f"hours: {hours(estimate.value)}{spread}, with {at_once} at once as in the probe"
        if self.in_flight > at_once:
            text += f"; a run has up to {self.in_flight}, which is faster if the server batches"
        if self.known:
            text += f"; {self.known} answers were already stored and took no time"
        if not self.read:
            return [text]
        tokens = f"{self.read * left:,.0f} read, {self.written * left:,.0f} written"
        return [text, f"tokens: about {tokens}, by the probe"]


@dataclass(frozen=True)
class Forecast:
    """Estimated cost of the items that a run folder does not hold yet.

    Attributes:
        items: Number of items, counting repeats; `done` are in the folder already.
        cost: Bounds for the rest; None without a formula.
        model: Name of the language model; None if none is asked.
        pace: Measurements of a probe.
    """

    items: int
    done: int
    cost: Cost | None
    model: str | None = None
    pace: Pace | None = None

    def lines(self, counted: str) -> list[str]:
        """For people; `counted` is the plural noun for items: "questions"."""
        lines = [f"{self.done:,} of {self.items:,} {counted} are done"]
        asked, pairs = _figures(self.cost)
        if pairs != "0":
            lines.append(f"pairs to tag: {pairs}")
        lines.append(
            f"calls to {self.model}: {asked}" if self.model else "no language model is asked"
        )
        if self.pace is not None:
            lines += self.pace.lines(self.items - self.done)
        if self.cost is not None and self.cost != Cost():
            lines.append("bounds, summed over items; cached and shared answers are not subtracted")
        return lines


async def forecast(
    experiment: Experiment[Any, Any],
    plan: Plan[Any, Any],
    options: RunOptions,
    pace: Pace | None = None,
) -> Forecast:
    """Bounds for the cost of a run, from its plan. No model is asked or loaded.

    Raises:
        InputError: The run folder is damaged.
        ServingError: An endpoint does not answer.
    """
    sources = [] if plan.needs.role is None else [source_of(options, plan.needs.role)]
    sources += [plan.needs.judge] if plan.needs.judge else []
    names = [await _name(source) for source in sources]
    folder = RunFolder(options.out)
    entries = plan.entries(names[0] if names else "") or ("",)
    done = [done_in(folder.log(entry, experiment.result)) if entry else set() for entry in entries]
    total = None
    if plan.cost is not None:
        total = Cost()
        for item in plan.items:
            if left := sum(item.id not in known for known in done):
                total += plan.cost(item).times(left)
    return Forecast(
        items=len(plan.items) * len(entries),
        done=sum(item.id in known for known in done for item in plan.items),
        cost=total,
        model=" and ".join(dict.fromkeys(names)) or None,
        pace=pace,
    )


async def _name(source: Source) -> str:
    """The name of a role's model, even if the model is not on this machine."""
    if source.endpoints:
        return (await resolve(source)).identity.name
    try:
        return models.find(source.model or source.profiled, source.models_dir).name
    except ServingError:
        return source.model or source.profiled


async def probe(
    experiment: Experiment[Any, Any], plan: Plan[Any, Any], options: RunOptions, counting: Counting
) -> Pace | None:
    """Run up to five items, drawn evenly from the data, and measure how long they take.

    Servers are found or started as in the run, and items run side by side as in the run. Models'
    answers are stored for the run; the run folder gets no result. None if nothing is left to do.

    Raises:
        InputError, ServingError: As `execute`.
    """
    folder = RunFolder(options.out)
    async with opened(options, plan.needs, folder, counting) as ready:
        for work in plan.work(ready):
            done = done_in(folder.log(work.entry, experiment.result))
            items = plan.items if work.items is None else work.items
            drawn = _drawn([item for item in items if item.id not in done])
            if drawn:
                break
        else:
            return None
        client = work.client or ready.client
        most = experiment.in_flight or max(client.concurrency if client else 0, IN_FLIGHT)
        probed, seconds = len(drawn), list[float]()

        async def timed(item: Any) -> None:
            began = time.monotonic()
            try:
                await work.result_of(item)
            except experiment.refusals:
                return
            finally:
                seconds.append(time.monotonic() - began)

        with ready.counting("probed " + experiment.counted, len(drawn)) as counter:
            if len(drawn) > 1:
                await timed(drawn.pop(0))
                counter.advance()
                seconds.clear()
            counter.status("")
            in_flight, began = most * work.places(), time.monotonic()
            await run_examples(
                drawn, timed, in_flight=in_flight, on_result=lambda _: counter.advance()
            )
            wall = time.monotonic() - began
        asked = {
            id(caller): caller.usage for caller in (client, ready.judging) if caller is not None
        }
        known = sum(usage.saved_calls for usage in asked.values())
        known += work.judge.from_store()["found"] if work.judge else 0
        read, written = (
            sum(getattr(usage, name) for usage in asked.values()) / probed
            for name in ("prompt_tokens", "completion_tokens")
        )
    return Pace(tuple(seconds), wall, in_flight, known, read, written)


def _drawn(items: Sequence[Any]) -> list[Any]:
    """Up to `PROBED` items, evenly spread over the data."""
    count = min(PROBED, len(items))
    return [items[len(items) * place // count] for place in range(count)]


def table(forecasts: Sequence[tuple[str, Forecast]]) -> list[str]:
    """A row for each run, and their sum."""
    costs = [(title, expected.cost) for title, expected in forecasts]
    known = [cost for _, cost in costs if cost is not None]
    costs.append(("all", sum(known, Cost()) if len(known) == len(costs) else None))
    rows = [("", "calls", "pairs to tag")]
    rows += [(title, *_figures(cost)) for title, cost in costs]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def _figures(cost: Cost | None) -> tuple[str, str]:
    """Calls and pairs, for people."""
    if cost is None:
        return UNKNOWN, UNKNOWN
    least, most = cost.calls
    asked = f"{most:,}" if least == most else f"from {least:,} to {most:,}"
    return asked, f"at most {cost.pairs:,}" if cost.pairs else "0"
