"""What a run would take: bounds of calls, tokens and pairs by formula, and hours by a probe."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.experiment.cost import Cost, Tokens
from pipelines.experiment.execute import IN_FLIGHT, done_in, opened, run_examples
from pipelines.experiment.experiment import Counting, Experiment, Plan
from pipelines.experiment.options import LlmOptions, ModelOptions, RunOptions, source_of
from pipelines.metrics.estimate import mean
from pipelines.runs.folder import RunFolder
from serving import models
from serving.connect import Source, resolve
from serving.errors import ServingError
from serving.tokens import ChatTokenizer

PROBED = 5
"""Items that a probe runs; the first one starts servers and loads models, and is not timed."""

UNKNOWN = "unknown"


@dataclass(frozen=True)
class Pace:
    """What a probe measured.

    Attributes:
        seconds: Of each timed item.
        wall: Of all of them, side by side.
        in_flight: Items that a run has side by side, at most.
        known: Answers and judgements that were there before, and took no time.
    """

    seconds: tuple[float, ...]
    wall: float
    in_flight: int
    known: int = 0

    def hours(self, left: int) -> str:
        """For so many items, with a 95 % interval, for people."""
        together = sum(self.seconds) / self.wall
        found = mean(self.seconds, bounds=(0.0, float("inf")))
        assert found is not None  # noqa: S101  an item was timed
        at_once = min(self.in_flight, len(self.seconds))

        def hours(seconds: float) -> str:
            made = left * seconds / together / 3600
            return f"{made:,.0f}" if made >= 10 else f"{made:.2g}"

        spread = ""
        if found.low is not None and found.high is not None:
            spread = f" ({hours(found.low)} to {hours(found.high)})"
        told = f"hours: {hours(found.value)}{spread}, with {at_once} at once as in the probe"
        if self.in_flight > at_once:
            told += f"; a run has up to {self.in_flight}, which servers that batch do sooner"
        if self.known:
            told += f"; {self.known} answers were known, and took no time"
        return told


@dataclass(frozen=True)
class Forecast:
    """What a run would take, without what its folder has.

    Attributes:
        items: How many there are, all repeats counted; `done` are those that the folder has.
        cost: Bounds for the others; None where no formula is known.
        model: Who is asked; None where no language model is.
        missing: Why tokens are counted by characters, if they are.
        pace: What a probe measured.
    """

    items: int
    done: int
    cost: Cost | None
    model: str | None = None
    missing: str | None = None
    pace: Pace | None = None

    def lines(self, counted: str) -> list[str]:
        """For people; `counted` is what items are: "questions"."""
        told = [f"{self.done:,} of {self.items:,} {counted} are done"]
        calls, read, written, pairs = _figures(self.cost)
        if pairs != "0":
            told.append(f"pairs to tag: {pairs}")
        if self.model is None:
            told.append("no language model is asked")
        else:
            told += [f"calls to {self.model}: {calls}", f"tokens read: {read}"]
            told.append(f"tokens written: {written}")
        if self.pace is not None:
            told.append(self.pace.hours(self.items - self.done))
        if self.cost is not None and self.cost != Cost():
            told.append(
                "bounds, item by item; what the cache has, or items share, is not subtracted"
            )
        if self.missing:
            told.append(f"tokens are counted as four characters each: {self.missing}")
        return told


async def forecast(
    experiment: Experiment[Any, Any],
    plan: Plan[Any, Any],
    options: RunOptions,
    pace: Pace | None = None,
) -> Forecast:
    """Bounds of what a run would take, from its plan. No model is asked or loaded.

    Raises:
        InputError: The run folder is damaged, or a prompt of the user's own cannot be used.
        ServingError: An endpoint does not answer.
    """
    names: list[str] = []
    tokenizers, reasoning, missing = [], 0, None
    sources = [] if plan.needs.role is None else [source_of(options, plan.needs.role)]
    for source in (*sources, *([plan.needs.judge] if plan.needs.judge else [])):
        called, tokenizer, why = await _tokenizer(source)
        names, missing = [*names, called], missing or why
        engine = source.options(called)
        if engine.reasoning_parser or (tokenizer and tokenizer.always_reasons):
            reasoning = max(reasoning, engine.reasoning_tokens)
        tokenizers += [tokenizer] if tokenizer else []
    folder = RunFolder(options.out)
    entries = plan.entries(names[0] if names else "") or ("",)
    done = [done_in(folder.log(each, experiment.result)) if each else set() for each in entries]
    total = None
    if plan.cost is not None:
        tokens, total = Tokens(() if missing else tokenizers, _overrides(options)), Cost()
        for item in plan.items:
            left = sum(item.id not in known for known in done)
            total += plan.cost(item, tokens).times(left) if left else Cost()
        total += Cost(reply_tokens=reasoning * total.calls[1])
    return Forecast(
        items=len(plan.items) * len(entries),
        done=sum(item.id in known for known in done for item in plan.items),
        cost=total,
        model=" and ".join(dict.fromkeys(names)) or None,
        missing=missing,
        pace=pace,
    )


def _overrides(options: ModelOptions) -> Path | None:
    return options.prompts if isinstance(options, LlmOptions) else None


async def _tokenizer(source: Source) -> tuple[str, ChatTokenizer | None, str | None]:
    """The name of a role's model, its tokenizer, and else why that is not on this machine."""
    if source.endpoints:
        resolved = await resolve(source)
        name = resolved.identity.name
        return name, resolved.tokenizer, None if resolved.tokenizer else f"{name} is elsewhere"
    try:
        folder = models.find(source.model or source.profiled, source.models_dir)
        return folder.name, ChatTokenizer.from_folder(folder.path), None
    except ServingError as error:
        return source.model or source.profiled, None, str(error)


async def probe(
    experiment: Experiment[Any, Any], plan: Plan[Any, Any], options: RunOptions, counting: Counting
) -> Pace | None:
    """Run up to five items, drawn from all parts of the data, and see how long they take.

    Servers are found or started as by the run, and items are run side by side as by it. What models
    say is kept for the run; the run folder gets no result. None where nothing is left to do.

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
        seconds: list[float] = []

        async def timed(item: Any) -> None:
            began = time.monotonic()
            try:
                await work.each(item)
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
        asked = {id(each): each.usage for each in (client, ready.judging) if each is not None}
        known = sum(usage.saved_calls for usage in asked.values())
        known += work.judge.from_store()["found"] if work.judge else 0
    return Pace(tuple(seconds), wall, in_flight, known)


def _drawn(items: Sequence[Any]) -> list[Any]:
    """Up to `PROBED` items, evenly spread over the data."""
    count = min(PROBED, len(items))
    return [items[len(items) * place // count] for place in range(count)]


def table(forecasts: Sequence[tuple[str, Forecast]]) -> list[str]:
    """Several runs one below the other, with their sum."""
    costs = [(title, each.cost) for title, each in forecasts]
    known = [cost for _, cost in costs if cost is not None]
    costs.append(("all", sum(known, Cost()) if len(known) == len(costs) else None))
    rows = [("", "calls", "tokens read", "tokens written", "pairs to tag")]
    rows += [(title, *_figures(cost)) for title, cost in costs]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def _figures(cost: Cost | None) -> tuple[str, str, str, str]:
    """Calls, tokens read and written, and pairs, for people."""
    if cost is None:
        return (UNKNOWN,) * 4
    least, most = cost.calls
    calls = f"{most:,}" if least == most else f"from {least:,} to {most:,}"
    upper = (cost.prompt_tokens, cost.reply_tokens, cost.pairs)
    read, written, pairs = (f"at most {each:,}" if each else "0" for each in upper)
    return calls, read, written, pairs
