"""Tables as Markdown, CSV, JSON and HTML."""

import csv
import io
import json
from dataclasses import replace
from operator import itemgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from pipelines.metrics.estimate import Estimate
from pipelines.report.progress import show
from pipelines.report.table import (
    Column,
    Table,
    csv_text,
    json_text,
    markdown,
    shown,
    without_zeros,
)
from pipelines.report.texts import one_line, visible


def small(*rows: tuple[str, Estimate | float | None, int | None], **more: object) -> Table:
    columns: tuple[Column[object], ...] = (
        Column("name", "Name"),
        Column("score", "Score", interval=True),
        Column("n", "N"),
    )
    return Table("small", "Small | table", columns, rows, **more)  # type: ignore[arg-type]


HALF = Estimate(0.421, 0.309, 0.532, 20)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (HALF, "0.42 [0.31, 0.53]"),
        (Estimate(-0.2, -0.5, 0.1, 4), "−0.20 [−0.50, 0.10]"),
        (Estimate(-0.001, -0.004, 0.004, 4), "0.00 [0.00, 0.00]"),
        (Estimate(0.5, None, None, 1), "0.50"),
        (None, "–"),
        (0, "0"),
        (0.0, "0.0000"),
        (0.523, "0.5230"),
        (12345, "12,345"),
        ("a\x00b\u202ec", "a␀b�c"),
    ],
)
def test_cells_as_people_read_them(cell: Estimate | float | str | None, text: str) -> None:
    assert shown(cell) == text


def test_markdown_keeps_its_columns_whatever_the_text() -> None:
    table = small(("a|b\n*c* [x](y) <b>", HALF, None), caption="Cap.", notes=("One.",))
    assert markdown(table).splitlines() == [
        r"# Small \| table",
        "",
        "Cap.",
        "",
        "| Name | Score | N |",
        "| --- | ---: | --- |",
        r"| a\|b \*c\* [x]\(y) \<b\> | 0.42 [0.31, 0.53] | – |",
        "",
        "- One.",
    ]


@pytest.mark.parametrize(("width", "head"), [(80, "Name Score N"), (30, "Name dune")])
def test_a_terminal_too_narrow_for_a_table_has_its_rows_as_columns(width: int, head: str) -> None:
    written = io.StringIO()
    show(small(("dune", HALF, 20)), Console(file=written, width=width))
    _, _, names, *_ = written.getvalue().splitlines()
    assert " ".join(names.replace("┃", " ").split()) == head
    assert "0.42 [0.31, 0.53]" in written.getvalue()


def test_a_narrow_terminal_breaks_between_words() -> None:
    written = io.StringIO()
    show(small(*[("conflicting claims", HALF, 20)] * 9), Console(file=written, width=30))
    assert {"conflicting", "claims", "[0.31,", "Score"} <= {*written.getvalue().split()}


def test_csv_has_ends_in_columns_of_their_own_and_empty_fields_for_nothing() -> None:
    table = small(("x", HALF, 3), ("y", None, None), ("z", Estimate(0.5, None, None, 1), 0))
    assert list(csv.reader(io.StringIO(csv_text(table)))) == [
        ["name", "score", "score_low", "score_high", "n"],
        ["x", "0.421", "0.309", "0.532", "3"],
        ["y", "", "", "", ""],
        ["z", "0.5", "", "", "0"],
    ]


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1", "-1", "@x", "\tx", "＝1+1", "＠x", " =1+1", "\u200b=1", "\ufeff\u2060 @x"],
)
def test_csv_runs_no_formula(text: str) -> None:
    assert list(csv.reader(io.StringIO(csv_text(small((text, None, None))))))[1][0] == f"'{text}"
    assert json.loads(json_text(small((text, None, None))))["rows"][0]["name"] == text


def test_json_has_null_for_nothing_and_quoted_rows_last() -> None:
    table = small(("x", HALF, 3), quoted=(("paper", 0.5, None),), notes=("One.",))
    content = json.loads(json_text(table))
    assert content["rows"] == [
        {"name": "x", "score": 0.421, "score_low": 0.309, "score_high": 0.532, "n": 3},
        {"name": "paper", "score": 0.5, "score_low": None, "score_high": None, "n": None},
    ]
    assert content["notes"] == ["One."]


@given(st.lists(st.tuples(st.text(), st.integers()), max_size=5))
def test_text_survives_csv_and_json(pairs: list[tuple[str, int]]) -> None:
    table = small(*((text, None, number) for text, number in pairs))
    content = json.loads(json_text(table))["rows"]
    assert [(row["name"], row["n"]) for row in content] == pairs
    fields = list(csv.reader(io.StringIO(csv_text(table), newline="")))[1:]
    assert [field[0].removeprefix("'") for field in fields] == [
        visible(text.replace("\r\n", "\n").replace("\r", "\n")).removeprefix("'")
        for text, _ in pairs
    ]


@given(st.text(), st.integers(1, 40))
def test_one_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1


def test_csv_holds_nothing_that_a_terminal_obeys() -> None:
    shown = csv_text(small(("It fell.\x1b[2J\x9b\0", None, None)))
    assert "It fell.␛[2J\ufffd␀" in shown
    assert visible(shown) == shown


def test_a_page_names_the_counts_of_a_wide_table_that_are_all_0_in_a_note() -> None:
    names = [f"c{number}" for number in range(12)]
    rows = [{name: int(name in row) for name in names} for row in ("c1 c2", "c2")]
    table = Table.of(
        rows, name="t", title="T", columns=[Column(n, n.upper(), itemgetter(n)) for n in names]
    )
    on_page = without_zeros(table)
    assert [column.key for column in on_page.columns] == ["c0", "c1", "c2"]
    assert on_page.rows == ((0, 1, 1), (0, 0, 1))
    assert on_page.notes == ("0 in all rows: c3, c4, c5, c6, c7, c8, c9, c10, c11.",)
    narrow = replace(table, columns=table.columns[:5], rows=tuple(row[:5] for row in table.rows))
    assert without_zeros(narrow) == narrow
