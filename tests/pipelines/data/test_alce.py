"""ALCE in its official formats, on small files of our own."""

import gzip
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
QAMPARI = {
    "id": "7__dev",
    "question": "Which bridges did Ada Ng build?",
    "answers": [["Alder Bridge", "Old Alder Bridge"], ["Reed Crossing"]],
    "qa_pairs": None,
    "docs": DOCS,
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


def test_qampari(tmp_path: Path) -> None:
    (question,) = alce.read(write(tmp_path / "qampari_eval_gtr_top100.json", [QAMPARI]))
    assert (question.id, question.task) == ("7__dev", "qampari")
    assert question.answers == (("Alder Bridge", "Old Alder Bridge"), ("Reed Crossing",))
    assert question.claims == ()


def test_eli5_questions_are_named_by_their_place(tmp_path: Path) -> None:
    path = write(tmp_path / "eli5_eval_bm25_top100.json", [ELI5, ELI5 | {"question": "Why tar?"}])
    first, second = alce.read(path)
    assert (first.id, second.id, first.task) == ("1", "2", "eli5")
    assert first.claims == tuple(ELI5["claims"])
    assert first.answers == ()
    assert first.passages == (Document(id="1", text="Heat makes steel grow."),)


def test_numbers_as_names_lines_and_packed_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "alce.json"
    rows = (ASQA | {"sample_id": 5}, QAMPARI | {"id": 6})
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    assert [question.id for question in alce.read(path)] == ["5", "6"]


def test_passages_keep_their_numbers_where_one_has_no_text(tmp_path: Path) -> None:
    docs = [DOCS[0], {"title": "Nothing", "text": " "}, DOCS[1]]
    (question,) = alce.read(write(tmp_path / "a.json", [ASQA | {"docs": docs}]))
    assert [passage.id for passage in question.passages] == ["1", "3"]


def test_what_is_empty_beside_others_is_left_out(tmp_path: Path) -> None:
    """As releases have it: the file is read all the same."""
    pairs = [{"short_answers": ["", " "]}, {"short_answers": ["1936", ""]}]
    path = tmp_path / "alce.json"
    rows = [
        ASQA | {"qa_pairs": pairs},
        QAMPARI | {"answers": [["Alder"], [""]]},
        ELI5 | {"claims": ["Steel grows.", " "]},
    ]
    asqa, qampari, eli5 = alce.read(write(path, rows))
    assert (asqa.answers, qampari.answers) == ((("1936",),), (("Alder",),))
    assert eli5.claims == ("Steel grows.",)
