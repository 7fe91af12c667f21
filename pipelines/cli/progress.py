"""Progress on standard error: what is done, how fast, how long still.

On a terminal a bar; into a file a line every now and then.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from serving.calls import Usage

STDERR = Console(stderr=True)

LINE_EVERY_S = 15.0
"""How often a line is written where there is no terminal."""


class Shown:
    """Progress that is being shown.

    Args:
        what: What is counted: "responses".
        total: How many there are.
        bar: The bar to move; None writes lines.
    """

    def __init__(self, what: str, total: int, bar: Progress | None) -> None:
        self._what, self._total, self._bar = what, total, bar
        self._task = bar.add_task(what, total=total, cost="", status="") if bar else None
        self._done = self._before = 0
        self._started = self._said = time.monotonic()

    def begin(self, done: int) -> None:
        """So many more were done by an earlier run."""
        self._done += done
        self._before = self._done
        self._started = time.monotonic()
        if self._bar and self._task is not None:
            self._bar.update(self._task, advance=done)

    def advance(self, usage: Usage | None = None) -> None:
        """One more is done; where a server is asked, with what calls have cost so far."""
        self._done += 1
        cost = f"{usage.calls:,} calls, {usage.saved_calls:,} saved" if usage else ""
        if self._bar and self._task is not None:
            self._bar.update(self._task, advance=1, cost=cost)
        elif time.monotonic() - self._said > LINE_EVERY_S or self._done == self._total:
            self._said = time.monotonic()
            pace = (self._said - self._started) / (self._done - self._before)
            left = pace * (self._total - self._done)
            STDERR.print(
                f"{self._what} {self._done:,}/{self._total:,}, {pace:.1f} s each, "
                f"about {left / 60:.0f} min left{f'; {cost}' if cost else ''}",
                soft_wrap=True,
            )

    def status(self, text: str) -> None:
        """Say what is being waited for; an empty text ends it."""
        if self._bar and self._task is not None:
            self._bar.update(self._task, status=text)
        elif text:
            STDERR.print(text, soft_wrap=True)


@contextmanager
def progress(what: str, total: int) -> Iterator[Shown]:
    """Show progress while the block runs.

    Args:
        what: What is counted: "responses".
        total: How many there are.
    """
    if not STDERR.is_terminal:
        yield Shown(what, total, None)
        return
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[cost]}"),
        TextColumn("[dim]{task.fields[status]}[/dim]"),
        console=STDERR,
    )
    with bar:
        yield Shown(what, total, bar)


@contextmanager
def waiting() -> Iterator[Callable[[str], None]]:
    """Show what is being waited for while the block runs, where nothing of a known number is done.

    Yields:
        To be told what that is; any thread may tell. Without a terminal, a line every now and then.
    """
    said = time.monotonic()
    with STDERR.status("") as status:

        def tell(text: str) -> None:
            nonlocal said
            status.update(text)
            if text and not STDERR.is_terminal and time.monotonic() - said > LINE_EVERY_S:
                said = time.monotonic()
                STDERR.print(text, soft_wrap=True)

        yield tell
