"""The page of a run: overview, tables and plots of its experiments, and every example.

Overview, tables and plots are HTML and need no scripts. Examples are packed into the page as data;
scripts draw the list, and one example as blocks, on demand.
"""

import base64
import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from markupsafe import Markup

from pipelines.files import replace_text
from pipelines.report.blocks import encoded
from pipelines.report.glance import Finding, ModelUsed, cautions
from pipelines.report.table import Table, as_shown, numeric, without_zeros
from pipelines.report.template import assets, embedded, environment, macro, policy, with_texts
from pipelines.report.texts import Block, Inline, visible

_SHORT = 28
"""Longest text cell kept on one line in HTML, in characters."""


ROWS_SHOWN = 500
"""Maximum number of rows of a table on the page."""


def table_html(table: Table, *, links: Mapping[str, str] | None = None) -> Markup:
    """The table as an HTML `<table>` with real headers; everything in it is escaped.

    Rows beyond `ROWS_SHOWN` are left out; a line gives their number and points to the CSV. Links
    lead from the first cell of a row to an id on the page.
    """
    table = without_zeros(table)
    numbers = [numeric(table, place) for place in range(len(table.columns))]
    bodies = [
        (kind, [as_shown(table, row) for row in rows[:ROWS_SHOWN]])
        for kind, rows in (("", table.rows), ("quoted", table.quoted))
    ]
    return macro("table", table, numbers, bodies, len(table.rows) - ROWS_SHOWN, links or {}, _SHORT)


EXAMPLES_SHOWN = 2_000
"""Maximum number of examples of an experiment on the page; the run's files have them all."""

SEVERAL = "Results"
"""Title of a page with several experiments."""

Result = TypeVar("Result")

PREACT = "vendor/htm-preact.js"
DRAWING = ("blocks.js", "debate.js", "heatmap.js", "matrix.js")
"""Scripts that draw blocks; Preact must come first."""
STYLES = ("page.css", "explorer.css")
_SCRIPTS = (
    PREACT,
    "data.js",
    *DRAWING,
    "examples.js",
    "navigation.js",
)


@dataclass(frozen=True)
class Facet:
    """A property to filter examples by: "Verdict", and its values in order.

    The page offers the values that occur. If several things (methods) have values, they are
    `groups`, and an example's values read "GROUP: VALUE".
    """

    name: str
    values: tuple[str, ...]
    groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class Example:
    """One example: its entry in the list, and its blocks.

    Attributes:
        id: Unique within its run.
        run: Name of its run; "" if there is only one, or the example belongs to several.
        title: The question, claim or query.
        status: Its outcome.
        blocks: Makes the blocks.
        about: A few words under the title.
        chips: Its results at a glance.
        facets: Name of a facet -> its values.
        figures: Name -> value in [0, 1] or a count, to sort the list by.
        words: More words that a search finds it by.
    """

    id: str
    run: str
    title: str
    status: str
    blocks: Callable[[], Sequence[Block]]
    about: tuple[str, ...] = ()
    chips: tuple[Inline, ...] = ()
    facets: Mapping[str, Sequence[str]] = field(default_factory=dict)
    figures: Mapping[str, float | None] = field(default_factory=dict)
    words: str = ""


@dataclass(frozen=True)
class Part:
    """Plots and tables of an experiment under one heading.

    Attributes:
        title: The heading.
        tables: Tables; empty ones are not shown.
        plots: Plots, shown above the tables.
        intro: One or two sentences.
        links: First cell of a row -> address of an example.
        remarks: Warnings about the figures.
    """

    title: str
    tables: tuple[Table, ...] = ()
    plots: tuple[Markup, ...] = ()
    intro: str = ""
    links: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def anchor(self) -> str:
        """The id within the experiment: "rounds-and-the-aggregator"."""
        return quote("-".join(self.title.lower().split()), safe="")


@dataclass(frozen=True)
class ExperimentView:
    """An experiment's part of the page.

    Attributes:
        name: Name in addresses: "madam-rag".
        title: Name for people.
        finding: The finding; None on the page of a single answer.
        parts: Tables and plots.
        examples: Examples of all runs; `left_out` counts those beyond the page's limit.
        facets: Filters of the examples, in addition to run and status.
        runs: Name of a run -> its name for people.
        noun: The word for examples: ("question", "questions").
        models: Models with their roles.
        facts: (label, value) pairs below the models.
    """

    name: str
    title: str
    finding: Finding | None = None
    parts: tuple[Part, ...] = ()
    examples: tuple[Example, ...] = ()
    facets: tuple[Facet, ...] = ()
    runs: Mapping[str, str] = field(default_factory=dict)
    noun: tuple[str, str] = ("example", "examples")
    models: tuple[ModelUsed, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    left_out: int = 0


def address(experiment: str, run: str, example: str) -> str:
    """Address of an example on the page, after the "#": "madam-rag/ramdocs/12"."""
    return "/".join((quote(experiment, safe=""), quote(run or "-", safe=""), quote(example)))


def in_turn(results: Mapping[str, Sequence[Result]]) -> list[tuple[str, Result]]:
    """The examples on the page with their runs, in order.

    Runs take turns up to `EXAMPLES_SHOWN`, so that every run is shown.
    """
    turns = sorted(
        (position, place, run)
        for place, (run, of_run) in enumerate(results.items())
        for position in range(len(of_run))
    )
    chosen = sorted((place, position, run) for position, place, run in turns[:EXAMPLES_SHOWN])
    return [(run, results[run][position]) for _, position, run in chosen]


def single(
    name: str, title: str, blocks: Sequence[Block], models: Sequence[ModelUsed] = ()
) -> ExperimentView:
    """The page of a single answer: one open example."""
    example = Example(name, "", title, "", lambda: blocks)
    return ExperimentView(name, title, examples=(example,), models=tuple(models))


def render(
    title: str,
    views: Sequence[ExperimentView],
    provenance: Mapping[str, Any],
    facts: Sequence[tuple[str, str]] = (),
) -> str:
    """The page as HTML; see `write`."""
    style, script = assets(*STYLES), assets(*_SCRIPTS)
    findings = [view.finding for view in views if view.finding is not None]
    packed = Packed()
    contents = [_packed(view, packed) for view in views]
    packed.finish()
    return (
        environment()
        .get_template("explorer.html.j2")
        .render(
            title=title,
            views=views,
            findings=findings,
            examples=sum(len(view.examples) + view.left_out for view in views),
            cautions=cautions(findings, [model for view in views for model in view.models]),
            facts=facts,
            table=table_html,
            embedded=embedded,
            contents={"experiments": contents, "texts": packed.starts},
            packed=packed.elements,
            provenance=json.dumps(provenance, indent=2, ensure_ascii=False, default=str),
            # S704: our own files, which the policy's hashes pin.
            style=Markup(style),  # noqa: S704
            script=Markup(script),  # noqa: S704
            policy=policy(script, style),
        )
    )


def write(
    path: Path,
    title: str,
    views: Sequence[ExperimentView],
    provenance: Mapping[str, Any],
    facts: Sequence[tuple[str, str]] = (),
) -> None:
    """Writes the page in one step, usually as RUN/report.html.

    The page has (label, value) pairs about all experiments, one section per view, and the content
    of run.json, folded.

    Raises:
        InputError: The file cannot be written.
    """
    replace_text(path, render(title, views, provenance, facts))


LONG = 60
"""Texts of at least this many characters are stored once and referred to by `{"$": number}`."""

CHUNK = 256_000
"""Characters of JSON in a chunk, which takes about 5 ms to read."""


class Packed:
    """The examples of a page as embedded data; `elements` maps element ids to their content.

    Everything is JSON in chunks, deflated and in base64. A long text is stored once, however many
    examples share it. The page unpacks the list of an experiment when it is first shown, and an
    example's chunk and texts when a reader opens the example (`assets/data.js`).
    """

    def __init__(self) -> None:
        self.elements: dict[str, str] = {}
        self.starts: list[int] = []
        """Number of the first text of each chunk of texts, whose ids are "texts-0" and so on."""
        self._numbers: dict[str, int] = {}
        self._open: list[str] = []
        self._size = 0

    def put(self, name: str, value: Any) -> None:
        """Adds a value under an element id, with texts inline."""
        self.elements[name] = _deflated(_json(with_texts(value, visible)))

    def put_all(self, name: str, values: Iterable[Any]) -> list[int]:
        """Adds values in chunks "NAME-0", "NAME-1" and so on, with long texts stored separately.

        Returns the position of the first value of each chunk.
        """
        starts: list[int] = []
        chunk: list[str] = []
        size = 0

        def close() -> None:
            self.elements[f"{name}-{len(starts) - 1}"] = _deflated(f"[{','.join(chunk)}]")

        for place, value in enumerate(values):
            if not chunk:
                starts.append(place)
            chunk.append(_json(with_texts(value, self._referring)))
            size += len(chunk[-1])
            if size > CHUNK:
                close()
                chunk, size = [], 0
        if chunk:
            close()
        return starts

    def finish(self) -> None:
        """Closes the last chunk of texts."""
        if self._open:
            self.elements[f"texts-{len(self.starts) - 1}"] = _deflated(_json(self._open))
            self._open, self._size = [], 0

    def _referring(self, text: str) -> str | dict[str, int]:
        return visible(text) if len(text) < LONG else {"$": self._number(text)}

    def _number(self, text: str) -> int:
        if text not in self._numbers:
            if not self._open:
                self.starts.append(len(self._numbers))
            self._numbers[text] = len(self._numbers)
            self._open.append(visible(text))
            self._size += len(text)
            if self._size > CHUNK:
                self.finish()
        return self._numbers[text]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _deflated(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode())).decode()


def _packed(view: ExperimentView, packed: Packed) -> dict[str, Any]:
    """The part of an experiment that the script needs before its list of examples."""
    examples = view.examples
    starts = packed.put_all(
        f"{view.name}-blocks", (encoded(list(example.blocks())) for example in examples)
    )
    packed.put(f"{view.name}-list", [_entry(view.name, example) for example in examples])
    return {
        "name": view.name,
        "title": view.title,
        "noun": view.noun,
        "count": len(examples),
        "runs": dict(view.runs),
        "facets": [vars(facet) for facet in view.facets],
        "starts": starts,
    }


def _entry(experiment: str, example: Example) -> dict[str, Any]:
    """An example in the list; empty fields are left out."""
    listed = {name: value for name, value in vars(example).items() if value and name != "blocks"}
    return {"address": address(experiment, example.run, example.id), **encoded(listed)}
