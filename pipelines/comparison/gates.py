"""What a comparison must not show: `cs_c > +0.05`, for a run in CI to fail."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final, Literal, NamedTuple

from pipelines.comparison.runs import Match
from pipelines.comparison.scores import ScorePair
from pipelines.comparison.verdicts import VerdictPair
from pipelines.errors import InputError
from pipelines.metrics.estimate import Estimate
from pipelines.report.table import shown

CHANGED: Final = "changed"
"""In place of a score: the share of changed verdicts."""

FORM: Final = re.compile(r"\s*(?:([\w-]+)\s*:)?\s*([\w.-]+)\s*([<>])\s*(\S+)\s*")


@dataclass(frozen=True)
class Gate:
    """An expression: the difference of a score, or a share, against a limit.

    Attributes:
        text: As it was given.
        experiment: None where any may have the score.
        name: Of a score; or `CHANGED`.
    """

    text: str
    experiment: str | None
    name: str
    sign: Literal["<", ">"]
    limit: float

    def holds(self, value: float) -> bool:
        """Whether the expression is true of a figure."""
        return value > self.limit if self.sign == ">" else value < self.limit


class Judged(NamedTuple):
    """A gate on two runs that belong together."""

    gate: Gate
    match: Match
    figure: Estimate

    @property
    def holds(self) -> bool:
        """Whether the comparison fails by it."""
        return self.gate.holds(self.figure.value)

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "condition": self.gate.text,
            "run": self.match.title,
            "folder": self.match.letter,
            "figure": self.figure.value,
            "low": self.figure.low,
            "high": self.figure.high,
            "examples": self.figure.n,
            "holds": self.holds,
        }

    @property
    def line(self) -> str:
        """What came of it, in a line."""
        what = "share of changed verdicts" if self.gate.name == CHANGED else self.gate.name
        less = "" if self.gate.name == CHANGED else f", {self.match.letter} less A"
        said = "holds" if self.holds else "does not hold"
        return (
            f"--fail-if '{self.gate.text}' {said}: {self.match.title}, {what} "
            f"{shown(self.figure)}{less}, over {self.figure.n:,} examples in both"
        )


def gate(text: str) -> Gate:
    """Read an expression; InputError if it is none."""
    found = FORM.fullmatch(text)
    try:
        limit = float(found[4]) if found else float("nan")
    except ValueError:
        limit = float("nan")
    if found is None or not isfinite(limit):
        raise InputError(
            f"--fail-if '{text}' is no condition; write one as \"cs_c > +0.05\", "
            f'"conflictscore:cs_c < -0.1" or "{CHANGED} > 0.1"'
        )
    sign: Literal["<", ">"] = ">" if found[3] == ">" else "<"
    return Gate(text, found[1], found[2], sign, limit)


def judged(
    gates: Sequence[Gate], scores: Sequence[ScorePair], verdicts: Sequence[VerdictPair]
) -> list[Judged]:
    """Every gate on all pairs of runs that it is of.

    Raises:
        InputError: No experiment that is compared has the score, or no example of some pair of
            runs has it in both.
    """
    return [each for own in gates for each in _of(own, scores, verdicts)]


def _of(own: Gate, scores: Sequence[ScorePair], verdicts: Sequence[VerdictPair]) -> list[Judged]:
    figures: list[tuple[str, Match, Estimate | None]] = [
        *((pair.name, pair.match, pair.comparison.difference) for pair in scores),
        *((CHANGED, pair.match, pair.share) for pair in verdicts),
    ]
    named = [
        (match, figure)
        for name, match, figure in figures
        if name == own.name and own.experiment in {None, match.first.experiment.name}
    ]
    if not named:
        known = dict.fromkeys(f"{match.first.experiment.name}:{name}" for name, match, _ in figures)
        raise InputError(
            f"--fail-if '{own.text}': there is no such score; there are "
            f"{', '.join(known) or 'none'}"
        )
    found = []
    for match, figure in named:
        if figure is None:  # what nobody can tell must not pass for well
            raise InputError(
                f"--fail-if '{own.text}': no example of {match.title} has a value both in A and in "
                f"{match.letter}, so nobody can tell; leave it out, or name other runs"
            )
        found.append(Judged(own, match, figure))
    return found
