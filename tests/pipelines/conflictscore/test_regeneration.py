"""Responses written again on a scripted endpoint, judged by a scripted tagger: known outcomes."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from scripted import Scripted, fenced_text, prompt_of
from tagging import REFUTE, SUPPORT, ScriptedTagger, Weigh, by_table, folder_of

from pipelines.conflictscore.pipeline import Scorer, prepare
from pipelines.conflictscore.regeneration import regenerate
from pipelines.conflictscore.regeneration.regenerate import Regeneration, Writer, writer
from pipelines.conflictscore.settings import Settings
from pipelines.data.records import Document, Example
from serving import profile
from serving.client import Client
from serving.connect import Source, connect

PLAQUE, ARCHIVE, TOLL = "Opened 1932.", "Crossed first in 1936.", "The toll is two pounds."
DOCUMENTS = tuple(
    Document(id=name, text=text)
    for name, text in (("plaque", PLAQUE), ("archive", ARCHIVE), ("toll", TOLL))
)
FIRM, HEDGED = "It opened in 1932.", "It opened in 1932, or in 1936 by the archive."
OTHER = "It opened in 1936."
FREE = "Crossing is free."
EXAMPLE = Example(id="bridge", group="bridge", question="When?", response=FIRM, documents=DOCUMENTS)

SAYS: Weigh = by_table(
    {
        (PLAQUE, FIRM): SUPPORT,
        (ARCHIVE, FIRM): REFUTE,
        (PLAQUE, HEDGED): SUPPORT,
        (ARCHIVE, HEDGED): SUPPORT,
        (PLAQUE, OTHER): REFUTE,
        (ARCHIVE, OTHER): SUPPORT,
        (TOLL, FREE): REFUTE,
    }
)


@pytest_asyncio.fixture
async def client(endpoint: Scripted, tmp_path: Path) -> AsyncIterator[Client]:
    source = Source(profile.load("cpu-small"), "generator", tmp_path, endpoints=(endpoint.url,))
    async with connect(source, cache=tmp_path / "c.sqlite") as client:
        yield client


@pytest.fixture
def author(client: Client) -> Writer:
    return writer(client)


@pytest.fixture
def scorer() -> Scorer:
    """The tagger judges each sentence: no model is asked for claims."""
    settings = Settings(judge="tagger", claims="sentences")
    return prepare(settings, tagger=folder_of(ScriptedTagger(SAYS)))


def writes(endpoint: Scripted, *answers: str) -> None:
    """The answers that the model gives, one after the other; the last again and again."""
    left = list(answers)
    endpoint.reply = lambda _: left.pop(0) if len(left) > 1 else left[0]


def scores(found: Regeneration) -> list[float | None]:
    return [attempt.score.cs_c for attempt in found.attempts]


async def test_the_writer_is_told_both_sides(
    author: Writer, scorer: Scorer, endpoint: Scripted
) -> None:
    """One claim with one document for and one against: CS-C 1. Hedged, both support it: CS-C 0."""
    writes(endpoint, HEDGED)
    found = await regenerate(EXAMPLE, author, scorer)
    assert (scores(found), found.chosen, found.ended) == ([1.0, 0.0], 1, "no conflict")
    assert found.after.response == HEDGED
    assert not found.after.ignored
    feedback = found.after.feedback
    assert feedback is not None
    assert feedback.claim == FIRM
    assert [(each.document, each.text) for each in feedback.supporting] == [(1, PLAQUE)]
    assert [(each.document, each.text) for each in feedback.contradicting] == [(2, ARCHIVE)]
    (request,) = endpoint.requests
    assert fenced_text(request, "CLAIM") == FIRM
    assert fenced_text(request, "QUESTION") == "When?"
    assert fenced_text(request, "YOUR ANSWER") == FIRM
    assert [fenced_text(request, f"DOCUMENT {n}") for n in (1, 2, 3)] == [PLAQUE, ARCHIVE, TOLL]
    assert "name both sides" in prompt_of(request)


@pytest.mark.parametrize(
    ("answers", "rounds", "seen", "chosen", "ended", "ignored"),
    [
        ([OTHER], 3, [1.0, 1.0], 0, "no longer falls", [False]),
        ([f"  {FIRM}\n"], 3, [1.0, 1.0], 0, "unchanged", [True]),
        ([f"{FIRM} {FREE}", HEDGED], 3, [1.0, 0.5, 0.0], 2, "no conflict", [True, False]),
        ([f"{FIRM} {FREE}", OTHER], 3, [1.0, 0.5, 1.0], 1, "no longer falls", [True, False]),
        ([f"{FIRM} {FREE}"], 1, [1.0, 0.5], 1, "rounds", [True]),
        (["  "], 2, [1.0, None], 0, "unreadable", [False]),
        (["Who knows?"], 3, [1.0, None], 0, "no evidence", [False]),
    ],
)
async def test_when_it_ends(
    author: Writer,
    scorer: Scorer,
    endpoint: Scripted,
    answers: list[str],
    rounds: int,
    seen: Sequence[float | None],
    chosen: int,
    ended: str,
    ignored: list[bool],
) -> None:
    writes(endpoint, *answers)
    found = await regenerate(EXAMPLE, author, scorer, rounds=rounds)
    assert (scores(found), found.chosen, found.ended) == (list(seen), chosen, ended)
    assert [attempt.ignored for attempt in found.attempts[1:]] == ignored
    assert len(endpoint.requests) == len(seen) - 1


async def test_a_worse_answer_is_taken_only_if_asked_for(
    author: Writer, scorer: Scorer, endpoint: Scripted
) -> None:
    start = EXAMPLE.model_copy(update={"response": f"{FIRM} {FREE}"})
    writes(endpoint, OTHER)
    best = await regenerate(start, author, scorer)
    last = await regenerate(start, author, scorer, keep="last")
    assert scores(best) == scores(last) == [0.5, 1.0]
    assert (best.after.response, last.after.response) == (start.response, OTHER)


async def test_without_a_conflict_nobody_is_asked(
    author: Writer, scorer: Scorer, endpoint: Scripted
) -> None:
    agreed = EXAMPLE.model_copy(update={"response": HEDGED})
    found = await regenerate(agreed, author, scorer, rounds=3)
    assert (scores(found), found.ended, endpoint.requests) == ([0.0], "no conflict", [])


async def test_the_papers_prompt_asks_for_no_hedging(
    client: Client, scorer: Scorer, endpoint: Scripted
) -> None:
    writes(endpoint, OTHER)
    await regenerate(EXAMPLE, writer(client, hedged=False), scorer)
    assert "both sides" not in prompt_of(endpoint.requests[0])


async def test_a_quote_that_no_document_has_is_not_passed_on(
    client: Client, endpoint: Scripted
) -> None:
    def reply(request: dict[str, Any]) -> str:
        if "response_format" not in request:
            return HEDGED
        label = {PLAQUE: "SUPPORTS", ARCHIVE: "CONTRADICTS"}
        answer = label.get(fenced_text(request, "DOCUMENT"), "IRRELEVANT")
        return f'{{"snippet": "made up", "reasoning": "", "answer": "{answer}"}}'

    endpoint.reply = reply
    judged = prepare(Settings(evidence="json", claims="whole"), client)
    found = await regenerate(EXAMPLE, writer(client), judged)
    feedback = found.attempts[1].feedback
    assert feedback is not None
    assert [each.text for each in feedback.supporting] == [PLAQUE]
