"""How fast a server answers the requests of a run: calls and tokens per second, with their spread.

A model's calls are counted in windows of five seconds while as many are in flight as the run keeps.
A call that takes longer than a window counts in each of them by the share of its time that it spent
there, so a window's count does not depend on when calls happen to end.
"""

import asyncio
import json
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING, Any, Self

from serving.calls import Completion
from serving.client import Client
from serving.home import default_home

if TYPE_CHECKING:
    from serving.embeddings import Vectors

PROBE_S = 30.0
WINDOW_S = 5.0


@dataclass(frozen=True)
class Window:
    """What was done per second in a stretch of time: calls, tokens read and tokens written."""

    calls: float
    read: float
    written: float


@dataclass(frozen=True)
class Pace:
    """What a probe measured, for one kind of run on one machine.

    Attributes:
        windows: In order of time.
        calls: Calls that they saw end or go on, by shares.
        measured: When (UTC).
    """

    windows: tuple[Window, ...]
    calls: float
    measured: str

    @property
    def mean(self) -> Window:
        """Over all windows."""
        return Window(
            *(
                sum(getattr(each, name) for each in self.windows) / len(self.windows)
                for name in ("calls", "read", "written")
            )
        )

    @property
    def spread(self) -> tuple[float, float]:
        """Calls per second that a tenth of the windows stay below, and a tenth exceed."""
        calls = [each.calls for each in self.windows]
        if len(calls) == 1:
            return calls[0], calls[0]
        tenths = quantiles(calls, n=10, method="inclusive")
        return tenths[0], tenths[-1]

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """What `asdict` made."""
        return cls(
            tuple(Window(**each) for each in value["windows"]), value["calls"], value["measured"]
        )


@dataclass
class Watch:
    """The calls that are in flight, and those that have ended: (begun, ended, read, written).

    `first` is when the first one began.
    """

    first: float | None = None
    open: dict[object, float] = field(default_factory=dict)
    ended: list[tuple[float, float, int, int]] = field(default_factory=list)

    @contextmanager
    def call(self) -> Iterator[Callable[[Completion], None]]:
        """While it is in flight; to be told the answer."""
        token, begun = object(), time.monotonic()
        self.open[token] = begun
        self.first = begun if self.first is None else self.first

        def end(answer: Completion) -> None:
            tokens = answer.prompt_tokens, answer.completion_tokens
            self.ended.append((begun, time.monotonic(), *tokens))

        try:
            yield end
        finally:
            del self.open[token]

    def pace(self, begun: float, until: float) -> Pace | None:
        """Between two times; None where no call was made."""
        if not self.ended or until <= begun:
            return None
        count = max(1, round((until - begun) / WINDOW_S))
        width = (until - begun) / count
        windows = [
            self._window(begun + number * width, begun + (number + 1) * width)
            for number in range(count)
        ]
        calls = sum(each.calls for each in windows) * width
        return Pace(tuple(windows), calls, time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()))

    def _window(self, begun: float, until: float) -> Window:
        shares = [
            (max(0.0, min(until, end) - max(begun, start)) / max(end - start, 1e-9), read, written)
            for start, end, read, written in self.ended
        ]
        seconds = until - begun
        return Window(
            sum(share for share, _, _ in shares) / seconds,
            sum(share * read for share, read, _ in shares) / seconds,
            sum(share * written for share, _, written in shares) / seconds,
        )


class Timed(Client):
    """A client that notes on a watch when its calls reach a server and when they are answered."""

    def __init__(self, *args: Any, watch: Watch, concurrency: int, **rest: Any) -> None:
        super().__init__(*args, concurrency=concurrency, **rest)
        self._watch = watch
        self._turns = asyncio.Semaphore(concurrency)

    async def ready(self) -> None:
        """Start the servers, if they are to be started."""
        await self._backend.endpoints()

    async def _ask(
        self, request: dict[str, Any], affinity: str, key: str, vectors: "Vectors | None"
    ) -> Completion:
        # What waits for a place is not in flight yet. Behind these turns the client's own are free.
        async with self._turns:
            with self._watch.call() as end:
                answer = await super()._ask(request, affinity, key, vectors)
                end(answer)
        return answer


async def watched(run: Coroutine[Any, Any, None], watch: Watch, seconds: float) -> Pace | None:
    """Let a run go on for so many seconds from its first call, and see how fast calls are answered.

    It goes on until every call that was begun in that time is answered, so that the load stays the
    same; then it is given up. A run that ends before is measured to its end. None: it made no call.
    """
    task = asyncio.create_task(run)
    until = None
    try:
        while not task.done():
            await asyncio.wait({task}, timeout=0.1)
            if until is None and watch.first is not None:
                until = watch.first + seconds
            if until is None or time.monotonic() < until:
                continue
            if all(begun > until for begun in watch.open.values()):
                break
        if task.done():
            task.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    if watch.first is None:
        return None
    return watch.pace(watch.first, min(time.monotonic(), watch.first + seconds))


def paces_file() -> Path:
    """Where probes are kept for later estimates."""
    return default_home() / "paces.json"


def remember(kind: Mapping[str, Any], pace: Pace) -> None:
    """Keep what was measured for a kind of run: all that decides its speed."""
    path = paces_file()
    kept = _kept(path) | {_key(kind): asdict(pace)}
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    partial.replace(path)


def remembered(kind: Mapping[str, Any]) -> Pace | None:
    """What was measured last for a kind of run; None where nothing was."""
    found = _kept(paces_file()).get(_key(kind))
    return None if found is None else Pace.from_json(found)


def _kept(path: Path) -> dict[str, Any]:
    try:
        kept: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}  # a probe is made again in half a minute
    return kept


def _key(kind: Mapping[str, Any]) -> str:
    return sha256(json.dumps(kind, sort_keys=True, default=str).encode()).hexdigest()[:16]
