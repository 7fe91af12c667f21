"""Responses written again on a scripted endpoint, judged by a scripted tagger: known outcomes."""

from typing import Any

import pytest
from scripted import Scripted, fenced_text, prompt_of
from tagging import REFUTE, SUPPORT, ScriptedTagger, Weigh, by_table, folder_of

from pipelines.conflictscore.pipeline import Scorer, prepare
from pipelines.conflictscore.regeneration import Writer, new_words, regenerate, writer
from pipelines.conflictscore.settings import Settings
from pipelines.data.records import Document, Example
from pipelines.report.texts import Span
from serving.client import Client

PLAQUE, ARCHIVE, TOLL = "Opened 1932.", "Crossed first in 1936.", "The toll is two pounds."
DOCUMENTS = tuple(
    Document(id=name, text=text)
    for name, text in (("plaque", PLAQUE), ("archive", ARCHIVE), ("toll", TOLL))
)
FIRM, HEDGED = "It opened in 1932.", "By the plaque it opened in 1932, by the archive in 1936."
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


@pytest.fixture
def author(client: Client) -> Writer:
    return writer(client)


@pytest.fixture
def scorer() -> Scorer:
    """The tagger judges each sentence: no model is asked for claims."""
    settings = Settings(judge="tagger", claims="sentences")
    return prepare(settings, tagger=folder_of(ScriptedTagger(SAYS)))


async def test_the_writer_is_told_both_sides(
    author: Writer, scorer: Scorer, endpoint: Scripted
) -> None:
    """One claim with one document for and one against: CS-C 1. Hedged, both support it: CS-C 0."""
    endpoint.reply = lambda _: HEDGED
    made = await regenerate(EXAMPLE, author, scorer)
    assert made.after is not None
    assert made.feedback is not None
    assert (made.before.cs_c, made.after.score.cs_c) == (1.0, 0.0)
    assert (made.after.score.response, made.after.ignored) == (HEDGED, False)
    assert made.feedback.claim == FIRM
    assert [(quote.document, quote.text) for quote in made.feedback.supporting] == [(1, PLAQUE)]
    assert [(quote.document, quote.text) for quote in made.feedback.contradicting] == [(2, ARCHIVE)]
    (request,) = endpoint.requests
    assert fenced_text(request, "CLAIM") == FIRM
    assert fenced_text(request, "QUESTION") == "When?"
    assert fenced_text(request, "YOUR ANSWER") == FIRM
    assert [fenced_text(request, f"DOCUMENT {n}") for n in (1, 2, 3)] == [PLAQUE, ARCHIVE, TOLL]
    assert "name both sides" in prompt_of(request)


@pytest.mark.parametrize(
    ("answer", "cs_c", "status", "ignored"),
    [
        (OTHER, 1.0, "scored", False),
        (f"  {FIRM}\n", 1.0, "scored", True),
        (f"{FIRM} {FREE}", 0.5, "scored", True),
        ("Who knows?", None, "scored", False),
        ("  ", None, "invalid", False),
    ],
)
async def test_whatever_is_written_is_scored(
    author: Writer,
    scorer: Scorer,
    endpoint: Scripted,
    answer: str,
    cs_c: float | None,
    status: str,
    ignored: bool,
) -> None:
    endpoint.reply = lambda _: answer
    after = (await regenerate(EXAMPLE, author, scorer)).after
    assert after is not None
    assert (after.score.cs_c, after.score.status, after.ignored) == (cs_c, status, ignored)
    assert len(endpoint.requests) == 1


async def test_without_a_conflict_nobody_is_asked(
    author: Writer, scorer: Scorer, endpoint: Scripted
) -> None:
    agreed = EXAMPLE.model_copy(update={"response": HEDGED})
    made = await regenerate(agreed, author, scorer)
    assert (made.before.cs_c, made.feedback, made.after, endpoint.requests) == (0, None, None, [])


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
    feedback = (await regenerate(EXAMPLE, writer(client), judged)).feedback
    assert feedback is not None
    assert [quote.text for quote in feedback.supporting] == [PLAQUE]


def test_where_new_words_stand() -> None:
    after = "Some say the wall is seen today."
    spans = new_words("The wall is seen.", after)
    assert [after[each.start : each.end] for each in spans] == ["Some say the", "seen today."]
    assert new_words("", "All  new.") == (Span(0, 9, "new"),)
    assert new_words("Same  words.\n", "Same words.") == ()
    assert new_words("All gone.", " ") == ()
