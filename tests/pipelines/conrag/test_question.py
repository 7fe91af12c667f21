"""Questions: answered first, so that passages can be for or against the answer."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from known_labels import KnownLabels
from scripted import fenced_text
from scripted_generator import ScriptedGenerator, schema_of

from pipelines.conrag.answer import Answer
from pipelines.conrag.blocks import CUT, answer_blocks
from pipelines.conrag.generation import ANSWER_CHARACTERS as CHARACTERS
from pipelines.conrag.pipeline import conrag, deciding
from pipelines.conrag.settings import ConragSettings
from pipelines.data.records import Document
from pipelines.judge.judgement import Judgement, Relation
from pipelines.retrieval.index import Retrieved

S, C, I, X = Relation  # noqa: E741
QUESTION = "When was the dam built?"
FOUND = [
    Retrieved(Document(id=name, text=text), 1.0, 1.0)
    for name, text in {
        "s1": "The dam was built in 1902.",
        "c1": "Work on the dam ended in 1911.",
        "i1": "Cheese is made of milk.",
    }.items()
]


async def asked(scripted: ScriptedGenerator, first: str) -> Answer:
    """What comes of a first answer, given as JSON."""
    sentence = {"about": "answer", "sent": "It was built in 1902.", "cites": [1]}

    def reply(request: dict[str, Any]) -> str:
        if schema_of(request) == "FirstAnswerReply":
            return first
        return json.dumps({"conflict": "The year.", "sentences": [sentence]})

    async with scripted(reply) as generator:
        return await conrag(
            QUESTION,
            FOUND,
            judge=KnownLabels(),
            settings=ConragSettings(),
            generator=generator,
            question=True,
        )


async def test_passages_are_tagged_by_the_first_answer(scripted: ScriptedGenerator) -> None:
    answer = await asked(scripted, '{"answers": ["1902"]}')
    assert answer.first_answer == ("The dam was built in 1902.",)
    assert (answer.status, answer.kappa) == ("disputed", 1)
    assert [(each.text, each.cites, each.problems) for each in answer.sentences] == [
        ("It was built in 1902.", (1,), ())
    ]
    assert answer.unsaid == "The year."
    assert len(scripted.requests) == 2
    assert fenced_text(scripted.requests[0], "QUESTION") == QUESTION
    assert fenced_text(scripted.requests[1], "QUESTION") == QUESTION
    assert fenced_text(scripted.requests[1], "FIRST ANSWER") == "The dam was built in 1902."


@pytest.mark.parametrize(
    ("answers", "cut"),
    [
        (["1902"], False),
        ([f"190{n}" for n in range(5)], False),
        ([f"190{n}" for n in range(6)], True),
        (["In 1902, ".ljust(CHARACTERS, "x")], True),
        (["In 1902, ".ljust(CHARACTERS + 9, "x")], False),
    ],
)
async def test_first_answers_beyond_what_is_read_are_a_cut(
    scripted: ScriptedGenerator, answers: list[str], cut: bool
) -> None:
    answer = await asked(scripted, json.dumps({"answers": answers}))
    assert len(answer.first_answer) == min(len(answers), 5)
    assert answer.cut == cut
    assert (CUT in str(answer_blocks(answer))) == cut


async def test_where_passages_have_no_answer_it_says_so(scripted: ScriptedGenerator) -> None:
    answer = await asked(scripted, '{"answers": []}')
    assert answer.status == "insufficient evidence"
    assert [each.text for each in answer.sentences] == ["No passage found answers this."]
    assert {each.relation for each in answer.evidence} == {I}
    assert len(scripted.requests) == 1


async def test_an_unreadable_first_answer_is_a_problem_and_no_abstention(
    scripted: ScriptedGenerator,
) -> None:
    answer = await asked(scripted, "It was built")
    assert answer.sentences == ()
    assert answer.problem is not None
    assert answer.problem.startswith("first answer: not the JSON asked for")
    assert answer.raw == "It was built"


async def test_a_question_without_a_writer_is_refused() -> None:
    with pytest.raises(ValueError, match="a question needs a generator"):
        await conrag(QUESTION, FOUND, judge=KnownLabels(), settings=ConragSettings(), question=True)


def judged(*relations: tuple[Relation, float]) -> Sequence[Judgement]:
    return [
        Judgement(
            claim=f"claim {n}", document="d", relation=relation, source="known",
            probabilities={relation: sure},
        )
        for n, (relation, sure) in enumerate(relations)
    ]  # fmt: skip


SUREST = [
    ((S, 0.4), (C, 0.9)),
    ((C, 0.4), (S, 0.9)),
    ((C, 0.7), (S, 0.7)),
    ((I, 0.9), (C, 0.4)),
    ((S, 0.5), (S, 0.8)),
    ((X, 0), (I, 0.9)),
]


@pytest.mark.parametrize("relations", SUREST)
def test_the_surest_part_that_takes_a_side_decides(
    relations: tuple[tuple[Relation, float], ...],
) -> None:
    for given, place in ((relations, 1), (relations[::-1], 0)):
        assert deciding(judged(*given)).claim == f"claim {place}"
