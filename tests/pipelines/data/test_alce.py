"""ALCE in its official formats, on small files of our own."""

from pathlib import Path
from typing import Any

from releases import ALCE_DOCUMENTS, ASQA, lines

from pipelines.data import alce
from pipelines.data.records import Document

ELI5: dict[str, Any] = {
    "question": "Why do bridges have gaps in them?",
    "question_ctx": "",
    "answer": "Because steel grows in the heat.",
    "claims": ["Steel grows in the heat.", "Gaps give it room.", "Without gaps it would bend."],
    "docs": [{"title": " ", "text": "Heat makes steel grow.", "url": "https://example.org/heat"}],
}


def test_asqa(tmp_path: Path) -> None:
    (question,) = alce.read(lines(tmp_path / "asqa_eval_gtr_top100.json", [ASQA]))
    assert question == alce.Question(
        id="-42",
        task="asqa",
        question="When did Alder Bridge open?",
        passages=(
            Document(id="1", title="Alder Bridge", text="Alder Bridge opened in 1911."),
            Document(id="2", title="Alder Bridge (Ohio)", text="It opened in 1954, of steel."),
        ),
        # An alias is given once, and no empty one, which would be found in every answer.
        answers=(("1911", "in 1911"), ("1954",)),
    )


def test_eli5_questions_are_named_by_their_place(tmp_path: Path) -> None:
    path = lines(tmp_path / "eli5_eval_bm25_top100.json", [ELI5, ELI5 | {"question": "Why tar?"}])
    first, second = alce.read(path)
    assert (first.id, second.id, first.task) == ("1", "2", "eli5")
    assert first.claims == tuple(ELI5["claims"])
    assert first.answers == ()
    assert first.passages == (Document(id="1", text="Heat makes steel grow."),)


def test_passages_keep_their_numbers_where_one_has_no_text(tmp_path: Path) -> None:
    docs = [ALCE_DOCUMENTS[0], {"title": "Nothing", "text": " "}, ALCE_DOCUMENTS[1]]
    (question,) = alce.read(lines(tmp_path / "a.json", [ASQA | {"docs": docs}]))
    assert [passage.id for passage in question.passages] == ["1", "3"]
