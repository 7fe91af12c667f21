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
