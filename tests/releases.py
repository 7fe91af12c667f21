"""Small files in the formats of released data sets, and loaders' messages about bad ones."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipelines.errors import InputError

RAMDOCS: dict[str, Any] = {
    "question": "When was the mill opened?",
    "documents": [
        {"text": "In July 1905.", "type": "correct", "answer": "15 July 1905"},
        {"text": "In 1911.", "type": "correct", "answer": "1911"},
        {"text": "In 1954.", "type": "misinfo", "answer": "1954"},
        {"text": "On flour.", "type": "noise", "answer": "unknown"},
    ],
    "disambig_entity": ["Mill (Ohio)", "Mill (Utah)", None],
    "gold_answers": ["15 July 1905", "1911", "July 15, 1905"],
    "wrong_answers": ["1954", "", "1954", "the 1911"],
}
AMBIGDOCS: dict[str, Any] = {
    "question": "Where is the Reed House?",
    "ambiguous_entity": "Reed House",
    "qid": 7,
    "documents": [
        {"title": "Reed House (Lima)", "text": "In Ohio.", "pid": 1, "answer": "Ohio"},
        {"title": "Reed House (Alta)", "text": "In Utah.", "pid": "2", "answer": "Utah"},
        {"title": "Reed House (Troy)", "text": "Ohio, too.", "pid": 3, "answer": "ohio"},
    ],
}
FAITHEVAL: dict[str, Any] = {
    "qid": "a1",
    "question": "Who built the mill?",
    "context": "Document: Ada Ng built the mill.\n\nDocument: The mill was built by Bo Li.",
    "answers": ["Ada Ng", "Ng"],
}
CONFLICTINGQA: dict[str, Any] = {
    "category": "web",
    "search_query": "Is tea good?",
    "search_engine_input": ["tea is good", "tea is not good"],
    "search_type": "yes_statement",
    "url": "https://example.org/1",
    "title": "Tea",
    "text_raw": "long text",
    "text_window": "Tea is good.",
    "stance": "yes",
}
MACNOISE: dict[str, Any] = {
    "question": "who built the bridge",
    "answers": ["Ada Ng", "Ng"],
    "ctxs": [
        {
            "id": "1",
            "title": "Bridge",
            "text": "title: Bridge context: Ada Ng built it.",
            "text_pert": "title: The Old Bridge Context: Bo Li built it.",
        },
        {"id": "2", "title": "Toll", "text": "title: Toll context: x", "text_pert": "y"},
    ],
    "pert_lbls": [1, 0],
    "pert_lbls_25": [0, 0],
}
ALCE_DOCUMENTS: list[dict[str, Any]] = [
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
ASQA: dict[str, Any] = {
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
    "docs": ALCE_DOCUMENTS,
    "answer": "In 1911, or in 1954.",
}
RAGTRUTH: dict[str, Any] = {
    "id": "7",
    "source_id": "s1",
    "model": "some-model",
    "temperature": 0.7,
    "labels": [
        {
            "start": 0,
            "end": 20,
            "text": "It was built in 1936",
            "meta": "EVIDENT CONFLICT\nOriginal: 1932\nGenerated: 1936",
            "label_type": "Evident Conflict",
            "implicit_true": False,
            "due_to_null": False,
        }
    ],
    "split": "train",
    "quality": "good",
    "response": "It was built in 1936. It is grey.",
}


def lines(path: Path, *rows: object) -> Path:
    """A JSON Lines file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def without(row: dict[str, Any], field: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != field}


def refusal(read: Callable[[Path], object], path: Path) -> str:
    """A loader's message about a file that it rejects: one line that begins with the path."""
    with pytest.raises(InputError) as caught:
        read(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message
