"""What the views of experiments share: verdicts as chips, links to examples, parts of tables."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from markupsafe import Markup

from pipelines.report.explorer import Example, Part, address, in_turn
from pipelines.report.plots import dots
from pipelines.report.table import (
    Table,
    called,
    estimate_of,
    grouped,
    own_rows,
    with_names_joined,
)
from pipelines.report.texts import Chip, Tone

Result = TypeVar("Result")


class Mark(NamedTuple):
    """What something is worth: its tone, a sign, and the words."""

    tone: Tone
    sign: str
    words: str

    @property
    def chip(self) -> Chip:
        """The words after the sign."""
        return Chip(self.words, self.tone, self.sign)

    def on(self, name: str) -> Chip:
        """The name of what is worth that; the words are for the ear."""
        return Chip(name, self.tone, self.sign, self.words)


RIGHT = Mark("support", "✓", "right")
WRONG = Mark("contradict", "✗", "wrong")
UNREADABLE = Mark("invalid", "?", "unreadable")
UNJUDGED = Mark("plain", "·", "not judged")
FAILED = Chip("failed", "invalid", "!")


def words(marks: Iterable[Mark]) -> tuple[str, ...]:
    """What marks say, each once."""
    return tuple(dict.fromkeys(mark.words for mark in marks))


def values(marks: Mapping[str, Mark]) -> list[str]:
    """An example's values of a facet with groups: by the name of a group, what it is worth."""
    return [f"{name}: {mark.words}" for name, mark in marks.items()]


def listed(
    results: Mapping[str, Sequence[Result]], example: Callable[[str, Result], Example]
) -> dict[str, Any]:
    """The examples that the page holds, and how many it leaves out, for `ExperimentView`."""
    shown = in_turn(results)
    return {
        "examples": tuple(example(run, result) for run, result in shown),
        "left_out": sum(map(len, results.values())) - len(shown),
    }


def links(experiment: str, results: Mapping[str, Sequence[Any]]) -> dict[str, str]:
    """Run and id of each example, as `with_names_joined` writes them -> its address."""
    return {
        called(run, each.id): address(experiment, run, each.id)
        for run, own in results.items()
        for each in own
    }


def named(made: Iterable[Table], beginning: str) -> dict[str, Table]:
    """The tables that have rows, by their names without the beginning that all have."""
    return {table.name.removeprefix(beginning): table for table in made if table.rows}


def picked(tables: Mapping[str, Table], names: str) -> tuple[Table, ...]:
    """Those of the named tables that there are; names have spaces between them."""
    return tuple(tables[name] for name in names.split() if name in tables)


def failures_part(
    table: Table | None,
    none: str,
    links: Mapping[str, str],
    joined: tuple[str, str] | None = None,
    title: str = "Failures and truncations",
) -> Part:
    """The last part: the table of what failed, or a sentence that nothing did (`none`).

    Links lead from the first cell of a row to an example; `joined` are the keys of the columns of
    which they make one.
    """
    if table is None or not table.rows:
        return Part(title, intro=f"None: {none}.")
    shown = with_names_joined(table, *joined) if joined else table
    return Part(title, (shown,), links=links)


def dot_plots(
    table: Table | None, group: str, label: str, figures: Mapping[str, str]
) -> tuple[Markup, ...]:
    """A plot of dots per value of the column `group` and per figure; none without a table.

    Rows of a plot are named by the column `label`. Figures are columns of estimates in [0, 1], each
    with the title of its plots, which has `{}` for the value of the group.
    """
    return tuple(
        dots([(str(row[label]), estimate_of(row[key])) for row in own], title.format(name))
        for (name,), own in (grouped(own_rows(table), group) if table else ())
        for key, title in figures.items()
    )
