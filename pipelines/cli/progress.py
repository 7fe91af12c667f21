"""Progress on standard error: what is done, how fast, how long still."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from serving.client import Client, Usage

STDERR = Console(stderr=True)


@dataclass(frozen=True)
class Shown:
    """A progress bar that is on the screen."""

    bar: Progress
    task: TaskID

    def begin(self, done: int) -> None:
        """So many were done by an earlier run."""
        self.bar.update(self.task, completed=done)

    def advance(self, usage: Usage) -> None:
        """One more is done."""
        self.bar.update(self.task, advance=1, cost=_cost(usage))

    def status(self, text: str) -> None:
        """Say what is being waited for."""
        self.bar.update(self.task, status=text)


@contextmanager
def progress(what: str, total: int) -> Iterator[Shown]:
    """Show a progress bar while the block runs.

    Args:
        what: What is counted: "responses".
        total: How many there are.
    """
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
    bar.start()
    try:
        yield Shown(bar, bar.add_task(what, total=total, cost="", status=""))
    except BaseException:
        if STDERR.is_terminal:
            bar.stop()
        else:
            # A log gets the reason that follows alone, without a bar that stands still before it.
            bar.live.transient = True
            bar.live.stop()
        raise
    bar.stop()


def cost_line(client: Client) -> str:
    """What the calls of a client have cost, in one line."""
    usage = client.usage
    if usage.calls == 0:
        return f"{usage.saved_calls:,} calls, all answered from the cache; no model was asked"
    cached = usage.cached_prefix_tokens / usage.prompt_tokens if usage.prompt_tokens else 0
    return (
        f"{usage.calls:,} calls to {client.model.name}, {usage.saved_calls:,} saved by the cache; "
        f"{usage.prompt_tokens:,} tokens read ({cached:.0%} from the prefix cache), "
        f"{usage.completion_tokens:,} written"
        + (f"; {usage.retries} retries" if usage.retries else "")
    )


def _cost(usage: Usage) -> str:
    return f"{usage.calls:,} calls, {usage.saved_calls:,} saved"
