"""The store of judgements: asked once per (claim, document text, judge), by any pipeline."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pipelines.data.records import Document
from pipelines.judge.judgement import Judgement, Judgements, Relation, Truncation
from pipelines.judge.protocol import label_pairs
from pipelines.judge.store import (
    JudgementStore,
    StoredJudge,
    judgement_key,
    stored,
)

DOCUMENTS = [Document(id=name, text=f"Text of {name}.") for name in ("d1", "d2", "d3")]


@dataclass
class Scripted:
    """Labels by the lengths of claim and document; documents of more than 20 letters are cut."""

    identity: str = "scripted 1"
    invalid: tuple[str, ...] = ()
    calls: list[tuple[list[str], list[str]]] = field(default_factory=list)

    async def __call__(self, claims: Sequence[str], documents: Sequence[Document]) -> Judgements:
        self.calls.append((list(claims), [document.id for document in documents]))
        return Judgements(
            tuple(self.judge(claim, document) for claim in claims for document in documents),
            tuple(
                Truncation(text=f"document {document.id}", tokens=len(document.text), kept=20)
                for document in documents
                if len(document.text) > 20
            ),
        )

    def judge(self, claim: str, document: Document) -> Judgement:
        label = list(Relation)[(len(claim) + len(document.text)) % 3]
        if claim in self.invalid:
            label = Relation.INVALID
        return Judgement(
            claim=claim,
            document=document.id,
            relation=label,
            read_tokens=20 if len(document.text) > 20 else None,
            source="scripted",
        )

    @property
    def pairs(self) -> int:
        return sum(len(claims) * len(documents) for claims, documents in self.calls)


@pytest.fixture
def store(tmp_path: Path) -> JudgementStore:
    return JudgementStore(tmp_path / "judgements.sqlite")


async def test_only_what_is_missing_is_asked_document_by_document(store: JudgementStore) -> None:
    asked = Scripted()
    judge = StoredJudge(asked, store)
    await judge(["A."], DOCUMENTS[:2])
    await judge(["BB."], DOCUMENTS[1:2])
    asked.calls.clear()
    result = await judge(["A.", "BB.", "C!."], DOCUMENTS)
    # d1 lacks BB and C, d2 lacks C, d3 lacks all: one call for each.
    assert asked.calls == [
        (["BB.", "C!."], ["d1"]),
        (["C!."], ["d2"]),
        (["A.", "BB.", "C!."], ["d3"]),
    ]
    assert result == await Scripted()(["A.", "BB.", "C!."], DOCUMENTS)
    assert (judge.found, judge.asked) == (3, 3 + 6)


async def test_titles_claims_texts_and_labellers_are_told_apart(store: JudgementStore) -> None:
    await stored(Scripted(), store)(["A."], DOCUMENTS[:1])
    titled = DOCUMENTS[0].model_copy(update={"title": "T"})
    others = ("A.", titled, 1), ("A. ", DOCUMENTS[0], 1), ("A.", DOCUMENTS[1], 1)
    for claim, document, judge in (*others, ("A.", DOCUMENTS[0], 2)):
        asked = Scripted(f"scripted {judge}")
        await stored(asked, store)([claim], [document])
        assert asked.pairs == 1
    # Where one part ends and the next begins is not lost.
    assert judgement_key("ab", "c", "x") != judgement_key("a", "bc", "x")


async def test_truncations_are_kept_and_named_after_the_document_at_hand(
    store: JudgementStore,
) -> None:
    long = Document(id="long", text="A text of more than twenty letters.")
    first = await stored(Scripted(), store)(["A."], [long, DOCUMENTS[0]])
    assert [cut.text for cut in first.truncations] == ["document long"]
    again = Scripted()
    copy = long.model_copy(update={"id": "copy"})
    result = await stored(again, store)(["A."], [copy])
    assert not again.calls
    assert result.truncations == (Truncation(text="document copy", tokens=35, kept=20),)
    assert result.judgements[0].read_tokens == 20


async def test_unreadable_replies_are_no_judgements_to_keep(store: JudgementStore) -> None:
    asked = Scripted(invalid=("BB.",))
    first = await stored(asked, store)(["A.", "BB."], DOCUMENTS)
    assert sum(j.relation is Relation.INVALID for j in first.judgements) == 3
    assert await stored(asked, store)(["A.", "BB."], DOCUMENTS) == first
    assert asked.calls[1] == (["BB."], ["d1", "d2", "d3"])


async def test_pairs_are_asked_in_as_few_calls_as_there_are_sets_of_claims() -> None:
    asked = Scripted()
    d1, d2, d3 = DOCUMENTS
    wanted = [("A.", d1), ("BB.", d1), ("A.", d2), ("A.", d3), ("BB.", d3)]
    judged, _ = await label_pairs(asked, wanted)
    assert asked.calls == [(["A.", "BB."], ["d1", "d3"]), (["A."], ["d2"])]
    assert set(judged) == {(claim, document.id) for claim, document in wanted}


async def test_a_row_that_is_no_judgement_is_made_again(store: JudgementStore) -> None:
    first = await stored(Scripted(), store)(["A.", "BB."], DOCUMENTS[:1])
    with sqlite3.connect(store.path) as database:
        key = judgement_key("A.", DOCUMENTS[0].as_read(), "scripted 1")
        database.execute("UPDATE judgements SET value = 'nonsense' WHERE key = ?", (key,))
    asked = Scripted()
    for _ in range(2):
        assert await stored(asked, store)(["A.", "BB."], DOCUMENTS[:1]) == first
    assert asked.calls == [(["A."], ["d1"])]
