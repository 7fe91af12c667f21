"""The plan of docs/results.md: the runs it comes from and its tables, as results.toml has them."""

import shlex
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pipelines.errors import InputError

ROOT = Path(__file__).parents[1]
PLAN = ROOT / "scripts" / "results.toml"
MAIN = "main"
"""What the plan calls the profile that `--profile` replaces."""


class Entry(BaseModel):
    """A part of the plan; a key that it does not know is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class File(Entry):
    """A file that runs read.

    Attributes:
        command: Makes it, without `--out` and `--profile`; it may read files before it.
        profile: As of a run.
    """

    name: str
    command: str
    profile: str | None = None


class Run(Entry):
    """An experiment into a folder of its own.

    Attributes:
        name: Of the folder.
        title: For people.
        command: `contested run ...` without what a call of the script decides.
        profile: Whose models are asked; None where the tagger is all.
        minutes: What it takes on the machine that the plan names.
    """

    name: str
    title: str
    command: str
    profile: str | None = None
    minutes: float = Field(ge=0)


class Column(Entry):
    """A column of a table on the page.

    Attributes:
        title: Heading; {model} is the language model, or the tagger, of the column's run, {writer}
            the model that writes in it, whoever judges.
        show: A cell, with keys of the row in braces: "{examples} ({conflicts})".
        run: Of a table `across` values, the run that the column is of.
        where: Likewise, what the row has: key -> pattern.
    """

    title: str
    show: str
    run: str | None = None
    where: Mapping[str, str] = Field(default_factory=dict)


class PageTable(Entry):
    """A table of the page, between `<!-- table: NAME -->` and `<!-- end -->`.

    Attributes:
        name: Of the place.
        file: Name of a table of the run folders.
        runs: Whose rows are shown, one run below the other; not of a table `across` values.
        where: Which rows are shown: key -> pattern.
        columns: From left to right.
        across: A key; there is a row for each of its `values`, and each column finds its own row in
            the table of its run.
        values: Of `across`, in the order shown; those that no run has are left out.
        head: The heading above them.
        together: The experiment of the runs, whose tables are made of all of them as if they were
            in one folder, to compare them; else each folder's own table is read.
    """

    name: str
    file: str
    columns: Sequence[Column] = Field(min_length=1)
    runs: Sequence[str] = ()
    where: Mapping[str, str] = Field(default_factory=dict)
    across: str | None = None
    values: Sequence[str] = ()
    head: str = ""
    together: str | None = None

    @property
    def needed(self) -> list[str]:
        """The runs that it is made of."""
        own = [each.run for each in self.columns if each.run is not None]
        return list(dict.fromkeys([*self.runs, *own]))

    @model_validator(mode="after")
    def _shape(self) -> "PageTable":
        if self.across is None:
            if not self.runs or any(each.run or each.where for each in self.columns):
                raise ValueError(f"table {self.name}: name runs for all columns, or `across`")
        elif self.runs or not self.values or not all(each.run for each in self.columns):
            raise ValueError(f"table {self.name}: `across` needs values, and a run of each column")
        return self


class Plan(Entry):
    """Files, runs and tables; `models` are the commands that fetch a profile's models."""

    main: str
    models: Mapping[str, str] = Field(default_factory=dict)
    file: Sequence[File] = ()
    run: Sequence[Run] = ()
    table: Sequence[PageTable] = ()

    @model_validator(mode="after")
    def _consistent(self) -> "Plan":
        for kind in (self.file, self.run, self.table):
            names = Counter(each.name for each in kind)
            if twice := [name for name, count in names.items() if count > 1]:
                raise ValueError(f"{twice[0]} is there twice")
        known = {each.name for each in self.run}
        for table in self.table:
            if lost := [name for name in table.needed if name not in known]:
                raise ValueError(f"table {table.name}: there is no run {lost[0]}")
        return self


@dataclass(frozen=True)
class Place:
    """Where a call of the script works: data, results, and the profile in the main one's place."""

    data: Path
    out: Path
    profile: str | None = None

    @property
    def files(self) -> Path:
        """Folder of the files that are made beforehand."""
        return self.out / "files"

    def words(self, command: str) -> list[str]:
        """A command's words with its paths.

        Raises:
            InputError: No file fits a pattern, or several do.
        """
        return [self._word(word) for word in shlex.split(command)]

    def _word(self, word: str) -> str:
        path = word.replace("{data}", str(self.data)).replace("{files}", str(self.files))
        if "{data}" not in word:
            return path
        found = sorted(self.data.glob(word.removeprefix("{data}/")))
        if len(found) != 1:
            raise InputError(f"{path} is {len(found)} files; --data must have exactly one")
        return str(found[0])

    def profile_of(self, run: Run | File, plan: Plan) -> str | None:
        """The profile that a run or the making of a file is given."""
        return (self.profile or plan.main) if run.profile == MAIN else run.profile


def read(path: Path = PLAN) -> Plan:
    """The plan of a file.

    Raises:
        InputError: It cannot be read, or is no plan.
    """
    try:
        return Plan.model_validate(tomllib.loads(path.read_text("utf-8")))
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror})") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is no TOML ({error})") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"{path}: {where or 'plan'}: {first['msg']}") from error
