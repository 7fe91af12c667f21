"""Answers by a language model: bound to evidence, marked where that fails."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from scripted_generator import Reply, ScriptedGenerator

from pipelines import prompts
from pipelines.conrag.answer import CitationPolicy
from pipelines.conrag.evidence import Stance, TaggedPassage
from pipelines.conrag.generation import (
    CHARACTERS,
    PROMPTS,
    SENTENCES,
    FirstAnswer,
    GeneratedAnswer,
    shown,
    write,
)
from pipelines.data.records import Document
from pipelines.judge.judgement import Relation

CLAIM = "It was built in 1902."
TEXTS = {
    Relation.SUPPORTS: "The dam was built in 1902.",
    Relation.CONTRADICTS: "The dam was built in 1911.",
    Relation.IRRELEVANT: "Cheese is made of milk.",
}
TABLE = tuple(
    TaggedPassage(
        Document(id=f"p{number}", text=text),
        1,
        relation,
        0.9,
        number=number,
        cluster=f"{relation.value[0]}1",
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
            first = FirstAnswer((CLAIM,))
            return await write(CLAIM, TABLE, CitationPolicy(), generator, first)

    return write_from


async def test_sentences_come_bound_to_their_evidence_or_marked(
    asked: Asked, scripted: ScriptedGenerator
) -> None:
    written = await asked(
        script(
            says("support", "One passage has 1902. [1]", 1),
            says("conflict", "They disagree.", 1, 2, 2),
            says("support", "It was built in 1902.", 1, 9),
            says("support", "[1]", 1),
            says("answer", " "),
        )
    )
    assert [(s.text, s.cites, s.dropped, s.problems) for s in written.sentences] == [
        ("One passage has 1902.", ("p1",), (), ()),
        ("They disagree.", ("p1", "p2"), (), ()),
        ("It was built in 1902.", (), ("p1",), ("cites [9], which is not in the evidence",)),
        ("", (), ("p1",), ("says nothing",)),
    ]
    assert (written.stance, written.conflict) == (Stance.SUPPORT, "the year")
    assert len(scripted.requests) == 1


async def test_an_unreadable_answer_is_kept_as_it_came(asked: Asked) -> None:
    written = await asked(lambda _: '{"stance": "SUPPORT", "sentences": [')
    assert written.sentences == ()
    assert written.raw == '{"stance": "SUPPORT", "sentences": ['
    assert written.problem is not None


@pytest.mark.parametrize("count", [SENTENCES - 1, SENTENCES, SENTENCES + 1])
async def test_as_many_sentences_as_there_may_be_are_a_cut(asked: Asked, count: int) -> None:
    every = [says("support", f"Sentence {n} has 1902.", 1) for n in range(count)]
    written = await asked(script(*every))
    assert len(written.sentences) == min(count, SENTENCES)
    assert written.cut == (count >= SENTENCES)


@pytest.mark.parametrize(("length", "cut"), [(CHARACTERS, True), (CHARACTERS + 9, False)])
async def test_a_sentence_that_a_server_ended_is_a_cut(
    asked: Asked, length: int, cut: bool
) -> None:
    """As of servers that hold replies to their schema; others let longer ones through."""
    written = await asked(script(says("support", "One has 1902. ".ljust(length, "x"), 1)))
    assert (written.cut, len(written.sentences)) == (cut, 1)


async def test_an_answer_that_runs_out_of_tokens_keeps_whole_sentences(asked: Asked) -> None:
    long = says("support", "One passage has 1902, surely. " + "It is so. " * 800, 1)
    whole = script(says("support", "One passage has 1902.", 1), long)
    written = await asked(lambda request: whole(request)[:-20])
    assert [s.text for s in written.sentences] == ["One passage has 1902."]
    assert written.cut
    assert written.problem is None


@pytest.mark.parametrize("form", ["claim", "question", "list"])
def test_a_writer_is_told_the_rules_that_its_citations_are_checked_by(form: str) -> None:
    prompt = prompts.load("conrag/answer", PROMPTS["answer"], None)

    def told(numbers: bool, rows: tuple[TaggedPassage, ...] = TABLE) -> list[str]:
        given = {"query": "x", "claims": ["x"], "evidence": shown(rows), "form": form}
        return prompt.messages(**given, numbers=numbers)[0]["content"].splitlines()

    assert [line for line in told(True) if line not in told(False)] == [
        f"- A number in {'an entry' if form == 'list' else 'a sentence'} stands in a passage that "
        "it cites."
    ]
    for rows, sided in ((TABLE, True), (TABLE[2:], False)):
        assert ("none that is IRRELEVANT" in "\n".join(told(True, rows))) == sided
