"""Answers by a language model: bound to evidence, repaired once, marked where that fails."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripted import KEY, Scripted, fenced_text, prompt_of

from pipelines.conrag.answer import Evidence
from pipelines.conrag.generation import write
from pipelines.conrag.generator import generator
from pipelines.conrag.policies import CitationPolicy
from pipelines.conrag.stance import Stance
from pipelines.data.records import Document
from pipelines.evidence.judgement import Relation
from serving.connect import Source, connect
from serving.profile import default_name, load

TABLE = tuple(
    Evidence(
        number=number,
        passage=Document(id=f"p{number}", text=text),
        relation=relation,
        confidence=0.9,
        cluster=f"{relation.value[0]}1",
        rationale=None,
    )
    for number, (relation, text) in enumerate(
        [
            (Relation.SUPPORTS, "The dam was built in 1902."),
            (Relation.CONTRADICTS, "The dam was built in 1911."),
            (Relation.IRRELEVANT, "Cheese is made of milk."),
        ],
        1,
    )
)
Sentence = dict[str, Any]


def says(about: str, sent: str, *cites: int) -> Sentence:
    return {"about": about, "sent": sent, "cites": list(cites)}


def script(*sentences: Sentence, repair: Sentence | None = None) -> Callable[[Any], str]:
    def reply(request: dict[str, Any]) -> str:
        if request["response_format"]["json_schema"]["name"] == "SentenceReply":
            return json.dumps(repair) if repair else "{"
        return json.dumps(
            {"stance": "SUPPORT", "conflict": "the year", "sentences": list(sentences)}
        )

    return reply


class Asked:
    """A generator at a scripted endpoint."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CONTESTED_API_KEY", KEY)
        self._cache = tmp_path / "cache.sqlite"

    async def __call__(self, reply: Callable[[Any], str]) -> tuple[Any, list[dict[str, Any]]]:
        with Scripted(reply=reply) as endpoint:
            source = Source(
                profile=load(default_name()),
                role="generator",
                models_dir=self._cache.parent,
                endpoints=(endpoint.url,),
            )
            async with connect(source, cache=self._cache) as client:
                written = await write(
                    "It was built in 1902.", TABLE, CitationPolicy(), generator(client)
                )
            return written, endpoint.requests


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
    return Asked(tmp_path, monkeypatch)


async def test_sentences_come_bound_to_their_evidence(asked: Asked) -> None:
    written, requests = await asked(
        script(
            says("support", "One passage has 1902. [1]", 1),
            says("conflict", "They disagree.", 1, 2, 2),
        )
    )
    assert [(s.text, s.cites, s.problems, s.repaired) for s in written.sentences] == [
        ("One passage has 1902.", (1,), (), False),
        ("They disagree.", (1, 2), (), False),
    ]
    assert (written.stance, written.conflict) == (Stance.SUPPORT, "the year")
    assert len(requests) == 1


async def test_a_wrong_citation_is_repaired_once(asked: Asked) -> None:
    right = says("support", "It was built in 1902.", 1)
    written, requests = await asked(
        script(says("support", "It was built in 1902.", 9), repair=right)
    )
    assert [(s.cites, s.problems, s.repaired) for s in written.sentences] == [((1,), (), True)]
    assert fenced_text(requests[1], "SENTENCE") == "It was built in 1902."
    assert "cites [9], which is not in the evidence" in prompt_of(requests[1])


@pytest.mark.parametrize("cites", [(), (9,), (3,)])
async def test_what_stays_wrong_is_marked(asked: Asked, cites: tuple[int, ...]) -> None:
    wrong = says("support", "It was built in 1902.", *cites)
    written, requests = await asked(script(wrong, repair=wrong))
    (sentence,) = written.sentences
    assert sentence.problems
    assert not sentence.repaired
    assert len(requests) == 2


async def test_marks_alone_are_no_sentence(asked: Asked) -> None:
    written, requests = await asked(
        script(says("support", "[1]", 1), repair=says("support", "[2]"))
    )
    (sentence,) = written.sentences
    assert (sentence.text, sentence.problems) == ("", ("says nothing",))
    assert "the sentence says nothing" in prompt_of(requests[1])


async def test_an_unreadable_repair_leaves_the_sentence_marked(asked: Asked) -> None:
    written, _ = await asked(script(says("answer", "So it is.")))
    assert [s.problems for s in written.sentences] == [("cites nothing",)]


async def test_an_unreadable_answer_is_kept_as_it_came(asked: Asked) -> None:
    written, _ = await asked(lambda _: '{"stance": "SUPPORT", "sentences": [')
    assert written.sentences == ()
    assert written.raw == '{"stance": "SUPPORT", "sentences": ['
    assert written.problem is not None
