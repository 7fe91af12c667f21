"""ConflictScore on the page: what is on it, and what a reader does with it."""

from pathlib import Path
from typing import Any

import pytest
from pages import Reading, every, published
from playwright.sync_api import Page, expect
from rich.console import Console

from pipelines.conflictscore.experiment import EXPERIMENT
from pipelines.conflictscore.result import Result
from pipelines.conflictscore.view import cell, content, sources
from pipelines.data.records import Document
from pipelines.judge.judgement import Judgement, Relation
from pipelines.report.blocks import Matrix, Row
from pipelines.report.explorer import ExperimentView, write
from pipelines.report.terminal import show

SETTINGS = {"claims": "atomic", "judge": "model", "evidence": "choice"}
MODEL = {"name": "judge <7b>", "digest": "0123456789abcdef" * 4, "engine": "e"}
CONFIG = {"data": {"name": "samples"}, "model": MODEL, "settings": SETTINGS}


def viewed(results: list[Result], **more: Any) -> ExperimentView:
    return published(EXPERIMENT, {"": results}, CONFIG | more).view


def matrix_of(result: Result) -> Matrix:
    (found,) = every(content(result), Matrix)
    return found


def test_claims_carry_their_state(results: list[Result]) -> None:
    matrix = matrix_of(results[2])
    chips = [row.chip and row.chip.text for row in matrix.rows]
    assert chips == ["conflict", "undetermined", None]
    assert matrix.first == (0, 1)
    unreadable = matrix.rows[1].cells[2]
    assert unreadable is not None
    assert unreadable.raw.startswith('{"answer"')
    assert matrix.sources[0].note == "Cut: 512 of 1,312 tokens were seen."
    survey = matrix.rows[0].cells[0]
    assert survey is not None
    assert survey.read == "The judge saw the first 512 tokens of 1,312."


def test_a_near_tie_is_shown_as_unsure() -> None:
    def shown(support: float, refute: float) -> str:
        shares = {Relation.SUPPORTS: support, Relation.CONTRADICTS: refute}
        judgement = Judgement(
            claim="c",
            document="guide",
            relation=Relation.SUPPORTS,
            probabilities=shares | {Relation.IRRELEVANT: 1 - support - refute},
            source="tagger",
        )
        guide = Document(id="guide", text="Opened 1932.")
        row = Row("It opened in 1932.", (cell(judgement, guide),))
        matrix = Matrix("Claim", (row,), sources([guide], ()), (0, 0))
        console = Console(record=True, width=100, emoji=False)
        show(console, [matrix])
        return console.export_text()

    assert "supports 45%, unsure" in shown(0.45, 0.35)
    assert "unsure" not in shown(0.5, 0.35)


# In a browser.


@pytest.fixture(scope="module")
def file(results: list[Result], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write(path, "ConflictScore", [viewed(results)], {})
    return path


def opened(reading: Reading, file: Path, name: str, **options: Any) -> Page:
    page = reading(file, f"#conflictscore/-/{name}", **options)
    expect(page.locator("#example .sources, #example .trouble").first).to_be_visible()
    return page


def test_a_cell_shows_what_is_behind_it(reading: Reading, file: Path) -> None:
    page = opened(reading, file, "coffee/overconfident")
    expect(page.locator(".matrix tbody tr")).to_have_count(3)
    expect(page.locator(".matrix thead th")).to_have_count(5)
    expect(page.locator(".matrix .chip", has_text="conflict")).to_have_count(1)
    panel = page.locator(".panel")
    # The first contradiction of the first conflicting claim is open already.
    expect(panel.locator("mark")).to_have_text(
        "unfiltered   coffee raised LDL cholesterol\nwithin four weeks (what decided)",
        use_inner_text=False,
    )
    expect(panel).to_contain_text("The document contradicts the claim")

    page.get_by_role("button", name="Claim 1, D1: A cohort of 40,000 adults: supports").click()
    expect(panel.locator("mark")).to_contain_text(
        "a lower risk of heart disease than those who drank none"
    )
    expect(panel.locator(".chances dd:not(.bar)")).to_have_text(["50 %", "25 %", "25 %"])
    expect(panel).to_contain_text("example.org/cohort?a=1&b=2")
    expect(panel).to_contain_text("The passage speaks of the claim.")

    page.get_by_role("button", name="Claim 2, D2").click()
    expect(panel).to_contain_text("Quoted, but not found in the document")
    expect(panel.locator("mark")).to_have_count(0)

    page.get_by_role("button", name="Claim 1, D4").click()
    expect(panel).to_contain_text("Only 31 % of the model's probability fell on the labels.")
