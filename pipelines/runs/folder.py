"""A run folder: configuration, one result per example, and the tables and page made from them.

run.json         the resolved configuration and its provenance
PIPELINE.jsonl   one result per example; everything else is derived from these
tables/          tables as Markdown, CSV and JSON
report.html      the HTML report
logs/            server logs
"""

import json
import re
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from jinja2 import TemplateError
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import from_json, to_jsonable_python

from pipelines.errors import InputError
from pipelines.files import (
    append_line,
    held,
    hold,
    open_unfollowed,
    read_bytes,
    refuse_links,
    replace_text,
)

ResultT = TypeVar("ResultT", bound=BaseModel)
FactT = TypeVar("FactT")


def named_after(model: str) -> str:
    """A model's name, made safe for a file name: the default name of a run."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", model)[-60:].strip("-._") or "model"


def file_name(name: str, option: str = "--name") -> str:
    """The name given by an option; InputError if it is not safe as part of a file name."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}", name):
        raise InputError(
            f"{option} '{name}' cannot be part of a file name; use letters, digits, '-', '_', '.'"
        )
    return name


@contextmanager
def telling_damage(*paths: Path) -> Iterator[None]:
    """Turn an error while reading run folders into one line: not written by this version.

    The line says where the error was raised, since the program itself may be at fault.
    """
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, TemplateError) as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        raise InputError(
            f"{' or '.join(map(str, paths))} was not written by this version "
            f"({type(error).__name__}: {error}, in {Path(place.filename).name}:{place.lineno}); "
            "run it again into another folder"
        ) from error


class RunFolder:
    """The folder of one run; it need not exist yet."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def logs(self) -> Path:
        """Folder of server logs."""
        return self.path / "logs"

    @property
    def tables(self) -> Path:
        """Folder of tables."""
        return self.path / "tables"

    @property
    def report(self) -> Path:
        """Path of the HTML report."""
        return self.path / "report.html"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder against other processes; InputError if it cannot be written.

        A folder that did not exist before is removed if nothing was written into it.
        """
        fresh = not self.path.exists()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self.refuse_links()
            lock = open_unfollowed(self.path / ".lock")
        except OSError as error:
            raise InputError(
                f"{self.path} cannot be written ({error.strerror}); name another folder with --out"
            ) from error
        with lock:
            hold(lock, f"another run is writing {self.path}; wait for it, or name another --out")
            try:
                yield
            finally:
                if fresh and [file.name for file in self.path.glob("*")] == [".lock"]:
                    with suppress(OSError):  # another run has just begun there
                        (self.path / ".lock").unlink()
                        self.path.rmdir()

    def refuse_links(self) -> None:
        """Raise InputError if a file or folder of the run is a link."""
        ours = (".lock", "run.json", "report.html", "tables", "logs", "annotations")
        refuse_links(*(self.path / name for name in ours), *self.path.glob("*.jsonl"))

    def refuse_missing(self) -> None:
        """Raise InputError if this is not a run folder, or contains links."""
        self.refuse_links()
        if not (self.path / "run.json").exists():
            raise InputError(
                f"{self.path} is not a run folder (run.json is missing); name one made by --out"
            )

    def refuse_locked(self) -> None:
        """Raise InputError if a run is currently writing the folder."""
        try:
            lock = (self.path / ".lock").open()
        except OSError:
            return  # never locked, or not readable by this user
        with lock:
            if held(lock):
                raise InputError(f"a run is writing {self.path}; wait until it is done")

    def about(self) -> dict[str, Any]:
        """The contents of `run.json`, {} for a new folder.

        Raises:
            InputError: `run.json` is damaged or was not written by `begin`. It cannot be rebuilt
                from the results, which do not store their settings.
        """
        path = self.path / "run.json"
        if not path.exists():
            return {}
        try:
            about: dict[str, Any] = from_json(read_bytes(path))
            for name, entry in about["pipelines"].items():
                entry["config"].keys()
                if {"/", "\0"} & {*name}:  # file names are made from it
                    raise KeyError(name)
        except ValueError as error:
            raise InputError(
                f"{path} is damaged ({error}), so the settings of the results beside it are "
                "unknown; restore a copy, or name another folder: answers already given come from "
                "the cache"
            ) from error
        except (KeyError, TypeError, AttributeError):
            raise InputError(
                f"{path} was not written by this program; name another folder"
            ) from None
        return about

    def entries(self, pipeline: str) -> dict[str, dict[str, Any]]:
        """The runs of an experiment, in starting order; "conrag.wice" is a run of "conrag".

        Returns:
            The part after the experiment's name and a dot -> the entry in `run.json`; "" for a run
            named after the experiment alone.

        Raises:
            InputError: `run.json` is damaged.
        """
        entries: dict[str, dict[str, Any]] = self.about().get("pipelines", {})
        return {
            name.removeprefix(pipeline).removeprefix("."): entry
            for name, entry in entries.items()
            if name == pipeline or name.startswith(f"{pipeline}.")
        }

    def log(self, entry: str, schema: type[ResultT]) -> "ResultLog[ResultT]":
        """The result log of an entry of `run.json`."""
        return ResultLog(self.path / f"{entry}.jsonl", schema)

    def begin(self, pipeline: str, config: Mapping[str, Any], made_with: Mapping[str, Any]) -> None:
        """Record a pipeline's configuration, or check that it equals the recorded one.

        Args:
            pipeline: The entry: "conrag.wice", for instance.
            config: Everything that determines the results: data and model digests, settings,
                prompts.
            made_with: Provenance; only the first `begin` of a pipeline records it.

        Raises:
            InputError: The folder holds results of another configuration.
        """
        about = self.about()
        entries = about.setdefault("pipelines", {})
        plain = json.loads(json.dumps(config))
        if pipeline not in entries:
            if (log := self.path / f"{pipeline}.jsonl").exists() and log.stat().st_size:
                raise InputError(
                    f"{log} has results, but run.json lacks their settings; restore a copy of it, "
                    "or name another folder: answers already given come from the cache"
                )
            entries[pipeline] = {"config": plain, **made_with}
            self._write_about(about)
        elif differing := list(differences(entries[pipeline]["config"], plain)):
            more = len(differing) - _TOLD
            raise InputError(
                f"{self.path} holds a run that differs in {', '.join(map(str, differing[:_TOLD]))}"
                f"{f' and {more} more' if more > 0 else ''}; name another --out (answers already "
                "given come from the cache)"
            )

    def note(self, pipeline: str, facts: Mapping[str, Any]) -> None:
        """Add facts to an entry that `begin` made: anything that pydantic can dump as JSON."""
        about = self.about()
        about["pipelines"][pipeline] |= to_jsonable_python(facts)
        self._write_about(about)

    def noted(self, pipeline: str, fact: str, kind: type[FactT]) -> FactT | None:
        """A fact that `note` added to an entry; None if missing.

        Raises:
            InputError: `run.json` is damaged, or the fact has another type.
        """
        entry = self.about().get("pipelines", {}).get(pipeline, {})
        if fact not in entry:
            return None
        try:
            return TypeAdapter(kind).validate_python(entry[fact])
        except ValidationError as error:
            raise InputError(
                f"the {fact} of {pipeline} in {self.path / 'run.json'} are damaged "
                f"({error.error_count()} problems); run the same command again"
            ) from error

    def _write_about(self, about: Mapping[str, Any]) -> None:
        text = json.dumps(about, indent=2, ensure_ascii=False)
        replace_text(self.path / "run.json", text + "\n")


_TOLD = 3
"""Maximum number of configuration differences that a message lists."""


class Difference(NamedTuple):
    """One difference between two configurations: its path ("settings.judge") and both values."""

    name: str
    there: Any
    now: Any

    def __str__(self) -> str:
        """In words: `settings.judge ("tagger" there, "model" now)`."""
        before, after = written(self.there), written(self.now)
        # A digest or a long list tells a reader nothing.
        short = max(len(before), len(after)) <= 40
        return self.name + (f" ({before} there, {after} now)" if short else "")


def written(value: Any) -> str:
    """A configuration value as JSON; "none" for None."""
    return "none" if value is None else json.dumps(value, ensure_ascii=False)


def differences(
    there: Mapping[str, Any], now: Mapping[str, Any], within: str = ""
) -> Iterator[Difference]:
    """The differences between two configurations, ordered by name."""
    for name in sorted(there.keys() | now.keys()):
        one, other = there.get(name), now.get(name)
        if one == other:
            continue
        if isinstance(one, dict) and isinstance(other, dict):
            yield from differences(one, other, f"{within}{name}.")
        else:
            yield Difference(f"{within}{name}", one, other)


class ResultLog(Generic[ResultT]):
    """The results of one pipeline in a run folder, one JSON line per example.

    Args:
        path: `PIPELINE.jsonl`.
        schema: The result's model; it has an `id`.
    """

    def __init__(self, path: Path, schema: type[ResultT]) -> None:
        self.path = path
        self._schema = schema

    def read(self) -> dict[str, ResultT]:
        """Results by example id; the last line for an id counts.

        A last line without a newline was cut short by a kill. It is skipped, and `mend` removes it
        before the next append.

        Raises:
            InputError: Another line is damaged.
        """
        results: dict[str, ResultT] = {}
        for number, line in enumerate(self._whole_lines(), start=1):
            try:
                result = self._schema.model_validate_json(line)
            except ValidationError as error:
                raise InputError(
                    f"{self.path}:{number}: not a result of this version "
                    f"({error.error_count()} problems); remove the line to have it made again"
                ) from error
            results[str(result.id)] = result  # type: ignore[attr-defined]
        return results

    def mend(self) -> None:
        """Remove a half-written last line."""
        if self.path.exists():
            complete = b"".join(line + b"\n" for line in self._whole_lines())
            if len(complete) < self.path.stat().st_size:
                with open_unfollowed(self.path, "r+b") as file:
                    file.truncate(len(complete))

    def append(self, result: ResultT) -> None:
        """Append a result and flush it to disk."""
        append_line(self.path, result.model_dump_json())

    def settle(self, order: Sequence[str]) -> list[ResultT]:
        """Rewrite the results in input order, and return them.

        Equal runs thus produce equal files, in whatever order examples finish. Results of examples
        that are not in `order` (an earlier call had a higher limit) stay at the end.
        """
        results = self.read()
        first = [results.pop(name) for name in order if name in results]
        ordered = [*first, *results.values()]
        replace_text(self.path, "".join(result.model_dump_json() + "\n" for result in ordered))
        return ordered

    def _whole_lines(self) -> list[bytes]:
        if not self.path.exists():
            return []
        return read_bytes(self.path).split(b"\n")[:-1]
