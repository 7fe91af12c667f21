"""What experiments declare for runs to be compared by, on results of their own."""

import json
import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest
from by_schema import reply, weigh
from commands import Contested, table
from golden import TOPIC
from pages import safe, unpacked
from scripted import Scripted
from tiny_loaded import saved

from pipelines import papers
from pipelines.comparison import page
from pipelines.comparison.folders import compare_folders

KNOWN = {name: partial(papers.experiment, name) for name in papers.EXPERIMENTS}

RUNS = {
    "conflictscore": "--limit 4",
    "conflict-detection": "--limit 4",
    "report-writing": "--limit 2",
    "truthfulqa": "--limit 2",
    "both-sides": "--limit 3",
    "conrag": "--limit 4 --method bm25 --generator llm",
    "conflicts": "--limit 3",
    "madam-rag": "--limit 3",
}

FIGURES: Mapping[str, tuple[str, str, str, Mapping[str, str]]] = {
    "conflictscore": ("cs_c", "scores", "cs_c", {"variant": "all"}),
    "truthfulqa": ("choice.rag", "truthfulqa_binary", "accuracy", {"condition": "RAG"}),
    "conrag": ("stance.conrag", "conrag_stance", "accuracy", {"method": "ConRAG"}),
    "conflicts": (
        "accuracy.llm-by-choice",
        "conflicts_types",
        "accuracy",
        {"classifier": "LLM, by choice"},
    ),
    "madam-rag": ("exact_match.no-rag", "madam_methods", "exact_match", {"method": "No RAG"}),
}
"""Experiment -> a score, and the table, column and cells where its mean stands."""


def test_every_experiment_is_tried() -> None:
    assert {*RUNS, "npov"} == {*papers.EXPERIMENTS}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pipelines.precision.native_format", lambda *_: "fp32")
    return tmp_path


@pytest.mark.parametrize("name", RUNS)
def test_scores_are_those_of_the_tables(
    name: str, contested: Contested, endpoint: Scripted
) -> None:
    endpoint.reply, endpoint.weigh = reply, weigh
    served = ["--endpoint", endpoint.url, "--on-error", "skip"]
    contested.done("run", name, *RUNS[name].split(), *served, "--out", "a")
    check(name)


def test_scores_of_npov(contested: Contested) -> None:
    Path("topics.jsonl").write_text(json.dumps(TOPIC) + "\n")
    run = ["run", "npov", "--detector", "salience", "--data", "topics.jsonl"]
    run += ["--set", "unparaphrased", "--precision", "fp32"]
    contested.done(*run, "--model", saved(Path("tiny")), "--out", "a")
    check("npov")


def check(name: str) -> None:
    """A run and its copy: scores in their ranges, as in tables, and a page with every example."""
    shutil.copytree("a", "b")
    found = compare_folders([Path("a"), Path("b")], KNOWN)
    (match,) = found.matches
    assert not found.changes
    assert found.scores
    for pair in found.scores:
        low, high = pair.score.metric.bounds
        assert all(low <= value <= high for value in pair.first.values()), pair.name
        assert pair.first.keys() <= match.first.results.keys()
        assert pair.score.metric.test == "sign flips" or {*pair.first.values()} <= {0, 1}
        assert pair.comparison.difference is None or pair.comparison.difference.value == 0
    for verdicts in found.verdicts:
        assert len(verdicts.verdicts) == len(match.first.results)
        assert all(one and one == other for one, other in verdicts.verdicts.values())
    if name in FIGURES:
        score, called, column, cells = FIGURES[name]
        (pair,) = (pair for pair in found.scores if pair.name == score)
        rows = [row for row in table(Path("a"), called) if cells.items() <= row.items()]
        mean = pair.mean_of(match.first)
        assert mean
        assert mean.value == pytest.approx(rows[0][column])
    page.write(Path("out.html"), found)
    text = Path("out.html").read_text("utf-8")
    safe(text)
    listed = unpacked(text)
    assert {entry["id"] for entry in listed} == {*match.first.results}
    assert all(len(entry["blocks"][-1]["sides"]) == 2 for entry in listed)
    for entry in listed:
        first, second = entry["blocks"][-1]["sides"]
        assert first["content"]
        assert first["content"] == second["content"]
