"""Reports on a scripted endpoint: their topics, their prompts, their scores."""

import json
from pathlib import Path
from typing import Any

import pytest
from scripted import Scripted, fenced_text, prompt_of
from tagging import ScriptedTagger, folder_of

from pipelines.conflictscore.pipeline import prepare
from pipelines.conflictscore.settings import Settings
from pipelines.conflictscore.writing import (
    Assignment,
    Topic,
    assignments,
    main_entity,
    read,
    report_on,
    report_writer,
)
from pipelines.data.records import Document
from serving.client import Client

QUESTION = "Is infinite scrolling a good web design technique?"
DOCUMENTS = (Document(id="d1", text="It is."), Document(id="d2", text="It is not.", title="No"))


def writes(endpoint: Scripted, entity: str, report: str = "A report.") -> None:
    def reply(request: dict[str, Any]) -> str:
        return json.dumps({"entity": entity}) if "response_format" in request else report

    endpoint.reply = reply


@pytest.mark.parametrize(
    ("named", "entity"),
    [
        ("Infinite  scrolling.", "Infinite scrolling"),
        ("endless pages", "endless pages"),
        ("", QUESTION),
    ],
)
async def test_the_entity_by_a_model(
    client: Client, endpoint: Scripted, named: str, entity: str
) -> None:
    writes(endpoint, named)
    author = report_writer(client)
    assert await main_entity(QUESTION, client, author.prompts["entity"]) == entity


async def test_three_prompts_that_differ_in_what_they_ask_for(
    client: Client, endpoint: Scripted
) -> None:
    writes(endpoint, "scrolling", " The report.\n")
    author = report_writer(client)
    settings = Settings(judge="tagger", claims="sentences")
    scorer = prepare(settings, tagger=folder_of(ScriptedTagger()))
    for assignment in assignments([Topic("1", QUESTION, DOCUMENTS)]):
        report = await report_on(assignment, author, scorer)
        copied = assignment.prompting == "copied"
        assert report.response == ("It is." if copied else "The report.")
        assert (report.entity, report.status) == (None if copied else "scrolling", "scored")
    asked = [each for each in endpoint.requests if "response_format" not in each]
    assert len(endpoint.requests) == 3 + 1  # one question of the entity, kept for the others
    prompts = [prompt_of(each) for each in asked]
    assert {fenced_text(each, "TOPIC") for each in asked} == {"scrolling"}
    assert {fenced_text(each, "DOCUMENT 2") for each in asked} == {"No\n\nIt is not."}
    assert ["hedge" in prompt.lower() for prompt in prompts] == [False, True, True]
    assert ["Attribute" in prompt for prompt in prompts] == [False, False, True]
    writes(endpoint, "scrolling", " \n")
    other = Assignment(Topic("2", "Is it?", DOCUMENTS[::-1]), "rag")
    empty = await report_on(other, author, scorer)
    assert (empty.status, empty.error) == ("invalid", "the report is empty")


def test_conflictingqa_as_released(tmp_path: Path) -> None:
    def page(query: str, stance: str) -> dict[str, str]:
        return {"search_query": query, "text_window": f"{stance}.", "stance": stance, "title": "t"}

    path = tmp_path / "conflictingqa.jsonl"
    pages = [page("Is it?", "yes"), page("Was it?", "yes"), page("Is it?", "no")]
    path.write_text("".join(json.dumps(each) + "\n" for each in pages))
    found = read(path)
    assert [(each.id, each.question, len(each.documents)) for each in found.topics] == [
        ("1", "Is it?", 2)
    ]
    assert found.passed_over == 1
