"""docs/spec.md: every place, test, command and section it names exists, and none is missing."""

import ast
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from commands import command_of

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "spec.md"
COLUMNS = ["part", "what it is", "where", "spec test", "command", "state"]

NUMBERED = {
    "ConflictScore": (range(1, 19), range(1, 5)),
    "CONFLICTS": (range(1, 8), range(1, 4)),
    "MADAM-RAG": (range(1, 2), range(1, 6)),
    "ConRAG": (("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"), range(1, 7)),
    "NPOV": (range(1, 7), range(1, 5)),
}
"""The numbered tables and figures of each paper."""

SECTIONS = {
    "ConflictScore": "1 2 2.1 2.2 3 4 4.1 4.2 4.3 4.4 5 6 6.1 6.2 6.3 6.4 7 A B",
    "CONFLICTS": "1 2 3 4 5 5.1 5.2 5.3 6 6.1 6.2 6.3 7 A B",
    "MADAM-RAG": "1 2 3 4 5 5.1 5.2 6 6.1 6.2 6.3 7 A B C",
    "ConRAG": "1 2 3 4",
    "NPOV": "1 2 2.1 2.2 3 3.1 3.2 3.3 4 4.1 4.1.1 4.2 4.3 5 5.1 5.2 5.3 6 7 8 9 A B B.1 C C.1 D",
}
"""The sections and appendices of each paper."""

FOLDERS = {
    "ConflictScore": ["pipelines/conflictscore"],
    "CONFLICTS": ["pipelines/conflicts"],
    "MADAM-RAG": ["pipelines/madam_rag"],
    "ConRAG": ["pipelines/conrag"],
    "NPOV": ["pipelines/npov", "salience"],
}
"""Folders that implement each paper."""

SECTION = re.compile(r"\b(?:sections?|appendix)\s+((?:\d+|[A-D])(?:\.\d)*|[IVX]+)\b", re.IGNORECASE)
ELSEWHERE = re.compile(r"(?:ALCE|et al\. \d{4}),?\s+section \d(?:\.\d)?")
"""Citations of other papers."""


@dataclass(frozen=True)
class Row:
    paper: str
    line: int
    part: str
    what: str
    where: str
    test: str
    command: str
    state: str

    @property
    def name(self) -> str:
        return f"{self.paper}: {self.part}: {self.what}"


def read() -> Iterator[Row]:
    paper = ""
    for number, line in enumerate(PAGE.read_text("utf-8").splitlines(), 1):
        if line.startswith("## "):
            paper = line.removeprefix("## ")
        if not line.startswith("|") or line.startswith("|---"):
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))]
        assert len(cells) == len(COLUMNS), f"docs/spec.md:{number}: {len(cells)} cells"
        if cells != COLUMNS:
            yield Row(paper, number, *cells)


ROWS = list(read())


def code(cell: str) -> list[str]:
    """The code spans; apart from a dash and commas, nothing else is allowed."""
    left = re.sub(r"`[^`]+`", "", cell).replace(",", "").strip()
    assert left in {"", "—"}, f"write names in backquotes, or a dash: {cell}"
    return re.findall(r"`([^`]+)`", cell)


def found(dotted: str) -> Any:
    """The object at a dotted name: a module, or a member of one."""
    parts = dotted.split(".")
    for end in range(len(parts), 0, -1):
        try:
            value: Any = import_module(".".join(parts[:end]))
        except ModuleNotFoundError as error:
            # A module that exists but fails to import something is an error.
            if error.name and not ".".join(parts[:end]).startswith(error.name):
                raise
            continue
        for name in parts[end:]:
            value = getattr(value, name)
        return value
    raise AssertionError(f"there is no {dotted}")


@cache
def functions_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    return {
        each.name
        for each in ast.walk(tree)
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def flags(command: Any) -> set[str]:
    return {name for each in command.params for name in (*each.opts, *each.secondary_opts)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_what_a_row_names_exists(row: Row) -> None:
    state, _, reason = row.state.partition(": ")
    assert state in {"done", "differs", "not done"}, row.state
    assert (state == "done") == (not reason), row.state
    assert state == "done" or len(reason.split()) >= 4, f"say why: {row.state}"
    places, tests, commands = code(row.where), code(row.test), code(row.command)
    assert state == "not done" or places
    assert state == "not done" or tests
    for place in places:
        if place.endswith((".j2", ".sh", ".toml", ".md")):
            assert (ROOT / place).is_file(), place
        else:
            found(place)
    for test in tests:
        path, _, name = test.partition("::")
        assert path.startswith("tests/"), test
        assert name in functions_in(path) if name else (ROOT / path).is_file(), test
    for line in commands:
        _check(line)


def _check(line: str) -> None:
    first, *words = shlex.split(line)
    if first.startswith("scripts/"):
        assert (ROOT / first).is_file(), line
        return
    assert first == "contested", line
    command, words = command_of(words)
    assert not hasattr(command, "commands") or not words, line
    missing = {word for word in words if word.startswith("--")} - flags(command)
    assert not missing, f"{line}: no option {', '.join(missing)}"


@pytest.mark.parametrize("paper", NUMBERED)
def test_every_numbered_table_and_figure_has_a_row(paper: str) -> None:
    parts = " ".join(row.part for row in ROWS if row.paper == paper)
    tables, figures = NUMBERED[paper]
    wanted = [f"Table {each}" for each in tables] + [f"Figure {each}" for each in figures]
    assert [each for each in wanted if not re.search(rf"{each}\b", parts)] == []


@pytest.mark.parametrize("paper", SECTIONS)
def test_every_section_that_is_cited_is_one_of_the_paper(paper: str) -> None:
    cited = [(row.part, f"docs/spec.md:{row.line}") for row in ROWS if row.paper == paper]
    for folder in FOLDERS[paper]:
        for file in sorted((ROOT / folder).rglob("*.py")):
            cited += [(file.read_text("utf-8"), str(file.relative_to(ROOT)))]
    there = SECTIONS[paper].split()
    wrong = {
        f"{place}: {found}"
        for text, place in cited
        for found in SECTION.findall(ELSEWHERE.sub("", text))
        if found not in there
    }
    assert not wrong
