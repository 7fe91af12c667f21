"""ConflictScore on the page: what is on it, and what a reader does with it."""

from pathlib import Path

from pages import Reading, every, published
from playwright.sync_api import expect
from rich.console import Console

from pipelines.conflictscore.experiment import EXPERIMENT
from pipelines.conflictscore.result import Result
from pipelines.conflictscore.view import cell, content, sources
from pipelines.data.records import Document
from pipelines.judge.judgement import Judgement, Relation, Truncation
from pipelines.report.blocks import Matrix, Row
from pipelines.report.explorer import write
from pipelines.report.terminal import show

CONFIG = {
    "data": {"name": "samples"},
    "model": {"name": "judge <7b>", "digest": "0123456789abcdef" * 4, "engine": "e"},
    "settings": {"claims": "atomic", "judge": "model", "evidence": "choice"},
}
COFFEE = (
    Document(
        id="cohort",
        title="A cohort of 40,000 adults",
        url="https://example.org/cohort?a=1&b=2",
        text="Adults who drank coffee had a lower risk of heart disease than those who drank none.",
    ),
    Document(
        id="trial",
        text="In this trial, unfiltered   coffee raised LDL cholesterol\nwithin four weeks.",
    ),
    Document(id="column", text="I gave up coffee last spring and sleep well."),
)


def judged(claim: str, document: str, relation: Relation, **more: object) -> Judgement:
    others = {each: 0.25 for each in Relation if each not in (relation, Relation.INVALID)}
    shares = None if relation is Relation.INVALID else {relation: 0.5, **others}
    given = {"claim": claim, "document": document, "relation": relation, "probabilities": shares}
    return Judgement.model_validate({**given, "source": "model-json", **more})


HEART, SLEEP = "Coffee protects the heart.", "Coffee helps people sleep."
RESULT = Result(
    id="coffee",
    group="coffee",
    response=f"{HEART} {SLEEP}",
    documents=COFFEE,
    status="scored",
    claims=(HEART, SLEEP),
    judgements=(
        judged(
            HEART,
            "cohort",
            Relation.SUPPORTS,
            snippet="a lower risk of heart disease than those who drank none",
            snippet_found=True,
            reasoning="The passage speaks of the claim.",
            read_tokens=512,
        ),
        judged(
            HEART,
            "trial",
            Relation.CONTRADICTS,
            snippet="unfiltered coffee raised LDL cholesterol within four weeks",
            snippet_found=True,
        ),
        judged(HEART, "column", Relation.IRRELEVANT, label_mass=0.31),
        judged(SLEEP, "cohort", Relation.INVALID, raw='{"answer": "SUPP'),
        judged(
            SLEEP,
            "trial",
            Relation.CONTRADICTS,
            snippet="unfiltered coffee harms everyone",
            snippet_found=False,
        ),
        judged(SLEEP, "column", Relation.IRRELEVANT),
    ),
    truncations=(Truncation(text="document cohort", tokens=1312, kept=512),),
)


def test_claims_carry_their_state() -> None:
    (matrix,) = every(content(RESULT), Matrix)
    assert [row.chip and row.chip.text for row in matrix.rows] == ["conflict", "undetermined"]
    assert matrix.first == (0, 1)
    unreadable = matrix.rows[1].cells[0]
    assert unreadable is not None
    assert unreadable.raw.startswith('{"answer"')
    assert matrix.sources[0].note == "Cut: 512 of 1,312 tokens were seen."
    cohort = matrix.rows[0].cells[0]
    assert cohort is not None
    assert cohort.read == "The judge saw the first 512 tokens of 1,312."


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


def test_a_cell_shows_what_is_behind_it(reading: Reading, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    write(file, "ConflictScore", [published(EXPERIMENT, {"": [RESULT]}, CONFIG).view], {})
    page = reading(file, "#conflictscore/-/coffee")
    expect(page.locator(".matrix tbody tr")).to_have_count(2)
    expect(page.locator(".matrix thead th")).to_have_count(4)
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

    page.get_by_role("button", name="Claim 1, D3").click()
    expect(panel).to_contain_text("Only 31 % of the model's probability fell on the labels.")
