"""Output of commands on a terminal: tables, lines on standard error, and progress.

Progress shows counts, pace and time left: as a bar on a terminal, otherwise as occasional lines.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, JustifyMethod

from pipelines.report.terminal import plain

if TYPE_CHECKING:
    from rich.progress import Progress
    from rich.table import Table as Printed

    from pipelines.report.table import Table
    from serving.calls import Usage

STDERR = Console(stderr=True, emoji=False)

LINE_EVERY_S = 15.0
"""Seconds between lines without a terminal."""


def say(line: str, style: str = "") -> None:
    """Print a line on standard error; nothing if it is empty."""
    if line:
        STDERR.print(plain(line), style=style, soft_wrap=True)


def show(table: "Table", console: Console | None = None) -> None:
    """Print a table of results; if it is too wide, transposed where that makes it narrower."""
    from rich.measure import Measurement

    from pipelines.report.table import as_shown, shown

    console = console or Console(emoji=False)
    rows = [
        [plain(shown(cell)) for cell in as_shown(table, row)]
        for row in (*table.rows, *table.quoted)
    ]
    lines = [[plain(column.title) for column in table.columns], *rows]
    sides: list[JustifyMethod] = [
        "left" if any(isinstance(row[place], str) for row in table.rows) else "right"
        for place in range(len(lines[0]))
    ]
    printed = _printed(table.title, lines, sides)

    def width(printed: "Printed") -> int:
        return Measurement.get(console, console.options.update(width=10_000), printed).maximum

    if width(printed) > console.width:
        values: list[JustifyMethod] = ["right"] * len(rows)
        turned = _printed(table.title, list(zip(*lines, strict=True)), ["left", *values])
        printed = min(printed, turned, key=width)
    _share_out(printed, console)
    console.print(printed)


def _share_out(printed: "Printed", console: Console) -> None:
    """Give columns the width of their longest words, if there is room, then widen narrow ones."""
    cells = [
        [console.measure(cell) for cell in (column.header, *column.cells)]
        for column in printed.columns
    ]
    widths = [max(cell.minimum for cell in column) for column in cells]
    wanted = [max(cell.maximum for cell in column) for column in cells]
    room = console.width - 1 - 3 * len(cells)  # without borders and padding
    if sum(widths) > room:
        return  # words are broken anyway
    while sum(widths) < min(room, sum(wanted)):
        lacking = [place for place, width in enumerate(widths) if width < wanted[place]]
        widths[min(lacking, key=lambda place: widths[place])] += 1
    for column, width in zip(printed.columns, widths, strict=True):
        column.width = width


def _printed(
    title: str, lines: Sequence[Sequence[str]], sides: Sequence[JustifyMethod]
) -> "Printed":
    """A table of these lines, with the first as its header and columns justified to `sides`."""
    from rich.table import Table as Printed

    printed = Printed(title=plain(title), title_justify="left")
    for name, side in zip(lines[0], sides, strict=True):
        printed.add_column(name, justify=side, overflow="fold")
    for line in lines[1:]:
        printed.add_row(*line)
    return printed


class Display:
    """Progress of one task.

    Args:
        what: Name of what is counted: "responses".
        total: Their number; None until `reached` gives it.
        bar: The bar to move; None writes lines.
    """

    def __init__(self, what: str, total: int | None = None, bar: "Progress | None" = None) -> None:
        self._what, self._total, self._bar = what, total, bar
        self._task = bar.add_task(what, total=total, remark="", status="") if bar else None
        self._done = self._before = 0.0
        self._began: float | None = None
        self._waited = 0
        self._told, self._said = False, time.monotonic()

    def begin(self, done: float, waited: int = 1) -> None:
        """Start at this number; the pace is measured from now on, and shown from the second item.

        The first item may have to wait for a model, or for the rest of its batch.
        """
        self._waited = waited
        self._done += done
        self._before = self._done
        self._began = time.monotonic()
        if self._bar and self._task is not None:
            self._bar.update(self._task, completed=self._done)

    def advance(self, usage: "Usage | None" = None) -> None:
        """Count one more, with the cost of calls so far if a server is used."""
        cost = f"{usage.calls:,} calls, {usage.saved_calls:,} saved" if usage else ""
        self.reached(self._done + 1, self._total, cost)

    def add(self, more: float) -> None:
        """Count this many more."""
        self.reached(self._done + more, self._total)

    def reached(self, done: float, total: int | None, remark: str = "") -> None:
        """Set the number done and the total."""
        if self._began is None:
            self.begin(done, waited=0)
        self._done, self._total = done, total
        if self._bar and self._task is not None:
            self._bar.update(self._task, completed=done, total=total, remark=remark)
        elif time.monotonic() - self._said > LINE_EVERY_S or (self._told and done == total):
            self._line(remark)

    def _line(self, remark: str) -> None:
        self._told, self._said = True, time.monotonic()
        total = self._total or self._done
        counted = self._done - self._before
        parts = [f"{self._what} {self._done:,.0f}/{total:,}"]
        if counted > self._waited:  # otherwise the pace is not known yet
            pace = (self._said - (self._began or 0)) / max(1, counted)
            parts.append(
                f"{pace:.1f} s each" if pace >= 0.1 else f"{1 / max(pace, 1e-9):,.0f} a second"
            )
            if self._done < total:
                parts.append(f"about {pace * (total - self._done) / 60:.0f} min left")
        said = ", ".join(parts)
        STDERR.print(f"{said}; {remark}" if remark else said, soft_wrap=True)

    def status(self, text: str) -> None:
        """Show what is being waited for; an empty text ends it."""
        text = plain(text)
        if self._bar and self._task is not None:
            self._bar.update(self._task, status=text)
        elif text:
            STDERR.print(text, soft_wrap=True)


@contextmanager
def progress(what: str, total: int | None = None) -> Iterator[Display]:
    """Show progress while the block runs; see `Display`."""
    if not STDERR.is_terminal:
        yield Display(what, total)
        return
    from rich import progress as shown

    bar = shown.Progress(
        shown.SpinnerColumn(),
        "{task.description}",
        shown.BarColumn(),
        shown.MofNCompleteColumn(),
        shown.TimeElapsedColumn(),
        "left",
        shown.TimeRemainingColumn(),
        "{task.fields[remark]}",
        "[dim]{task.fields[status]}[/dim]",
        console=STDERR,
    )
    with bar:
        yield Display(what, total, bar)


@contextmanager
def waiting() -> Iterator[Callable[[str], None]]:
    """Show what is being waited for while the block runs, if there is nothing to count.

    Yields:
        A function that takes the text, from any thread. Without a terminal, it prints a line only
        now and then.
    """
    said = time.monotonic()
    with STDERR.status("") as status:

        def tell(text: str) -> None:
            nonlocal said
            text = plain(text)
            status.update(text)
            if text and not STDERR.is_terminal and time.monotonic() - said > LINE_EVERY_S:
                said = time.monotonic()
                STDERR.print(text, soft_wrap=True)

        yield tell
