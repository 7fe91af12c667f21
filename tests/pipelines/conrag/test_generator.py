"""Answers by a language model: bound to evidence, marked where that fails."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from scripted_generator import Reply, ScriptedGenerator

from pipelines import prompts
from pipelines.conrag.answer import CitationPolicy, Evidence
from pipelines.conrag.evidence import Stance
from pipelines.conrag.generation import (
    CHARACTERS,
    PROMPTS,
    SENTENCES,
    GeneratedAnswer,
    shown,
    write,
)
from pipelines.data.records import Document
from pipelines.judge.judgement import Relation

TEXTS = {
    Relation.SUPPORTS: "The dam was built in 1902.",
    Relation.CONTRADICTS: "The dam was built in 1911.",
    Relation.IRRELEVANT: "Cheese is made of milk.",
}
TABLE = tuple(
    Evidence(
        number=number,
        passage=Document(id=f"p{number}", text=text),
        relation=relation,
        confidence=0.9,
        relevance=1,
        cluster=f"{relation.value[0]}1",
        rationale=None,
    )
    for number, (relation, text) in enumerate(TEXTS.items(), 1)
)
Sentence = dict[str, Any]


def says(about: str, sent: str, *cites: int) -> Sentence:
    return {"about": about, "sent": sent, "cites": list(cites)}


def script(*sentences: Sentence) -> Reply:
    reply = {"stance": "SUPPORT", "conflict": "the year", "sentences": sentences}
    return lambda _: json.dumps(reply)


Asked = Callable[[Reply], Awaitable[GeneratedAnswer]]


@pytest.fixture
def asked(scripted: ScriptedGenerator) -> Asked:
    async def write_from(reply: Reply) -> GeneratedAnswer:
        async with scripted(reply) as generator:
            return await write("It was built in 1902.", TABLE, CitationPolicy(), generator)

    return write_from


async def test_sentences_come_bound_to_their_evidence(
    asked: Asked, scripted: ScriptedGenerator
) -> None:
    written = await asked(
        script(
            says("support", "One passage has 1902. [1]", 1),
            says("conflict", "They disagree.", 1, 2, 2),
        )
    )
    assert [(s.text, s.cites, s.problems) for s in written.sentences] == [
        ("One passage has 1902.", (1,), ()),
        ("They disagree.", (1, 2), ()),
    ]
    assert (written.stance, written.conflict) == (Stance.SUPPORT, "the year")
    assert len(scripted.requests) == 1


@pytest.mark.parametrize(
    ("sent", "cites", "problem"),
    [
        ("It was built in 1902.", (), "cites nothing"),
        ("It was built in 1902.", (9,), "cites [9], which is not in the evidence"),
        ("It was built in 1902.", (3,), "cites [3], which takes no side"),
        ("[1]", (1,), "says nothing"),
    ],
)
async def test_a_wrong_citation_is_marked(
    asked: Asked, sent: str, cites: tuple[int, ...], problem: str
) -> None:
    (sentence,) = (await asked(script(says("support", sent, *cites)))).sentences
    assert sentence.problems[0] == problem


async def test_an_unreadable_answer_is_kept_as_it_came(asked: Asked) -> None:
    written = await asked(lambda _: '{"stance": "SUPPORT", "sentences": [')
    assert written.sentences == ()
    assert written.raw == '{"stance": "SUPPORT", "sentences": ['
    assert written.problem is not None


async def test_a_long_or_an_empty_sentence_fails_no_answer(asked: Asked) -> None:
    """As of endpoints that do not hold replies to their schema."""
    long = f"One passage has 1902, {'very, ' * 100}surely."
    written = await asked(script(says("support", long, 1), says("answer", " ")))
    assert [(s.text, s.cites) for s in written.sentences] == [(long, (1,))]
    assert not written.cut


@pytest.mark.parametrize("count", [SENTENCES - 1, SENTENCES, SENTENCES + 1])
async def test_as_many_sentences_as_there_may_be_are_a_cut(asked: Asked, count: int) -> None:
    every = [says("support", f"Sentence {n} has 1902.", 1) for n in range(count)]
    written = await asked(script(*every))
    assert len(written.sentences) == min(count, SENTENCES)
    assert written.cut == (count >= SENTENCES)


async def test_a_sentence_that_a_server_ended_is_a_cut(asked: Asked) -> None:
    """As of servers that hold replies to their schema."""
    written = await asked(script(says("support", "One has 1902. ".ljust(CHARACTERS, "x"), 1)))
    assert written.cut


async def test_an_answer_that_runs_out_of_tokens_keeps_whole_sentences(asked: Asked) -> None:
    long = says("support", "One passage has 1902, surely. " + "It is so. " * 800, 1)
    whole = script(says("support", "One passage has 1902.", 1), long)
    written = await asked(lambda request: whole(request)[:-20])
    assert [s.text for s in written.sentences] == ["One passage has 1902."]
    assert written.cut
    assert written.problem is None


@pytest.mark.parametrize("name", ["answer", "question", "list"])
def test_a_writer_is_told_of_numbers_only_where_they_are_checked(name: str) -> None:
    prompt = prompts.load(f"conrag/{name}", PROMPTS[name], None)
    given = {"query": "x", "claims": ["x"], "evidence": shown(TABLE)}
    free, cited = (
        prompt.messages(**given, numbers=numbers)[0]["content"] for numbers in (False, True)
    )
    assert [line for line in cited.splitlines() if line not in free.splitlines()] == [
        f"- A number in {'an entry' if name == 'list' else 'a sentence'} stands in a passage that "
        "it cites."
    ]


@pytest.mark.parametrize("name", ["answer", "question", "list"])
def test_a_writer_is_told_the_rule_that_its_citations_are_checked_by(name: str) -> None:
    prompt = prompts.load(f"conrag/{name}", PROMPTS[name], None)
    given = dict.fromkeys(PROMPTS[name], "x")
    for rows, told in ((TABLE, True), (TABLE[2:], False)):
        (message,) = prompt.messages(**given | {"claims": ["x"], "evidence": shown(rows)})
        assert ("none that is IRRELEVANT" in message["content"]) == told
