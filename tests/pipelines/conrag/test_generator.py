"""Answers by a language model: bound to evidence that it may sort first, marked if that fails."""

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from known_labels import KnownLabels
from scripted import Reply, prompt_of, schema_of
from scripted_generator import ScriptedGenerator

from pipelines.conrag.answer import Answer, CitationPolicy
from pipelines.conrag.data import Query
from pipelines.conrag.evidence import Stance, TaggedPassage
from pipelines.conrag.generation import (
    CHARACTERS,
    SENTENCES,
    FirstAnswer,
    GeneratedAnswer,
    write,
)
from pipelines.conrag.pipeline import conrag, evaluate
from pipelines.conrag.settings import ConragSettings, Sort
from pipelines.data.records import Document
from pipelines.judge.judgement import Relation
from pipelines.retrieval.index import Retrieved

S, C, I, X = Relation  # noqa: E741

CLAIM = "The dam was built in 1902."
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


# Evidence that the model sorts before it writes

DAM = {
    "i1": "In 1902 the dam at Aldham was finished.",
    "i2": "Workers laid its last stone in 1911.",
    "i3": "Cheese is made of milk.",
    "s4": "A dam is a wall against water.",
}
FOUND = [
    Retrieved(Document(id=name, text=text), 1 - n / 10, 1.0)
    for n, (name, text) in enumerate(DAM.items())
]


def numbers(request: dict[str, Any]) -> dict[str, int]:
    """What each passage is called in a prompt."""
    lines = prompt_of(request).splitlines()
    place = {name: lines.index(text) for name, text in DAM.items() if text in lines}
    return {name: int(lines[n - 2].split("]")[0].strip("[")) for name, n in place.items()}


def listed(request: dict[str, Any], **lists: Sequence[str]) -> str:
    number = numbers(request)
    return json.dumps(
        {
            kind: [
                {"number": number[name], "reason": "It says so."} for name in lists.get(kind, ())
            ]
            for kind in ("support", "refute", "irrelevant")
        }
    )


def sorts(request: dict[str, Any]) -> str:
    """Sees what the tagger missed, and writes from it."""
    if schema_of(request) == "SortReply":
        return listed(request, support=["i1"], refute=["i2"], irrelevant=["i3", "s4"])
    if schema_of(request).startswith("Plain"):
        return json.dumps({"stance": "SUPPORT", "sentences": [{"sent": "So.", "cites": [1]}]})
    number = numbers(request)
    # By gold labels "i2" is surely irrelevant, so that prompt leaves it out.
    sides = [number[name] for name in ("i1", "i2") if name in number]
    said = [
        {"about": "support", "sent": "One has 1902.", "cites": [number["i1"]]},
        {"about": "conflict", "sent": "They differ.", "cites": sides},
    ]
    return json.dumps({"stance": "NOT_ENOUGH_INFO", "conflict": "The year.", "sentences": said})


Answered = Callable[..., Awaitable[Answer]]


@pytest.fixture
def answered(scripted: ScriptedGenerator) -> Answered:
    async def ask(reply: Reply, sort: Sort = "model", found: Sequence[Retrieved] = FOUND) -> Answer:
        settings = ConragSettings(sort=sort)
        async with scripted(reply) as writer:
            return await conrag(
                CLAIM, found, judge=KnownLabels(), settings=settings, generator=writer
            )

    return ask


async def test_the_model_sorts_before_it_writes(
    answered: Answered, scripted: ScriptedGenerator
) -> None:
    answer = await answered(sorts)
    first, second = scripted.requests
    assert "tagged SUPPORTS, group S1" in prompt_of(first), "it is told the tags"
    assert "[1] SUPPORTS" in prompt_of(second), "it writes from its own table"
    assert {row.id: (row.relation, row.tag) for row in answer.evidence} == {
        "i1": (S, I), "i2": (C, I), "i3": (I, I), "s4": (I, S),
    }  # fmt: skip
    assert [said.problems for said in answer.sentences] == [(), ()]
    assert answer.conflict == "The year."
    # The stance is by U_sup and U_ref, which are sums over tags.
    assert (answer.stance, answer.support, answer.refute) == (Stance.SUPPORT, 0.8, 0)
    assert Answer.model_validate_json(answer.model_dump_json()) == answer


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("It sorts nothing.", "sort: not the JSON asked for"),
        (
            '{"support": [{"number": 9, "reason": "So."}], "refute": [], "irrelevant": []}',
            "sort: the reply sorts no passage",
        ),
    ],
)
async def test_a_table_that_cannot_be_read_is_a_problem_and_nothing_is_written(
    reply: str, problem: str, answered: Answered, scripted: ScriptedGenerator
) -> None:
    answer = await answered(lambda _: reply)
    assert answer.problem is not None
    assert answer.problem.startswith(problem)
    assert (answer.raw, answer.sentences) == (reply, ())
    assert {row.tag for row in answer.evidence} == {None}, "as tagged"
    assert len(scripted.requests) == 1


async def test_nobody_need_write_where_no_side_was_found(
    answered: Answered, scripted: ScriptedGenerator
) -> None:
    answer = await answered(lambda request: listed(request, irrelevant=[*DAM]))
    assert [said.about for said in answer.sentences] == ["none"]
    assert len(scripted.requests) == 1
    for sort in ("tags", "model"):  # without a passage
        assert [said.about for said in (await answered(sorts, sort, [])).sentences] == ["none"]
        assert scripted.requests == []


async def test_every_method_on_evidence_that_is_sorted(scripted: ScriptedGenerator) -> None:
    passages = tuple(found.passage for found in FOUND)
    query = Query("one", "own", CLAIM, passages, stance=Stance.SUPPORT, relations={"i1": S})
    settings = ConragSettings(sort="model")
    async with scripted(sorts) as writer:
        result = await evaluate(query, FOUND, KnownLabels(), settings, writer)
    ours = result.outcomes["ConRAG"]
    assert {one.id: one.relation for one in ours.sorted} == {"i1": S, "i2": C, "i3": I, "s4": I}
    assert {one.reason for one in ours.sorted} == {"It says so."}
    assert [said.cites for said in ours.statements] == [("i1",), ("i1", "i2")]
    assert {name for name, outcome in result.outcomes.items() if outcome.sorted} == {
        "ConRAG", "w/o evidence clustering", "w/o uncertainty policy", "w/o citation binding",
    }  # fmt: skip
    # Always taking a side keeps to it, wherever the model put the other.
    forced = result.outcomes["w/o uncertainty policy"]
    assert [said.cites for said in forced.statements] == [("i1",)]


# Where the tagger finds no side


def finds(request: dict[str, Any]) -> str:
    said = [{"about": "support", "sent": "One has 1902.", "cites": [numbers(request)["i1"]]}]
    return json.dumps({"stance": "SUPPORT", "conflict": "", "sentences": said})


async def test_a_writer_is_asked_though_the_tagger_finds_no_side(
    answered: Answered, scripted: ScriptedGenerator
) -> None:
    answer = await answered(finds, "tags", FOUND[:3])
    assert [(said.text, said.cites) for said in answer.sentences] == [("One has 1902.", ("i1",))]
    assert (answer.stance, answer.model_stance) == (Stance.NOT_ENOUGH_INFO, Stance.SUPPORT)
    (request,) = scripted.requests
    assert schema_of(request) == "OpenAnswerReply"
    assert "none of them is for or against the claim" in prompt_of(request)
    # A side binds what is cited.
    answer = await answered(finds, "tags")
    assert [said.problems for said in answer.sentences] == [("cites [2], which takes no side",)]
