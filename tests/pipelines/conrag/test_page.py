"""The page of an answer: what is on it, and what a reader does with it in a browser."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import CHROMIUM
from known_labels import KnownLabels
from playwright.sync_api import Page, expect, sync_playwright

from pipelines.conrag.answer import Answer
from pipelines.conrag.page import HEIGHT, WIDTH, layout, marked, section, sides
from pipelines.conrag.pipeline import conrag
from pipelines.conrag.settings import ConragSettings
from pipelines.data.records import Document
from pipelines.evidence.judgement import Relation
from pipelines.report.page import ModelUsed, write
from pipelines.retrieval.index import Retrieved

S, C, I = Relation.SUPPORTS, Relation.CONTRADICTS, Relation.IRRELEVANT  # noqa: E741
RUNS = "<script>document.title = 'taken over'</script><img src=x onerror=alert(1)>"
PASSAGES = {
    "guide": (S, "The dam at Aldham was built in 1902. It is made of brick."),
    "report": (S, "Aldham, built 1902: the river board's dam."),
    "study": (C, f"The dam was built in 1911. {RUNS}"),
    "cheese": (I, "Cheese is made of milk."),
}


@pytest.fixture(scope="module")
def answer() -> Answer:
    found = [
        Retrieved(Document(id=name, text=text, title=f"{name} {RUNS}"), 1.0, 1.0)
        for name, (_, text) in PASSAGES.items()
    ]
    claim = f"The dam was built in 1902. {RUNS}"
    known = KnownLabels(lambda document: PASSAGES[document.id][0], probability=None)
    return asyncio.run(conrag(claim, found, labeller=known, settings=ConragSettings()))


@pytest.fixture(scope="module")
def file(answer: Answer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("answer") / "answer.html"
    models = [ModelUsed("tagger", "contested-nli", "0123456789abcdef" * 4)]
    write(path, "What the documents say", [section(answer)], {"query": "q"}, models=models)
    return path


def test_both_sides_have_their_clusters(answer: Answer) -> None:
    assert [side.cluster.tag for side in sides(answer, S)] == [S] * len(sides(answer, S))
    for relation, names in ((S, {"guide", "report"}), (C, {"study"})):
        shown = {row.passage.id for side in sides(answer, relation) for row in side.rows}
        assert names <= shown


def test_the_sentence_that_decided_is_marked(answer: Answer) -> None:
    row = next(row for row in answer.evidence if row.passage.id == "guide")
    assert marked(row) == ("", "The dam at Aldham was built in 1902.", " It is made of brick.")


def test_the_drawing_is_the_same_each_time_and_stays_in_its_frame(answer: Answer) -> None:
    places = layout(answer)
    assert places == layout(answer)
    assert set(places) == set(PASSAGES)
    assert all(0 < x < WIDTH and 0 < y < HEIGHT for x, y in places.values())


def test_control_characters_are_shown_as_signs(answer: Answer) -> None:
    first = answer.evidence[0]
    odd = first.passage.model_copy(update={"title": "a\x1b[31m\u202eb", "text": "c\x00d"})
    row = first.model_copy(update={"passage": odd, "rationale": "\x1b"})
    body = section(answer.model_copy(update={"evidence": (row, *answer.evidence[1:])})).body
    assert not any(sign in body for sign in ("\x1b", "\x00", "\u202e"))
    assert body.count("a␛[31m") == 3  # in its cluster, in the graph, in the table


def test_a_disagreement_that_no_sentence_tells_is_told(answer: Answer) -> None:
    assert answer.conflict is not None
    assert answer.unsaid is None
    silent = answer.model_copy(update={"sentences": (), "conflict": f"The year. {RUNS}"})
    assert silent.unsaid is not None
    body = section(silent).body
    assert "The year." in body
    assert "<script>" not in body


@pytest.fixture(scope="module")
def page(file: Path) -> Iterator[Page]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on PATH")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(10_000)
        trouble: list[str] = []
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: trouble.append(dialog.message))
        page.goto(file.as_uri())
        yield page
        assert trouble == []
        assert page.title() == "What the documents say"
        browser.close()


@pytest.mark.browser
def test_a_sentence_lights_up_what_it_cites(page: Page) -> None:
    page.locator(".sentences li.about-refute").first.hover()
    lit = page.locator(".lit")
    expect(lit).not_to_have_count(0)
    assert {each.get_attribute("data-number") for each in lit.all()} == {"3"}
    page.mouse.move(0, 0)
    expect(lit).to_have_count(0)


@pytest.mark.browser
def test_a_citation_opens_the_table_at_its_passage(page: Page) -> None:
    expect(page.locator("#passage-1")).to_be_hidden()
    page.locator(".sentences a.cite").first.click()
    expect(page.locator("#passage-1")).to_be_visible()
    expect(page.locator("#passage-1 mark")).to_have_text("The dam at Aldham was built in 1902.")


@pytest.mark.browser
def test_stance_and_conflict_score_stand_on_top(page: Page) -> None:
    expect(page.locator(".stance .badge").first).to_have_text("supported by evidence")
    expect(page.locator(".stance .stance-disputed")).to_have_text("disputed")
    expect(page.locator(".kappa dd").first).to_contain_text("0.67")


@pytest.mark.parametrize("width", [360, 1600])
@pytest.mark.browser
def test_it_fits_its_window(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
