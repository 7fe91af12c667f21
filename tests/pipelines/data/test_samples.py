"""The bundled samples are valid, complete, within their bounds, and agree with their README."""

import re
from importlib.resources import files
from itertools import combinations

import pytest

from pipelines.data.records import Record

SAMPLES = files("pipelines.data") / "samples"
LINES = (SAMPLES / "contested.jsonl").read_text(encoding="utf-8").splitlines()
README = (SAMPLES / "README.md").read_text(encoding="utf-8")
RECORDS = [Record.model_validate_json(line) for line in LINES]

each_record = pytest.mark.parametrize("record", RECORDS, ids=[record.id for record in RECORDS])


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def sentences(text: str) -> list[str]:
    """Sentences of plain prose: split after a full stop, question or exclamation mark."""
    return re.split(r"(?<=[.!?])\s+", text)


def runs(text: str, length: int) -> set[tuple[str, ...]]:
    found = words(text)
    return {tuple(found[i : i + length]) for i in range(len(found) - length + 1)}


def readme_rows() -> dict[str, list[str]]:
    rows = [line.strip("|").split("|") for line in README.splitlines() if line.startswith("| `")]
    return {row[0].strip(" `"): [cell.strip() for cell in row] for row in rows}


def test_there_are_enough_records_with_distinct_ids() -> None:
    assert len(RECORDS) >= 12
    assert len({record.id for record in RECORDS}) == len(RECORDS)


@each_record
def test_record_is_complete(record: Record) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", record.id)
    assert record.question is not None
    assert record.question.endswith("?")
    assert 3 <= len(record.documents) <= 5
    assert record.responses is not None
    assert set(record.responses) == {"overconfident", "hedged"}


@each_record
def test_documents_are_short_titled_passages(record: Record) -> None:
    for document in record.documents:
        assert document.title
        assert document.url is None, "the passages are our own and have no page"
        assert document.date is None or re.fullmatch(r"\d{4}(-\d{2})?", document.date)
        assert 60 <= len(document.text.split()) <= 120, document.id
        assert document.text == " ".join(document.text.split()), "stray white space"


@each_record
def test_responses_are_two_to_four_sentences(record: Record) -> None:
    for example in record.examples():
        assert 2 <= len(sentences(example.response)) <= 4, example.id


def test_no_text_is_shared_between_documents() -> None:
    passages = [
        (f"{record.id}/{document.id}", runs(document.text, 9))
        for record in RECORDS
        for document in record.documents
    ]
    for (first, left), (second, right) in combinations(passages, 2):
        assert not left & right, f"{first} and {second} share {left & right}"


def test_readme_has_one_row_per_record() -> None:
    assert list(readme_rows()) == [record.id for record in RECORDS]


@each_record
def test_readme_places_each_document_once_and_shows_a_conflict(record: Record) -> None:
    supports, contradicts, silent = (
        re.findall(r"d\d+", cell) for cell in readme_rows()[record.id][3:6]
    )
    assert supports
    assert contradicts
    assert sorted(supports + contradicts + silent) == [document.id for document in record.documents]


def test_the_supporting_document_is_not_always_first() -> None:
    first = [row[3].startswith("d1") for row in readme_rows().values()]
    assert 0 < sum(first) < len(first) / 2
