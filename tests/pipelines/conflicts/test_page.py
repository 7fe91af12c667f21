"""The report of an evaluation: what is on it, and what a reader does with it in a browser."""

from pathlib import Path

import pytest
from pages import Reading, every, published, safe, unpacked
from playwright.sync_api import Locator, Page, expect

from pipelines.conflicts import view as opened
from pipelines.conflicts.data import Query, Source
from pipelines.conflicts.experiment import EXPERIMENT
from pipelines.conflicts.result import (
    Adherence,
    Answer,
    Grounding,
    Grounds,
    Inclusion,
    Outcome,
    QueryResult,
    Sentence,
    SentenceGrounding,
    Verdicts,
)
from pipelines.conflicts.taxonomy import ConflictType, Prediction
from pipelines.judge.judgement import Judgement, Relation, Truncation
from pipelines.report import texts
from pipelines.report.explorer import ExperimentView, render, write

RUNS = "<script>document.title = 'taken over'</script><img src=x onerror=alert(1)>"
CLOSES = "</script><script>alert(1)</script><!--"
QUOTES = "\" ' onmouseover=alert(1) \u2028 {{ 7 * 7 }}"
OLD = ConflictType.OUTDATED

SOURCES = (
    Source(
        text=f"Aldham has 14 parishes. {CLOSES}",
        url="https://aldham.example/2012?a=1&b=2",
        title=f"Parishes {RUNS}",
        snippet=f"The 14 parishes {QUOTES}",
        date="2012-03-04",
    ),
    Source(
        text="Aldham has 13 parishes.", url="javascript:alert(1)", title="Today", date="July 2023"
    ),
    Source(text="Since the merger there are 13.", url="https://aldham.example", date="2023-07-20"),
    Source(text="Cheese is made of milk.", title="Cheese", date="long ago"),
    Source(text="Aldham lies in Essex.", url=f"data:text/html,{RUNS}"),
)
PARISHES = Query(
    id="17",
    query=f"How many parishes has Aldham? {RUNS}",
    sources=SOURCES,
    conflict_type=OLD,
    gold_answer=f"13 {QUOTES}",
    origin="FreshQA",
)
CHANCES = dict(zip(ConflictType, (0.1, 0.05, 0.05, 0.7, 0.1), strict=True))


def predicted(
    found: ConflictType | None, chances: dict[ConflictType, float] | None = None
) -> Prediction:
    return Prediction(
        type=found,
        by="choice",
        probabilities=chances,
        mass=0.97 if chances else None,
        explanation=f"Source 1 is older. {RUNS}",
    )


UNREAD = Prediction(type=None, by="json", problem="the reply is no JSON", raw=f"Sure! {CLOSES}")
JUDGED = Verdicts(
    adherence=Adherence(adheres=True, type=OLD, reason=f"It gives 13. {RUNS}"),
    inclusion=Inclusion(included=False, gold="13", reason="It says 14.", judgement=None),
    grounding=Grounding(
        sentences=(
            SentenceGrounding(
                grounds=Grounds.SUPPORTED,
                sources=(2, 3),
                quote=f"13 parishes {RUNS}",
                reason="Source 2 says it.",
                judgements=(
                    Judgement(
                        claim="Aldham has 13 parishes.",
                        document="2",
                        relation=Relation.SUPPORTS,
                        snippet=f"Aldham has 13 parishes. {RUNS}",
                        source="tagger",
                    ),
                ),
            ),
            SentenceGrounding(grounds=Grounds.CONTRADICTORY, reason="Source 2 says 13."),
            SentenceGrounding(grounds=None, problem="no verdict", raw=CLOSES),
            SentenceGrounding(grounds=Grounds.NO_FACT),
        )
    ),
)
SAID = Answer(
    text="Aldham has 13 parishes [2][3]. Once it had 14 [1][9]. It may be more. I hope so.",
    sentences=(
        Sentence(text=f"Aldham has 13 parishes. {RUNS}", cites=(2, 3)),
        Sentence(text="Once it had 14.", cites=(1,), unknown=(9,)),
        Sentence(text="It may be more."),
        Sentence(text="I hope so."),
    ),
    told=OLD,
    finished=False,
)
BROKEN = Answer(text="", problem="the reply has no answer", raw=f"Sorry. {RUNS}{CLOSES}")
ANSWERED = QueryResult(
    id="17",
    asked=PARISHES,
    status="answered",
    predictions={
        "yes-no": predicted(None, CHANCES),
        "json": UNREAD,
        "choice": predicted(OLD, CHANCES),
    },
    outcomes={
        "vanilla": Outcome(answer=BROKEN),
        "pipeline": Outcome(answer=SAID, judged=JUDGED),
        "oracle": Outcome(answer=Answer(text="13.")),
    },
    truncations=(Truncation(text="source 3", tokens=900, kept=512),),
)


def viewed() -> ExperimentView:
    model = {"name": "m", "digest": "1" * 64}
    config = {"model": model, "data": {"name": "d.jsonl"}, "settings": {"types": "choice"}}
    return published(EXPERIMENT, {"conflicts": [ANSWERED]}, config).view


# What a query shows.


def test_only_web_addresses_are_links() -> None:
    dead = (
        None, "", "a.example", "//a.example", "javascript:alert(1)", " javascript:alert(1)",
        "java\nscript:alert(1)", "data:text/html,<script>", "ftp://a.example", "https:a.example",
        "https://", "https:///a", "https://a.example/\u2028b", "https://a.example/\u202eb",
        "https://a.example/ b", "https://a.example\x00",
    )  # fmt: skip
    assert not any(map(opened.live, dead))
    assert all(map(opened.live, ("https://a.example/b?c=d#e", "HTTP://a.example")))


def test_sentences_stand_beside_their_verdicts() -> None:
    sentences = every(opened.content(ANSWERED), texts.Sentence)
    assert [each.verdict.text for each in sentences if each.verdict] == [
        "supported", "contradictory", "verdict unreadable", "no factual information",
    ]  # fmt: skip


# The page.


def test_forged_markup_stays_text() -> None:
    safe(made := render("CONFLICTS", [viewed()], {}))
    query = unpacked(made)[0]
    assert query["title"].endswith(RUNS)
    sources = query["blocks"][-1]["sources"]
    assert sources[0]["text"].endswith(CLOSES)
    linked = [each.get("linked", False) for each in sources]
    assert linked == [True, False, True, False, False]
    stored = str(query["blocks"])
    for text in (BROKEN.raw, f"13 parishes {RUNS}"):
        assert str(text) in stored
    assert "<script>document" not in made


# In a browser.


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    write(folder / "report.html", "Report", [viewed()], {})
    return folder


@pytest.fixture
def page(reading: Reading, folder: Path) -> Page:
    return reading(folder / "report.html", reduced_motion="reduce")


def parishes(page: Page) -> Locator:
    """The first query, opened by keyboard."""
    page.get_by_role("link", name="Queries 1").click()
    page.get_by_role("link", name="How many parishes").focus()
    page.keyboard.press("Enter")
    case = page.locator("#example")
    expect(case.locator(".sources")).to_be_visible()
    return case


def answers(case: Locator) -> Locator:
    return case.locator(".cards").nth(1).locator(".card")


def test_a_query_opens_with_its_types_answers_and_sources(page: Page) -> None:
    case = parishes(page)
    expect(case.locator(".known").first).to_contain_text(f"13 {QUOTES}")
    expect(case.locator(".cards").first.locator("h4")).to_have_text(
        ["Yes/no rule", "LLM, explained", "LLM, by choice"]
    )
    strategies = ["Vanilla", "Pipeline", "Oracle"]
    expect(answers(case).locator("h4")).to_have_text(strategies)
    expect(case.locator(".source")).to_have_count(5)
    expect(case).to_contain_text("source 3: the writer saw 512 of 900 tokens")
    left = {round(answers(case).nth(place).bounding_box()["x"]) for place in range(3)}  # type: ignore[index]
    assert len(left) == 3
