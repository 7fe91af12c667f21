"""README.md and docs/ are correct; test_shown_commands.py runs the commands they show."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from shown import (
    ESCAPED,
    PAGES,
    README,
    ROOT,
    SHELLS,
    blocks,
    example_line,
    examples,
    only,
    outside,
)

from pipelines import papers
from pipelines.cli.conflictbench import BenchOptions
from pipelines.conflictscore.detection.bench import SOURCES
from pipelines.data import conflicts
from pipelines.data.jsonl import read
from pipelines.data.records import Document, Record
from pipelines.errors import InputError
from pipelines.judge.examples import ContestedClaim
from pipelines.npov.example import read_annotated
from pipelines.option import WithPresets, differences, shown
from serving import profile
from serving.offline import OFFLINE
from serving.profile import EngineOptions


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_command_is_shown_where_no_test_finds_it(page: Path) -> None:
    for block in blocks(page):
        if block.language not in SHELLS:
            escaped = [line for line in block.text.splitlines() if ESCAPED.match(line.strip())]
            assert not escaped, f"{page.name}:{block.line}: put {escaped} into a console block"
    indented = [
        line
        for line in outside(page).splitlines()
        if line.startswith(("    ", "\t", "$ ")) and ESCAPED.match(line.strip())
    ]
    assert not indented, f"{page.name}: put {indented} into a console block"


@pytest.mark.parametrize("page", [README, ROOT / "docs" / "input.md"], ids=lambda page: page.name)
def test_examples_of_records_are_records(page: Path, tmp_path: Path) -> None:
    shown = [block for block in blocks(page) if block.language == "json"]
    assert shown
    for block in shown:
        value = json.loads(block.text)
        path = tmp_path / "example.jsonl"
        path.write_text(json.dumps(value) + "\n", "utf-8")
        assert read(path).examples
        jsonschema.validate(value, json.loads((ROOT / "docs/input.schema.json").read_text("utf-8")))


def test_examples_of_other_formats_are_read(tmp_path: Path) -> None:
    path = tmp_path / "example.jsonl"
    path.write_text(only("input.md", "jsonl"), "utf-8")
    assert len(conflicts.read(path)) == 1
    path.write_text(examples("npov.md", "json")[2], "utf-8")
    assert len(read_annotated(path)) == 1


def test_the_error_shown_is_the_error_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    good = json.loads(example_line())
    bad = {"id": "bad", "response": "It was opened in 1932."}
    Path("answers.jsonl").write_text(f"{json.dumps(good)}\n{json.dumps(bad)}\n", "utf-8")
    with pytest.raises(InputError) as raised:
        read(Path("answers.jsonl"))
    assert f"contested: {raised.value}\n" == only("input.md", "text")


def difference_rows() -> Iterator[str]:
    """One heading per group of equal commands, one row per option that a switch changes."""
    commands: dict[str, type[WithPresets]] = {
        f"contested run {name}": papers.experiment(name).options for name in papers.EXPERIMENTS
    }
    alike: dict[tuple[str, ...], list[str]] = {}
    for command, options in (commands | {"contested lab conflictbench": BenchOptions}).items():
        rows = tuple(
            f"| `{row.flag}` | {shown(row.ours)} | {row.told} |"
            for preset in options.PRESETS
            for row in differences(options, preset)
        )
        if options.PRESETS:
            alike.setdefault(rows, []).append(command)
    for rows, (first, *others) in alike.items():
        names = [other.removeprefix("contested run ") for other in others]
        yield ", ".join([f"## {first}", *names])
        yield from rows


def test_the_page_of_differences_has_every_difference() -> None:
    lines = (ROOT / "docs" / "differences.md").read_text("utf-8").splitlines()
    rows = [
        f"{'|'.join(line.split('|')[:4])}|" if line.startswith("|") else line
        for line in lines
        if line.startswith(("## ", "| `"))
    ]
    assert rows == [*difference_rows()]
    assert all(all(line.split("|")[4:6]) for line in lines if line.startswith("| `"))


def test_the_schema_is_that_of_a_record() -> None:
    schema = json.dumps(Record.model_json_schema(), indent=2, ensure_ascii=False) + "\n"
    assert (ROOT / "docs/input.schema.json").read_text("utf-8") == schema


def anchors(page: Path) -> set[str]:
    """Anchors of the headings."""
    found = re.findall(r"^#+ (.+)$", outside(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in found}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_paths_lead_somewhere(page: Path) -> None:
    text = outside(page)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        target, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        path = (page.parent / target).resolve() if target else page
        assert path.exists(), f"{page.name}: {link} leads nowhere"
        if anchor:
            assert anchor in anchors(path), f"{page.name}: {link}: no such heading"
    folders = "docs|pipelines|requirements|scripts|serving|tests"
    for name in re.findall(rf"`((?:{folders})/[^`\s*]*)`", text):
        assert (ROOT / name.partition("::")[0]).exists(), f"{page.name}: there is no {name}"


def test_the_readme_lists_every_page() -> None:
    text = README.read_text("utf-8")
    missing = [page.name for page in PAGES[1:] if f"](docs/{page.name})" not in text]
    assert not missing


def test_the_citation_is_valid_and_the_readme_links_its_papers() -> None:
    citation = ROOT / "CITATION.cff"
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    done = subprocess.run(
        [*check, "vendor.citation-file-format", str(citation)], capture_output=True
    )
    assert done.returncode == 0, done.stdout
    text = citation.read_text("utf-8")
    papers_cited = re.findall(r"(?:arXiv:|doi: )([\w./]+)", text)
    assert len(papers_cited) == 4
    readme = README.read_text("utf-8")
    assert not [paper for paper in papers_cited if f"/{paper})" not in readme]


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("input.md", [*Record.model_fields, *Document.model_fields]),
        ("conflict-detection.md", [*ContestedClaim.model_fields, *SOURCES]),
        ("serving.md", [*EngineOptions.model_fields, *profile.available()]),
        (
            "prompts.md",
            [
                f"{path.parts[-3]}/{path.name}"
                for path in (ROOT / "pipelines").glob("*/prompts/*.j2")
            ],
        ),
        ("offline.md", [name for name in OFFLINE if name.startswith(("HF_HUB", "HF_D", "TRANS"))]),
    ],
)
def test_a_page_names_everything_of_its_kind(page: str, names: list[str]) -> None:
    text = (ROOT / "docs" / page).read_text("utf-8")
    assert names
    assert not [name for name in names if f"`{name}`" not in text]
