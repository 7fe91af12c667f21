"""ConRAG over a claim and over a question, with a judge whose labels are known."""

import json
from typing import Any

import pytest
from known_labels import KnownLabels
from pages import every
from scripted import fenced_text, schema_of
from scripted_generator import ScriptedGenerator

from pipelines.conrag.answer import Answer
from pipelines.conrag.blocks import CUT, answer_blocks
from pipelines.conrag.evidence import Stance
from pipelines.conrag.generation import ANSWER_CHARACTERS as CHARACTERS
from pipelines.conrag.generation import Generator
from pipelines.conrag.packet import PacketSettings
from pipelines.conrag.pipeline import conrag, deciding
from pipelines.conrag.settings import ConragSettings
from pipelines.data.records import Document
from pipelines.judge.judgement import Judgement, Relation
from pipelines.report.blocks import Facts
from pipelines.retrieval.index import Retrieved

S, C, I, X = Relation  # noqa: E741
SETTINGS = ConragSettings()


async def of(
    *ids: str,
    settings: ConragSettings = SETTINGS,
    generator: Generator | None = None,
    probability: float = 0.8,
) -> Answer:
    """What comes of passages with such labels."""
    found = [
        Retrieved(Document(id=name, text=f"{word * 4} tells {word * 5}."), 1 - n / 100, 1.0)
        for n, (name, word) in enumerate(zip(ids, "abcdefgh", strict=False))
    ]
    judge = KnownLabels(probability=probability)
    return await conrag("It is so.", found, judge=judge, settings=settings, generator=generator)


async def test_near_ties_are_shown_as_unsure_and_count_as_their_tags() -> None:
    answer = await of("s1", "c1", "x1", probability=0.4)  # 0.4 leads 0.3 by less than 0.15
    assert (answer.kappa, answer.unsure) == (1, 2)
    (facts,) = every(answer_blocks(answer), Facts)
    assert "2 of 3 tags unsure" in str(facts)
    assert (await of("s1")).unsure == 0


async def test_an_unreadable_label_counts_on_neither_side() -> None:
    answer = await of("x1", "s1")
    assert (answer.support, answer.refute) == (0.8, 0)
    assert [row.relation for row in answer.evidence] == [S]
    assert answer.unreadable == ("x1",)
    assert [cluster.members for cluster in answer.clusters] == [("s1",)]


async def test_what_the_stance_rests_on_is_cited_though_it_is_ranked_last() -> None:
    ids = [*(f"i{n}" for n in range(7)), "s1"]
    answer = await of(*ids, settings=ConragSettings(packet=PacketSettings(size=3)))
    assert answer.stance is Stance.SUPPORT
    assert [said.cites for said in answer.sentences] == [("s1",), ("s1",)]
    assert len(answer.evidence) == 3


@pytest.mark.parametrize(
    ("conflict", "ids", "says"),
    [
        ("", ("s1", "c1"), "The passages disagree: [1] for it, [2] against it."),
        ("The year. [9]", ("s1", "c1"), "The year."),
        ("They all disagree!", ("c1", "c2"), None),
    ],
)
async def test_a_writer_decides_neither_stance_nor_disagreement(
    conflict: str, ids: tuple[str, ...], says: str | None, scripted: ScriptedGenerator
) -> None:
    sentence = {"about": "support", "sent": "So it is.", "cites": [99]}
    reply = {"stance": "SUPPORT", "conflict": conflict, "sentences": [sentence]}
    async with scripted(lambda _: json.dumps(reply)) as generator:
        answer = await of(*ids, generator=generator)
    assert (answer.conflict, answer.unsaid) == (says, says)
    assert answer.model_stance is Stance.SUPPORT
    assert answer.stance is (Stance.REFUTE if says is None else Stance.NOT_ENOUGH_INFO)


# Questions: answered first, so that passages can be for or against the answer

QUESTION = "When was the dam built?"
TEXTS = {
    "s1": "The dam was built in 1902.",
    "c1": "Work on the dam ended in 1911.",
    "i1": "Cheese is made of milk.",
}
FOUND = [Retrieved(Document(id=name, text=text), 1.0, 1.0) for name, text in TEXTS.items()]


async def asked(scripted: ScriptedGenerator, first: str) -> Answer:
    """What comes of a first answer, given as JSON."""
    sentence = {"about": "answer", "sent": "It was built in 1902.", "cites": [1]}

    def reply(request: dict[str, Any]) -> str:
        if schema_of(request) == "FirstAnswerReply":
            return first
        return json.dumps({"conflict": "The year.", "sentences": [sentence]})

    async with scripted(reply) as writer:
        return await conrag(
            QUESTION, FOUND, judge=KnownLabels(), settings=SETTINGS, generator=writer, question=True
        )


async def test_passages_are_tagged_by_the_first_answer(scripted: ScriptedGenerator) -> None:
    answer = await asked(scripted, '{"answers": ["1902"]}')
    assert answer.first_answer == ("The dam was built in 1902.",)
    assert (answer.status, answer.kappa) == ("disputed", 1)
    assert [(said.text, said.cites, said.problems) for said in answer.sentences] == [
        ("It was built in 1902.", ("s1",), ())
    ]
    assert answer.unsaid == "The year."
    first, second = scripted.requests
    assert fenced_text(first, "QUESTION") == fenced_text(second, "QUESTION") == QUESTION
    assert fenced_text(second, "FIRST ANSWER") == "The dam was built in 1902."


@pytest.mark.parametrize(
    ("answers", "cut"),
    [
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


async def test_no_first_answer_is_said_and_an_unreadable_one_a_problem(
    scripted: ScriptedGenerator,
) -> None:
    answer = await asked(scripted, '{"answers": []}')
    assert answer.status == "insufficient evidence"
    assert [said.text for said in answer.sentences] == ["No passage found answers this."]
    assert {row.relation for row in answer.evidence} == {I}
    assert len(scripted.requests) == 1
    answer = await asked(scripted, "It was built")
    assert (answer.sentences, answer.raw) == ((), "It was built")
    assert answer.problem is not None
    assert answer.problem.startswith("first answer: not the JSON asked for")


async def test_a_question_without_a_writer_is_refused() -> None:
    with pytest.raises(ValueError, match="a question needs a generator"):
        await conrag(QUESTION, FOUND, judge=KnownLabels(), settings=SETTINGS, question=True)


@pytest.mark.parametrize(
    "relations",
    [
        ((S, 0.4), (C, 0.9)),
        ((C, 0.4), (S, 0.9)),
        ((C, 0.7), (S, 0.7)),
        ((I, 0.9), (C, 0.4)),
        ((S, 0.5), (S, 0.8)),
        ((X, 0), (I, 0.9)),
    ],
)
def test_the_surest_part_that_takes_a_side_decides(
    relations: tuple[tuple[Relation, float], ...],
) -> None:
    judged = [
        Judgement(
            claim=str(n), document="d", relation=one, source="known", probabilities={one: sure}
        )
        for n, (one, sure) in enumerate(relations)
    ]
    assert deciding(judged) is deciding(judged[::-1]) is judged[1]
