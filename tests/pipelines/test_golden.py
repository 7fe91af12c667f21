"""Results and tables of every experiment are those that are frozen in tests/golden/.

The same runs, beside copies of themselves, have the scores that runs are compared by.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from commands import table
from golden import KEPT, RUNS, differences, golden, read
from pages import safe, unpacked

from pipelines import papers
from pipelines.comparison import page
from pipelines.comparison.folders import compare_folders

COMPARED: Mapping[str, tuple[str, str, str, Mapping[str, str]] | None] = {
    "scores": ("cs_c", "scores", "cs_c", {"variant": "all"}),
    "truth": ("choice.rag", "truthfulqa_binary", "accuracy", {"condition": "RAG"}),
    "conrag": ("stance.conrag", "conrag_stance", "accuracy", {"method": "ConRAG"}),
    "conflicts": (
        "accuracy.llm-by-choice",
        "conflicts_types",
        "accuracy",
        {"classifier": "LLM, by choice"},
    ),
    "debates": ("exact_match.no-rag", "madam_methods", "exact_match", {"method": "No RAG"}),
    **dict.fromkeys(("detection", "reports", "both-sides", "npov")),
}
"""A folder of each experiment -> a score, and the table, column and cells where its mean stands."""

Left = Callable[[str], tuple[Path, dict[str, Any]]]


@pytest.fixture(scope="module")
def left() -> Iterator[Left]:
    """A run folder by its name, and what stands in it."""
    with golden() as made:
        yield cache(lambda name: (made.home / "out" / name, made.run(name)))


@pytest.mark.parametrize("name", RUNS)
def test_results_and_tables_are_the_frozen_ones(name: str, left: Left) -> None:
    _, made = left(name)
    changed = list(differences(read(name), made))
    assert not changed, "\n".join(changed[:20])


def test_every_experiment_is_frozen_and_compared() -> None:
    run = {name: {command.split()[0] for command in RUNS[name]} for name in RUNS}
    assert set().union(*run.values()) == {*papers.EXPERIMENTS}
    assert set().union(*(run[name] for name in COMPARED)) == {*papers.EXPERIMENTS}
    assert {path.name for path in KEPT.iterdir()} == {*RUNS}


def test_a_figure_that_moves_is_seen() -> None:
    kept = {"rows": [{"f1": 0.75, "text": "0.75 [0.60, 0.90]"}]}
    assert not [*differences(kept, {"rows": [{"f1": 0.7501, "text": "0.75 [0.61, 0.90]"}]})]
    moved = {"rows": [{"f1": 0.78, "text": "0.78 [0.60, 0.90]"}, {}], "more": 1}
    places = [line.split(":")[0] for line in differences(kept, moved)]
    assert places == [".more", ".rows", ".rows[0].f1", ".rows[0].text"]
    assert [*differences("0.75 [0.60, 0.90]", "0.75 [0.63, 0.90]")]


@pytest.mark.parametrize("name", COMPARED)
def test_scores_are_in_their_ranges_and_those_of_the_tables(
    name: str, left: Left, tmp_path: Path
) -> None:
    folder, _ = left(name)
    found = compare_folders(folder, shutil.copytree(folder, tmp_path / "copy"))
    assert not found.changes
    assert found.scores
    for pair in found.scores:
        low, high = pair.score.metric.bounds
        assert all(low <= value <= high for value in pair.first.values()), pair.name
        assert pair.first.keys() <= pair.match.first.results.keys()
        assert pair.score.metric.test == "sign flips" or {*pair.first.values()} <= {0, 1}
        assert pair.comparison.difference is None or pair.comparison.difference.value == 0
    for verdicts in found.verdicts:
        assert all(one and one == other for one, other in verdicts.verdicts.values())
    if figure := COMPARED[name]:
        score, called, column, cells = figure
        first = next(pair for pair in found.scores if pair.name == score)
        row = next(row for row in table(folder, called) if cells.items() <= row.items())
        mean = first.mean_of(first.match.first)
        assert mean
        assert mean.value == pytest.approx(row[column])
    page.write(tmp_path / "out.html", found)
    text = (tmp_path / "out.html").read_text("utf-8")
    safe(text)
    listed = unpacked(text)
    ids = {example for match in found.matches for example in match.first.results}
    assert {entry["id"] for entry in listed} == ids
    for entry in listed:
        first_side, second_side = entry["blocks"][-1]["sides"]
        assert first_side["content"]
        assert first_side["content"] == second_side["content"]
