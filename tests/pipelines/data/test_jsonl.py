"""The reader of input files: lines, limits, ids, and what it says of bad lines."""

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.data.jsonl import Skipped, read
from pipelines.data.records import Record
from pipelines.errors import InputError

DOCUMENTS = [{"id": "d", "text": "The bridge was opened in 1936."}]


def record(name: str, **fields: object) -> bytes:
    content = {"id": name, "documents": DOCUMENTS, "response": "It is old.", **fields}
    return json.dumps(content, ensure_ascii=False).encode()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data.jsonl"


def ids(data: Path, **options: object) -> list[str]:
    return [example.id for example in read(data, **options).examples]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(record("a") + b"\n" + record("b") + b"\n", id="plain"),
        pytest.param(record("a") + b"\n" + record("b"), id="no last line end"),
        pytest.param(b"\xef\xbb\xbf" + record("a") + b"\n" + record("b"), id="byte order mark"),
        pytest.param(record("a") + b"\r\n" + record("b") + b"\r\n", id="CRLF"),
        pytest.param(b"\n" + record("a") + b"\n\n  \t\r\n" + record("b") + b"\n\n", id="blanks"),
        pytest.param(b"  " + record("a") + b"  \n\t" + record("b"), id="indented"),
    ],
)
def test_the_same_records_however_the_lines_end(content: bytes, data: Path) -> None:
    data.write_bytes(content)
    found = read(data)
    assert [example.id for example in found.examples] == ["a", "b"]
    assert found.skipped == ()
    assert found.name == "data.jsonl"
    assert found.digest == hashlib.sha256(content).hexdigest()


@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_text_comes_through(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Also line separators of Unicode, which end no line here, and characters beyond 16 bits."""
    data = tmp_path_factory.mktemp("text") / "data.jsonl"
    data.write_bytes(record("a", response=f"x{text}x") + b"\n" + record("b"))
    first, second = read(data).examples
    assert first.response == f"x{text}x"
    assert second.id == "b"


OTHERS = {
    "texts": {"id": 7, "documents": ["Red.", "Blue."], "response": "Grey."},
    "ragas": {
        "user_input": "Which?", "retrieved_contexts": ["Red.", "Blue."], "response": "Grey.",
        "reference": "Red.",
    },
    "trulens": {"input": "Which?", "contexts": ["Red.", "Blue."], "output": "Grey."},
    "deepeval": {
        "input": "Which?", "actual_output": "Grey.", "expected_output": "Red.",
        "context": ["Green."], "retrieval_context": ["Red.", "Blue."],
    },
    "haystack": {
        "query": "Which?", "answer": "Grey.",
        "documents": [{"content": "Red.", "meta": {"page": 1}}, {"id": 2, "content": "Blue."}],
    },
}  # fmt: skip


@pytest.mark.parametrize("tool", OTHERS)
@pytest.mark.parametrize("form", ["line", "list", "several lines"])
def test_records_of_other_tools_are_read(tool: str, form: str, data: Path) -> None:
    value = OTHERS[tool]
    indent = 2 if form == "several lines" else None
    data.write_text(json.dumps([value] if form == "list" else value, indent=indent))
    (example,) = read(data).examples
    assert example.id == ("7" if tool == "texts" else "1")
    assert [document.text for document in example.documents] == ["Red.", "Blue."]
    assert example.documents[0].id == "d1"
    assert example.response == "Grey."
    assert example.question == (None if tool == "texts" else "Which?")


def test_what_nothing_reads_is_kept() -> None:
    given = {"id": "a", "documents": ["Red."], "answer": "gold", "k": 3}
    several = Record.model_validate(given | {"responses": {"x": "Yes."}})
    assert several.metadata == {"answer": "gold", "k": 3}
    one = Record.model_validate(given | {"response": "Yes."})
    assert (one.response, one.metadata) == ("Yes.", {"answer": "gold", "k": 3})


def test_an_entry_of_a_list_is_named_by_its_number(data: Path) -> None:
    data.write_bytes(b"[" + record("a") + b', {"id": "b"}]')
    with pytest.raises(InputError, match=r"data\.jsonl, entry 2: the field 'documents' is missing"):
        read(data)
    data.write_bytes(b"[" + record("a").replace(b"{", b'{"id": "b", ', 1) + b"]")
    with pytest.raises(InputError, match=r"data\.jsonl: the field 'id' is given twice"):
        read(data)


def test_limit_counts_records_not_lines_nor_responses(data: Path) -> None:
    both = {"hedged": "Perhaps.", "firm": "Yes."}
    lines = [b"", record("a", response=None, responses=both), b"no", record("b"), b"no either"]
    data.write_bytes(b"\n".join(lines))
    assert ids(data, on_error="skip", limit=1) == ["a/hedged", "a/firm"]
    found = read(data, on_error="skip", limit=2)
    assert [example.id for example in found.examples] == ["a/hedged", "a/firm", "b"]
    # What lies behind the last record that was asked for is not looked at.
    assert [bad.line for bad in found.skipped] == [3]
    assert ids(data, limit=1) == ["a/hedged", "a/firm"]
    with pytest.raises(InputError, match=r"data\.jsonl:3: not valid JSON"):
        read(data, limit=2)


def test_skipping_names_the_lines_of_the_file(data: Path) -> None:
    lines = [record("a"), b"", b"{", record("a"), b"\xff", record("b")]
    data.write_bytes(b"\r\n".join(lines))
    found = read(data, on_error="skip")
    assert [example.id for example in found.examples] == ["a", "b"]
    assert [bad.line for bad in found.skipped] == [3, 4, 5]
    assert found.skipped[1] == Skipped(4, "the id 'a' is already used on line 1; make ids distinct")


def test_results_of_two_records_never_share_a_name(data: Path) -> None:
    """`a` with the variant `b` and a record `a/b` would keep their results under one id."""
    data.write_bytes(record("a/b") + b"\n" + record("a", response=None, responses={"b": "No."}))
    with pytest.raises(InputError, match=r"jsonl:2: the id 'a/b' is already used on line 1"):
        read(data)
