"""What differs in how two runs were made: data, models, prompts, settings, program."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from pipelines.comparison.runs import Match, Run, Side, other, placed
from pipelines.experiment.publish import models_of
from pipelines.prompts import shipped_digest
from pipelines.report.glance import joined
from pipelines.report.table import Column, Table
from pipelines.report.texts import one_line
from pipelines.runs.folder import Difference, differences, written

Kind = Literal["data", "model", "prompt", "setting", "program", "machine"]

KINDS: Final[Mapping[str, Kind]] = {
    "data": "data",
    "half": "data",
    "prompts": "prompt",
    "preset": "setting",
    "packages": "program",
    "python": "program",
    "profile": "machine",
    "hardware": "machine",
}
"""What parts of an entry in `run.json` are; models are known by their engines, and the rest are
settings."""

BESIDE: Final = ("preset", "packages", "python", "profile", "hardware")
"""What an entry has beside its configuration that may explain a difference; not times or costs."""

SHOWN: Final = 60
"""Characters of a value."""

TOLD: Final = 3
"""Differences that a sentence tells of."""

DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class Change(NamedTuple):
    """Something that differs in how two runs were made, as each has it."""

    match: Match
    kind: Kind
    what: str
    first: str
    second: str


def changes(match: Match) -> list[Change]:
    """What differs between two runs, in the order of `KINDS`."""
    one, two = match.first, match.second
    counted = [Difference("data.examples", len(one.results), len(two.results))]
    beside, also = ({name: run.about.get(name) for name in BESIDE} for run in (one, two))
    found = [
        *(each for each in counted if each.there != each.now),
        *differences(one.config, two.config),
        *differences(beside, also),
    ]
    order = list(dict.fromkeys(["data", "model", *KINDS.values()]))
    made = [_change(match, each) for each in found if not _derived(each.name)]
    return sorted(made, key=lambda change: order.index(change.kind))


def _derived(name: str) -> bool:
    """Whether it only repeats what other differences say: a judge's digests in one line."""
    return name.endswith(".identity")


def _change(match: Match, each: Difference) -> Change:
    part, _, rest = each.name.partition(".")
    kind = KINDS.get(part)
    if kind is None:
        both = (run.config.get(part) for run in (match.first, match.second))
        models = any(isinstance(one, dict) and "engine" in one for one in both)
        kind = "model" if models else "setting"
    named = rest if kind == "prompt" else each.name.removeprefix("packages.")
    return Change(match, kind, named, *(_told(value, kind, rest) for value in each[1:]))


def _told(value: Any, kind: Kind, name: str) -> str:
    if isinstance(value, dict) and "engine" in value:  # a model that only one run has
        return f"{value['name']} ({str(value['digest'])[:12]})"
    if not isinstance(value, str):
        return one_line(written(value), SHOWN)
    if DIGEST.fullmatch(value):
        ours = kind == "prompt" and value == shipped_digest(name)
        return f"{value[:12]} (as shipped)" if ours else value[:12]
    return one_line(value, SHOWN)


def making_table(found: Sequence[Change], *, several: bool) -> Table:
    """What differs, a row each; `several` says that more than one folder is compared with A."""
    return Table.of(
        found,
        name="differences",
        title="What differs",
        caption="Between runs that belong together, in how they were made.",
        columns=[
            *placed(several=several),
            Column("kind", "Kind"),
            Column("what", "What"),
            Column("first", "A", lambda change: change.first),
            Column("second", other(several=several), lambda change: change.second),
        ],
        notes=("Digests are shown by their first 12 digits. Times and costs are not compared.",),
    )


def in_words(found: Sequence[Change]) -> str:
    """The first things that differ, and how many more: "model.name (a, then b)"; or "nothing".

    Of a model with another name, the name alone.
    """
    named = {change.what for change in found if change.what.endswith(".name")}
    said = dict.fromkeys(
        f"{'prompt ' if change.kind == 'prompt' else ''}{change.what} "
        f"({change.first}, then {change.second})"
        for change in found
        if change.what in named or f"{change.what.partition('.')[0]}.name" not in named
    )
    first = list(said)[:TOLD]
    return joined([*first, *([f"{len(said) - TOLD:,} more"] if len(said) > TOLD else [])]) or (
        "nothing"
    )


def runs_table(sides: Sequence[Side], found: Sequence[Match]) -> Table:
    """Every run that is compared: what it was made with, its examples, and those that failed."""

    def rows() -> Iterator[tuple[str, Run, int | None]]:
        for run in dict.fromkeys(match.first for match in found):
            yield sides[0].letter, run, None
            for match in found:
                if match.first is run:
                    yield match.letter, match.second, len(match.shared)

    return Table.of(
        rows(),
        name="runs",
        title="Runs",
        columns=[
            Column("folder", "Folder", lambda row: row[0]),
            Column("run", "Run", lambda row: row[1].name),
            Column("models", "Models", lambda row: _models(row[1])),
            Column("data", "Data", lambda row: row[1].config["data"]["name"]),
            Column("examples", "Examples", lambda row: len(row[1].results)),
            Column("failed", "Failed", lambda row: row[1].failed),
            Column("shared", "Also in A", lambda row: row[2]),
        ],
        caption="; ".join(f"{side.letter} is {side.path}" for side in sides) + ".",
    )


def _models(run: Run) -> str:
    return joined(model["name"] for model in models_of(run.config)) or "none"
