"""Pages of report writing, TruthfulQA and a regenerated answer, in a browser."""

from pathlib import Path
from typing import Any

from pages import Reading, published, safe, unpacked
from playwright.sync_api import expect

from pipelines.conflictscore import reports
from pipelines.conflictscore.regeneration import Feedback, Quote, new_words
from pipelines.conflictscore.result import Result, Score
from pipelines.conflictscore.truthfulqa import experiment as truthfulqa
from pipelines.conflictscore.truthfulqa.result import Outcome, TruthResult, Verdict
from pipelines.conflictscore.writing import ReportResult
from pipelines.data.records import Document
from pipelines.judge.judgement import Judgement, Relation
from pipelines.report.explorer import ExperimentView, render, write
from pipelines.report.texts import Span

RUNS = "<script>document.title = 'taken over'</script><img src=x onerror=alert(1)>"
CLOSES = "</script><script>alert(1)</script><!--"

DOCUMENTS = (
    Document(id="d1", text=f"It is seen. {RUNS}", title=f"For {CLOSES}"),
    Document(id="d2", text="It is not seen."),
)
CLAIM = f"The wall is seen. {RUNS}"
JUDGED = tuple(
    Judgement(claim=CLAIM, document=name, relation=relation, source="tagger")
    for name, relation in (("d1", Relation.SUPPORTS), ("d2", Relation.CONTRADICTS))
)
FEEDBACK = Feedback(
    claim=CLAIM,
    supporting=(Quote(document=1, text=f"It is seen. {CLOSES}"),),
    contradicting=(Quote(document=2, text="It is not seen."),),
)
MODEL = {"name": f"m {RUNS}", "digest": "0123456789abcdef", "engine": "e"}
CONFIG: dict[str, Any] = {
    "writer": MODEL,
    "model": MODEL,
    "judge": MODEL,
    "data": {"name": "d.jsonl", "sha256": "0" * 64},
    "asked": {"truth": "model"},
    "settings": {"judge": "model", "claims": "whole"},
}


def scored(response: str, cs_c: float) -> Result:
    return Result(
        id="wall",
        group="wall",
        variant="RAG",
        question=f"Is it seen? {RUNS}",
        response=response,
        documents=DOCUMENTS,
        status="scored",
        claims=(CLAIM,),
        judgements=JUDGED,
        cs_c=cs_c,
        cs_r=cs_c / 2,
    )


def outcome(response: str, *, truthful: bool, asked: bool = True) -> Outcome:
    return Outcome(
        response=response,
        reply=response,
        asked=asked,
        score=Score(claims=(CLAIM,), judgements=JUDGED, cs_c=1.0, cs_r=0.5),
        truthful=Verdict(verdict=truthful, explanation=f"So it is. {CLOSES}"),
        informative=Verdict(verdict=True),
        ignored=False,
    )


ASKED = TruthResult(
    id="wall/free-form",
    group="wall",
    setting="free-form",
    question=f"Is it seen? {RUNS}",
    correct_answers=(f"No {CLOSES}",),
    incorrect_answers=("Yes",),
    documents=DOCUMENTS,
    status="answered",
    feedback=FEEDBACK,
    outcomes={
        "rag": outcome("The wall is seen.", truthful=False),
        "control": outcome(f"No. {RUNS}", truthful=True),
        "rewritten": outcome("The wall is seen.", truthful=False),
        "regenerated": outcome("The wall is not seen.", truthful=True),
    },
)
CHOSEN = ASKED.model_copy(
    update={
        "id": "wall/binary",
        "setting": "binary",
        "options": {"A": f"No {RUNS}", "B": "Yes"},
        "correct": "A",
        "outcomes": {
            name: Outcome(
                response="Yes", reply="(B)", letter="B", asked=asked, justification=f"So. {CLOSES}"
            )
            for name, asked in (
                *(("rag", True), ("control", True)),
                *(("rewritten", False), ("regenerated", False)),
            )
        },
    }
)


def truth_view() -> ExperimentView:
    return published(truthfulqa.EXPERIMENT, {"run": [ASKED, CHOSEN]}, CONFIG).view


def report_view() -> ExperimentView:
    base = dict(scored(f"A report. {RUNS}", 1.0))
    report = ReportResult.model_validate(
        base | {"id": "wall/rag", "entity": f"wall {CLOSES}", "entity_source": "model"}
    )
    return published(reports.EXPERIMENT, {"run": [report]}, CONFIG).view


def test_nothing_in_them_can_run() -> None:
    page = render("Results", [report_view(), truth_view()], CONFIG)
    safe(page)
    assert len(unpacked(page)) == 3


def test_an_answer_before_and_after(tmp_path: Path, reading: Reading) -> None:
    path = tmp_path / "report.html"
    write(path, "Results", [truth_view()], {})
    page = reading(path, at="#truthfulqa/run/wall%2Ffree-form")
    expect(page).to_have_title("Results")
    cards = page.locator(".cards > *")
    expect(cards).to_have_count(4)
    expect(cards.nth(0)).to_contain_text("wrong")
    expect(cards.nth(3)).to_contain_text("right")
    expect(page.get_by_text("Contradicted by")).to_be_visible()
    expect(cards.nth(3).locator("mark")).to_contain_text("not")
    expect(page.get_by_text("What the writer was told")).to_be_visible()


def test_where_new_words_stand() -> None:
    after = "Some say the wall is seen today."
    spans = new_words("The wall is seen.", after)
    assert [after[each.start : each.end] for each in spans] == ["Some say the", "seen today."]
    assert new_words("", "All  new.") == (Span(0, 9, "new"),)
    assert new_words("Same  words.\n", "Same words.") == ()
    assert new_words("All gone.", " ") == ()
