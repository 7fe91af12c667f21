"""ConRAG over one query, with a judge whose labels are known."""

import json

import pytest
from known_labels import KnownLabels
from pages import every
from scripted_generator import ScriptedGenerator

from pipelines.conrag.answer import Answer
from pipelines.conrag.blocks import answer_blocks
from pipelines.conrag.evidence import Stance
from pipelines.conrag.generation import Generator
from pipelines.conrag.packet import PacketSettings
from pipelines.conrag.pipeline import conrag
from pipelines.conrag.settings import ConragSettings
from pipelines.data.records import Document
from pipelines.judge.judgement import Relation
from pipelines.report.blocks import Facts
from pipelines.retrieval.index import Retrieved

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
    assert [row.relation for row in answer.evidence] == [Relation.SUPPORTS]
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
