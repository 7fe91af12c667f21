"""What a run would take: calls, tokens, pairs and hours, in the same words for every experiment."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

from serving.calls import Usage
from serving.probe import Pace


@dataclass(frozen=True)
class Range:
    """At least, at most, and as much as measured items let expect (None: nothing was measured)."""

    low: float = 0
    high: float = 0
    expected: float | None = None

    def __add__(self, other: "Range") -> "Range":
        """Of two runs; expected where it is of both."""
        both = self.known, other.known
        known = None if None in both else sum(each for each in both if each is not None)
        return Range(self.low + other.low, self.high + other.high, known)

    @property
    def known(self) -> float | None:
        """As much as is to be expected: measured, or what cannot be otherwise."""
        return self.low if self.low == self.high else self.expected

    def __str__(self) -> str:
        """For people: "120", "from 52 to 310", "about 97 (from 52 to 310)"."""
        if round(self.low) == round(self.high):
            return f"{self.low:,.0f}"
        bounds = f"from {self.low:,.0f} to {self.high:,.0f}"
        return bounds if self.expected is None else f"about {self.expected:,.0f} ({bounds})"


@dataclass(frozen=True)
class Amounts:
    """What is asked for, in calls, tokens and pairs.

    Attributes:
        read: Prompt tokens.
        shared: Those of them that begin as an earlier prompt does; a prefix cache that holds all of
            them saves so many.
        written: Tokens of replies.
        pairs: Of claim and document, for the tagger.
    """

    calls: Range = Range()
    read: Range = Range()
    shared: Range = Range()
    written: Range = Range()
    pairs: Range = Range()

    def __add__(self, other: "Amounts") -> "Amounts":
        """Of two runs."""
        return Amounts(
            *(getattr(self, each.name) + getattr(other, each.name) for each in fields(Amounts))
        )


@dataclass(frozen=True)
class Hours:
    """How long calls take: as expected (None: unknown), and from the quickest to the slowest."""

    low: float
    high: float
    expected: float | None

    def __add__(self, other: "Hours") -> "Hours":
        """One after the other."""
        known = None not in (self.expected, other.expected)
        expected = (self.expected or 0) + (other.expected or 0) if known else None
        return Hours(self.low + other.low, self.high + other.high, expected)

    def __str__(self) -> str:
        """For people: "0.43 (0.35 to 0.61)", "from 0.1 to 3.2"."""
        if self.expected is None:
            return f"from {_places(self.low)} to {_places(self.high)}"
        return f"{_places(self.expected)} ({_places(self.low)} to {_places(self.high)})"


@dataclass(frozen=True)
class Forecast:
    """What a run would take, without what its folder and the cache have already.

    Attributes:
        items: How many there are, all repeats counted.
        done: Those that the run folder has.
        sampled: Items that were rehearsed, of those that are left.
        spread: Half of the 95 % interval of `read` by its value, where not all were rehearsed.
        measured: Items whose calls are all in the cache, so that what they took is known.
        took: That, of all of them together.
        model: Who is asked; None where no language model is.
        refused: Sampled items that could not be asked about, and the first reason.
        missing: Why tokens are counted by characters, if they are.
        pace: How fast the server answers, where it was probed.
    """

    items: int
    done: int = 0
    amounts: Amounts = field(default_factory=Amounts)
    sampled: int = 0
    spread: float | None = None
    measured: int = 0
    took: Usage = field(default_factory=Usage)
    model: str | None = None
    refused: tuple[int, str] = (0, "")
    missing: str | None = None
    pace: Pace | None = None

    @property
    def hours(self) -> Hours | None:
        """Calls by measured calls per second; None where nothing was measured.

        The server is taken to be as busy as in the probe from the first call to the last, with
        calls of the same shape. The tagger's time is in it as far as it slowed the probe's calls.
        """
        calls = self.amounts.calls
        if calls.high == 0:
            return Hours(0, 0, 0)
        if self.pace is None or self.pace.mean.calls == 0:
            return None
        (slow, quick), mean = self.pace.spread, self.pace.mean.calls
        low, high = calls.known or calls.low, calls.known or calls.high
        expected = None if calls.known is None else calls.known / mean / 3600
        # A window without a call says that windows are too short, not that it takes for ever.
        return Hours(low / quick / 3600, high / (slow or mean / 2) / 3600, expected)

    def lines(self, counted: str) -> list[str]:
        """For people; `counted` is what items are: "questions"."""
        left, amounts = self.items - self.done, self.amounts
        told = [f"{self.done:,} of {self.items:,} {counted} are done"] if self.done else []
        if amounts.pairs.high:
            told.append(f"pairs to tag: {amounts.pairs}")
        if self.model is None:
            return [*told, "no language model is asked"]
        told += [
            f"calls to {self.model}: {amounts.calls}",
            f"tokens read: {amounts.read}",
            f"  of these shared prefixes: {amounts.shared}",
            f"tokens written: {amounts.written}",
            f"hours: {self._hours()}",
        ]
        if self.sampled < left:
            within = f", within {self.spread:.0%}" if self.spread is not None else ""
            told.append(f"from {self.sampled:,} of the {left:,} {counted} that are left{within}")
        if self.measured:
            told.append(f"expected as of {self.measured:,} {counted} that the cache knows whole")
        if self.refused[0]:
            number, reason = self.refused
            told.append(f"{number:,} of {self.sampled:,} cannot be asked about: {reason}")
        if self.missing:
            told.append(f"tokens are counted as four characters each: {self.missing}")
        return told

    def _hours(self) -> str:
        if self.hours is None:
            return "unknown; --probe measures them"
        if self.pace is None:
            return "0"
        mean = self.pace.mean
        return (
            f"{self.hours}, at {mean.calls:,.2f} calls/s ({mean.read:,.0f} tokens/s read, "
            f"{mean.written:,.0f} written), measured {self.pace.measured}"
        )


def table(forecasts: Sequence[tuple[str, Forecast]]) -> list[str]:
    """Several runs one below the other, with their sum."""
    rows = [("", "calls", "tokens read", "tokens written", "hours")]
    amounts, hours = Amounts(), Hours(0, 0, 0)
    unknown = False
    for title, each in forecasts:
        rows.append((title, *_figures(each.amounts), str(each.hours or "unknown")))
        amounts += each.amounts
        hours += each.hours or Hours(0, 0, 0)
        unknown = unknown or each.hours is None
    rows.append(("all", *_figures(amounts), "unknown" if unknown else str(hours)))
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _figures(amounts: Amounts) -> tuple[str, str, str]:
    return str(amounts.calls), str(amounts.read), str(amounts.written)


def _places(hours: float) -> str:
    return f"{hours:,.0f}" if hours >= 100 else f"{hours:.2g}"
