"""scripts/results.toml: its commands are commands, and its tables are tables."""

import re
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import results_plan
from commands import Contested
from results_page import MARKED, PAGE
from results_plan import MAIN, Place, Plan, Run, read

from pipelines.cli import run
from pipelines.conflicts.tables import answers as conflicts_answers
from pipelines.conflicts.tables import types as conflicts_types
from pipelines.conflicts.tables.judges import agreement_table
from pipelines.conflictscore import tables as conflictscore
from pipelines.conflictscore.atomic_facts.view import fact_table
from pipelines.conflictscore.both_sides import tables as both_sides
from pipelines.conflictscore.detection import tables as detection
from pipelines.conflictscore.detection.comparisons import comparisons
from pipelines.conflictscore.reports import tables as reports
from pipelines.conflictscore.truthfulqa.agreement import agreement
from pipelines.conflictscore.truthfulqa.tables.answers import free_form
from pipelines.conflictscore.truthfulqa.tables.changes import conflicts
from pipelines.conrag.tables import every as conrag
from pipelines.errors import InputError
from pipelines.experiment.needs import refuse_unneeded
from pipelines.madam_rag import debate_tables
from pipelines.madam_rag import tables as madam
from pipelines.npov import tables as npov
from pipelines.report.table import Table
from pipelines.trust.drift.tables import drift_table
from pipelines.trust.tables import judge_table

PLAN = read()
TABLES: dict[str, Table] = {
    each.name: each
    for each in (
        detection.detection({}, ""),
        detection.documents({}),
        comparisons({}),
        both_sides.areas({}),
        conrag.stances({}),
        conrag.ablations({}),
        conrag.conflict_auc({}),
        madam.methods([]),
        debate_tables.rounds([]),
        conflicts_types.types([]),
        conflicts_answers.answers([]),
        reports.scores([]),
        conflictscore.scores([], "", ""),
        free_form([]),
        conflicts([]),
        agreement([]),
        fact_table({}, {}),
        agreement_table([], "", ""),
        npov.detection({}),
        judge_table({}),
        drift_table([]),
    )
}
"""The tables that the page may show, of nothing."""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, Any]]:
    """Experiments with their options, in place of their runs."""
    found: list[tuple[Any, Any]] = []
    monkeypatch.setattr(run, "run", lambda *called: found.append(called))
    return found


@pytest.mark.parametrize("each", PLAN.run, ids=lambda each: each.name)
def test_every_run_is_a_command(
    each: Run,
    asked: list[tuple[Any, Any]],
    contested: Contested,
    released_data: Path,
    tmp_path: Path,
) -> None:
    place = Place(released_data, tmp_path)
    words = place.words(each.command)
    assert words[:2] == ["contested", "run"]
    outcome = contested(*words[1:], "--out", tmp_path / each.name, "--limit", 1, "--dry-run")
    assert outcome.code == 0, outcome.err
    ((experiment, options),) = asked
    assert each.profile in (None, MAIN, *PLAN.models)
    if "{files}" not in each.command:
        # Which models it needs, and that its data can be read.
        plan = experiment.plan(options)
        refuse_unneeded(options, plan.needs)
        assert plan.items
        assert each.profile or plan.needs.role is None, "it asks a language model: whose?"


@pytest.mark.parametrize("each", PLAN.file, ids=lambda each: each.name)
def test_every_file_can_be_made(
    each: results_plan.File, contested: Contested, released_data: Path, tmp_path: Path
) -> None:
    place = Place(released_data, tmp_path)

    def made(file: results_plan.File) -> None:
        for before in PLAN.file[: PLAN.file.index(file)]:
            if f"{{files}}/{before.name}" in file.command:
                made(before)
        asks = ("--dry-run",) if file.profile else ()
        # All the answers to embed take minutes.
        few = ("--limit", "1000") if "train-judges" in file.command else ()
        words = [*place.words(file.command)[1:], "--out", place.files / file.name, *asks, *few]
        contested.done(*words)
        assert asks or (place.files / file.name).stat().st_size

    made(each)
    commands = [*(run.command for run in PLAN.run), *(file.command for file in PLAN.file)]
    assert any(f"{{files}}/{each.name}" in command for command in commands)


def shown_keys(plan: Plan) -> Iterator[tuple[str, str]]:
    """(table, key) of everything that the page shows or asks for."""
    for table in plan.table:
        texts = [each.show for each in table.columns]
        keys = {key for text in texts for _, key, _, _ in string.Formatter().parse(text) if key}
        wheres = [table.where, *(each.where for each in table.columns)]
        for key in {*keys, *(key for where in wheres for key in where), table.across or ""} - {""}:
            yield table.file, key


def test_every_column_is_one_of_the_table() -> None:
    lacking = {
        (file, key)
        for file, key in shown_keys(PLAN)
        if key not in [column.key for column in TABLES[file].columns]
    }
    assert not lacking


def test_the_page_has_a_place_for_every_table_of_the_plan_and_no_other() -> None:
    text = PAGE.read_text("utf-8")
    places = [found[1] for found in MARKED.finditer(text)]
    assert len(places) == text.count("<!-- table:") == text.count("<!-- end -->") >= 3
    assert sorted(places) == sorted(table.name for table in PLAN.table)


def test_a_word_with_a_star_is_the_one_file_that_fits(tmp_path: Path) -> None:
    place = Place(tmp_path / "data", tmp_path / "out")
    assert place.words("a {files}/x *.y 'b c'") == ["a", f"{tmp_path}/out/files/x", "*.y", "b c"]
    with pytest.raises(InputError, match=re.escape("data/r/*.jsonl is 0 files")):
        place.words("{data}/r/*.jsonl")
    (tmp_path / "data" / "r").mkdir(parents=True)
    for name in ("one.jsonl", "two.jsonl"):
        (tmp_path / "data" / "r" / name).touch()
        if name == "one.jsonl":
            assert place.words("{data}/r/*.jsonl") == [f"{tmp_path}/data/r/one.jsonl"]
    with pytest.raises(InputError, match="is 2 files; --data must have exactly one"):
        place.words("{data}/r/*.jsonl")


RUN = '[[run]]\nname = "a"\ntitle = "A"\ncommand = "c"\nminutes = 1\n'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("main = ", "is no TOML"),
        ("", "main: Field required"),
        (f'main = "m"\n{RUN}{RUN}', "a is there twice"),
        (f'main = "m"\n{RUN}hours = 1\n', "run.0.hours: Extra inputs"),
        (
            f'main = "m"\n{RUN}[[table]]\nname = "t"\nfile = "f"\nruns = ["b"]\n'
            'columns = [{ title = "T", show = "{x}" }]\n',
            "table t: there is no run b",
        ),
        (
            f'main = "m"\n{RUN}[[table]]\nname = "t"\nfile = "f"\nacross = "k"\n'
            'columns = [{ title = "T", show = "{x}", run = "a" }]\n',
            "`across` needs values",
        ),
    ],
)
def test_what_is_no_plan_is_told_in_one_line(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        read(path)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
