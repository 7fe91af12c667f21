"""The page of an answer: what is on it, and what a reader does with it in a browser."""

import asyncio
from pathlib import Path

import pytest
from known_labels import KnownLabels
from pages import RUNS, Reading, every
from playwright.sync_api import expect

from pipelines.conrag.answer import Answer
from pipelines.conrag.blocks import answer_blocks, members
from pipelines.conrag.evidence import Cluster
from pipelines.conrag.pipeline import conrag
from pipelines.conrag.settings import ConragSettings
from pipelines.data.records import Document
from pipelines.judge.judgement import Relation
from pipelines.report.explorer import render, single, write
from pipelines.report.glance import ModelUsed
from pipelines.report.texts import Note
from pipelines.retrieval.index import Retrieved

S, C, I = Relation.SUPPORTS, Relation.CONTRADICTS, Relation.IRRELEVANT  # noqa: E741
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
    return asyncio.run(conrag(claim, found, judge=known, settings=ConragSettings()))


@pytest.fixture(scope="module")
def file(answer: Answer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("answer") / "answer.html"
    models = [ModelUsed("tagger", "contested-nli", "0123456789abcdef" * 4)]
    view = single("conrag", answer.query, answer_blocks(answer), models)
    write(path, "What the documents say", [view], {"query": "q"})
    return path


def test_a_cluster_of_both_sides_shows_every_passage_on_its_side(answer: Answer) -> None:
    mixed = Cluster("S1", ("guide", "report", "study"), S, 2.0)
    other = Cluster("R1", ("note",), C, 1.0)
    cheese = Cluster("I1", ("cheese",), I, 1.0)
    answer = answer.model_copy(
        update={"clusters": (mixed, other, cheese), "tags": answer.tags | {"note": C}}
    )
    assert members(answer, S) == [(mixed, ["guide", "report"])]
    assert members(answer, C) == [(other, ["note"]), (mixed, ["study"])]


def test_a_disagreement_that_no_sentence_tells_is_told(answer: Answer) -> None:
    assert answer.conflict is not None
    assert answer.unsaid is None
    silent = answer.model_copy(update={"sentences": (), "conflict": f"The year. {RUNS}"})
    blocks = answer_blocks(silent)
    assert f"The year. {RUNS}" in [note.text for note in every(blocks, Note)]
    assert "<script>document" not in render("T", [single("conrag", "q", blocks)], {})


# In a browser.


def test_a_sentence_lights_up_what_it_cites_and_a_citation_opens_its_passage(
    reading: Reading, file: Path
) -> None:
    page = reading(file)
    page.locator(".sentences .side-contradict .sentence").first.hover(position={"x": 5, "y": 5})
    lit = page.locator(".lit")
    expect(lit).not_to_have_count(0)
    assert {each.get_attribute("data-source") for each in lit.all()} == {"3"}
    expect(page.locator(".sources mark")).to_have_count(0)
    for start in (".sentences a.cite", ".card .cite"):
        page.locator(f"{start}[data-source='1']").first.click()
        expect(page.locator(".sources li").first.locator("summary")).to_be_focused()
        expect(page.locator(".sources mark")).to_have_text(
            "The dam at Aldham was built in 1902. (decided)"
        )
