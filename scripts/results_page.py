"""Fills the tables of docs/results.md from run folders, as scripts/results.toml defines them.

    .venv/bin/python scripts/results_page.py DIR [--check]

DIR has the run folders that scripts/reproduce_results.sh leaves. A table stands between
`<!-- table: NAME -->` and `<!-- end -->`; prose around it is written by hand. What is made of runs
that DIR lacks stays as it is, or lacks their columns or rows; that is said. `--check` writes
nothing and says which tables differ.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from results_plan import PLAN, ROOT, Column, PageTable, Plan, read

from pipelines import papers
from pipelines.errors import InputError
from pipelines.experiment.gathered import gathered
from pipelines.experiment.publish import models_of
from pipelines.files import replace_text
from pipelines.metrics.estimate import Estimate
from pipelines.report.table import records, shown
from pipelines.runs.folder import RunFolder

PAGE = ROOT / "docs" / "results.md"
DIFFERENT, USER_ERROR = 1, 2

MARKED = re.compile(r"<!-- table: (\S+) -->\n(.*?)<!-- end -->", re.DOTALL)
FIGURE = re.compile(r"[<−\d–][^A-Za-z]*")

SMALLEST = 0.0001
"""Probabilities below it are shown as that they are."""

Row = Mapping[str, Any]
"""A row of a table's JSON: key -> value, with `_low` and `_high` beside estimates."""


class Cells(dict[str, str]):
    """A row's cells by key, as people read them; what a `show` may name."""

    def __missing__(self, key: str) -> str:
        raise InputError(f"the tables have no column '{key}', only {', '.join(self)}")


def cells(row: Row) -> Cells:
    """The cells of a row; figures of a paper have the decimals of estimates."""
    return Cells({key: _cell(row, key) for key in row})


def _cell(row: Row, key: str) -> str:
    value = row[key]
    if value is not None and f"{key}_low" in row:
        return shown(Estimate(value, row[f"{key}_low"], row[f"{key}_high"], 1))
    if isinstance(value, float) and 0 < value < SMALLEST:
        return f"< {SMALLEST:.4f}"
    return shown(value).replace("|", "\\|")


@dataclass(frozen=True)
class Folders:
    """The run folders of a call."""

    path: Path

    def there(self, run: str) -> bool:
        """Whether a run has come to tables."""
        return (self.path / run / "tables").is_dir()

    def entries(self, run: str) -> list[dict[str, Any]]:
        """The runs that a folder holds, as `run.json` has them."""
        return list(RunFolder(self.path / run).about().get("pipelines", {}).values())

    def rows(self, run: str, file: str) -> tuple[list[Row], list[Row]]:
        """The rows of a run's table, its own and a paper's; InputError where it has none."""
        path = self.path / run / "tables" / f"{file}.json"
        try:
            made = json.loads(path.read_text("utf-8"))
            return _split(made["rows"], made["quoted"])
        except (OSError, ValueError, KeyError) as error:
            raise InputError(
                f"{path} cannot be read; the command of its run makes it anew"
            ) from error

    def compared(self, table: PageTable, runs: Sequence[str]) -> tuple[list[Row], list[Row]]:
        """The rows of a table of several runs, as if they were in one folder."""
        assert table.together is not None
        experiment = papers.experiment(table.together)
        made = experiment.publish(gathered(experiment, {run: self.path / run for run in runs}))
        for each in made.tables:
            if each.name == table.file:
                return _split(records(each), len(each.quoted))
        raise InputError(f"{table.name}: {table.together} has no table {table.file}")

    def about(self, run: str) -> str:
        """Who made a run and when, for the line below a table."""
        entries = self.entries(run)
        models = dict.fromkeys(
            f"{model['name']} (digest {model['digest'][:12]})"
            for entry in entries
            for model in models_of(entry["config"])
        )
        began = min(str(entry["started"])[:10] for entry in entries)
        return f"`{run}`: {', '.join(models)}, {began}"

    def model(self, run: str) -> str:
        """The model of a run, for a heading."""
        return self._named(run, lambda config: config["model"])

    def writer(self, run: str) -> str:
        """The model that writes in a run, whoever judges."""
        return self._named(run, lambda config: config.get("writer") or config["model"])

    def _named(self, run: str, of: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> str:
        return ", ".join(dict.fromkeys(of(entry["config"])["name"] for entry in self.entries(run)))


def _split(rows: Sequence[Row], quoted: int) -> tuple[list[Row], list[Row]]:
    own = len(rows) - quoted
    return list(rows[:own]), list(rows[own:])


def fits(row: Row, where: Mapping[str, str]) -> bool:
    """Whether a row has what is asked for."""
    return all(fnmatchcase(cells(row)[key], pattern) for key, pattern in where.items())


@dataclass(frozen=True)
class Filled:
    """A table of the page, made; `lacking` are the runs that it is made without."""

    table: PageTable
    folders: Folders
    lacking: Sequence[str] = field(default_factory=list)

    @cached_property
    def text(self) -> str:
        """What stands between the marks, "" where none of its runs is there."""
        runs = [run for run in self.table.needed if run not in self.lacking]
        if not runs or (self.table.together and len(runs) < 2):
            return ""
        columns = [each for each in self.table.columns if each.run not in self.lacking]
        found = self._across(columns) if self.table.across else self._below(runs, columns)
        # What runs have in common, a paper's rows for one, is shown once.
        rows = list(map(list, dict.fromkeys(map(tuple, found))))
        heads = [self.table.head] if self.table.across else []
        heads += [self._head(each) for each in columns]
        numbers = [all(FIGURE.fullmatch(row[place]) for row in rows) for place in range(len(heads))]
        lines = [heads, ["---:" if number else "---" for number in numbers], *rows]
        below = "; ".join(self.folders.about(run) for run in runs)
        return "\n".join([*(f"| {' | '.join(line)} |" for line in lines), "", f"*{below}*\n"])

    def _head(self, column: Column) -> str:
        if not column.run:
            return column.title
        model, writer = self.folders.model(column.run), self.folders.writer(column.run)
        return column.title.replace("{model}", model).replace("{writer}", writer)

    def _below(self, runs: Sequence[str], columns: Sequence[Column]) -> Iterator[list[str]]:
        if self.table.together:
            read = [self.folders.compared(self.table, runs)]
        else:
            read = [self.folders.rows(run, self.table.file) for run in runs]
        own, quoted = zip(*read, strict=True)
        # A paper's rows stand below those of all runs.
        for row in chain(*own, *quoted):
            if fits(row, self.table.where):
                yield [each.show.format_map(cells(row)) for each in columns]

    def _across(self, columns: Sequence[Column]) -> Iterator[list[str]]:
        key = self.table.across
        assert key is not None
        rows = {
            run: [*chain(*self.folders.rows(run, self.table.file))]
            for run in dict.fromkeys(each.run for each in columns if each.run)
        }
        for value in self.table.values:
            line = []
            for each in columns:
                assert each.run is not None
                found = [r for r in rows[each.run] if r.get(key) == value and fits(r, each.where)]
                if len(found) > 1:
                    raise InputError(f"{self.table.name}: several rows of {value} fit {each.title}")
                line.append(each.show.format_map(cells(found[0])) if found else shown(None))
            if set(line) != {shown(None)}:
                yield [value, *line]


def filled(plan: Plan, folders: Folders, names: Sequence[str]) -> dict[str, Filled]:
    """The tables of that names; InputError where the plan lacks one."""
    known = {table.name: table for table in plan.table}
    if lost := [name for name in names if name not in known]:
        raise InputError(f"the plan has no table {lost[0]}")
    return {
        name: Filled(
            known[name], folders, [run for run in known[name].needed if not folders.there(run)]
        )
        for name in names
    }


def rewritten(page: str, made: Mapping[str, Filled]) -> str:
    """The page with its tables; those that no run is there for stay as they are."""

    def place(found: re.Match[str]) -> str:
        text = made[found[1]].text
        return f"<!-- table: {found[1]} -->\n{text}<!-- end -->" if text else found[0]

    return MARKED.sub(place, page)


def main(arguments: Sequence[str] | None = None) -> int:
    """Fill the page, or check it: 1 where tables differ, 2 for what a person can mend."""
    parser = argparse.ArgumentParser(description="Fill the tables of docs/results.md.")
    add = parser.add_argument
    add("folders", type=Path, metavar="DIR", help="where the run folders are")
    add("--check", action="store_true", help="say which tables differ; write nothing")
    add("--page", type=Path, default=PAGE, metavar="FILE", help="another page")
    add("--plan", type=Path, default=PLAN, metavar="FILE", help="another plan")
    given = parser.parse_args(arguments)
    try:
        if not given.folders.is_dir():
            raise InputError(f"{given.folders} is no folder; name that of the run folders")
        before = given.page.read_text("utf-8")
        names = [found[1] for found in MARKED.finditer(before)]
        made = filled(read(given.plan), Folders(given.folders), names)
        after = rewritten(before, made)
        old, new = (dict(MARKED.findall(text)) for text in (before, after))
        for name, each in made.items():
            changed = "differs" if given.check else "written"
            state = (changed if old[name] != new[name] else "the same") if each.text else "left"
            without = f", without {', '.join(each.lacking)}" if each.lacking else ""
            print(f"{name}: {state}{without}")
        if given.check:
            return DIFFERENT if old != new else 0
        if old != new:
            replace_text(given.page, after)
    except OSError as error:
        print(f"contested: {error.filename}: {error.strerror}", file=sys.stderr)
        return USER_ERROR
    except InputError as error:
        print(f"contested: {error}", file=sys.stderr)
        return USER_ERROR
    return 0


if __name__ == "__main__":
    sys.exit(main())
