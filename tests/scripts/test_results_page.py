"""scripts/results_page.py: tables of a page from run folders, none of their figures by hand."""

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Contested, at
from results_page import main
from scripted import Scripted, fenced_text

from pipelines.metrics.estimate import Estimate
from pipelines.report.table import HERE, Column, Measure, Table, quote, write

HAND = "| set | tagger |\n|---|---|\n| a | 0.99 |\n"
PLAN = """
main = "m"
[[run]]
name = "ours"
title = "Ours"
command = "contested run conflict-detection"
minutes = 1
[[run]]
name = "theirs"
title = "Theirs"
command = "contested run conflict-detection"
minutes = 1

[[table]]
name = "wide"
file = "figures"
across = "source"
values = ["b", "a", "nowhere"]
head = "set"
columns = [
  { title = "n", show = "{n} ({p})", run = "ours", where = { who = "tagger" } },
  { title = "{model}", show = "{f1}", run = "ours", where = { who = "t*" } },
  { title = "{model}", show = "{f1}", run = "theirs", where = { who = "t*" } },
]

[[table]]
name = "long"
file = "figures"
runs = ["ours", "theirs"]
where = { who = "[!b]*" }
columns = [
  { title = "who", show = "{who}, {source}" },
  { title = "F1", show = "{f1}" },
  { title = "figures", show = "{figures}" },
]

[[table]]
name = "compared"
file = "conflict_detection_comparisons"
together = "conflict-detection"
runs = ["ours", "theirs"]
where = { second = "theirs*" }
columns = [
  { title = "first", show = "{first}" },
  { title = "second", show = "{second}" },
  { title = "F1", show = "{f1}" },
  { title = "p", show = "{p}" },
  { title = "examples", show = "{examples}" },
]
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plan.toml").write_text(PLAN)


def page(*names: str) -> None:
    """A page with places, each with a table typed by hand."""
    places = "".join(f"\n<!-- table: {name} -->\n{HAND}<!-- end -->\n" for name in names)
    Path("page.md").write_text(f"# Results\n{places}\nProse has 0.99, too.\n")


def folder(run: str, *rows: tuple[str, str, Estimate | None, int, float | None]) -> None:
    """A run folder of which only what the page reads is there."""
    table = Table.of(
        rows,
        name="figures",
        title="Figures",
        columns=[
            Column("source", "Source", lambda row: row[0]),
            Column("who", "Detector", lambda row: row[1]),
            HERE,
            Measure("f1", "F1", lambda row: row[2]),
            Column("n", "N", lambda row: row[3]),
            Column("p", "p", lambda row: row[4]),
        ],
        quoted=quote("source who f1 figures", ("a", "large model", 0.9366, "paper, Table 2")),
    )
    write(table, Path("runs", run, "tables"))
    model = {"name": f"{run}-model", "digest": run * 10, "engine": "e"}
    entry = {"config": {"model": model}, "started": "2026-11-24T10:00:00Z"}
    Path("runs", run, "run.json").write_text(json.dumps({"pipelines": {"figures.x": entry}}))


def done(*options: str) -> int:
    return main(["runs", "--page", "page.md", "--plan", "plan.toml", *options])


def test_a_table_is_made_of_two_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page("wide", "long")
    folder(
        "ours",
        ("a", "tagger", Estimate(0.5, 0.4, 0.6, 9), 1234, 0.03125),
        ("b", "tagger", None, 5, 3e-9),
        ("b", "baseline", Estimate(0.1, 0, 1, 2), 5, None),
    )
    folder("theirs", ("a", "tagger|x", Estimate(-0.25, -0.5, 0, 9), 3, None))
    before = Path("page.md").read_text()
    assert done("--check") == 1
    assert Path("page.md").read_text() == before, "a check writes nothing"
    assert capsys.readouterr().out == "wide: differs\nlong: differs\n"
    assert done() == 0
    text = Path("page.md").read_text()
    below = (
        "*`ours`: ours-model (digest oursoursours), 2026-11-24; "
        "`theirs`: theirs-model (digest theirstheirs), 2026-11-24*\n<!-- end -->\n"
    )
    assert (
        "<!-- table: wide -->\n"
        "| set | n | ours-model | theirs-model |\n"
        "| --- | ---: | ---: | ---: |\n"
        "| b | 5 (< 0.0001) | – | – |\n"
        "| a | 1,234 (0.0312) | 0.50 [0.40, 0.60] | −0.25 [−0.50, 0.00] |\n"
        f"\n{below}"
    ) in text
    # The paper's row is in both folders, and stands once, below both.
    assert (
        "<!-- table: long -->\n"
        "| who | F1 | figures |\n"
        "| --- | ---: | --- |\n"
        "| tagger, a | 0.50 [0.40, 0.60] | this run |\n"
        "| tagger, b | – | this run |\n"
        "| tagger\\|x, a | −0.25 [−0.50, 0.00] | this run |\n"
        "| large model, a | 0.94 | paper, Table 2 |\n"
        f"\n{below}"
    ) in text
    assert text.endswith("\nProse has 0.99, too.\n")
    assert done("--check") == 0
    Path("page.md").write_text(text.replace("0.94", "0.95"))
    assert done("--check") == 1, "a figure that was typed by hand is found"


def test_a_heading_names_who_judged_or_who_wrote() -> None:
    page("wide")
    plan = Path("plan.toml")
    second = '{ title = "{model}", show = "{f1}", run = "theirs"'
    assert second in plan.read_text()
    named = second.replace('"{model}"', '"{model}, {writer}"')
    plan.write_text(plan.read_text().replace(second, named))
    for run in ("ours", "theirs"):
        folder(run, ("a", "tagger", None, 1, None))
    path = Path("runs/theirs/run.json")
    about = json.loads(path.read_text())
    about["pipelines"]["figures.x"]["config"]["writer"] = {"name": "pen", "digest": "0123"}
    path.write_text(json.dumps(about))
    assert done() == 0
    assert "| set | n | ours-model | theirs-model, pen |\n" in Path("page.md").read_text()


def test_what_is_not_measured_stays_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    page("wide", "compared")
    Path("runs").mkdir()
    before = Path("page.md").read_text()
    assert done() == 0
    assert Path("page.md").read_text() == before
    assert "wide: left, without ours, theirs" in capsys.readouterr().out
    folder("theirs", ("a", "tagger", Estimate(0.5, 0.4, 0.6, 9), 1, None))
    assert done() == 0
    out = capsys.readouterr().out
    assert "wide: written, without ours\n" in out
    assert "compared: left, without ours\n" in out
    assert "| set | theirs-model |\n" in Path("page.md").read_text()


def test_folders_that_are_not_there_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    page("wide")
    assert done("--check") == 2, "nothing was looked at, so nothing is the same"
    assert "runs is no folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("{f1}", "{f2}"), "the tables have no column 'f2', only source, who, figures, f1"),
        (('"t*"', '"*"'), "wide: several rows of a fit {model}"),
        (('name = "wide"', 'name = "narrow"'), "the plan has no table wide"),
        (('file = "figures"', 'file = "f"'), "f.json cannot be read; the command of its run"),
    ],
)
def test_what_cannot_be_filled_is_told(
    change: tuple[str, str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    page("wide")
    Path("plan.toml").write_text(PLAN.replace(*change))
    row = Estimate(0.5, 0.4, 0.6, 9)
    for run in ("ours", "theirs"):
        folder(run, ("a", "tagger", row, 1, None), ("a", "other", row, 1, None))
    assert done() == 2
    assert says in capsys.readouterr().err


def test_labellers_in_two_folders_are_compared_on_the_same_examples(
    contested: Contested, endpoint: Scripted, capsys: pytest.CaptureFixture[str]
) -> None:
    page("compared")
    run = ["run", "conflict-detection", "--limit", "12", *at(endpoint)]

    def finding(request: dict[str, Any]) -> list[float]:
        return [0.8, 0.1, 0.1] if len(fenced_text(request, "DOCUMENT")) % 2 else [0.1, 0.8, 0.1]

    endpoint.weigh = finding
    contested.done(*run, "--out", "runs/ours")
    endpoint.weigh = lambda _: [0.1, 0.1, 0.8]
    contested.done(*run, "--cache", "other.sqlite", "--out", "runs/theirs")
    assert done() == 0
    (row,) = [line for line in Path("page.md").read_text().splitlines() if "| ours: " in line]
    first, second, f1, p, examples = (cell.strip() for cell in row.strip("|").split("|"))
    assert (first, second, examples) == ("ours: scripted", "theirs: scripted", "12")
    # Nothing is found by the second; so its F1 is 0 and the difference that of the first.
    (own,) = [
        each
        for each in json.loads(Path("runs/ours/tables/conflict_detection.json").read_text())["rows"]
        if each["detector"].startswith("llm")
    ]
    assert f1.startswith(f"{own['f1']:.2f} [")
    assert 0 <= float(p) <= 1

    about = json.loads(Path("runs/theirs/run.json").read_text())
    for entry in about["pipelines"].values():
        entry["config"]["data"]["name"] = "other.jsonl"
    Path("runs/theirs/run.json").write_text(json.dumps(about))
    assert done() == 2
    assert "do not compare: they differ in data.name" in capsys.readouterr().err
