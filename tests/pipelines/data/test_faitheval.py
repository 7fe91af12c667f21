"""FaithEval's inconsistent task: its files, its documents, and what is refused."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from releases import FAITHEVAL as ROW
from releases import lines, refusal

from pipelines.data import faitheval
from pipelines.data.faitheval import documents


def parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    import pyarrow as arrow
    from pyarrow import parquet as format_

    format_.write_table(arrow.Table.from_pylist(rows), path)
    return path


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("form", ["parquet", "lines", "list"])
def test_the_content_decides_how_a_file_is_read(form: str, packed: bool, tmp_path: Path) -> None:
    path, rows = tmp_path / "inconsistent", [ROW, ROW | {"qid": "b2", "answers": ["1902"]}]
    if form == "parquet":
        parquet(path, rows)
    else:
        lines(path, *([rows] if form == "list" else rows))
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    first, second = faitheval.read(path)
    assert (first.qid, second.qid) == ("a1", "b2")
    assert first.question == ROW["question"]
    assert first.answers == ("Ada Ng", "Ng")
    assert second.answers == ("1902",)
    assert documents(first.context) == ("Ada Ng built the mill.", "The mill was built by Bo Li.")


def test_empty_and_repeated_answers_are_dropped(tmp_path: Path) -> None:
    given_ = ROW | {"answers": ["b", "1902", " 1902 ", ""]}
    (question,) = faitheval.read(lines(tmp_path / "f.jsonl", given_))
    assert question.answers == ("b", "1902")
    assert "'answers' is empty" in refusal(
        faitheval.read, lines(tmp_path / "e.jsonl", ROW | {"answers": [" "]})
    )


@pytest.mark.parametrize(
    ("context", "parts"),
    [
        ("No mark at all.", ("No mark at all.",)),
        ("Document: one", ("one",)),
        ("Document:one Document:two", ("one", "two")),
        ("Before. Document: after", ("Before.", "after")),
        ("Document: Document: two\n", ("two",)),
        # A word that ends so is no mark, nor is one that is written small.
        ("Document: the MyDocument: x and document: y", ("the MyDocument: x and document: y",)),
    ],
)
def test_documents_of_a_context(context: str, parts: tuple[str, ...]) -> None:
    assert documents(context) == parts


def test_a_file_of_another_data_set_is_refused(tmp_path: Path) -> None:
    other = [{"question": "Where?", "documents": ["a"]}]
    for path in (lines(tmp_path / "o.jsonl", *other), parquet(tmp_path / "o.parquet", other)):
        assert "the field 'context' is missing" in refusal(faitheval.read, path)
