"""ALCE in its official formats, on small files of our own."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipelines.data import alce
from pipelines.data.records import Document

DOCS = [
    {
        "id": "1001",
        "title": "Alder Bridge",
        "text": "Alder Bridge opened in 1911.",
        "score": 0.91,
        "summary": "It opened in 1911.",
        "extraction": "opened in 1911",
        "answers_found": [1, 0],
        "rec_score": 0.5,
    },
    {"title": "Alder Bridge (Ohio)", "text": "It opened in 1954, of steel.", "score": 0.88},
]
ASQA = {
    "qa_pairs": [
        {
            "context": "No context provided",
            "question": "When did the bridge in Maine open?",
            "short_answers": ["1911", "in 1911"],
            "wikipage": None,
        },
        {
            "context": "It opened in 1954.",
            "question": "When did the bridge in Ohio open?",
            "short_answers": ["1954", " 1954 ", ""],
            "wikipage": "Alder Bridge (Ohio)",
        },
    ],
    "wikipages": [{"title": "Alder Bridge", "url": "https://example.org/alder"}],
    "annotations": [{"knowledge": [{"content": None}], "long_answer": "In 1911, or in 1954."}],
    "sample_id": "-42",
    "question": "When did Alder Bridge open?",
    "docs": DOCS,
    "answer": "In 1911, or in 1954.",
}
ELI5 = {
    "question": "Why do bridges have gaps in them?",
    "question_ctx": "",
    "answer": "Because steel grows in the heat.",
    "claims": ["Steel grows in the heat.", "Gaps give it room.", "Without gaps it would bend."],
    "docs": [{"title": " ", "text": "Heat makes steel grow.", "url": "https://example.org/heat"}],
}


def write(path: Path, rows: Sequence[Any]) -> Path:
    path.write_text(json.dumps(rows), "utf-8")
    return path


def test_asqa(tmp_path: Path) -> None:
    (question,) = alce.read(write(tmp_path / "asqa_eval_gtr_top100.json", [ASQA]))
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
    path = write(tmp_path / "eli5_eval_bm25_top100.json", [ELI5, ELI5 | {"question": "Why tar?"}])
    first, second = alce.read(path)
    assert (first.id, second.id, first.task) == ("1", "2", "eli5")
    assert first.claims == tuple(ELI5["claims"])
    assert first.answers == ()
    assert first.passages == (Document(id="1", text="Heat makes steel grow."),)


def test_passages_keep_their_numbers_where_one_has_no_text(tmp_path: Path) -> None:
    docs = [DOCS[0], {"title": "Nothing", "text": " "}, DOCS[1]]
    (question,) = alce.read(write(tmp_path / "a.json", [ASQA | {"docs": docs}]))
    assert [passage.id for passage in question.passages] == ["1", "3"]
