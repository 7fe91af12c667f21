"""The judges of answers, with a judge whose labels are known."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from conflicts_endpoint import asking
from known_labels import KnownLabels

from pipelines.conflicts.data import Query, Source
from pipelines.conflicts.judges import (
    WORD_FOR_WORD,
    answer_judge,
    behaviour,
    grounding,
    inclusion,
    judged,
    prompted_model,
)
from pipelines.conflicts.result import (
    Answer,
    Grounds,
    Sentence,
    Verdicts,
)
from pipelines.conflicts.settings import ConflictsSettings
from pipelines.conflicts.taxonomy import ConflictType
from pipelines.data.records import Document
from pipelines.judge.judgement import Relation

SOURCES = (
    Source(text="The mill was built in 1856.", url="https://mill.example", title="The mill"),
    Source(text="The mill dates from 1902.", date="2 May 2011"),
    Source(text="Flour is ground grain."),
)
ASKED = Query(
    id="mill",
    query="When was the mill built?",
    sources=SOURCES,
    conflict_type=ConflictType.MISINFORMATION,
    gold_answer="1856",
)
ANSWERED = Answer(
    text="The mill was built in 1856 [1]. It dates from 1902 [2]. It is tall. The sources differ.",
    sentences=(
        Sentence(text="The mill was built in 1856.", cites=(1,)),
        Sentence(text="It dates from 1902.", cites=(2, 3), unknown=(9,)),
        Sentence(text="It is tall.", unknown=(9,)),
        Sentence(text="The sources differ."),
    ),
)
NLI = ConflictsSettings(judge="tagger")


def by_year(document: Document) -> Relation:
    """What documents say of 1856."""
    if "1856" in document.text:
        return Relation.SUPPORTS
    return Relation.CONTRADICTS if "1902" in document.text else Relation.IRRELEVANT


def asked(sources: Sequence[Source] = SOURCES) -> Query:
    return Query(id="mill", query="When was the mill built?", sources=tuple(sources))


def said(*sentences: Sentence) -> Answer:
    return Answer(text=" ".join(each.text for each in sentences), sentences=sentences)


async def test_grounding_by_a_judge() -> None:
    judge = KnownLabels(by_year)
    found = await grounding(ANSWERED, asked(), judge)
    one, two, three, four = found.sentences
    assert (one.grounds, one.quote) == (Grounds.SUPPORTED, "The mill was built in 1856.")
    assert (two.grounds, two.quote) == (Grounds.CONTRADICTORY, "The mill dates from 1902.")
    assert [each.document for each in two.judgements] == ["2", "3"]
    assert (three.grounds, three.reason) == (Grounds.UNSUPPORTED, "cites no source")
    assert (four.grounds, four.reason) == (Grounds.NO_FACT, "states no fact")
    # Nobody was asked of the last two, and what is read has no dates or addresses.
    assert judge.asked == [
        ("The mill was built in 1856.", SOURCES[0].text),
        ("It dates from 1902.", SOURCES[1].text),
        ("It dates from 1902.", SOURCES[2].text),
    ]


async def test_a_labeller_reads_the_snippet_as_the_writer_did() -> None:
    text, snippet = "It is 300 metres long.", "The bridge was opened in 1936 by the mayor."
    sources = [
        Source(text=text, title="The bridge", snippet=snippet, date="2 May 2011", url="https://b"),
        Source(text=text, snippet=text[:-4]),
        Source(text=text, snippet=" "),
    ]
    read = [each.as_evidence(number) for number, each in enumerate(sources, 1)]
    assert [each.as_read() for each in read] == [
        f"The bridge\n\n{snippet}\n\n{text}",
        text,  # what the segment says is not said twice
        text,
    ]
    assert [each.id for each in read] == ["1", "2", "3"]

    def by_words(document: Document) -> Relation:
        return Relation.SUPPORTS if "1936" in document.text else Relation.IRRELEVANT

    sentence = Sentence(text=snippet, cites=(1,))
    found = await grounding(said(sentence), asked(sources), KnownLabels(by_words))
    assert (found.sentences[0].grounds, found.sentences[0].quote) == (Grounds.SUPPORTED, snippet)


async def test_what_is_named_is_not_asked_about() -> None:
    judge = KnownLabels(lambda _: Relation.CONTRADICTS)
    found = await inclusion("When was the mill built?", "1856", "In 1856 [1].", judge)
    assert (found.included, found.reason, found.judgement) == (True, WORD_FOR_WORD, None)
    assert judge.asked == []
    # The number of a citation names nothing, and "no" must mean the answer.
    for query, gold, answer in (
        ("How many mills are there?", "2", "Several [2]."),
        ("How many mills are there?", "2", "According to [2], there are several."),
        ("Is the mill old?", "no", "It is, no doubt."),
    ):
        assert not (await inclusion(query, gold, answer, judge)).included
    assert len(judge.asked) == 3
    assert judge.asked[1][1] == "According to the source, there are several."
    empty = await inclusion("How many mills are there?", "2", "[2]", judge)
    assert (empty.included, empty.reason) == (False, "the answer has no text")


@pytest.mark.parametrize(
    "answer", [Answer(text="", problem="cut", raw="{"), Answer(text=" \n"), Answer(text="")]
)
async def test_no_answer_is_judged_in_no_way(answer: Answer) -> None:
    judge = KnownLabels()
    assert await judged(ASKED, answer, answer_judge(None, NLI, judge=judge)) == Verdicts()
    assert judge.asked == []


# Replies that cannot be read: every judge alike.


def odd(value: object) -> dict[str, object]:
    """A reply that is right but for its verdict."""
    return {"reason": "r", "quote": "q", "adheres": value, "included": value, "verdict": value}


UNREADABLE = (
    "",
    "The answer adheres to the expected behaviour, so: true.",
    "YES",
    json.dumps(odd(True))[:-1],
    f"```json\n{json.dumps(odd(True))}\n```\n{json.dumps(odd(False))}",  # which of them?
    *map(json.dumps, map(odd, ("yes", "true", 1, None, [True], {"is": True}))),
    *map(json.dumps, ({"reason": "r", "quote": "q"}, [odd(True), odd(False)], True, None, "YES")),
    json.dumps(odd(True) | {"reason": 7}),
)


@pytest.mark.parametrize("reply", UNREADABLE)
async def test_replies_that_cannot_be_read_are_no_verdict(reply: str, tmp_path: Path) -> None:
    answer = said(Sentence(text="It is.", cites=(1,)), Sentence(text="It cites nothing."))
    async with asking(tmp_path, lambda _: reply) as (client, _):
        by = prompted_model(client)
        adherence = await behaviour(ASKED.query, ConflictType.OUTDATED, "In 1856.", by)
        included = await inclusion(ASKED.query, "1856", "It is old.", by)
        grounded = (await grounding(answer, asked(), by)).sentences
    assert [adherence.adheres, included.included, *(one.grounds for one in grounded)] == [None] * 4
    for verdict in (adherence, included, *grounded):
        assert verdict.raw == reply
        assert verdict.problem
        assert "\n" not in verdict.problem


async def test_what_cites_nothing_is_never_supported(tmp_path: Path) -> None:
    reply = json.dumps({"reason": "r", "verdict": "supported"})
    async with asking(tmp_path, lambda _: reply) as (client, _):
        answer = said(Sentence(text="It was built in 1856."))
        (found,) = (await grounding(answer, asked(), prompted_model(client))).sentences
    assert (found.grounds, found.raw) == (None, reply)
