"""The experiment of docs/extending.md, declared there and run here."""

import json
import shutil
import sys
from pathlib import Path

import pytest
import typer
from shown import only

from pipelines import papers
from pipelines.cli.run import command_of, publish
from pipelines.comparison.folders import compare_folders
from pipelines.runs.folder import RunFolder

NAME = "without-titles"


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> typer.Typer:
    """`contested run` with the page's experiment only."""
    (tmp_path / "without_titles.py").write_text(only("extending.md", "python"), "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(papers.EXPERIMENTS, NAME, "without_titles")
    monkeypatch.delitem(sys.modules, "without_titles", raising=False)
    app = typer.Typer()
    app.callback()(lambda: None)
    app.command(NAME)(command_of(NAME))
    return app


def test_it_runs_resumes_and_reports(
    command: typer.Typer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = [NAME, "--limit", "3", "--out", str(tmp_path / "out")]
    command([*run, "--dry-run"], standalone_mode=False)
    assert "3 claims" in capsys.readouterr().out
    command(run, standalone_mode=False)
    log = tmp_path / "out" / f"{NAME}.tagger.jsonl"
    results = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert [each["status"] for each in results] == ["labelled"] * 3
    rows = json.loads((tmp_path / "out/tables/without_titles.json").read_text("utf-8"))["rows"]
    mean = sum(each["stays"] for each in results) / 3
    assert [(row["n"], row["stays"]) for row in rows] == [(3, pytest.approx(mean))]
    page = (tmp_path / "out/report.html").read_text("utf-8")
    assert "Labels that stay without titles" in page
    assert "3 claims: too few for a score" in page
    shutil.copytree(tmp_path / "out", tmp_path / "again")
    (pair,) = compare_folders(tmp_path / "out", tmp_path / "again").scores
    assert (pair.name, pair.comparison.n) == ("stays", len(results))
    before = log.read_bytes()
    command(run, standalone_mode=False)
    publish(RunFolder(tmp_path / "out"))
    assert log.read_bytes() == before
    with pytest.raises(Exception, match="--endpoint has no effect with --judge tagger"):
        command([*run, "--endpoint", "http://x/v1"], standalone_mode=False)
