"""The report of an evaluation: what is on it, and what a reader does with it in a browser."""

from pathlib import Path

from pages import CLOSES, RUNS, Reading, every, published
from playwright.sync_api import expect

from pipelines.data.records import Document
from pipelines.madam_rag import baselines as methods
from pipelines.madam_rag.baselines import Outcome, QuestionResult
from pipelines.madam_rag.data import GivenDocument, Kind, Question
from pipelines.madam_rag.experiment import EXPERIMENT
from pipelines.madam_rag.replies import AgentReply, Conclusion, Debate, Round
from pipelines.madam_rag.view import changed, content
from pipelines.report import blocks
from pipelines.report.explorer import write
from pipelines.report.texts import Aside, Chip


def given(name: str, text: str, kind: Kind, answer: str | None = None) -> GivenDocument:
    return GivenDocument(document=Document(id=name, text=text), kind=kind, answer=answer)


BRIDGE = Question(
    id="17",
    question=f"When was the bridge at Aldham opened? {RUNS}",
    documents=(
        given("d1", "Aldham Bridge over the Stour was opened in 1902.", "correct", "1902"),
        given(
            "d2", "The chain bridge at Aldham was opened on 4 July 1856.", "correct", "4 July 1856"
        ),
        given("d3", f"Aldham Bridge was opened in 1911. {CLOSES}", "misinfo", "1911"),
        given("d4", "Cheese is made of milk.", "noise"),
    ),
    gold=(("1902",), ("4 July 1856", "1856")),
    wrong=("1911",),
)


def said(*answers: str | None) -> tuple[AgentReply, ...]:
    return tuple(
        AgentReply(answer=answer, explanation=f"It says {answer}.")
        if answer is not None
        else AgentReply(answer=None, problem="the reply is no JSON", raw=f"Sure! {RUNS}{CLOSES}")
        for answer in answers
    )


def concluded(*answers: str) -> Conclusion:
    return Conclusion(answers=answers, explanation=f"So they say. {RUNS}")


HELD = Debate(
    rounds=(
        Round(
            agents=said("1902", "4 July 1856", "1911", "unknown"),
            aggregate=concluded("1902", "1911"),
        ),
        Round(
            agents=said("1902", "July 4, 1856", "1902", None),
            aggregate=concluded("1902", "4 July 1856", "1907"),
        ),
        Round(
            agents=said("1902", "4 July 1856", "1911", "unknown"),
            aggregate=concluded("1902", "4 July 1856"),
        ),
    ),
    agreed=False,
)
ALONE = Debate(rounds=(Round(agents=HELD.rounds[0].agents),) * 2, agreed=True)
ANSWERED = QuestionResult(
    id="17",
    asked=BRIDGE,
    status="answered",
    outcomes={
        methods.NO_RAG: Outcome(concluded=Conclusion(problem="no JSON", raw=CLOSES), calls=1),
        methods.CONCATENATED: Outcome(concluded=concluded("1902", "1911"), calls=1),
        methods.ASTUTE: Outcome(concluded=concluded("1902"), calls=3),
        methods.MADAM: Outcome(concluded=HELD.concluded, calls=HELD.calls, debate=HELD),
        methods.WITHOUT_AGGREGATOR: Outcome(concluded=ALONE.concluded, calls=8, debate=ALONE),
    },
)
GAS = Question(
    id="gas",
    question="Which gas do plants take in?",
    documents=(given("d1", "Plants take in carbon dioxide.", "correct", "carbon dioxide"),),
    gold=(("carbon dioxide", "CO2"),),
    one_answer=True,
)
SURE = QuestionResult(
    id="3",
    asked=GAS,
    status="answered",
    outcomes={
        methods.NO_RAG: Outcome(concluded=concluded("CO2"), calls=1),
        methods.MADAM: Outcome(concluded=concluded("CO2", "oxygen"), calls=2),
    },
)
FAILED = QuestionResult(id="18", asked=GAS, status="failed", error=f"too long {RUNS}")
RESULTS = {"ramdocs": [ANSWERED, FAILED], "faitheval": [SURE]}


MODEL = {"name": "small-7b", "digest": "1" * 64}
CONFIG = {"model": MODEL, "data": {"name": "d.jsonl"}, "debate": {"rounds": 3}}


def texts(made: object) -> list[str]:
    """What chips and asides say, in order."""
    return [
        f"{each.sign} {each.text}".strip() if isinstance(each, Chip) else each.text
        for each in every(made, Chip | Aside)  # type: ignore[arg-type]
    ]


def test_changed_is_an_answer_that_is_another_one() -> None:
    first, second, third = HELD.rounds
    assert changed(None, first) == [False] * 4
    # Another spelling of the day is no change, nor is what could not be read.
    assert changed(first, second) == [False, False, True, False]
    assert changed(second, third) == [False, False, True, False]


def test_the_aggregator_row_has_what_was_left_out_and_what_nobody_said() -> None:
    first, second, third = next(every(content(ANSWERED), blocks.Debate)).conclusions
    assert texts(first) == ["✓ 1902", "✗ 1911", "Left out:", "✓ 4 July 1856"]
    # No agent says 1907. That one spells the day in another way does not matter.
    assert texts(second)[:4] == ["✓ 1902", "✓ 4 July 1856", "○ 1907", "from no agent"]
    assert texts(third) == ["final answer", "✓ 1902", "✓ 4 July 1856", "Left out:", "✗ 1911"]


# In a browser.


def test_a_question_shows_its_debate_by_keyboard(reading: Reading, tmp_path: Path) -> None:
    write(tmp_path / "report.html", "MADAM-RAG", [published(EXPERIMENT, RESULTS, CONFIG).view], {})
    page = reading(tmp_path / "report.html")
    assert page.locator(".debate").count() == 0
    page.get_by_role("link", name="Questions 3").click()
    page.get_by_role("link", name="When was the bridge").focus()
    page.keyboard.press("Enter")
    question = page.locator("#example")
    expect(question.locator("h2")).to_be_focused()
    assert page.url.endswith("#madam-rag/ramdocs/17")
    grid = question.locator(".debate")
    expect(grid.locator("thead th")).to_have_text(
        ["Agent and its document", "Round 1", "Round 2", "Round 3"]
    )
    expect(grid.locator("tbody tr:not(.reading)")).to_have_count(4)
    third = grid.locator("tbody tr:not(.reading)").nth(2)
    expect(third.locator("th")).to_contain_text("Agent 3 ✗ misinformationIts document says ✗ 1911")
    expect(third.locator("td .line:first-child .chip:first-child")).to_have_text(
        ["✗ 1911 (wrong)", "✓ 1902 (right)", "✗ 1911 (wrong)"]
    )
    expect(third.locator("td").nth(1).get_by_text("changed")).to_be_visible()
    expect(grid.locator(".chip", has_text="changed")).to_have_count(2)
    unread = grid.locator("td.unreadable")
    unread.locator("summary").click()
    expect(unread.locator("pre")).to_have_text(f"Sure! {RUNS}{CLOSES}")
    last = grid.locator("tfoot td")
    expect(last.nth(0)).to_contain_text("Left out:✓ 4 July 1856")
    expect(last.nth(1).locator("li", has_text="1907")).to_contain_text("from no agent")
    expect(last.nth(2)).to_contain_text("final answer")
    expect(question.locator(".end")).to_have_text("All 3 rounds were held.")
    button = question.get_by_role("button", name="Agent 3: document d3")
    text = question.get_by_role("region", name="Document of agent 3")
    expect(text).to_be_hidden()
    button.focus()
    page.keyboard.press("Enter")
    expect(text).to_have_text(f"Aldham Bridge was opened in 1911. {CLOSES}")
    expect(button).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Space")
    expect(text).to_be_hidden()
