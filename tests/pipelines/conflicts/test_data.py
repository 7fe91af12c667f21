"""CONFLICTS as released: rows, queries, and what a file holds beside the paper's counts."""

import gzip
import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conflicts_endpoint import query
from releases import lines, without

from pipelines.conflicts.data import (
    BY_ORIGIN,
    NOT_STATED,
    QUERIES,
    Query,
    Source,
    as_query,
    read,
    statistics,
)
from pipelines.conflicts.taxonomy import ANSWERABLE, TAXONOMY, ConflictType
from pipelines.data import conflicts
from pipelines.data.conflicts import LABELS, SearchResult, official_label
from pipelines.errors import InputError

PAGE = "The dam was built in 1902. " * 3
OFFICIAL: dict[str, Any] = {
    "source": "FreshQA",
    "question": " How many locks has the canal? ",
    "conflict_type": "Conflict due to outdated information",
    "correct_answer": "Five",
    "search_results": [
        {
            "title": "The canal",
            "url": "https://example.org/canal",
            "snippet": "It has five ...",
            "date": "2023-06-13 00:00:00",
            "response_str": PAGE,
            "short_text": " It has five locks. ",
        },
        {"title": None, "url": None, "snippet": "Four locks.", "date": "NA", "short_text": None},
        {"title": "Nothing", "snippet": " ", "date": "2 days ago", "short_text": ""},
        {"short_text": "", "response_str": PAGE, "date": 2019},
        {},
    ],
}
OPINION = {
    "question": "Is the canal beautiful?",
    "conflict_type": "conflicting  Opinions OR research outcomes",
    "correct_answer": None,
    "search_results": [{"short_text": "Yes."}, {"short_text": "No."}],
}
PARTIAL: dict[str, Any] = {
    "query": "Who built the mill?",
    "conflict_type": "Conflicting opinions or research outcomes",
    "gold_answer": "",
    "docs": [{"doc_id": "d1", "url": "u", "title": "Mill", "text": "Ada Ng.", "date": ""}],
    "official_index_1based": 77,
    "from": "elsewhere",
}


@pytest.fixture(scope="module")
def released(released_data: Path) -> Path:
    return released_data / "conflicts" / "conflicts_partial.jsonl.gz"


# Rows


def test_the_labels_are_those_of_the_taxonomy() -> None:
    assert tuple(each.label for each in TAXONOMY) == LABELS
    assert official_label(" no  CONFLICT\n") == "No conflict"
    assert official_label(LABELS[2].replace("and", "or")) == LABELS[2]
    with pytest.raises(
        ValueError, match="'Other' is not a type of conflict; the types are 'No conflict'"
    ):
        official_label("Other")


def test_a_row_of_the_part_that_was_passed_on(tmp_path: Path) -> None:
    file = tmp_path / "part.jsonl.gz"
    nameless = without(PARTIAL, "official_index_1based")
    file.write_bytes(gzip.compress("\n".join(map(json.dumps, (PARTIAL, nameless))).encode()))
    row, other = conflicts.read(file)
    assert row.sources == (SearchResult(text="Ada Ng.", url="u", title="Mill"),)
    assert (row.conflict_type, row.correct_answer, row.origin) == (LABELS[2], "", "")
    assert (row.number, other.number) == (77, 2)


def test_results_without_text_are_passed_over_and_a_row_of_them_is_refused(tmp_path: Path) -> None:
    results = [{"snippet": " "}, {"title": "T", "date": "NA"}, {"response_str": "\ud800b"}]
    (row,) = conflicts.read(lines(tmp_path / "a.jsonl", OFFICIAL | {"search_results": results}))
    assert (len(row.sources), row.passed_over) == (1, 2)
    as_query(row).model_dump_json()  # half of a character is no obstacle
    empty = lines(tmp_path / "b.jsonl", OFFICIAL | {"search_results": results[:2]})
    with pytest.raises(InputError, match="has a text"):
        conflicts.read(empty)


# Queries


def test_a_row_as_a_query(tmp_path: Path) -> None:
    file = lines(tmp_path / "conflicts.jsonl", OFFICIAL, OPINION)
    dataset = read(file)
    assert dataset.file == "conflicts.jsonl"
    assert dataset.digest == hashlib.sha256(file.read_bytes()).hexdigest()
    assert dataset.passed_over == 2
    query, opinion = dataset.queries
    assert query == Query(
        id="1",
        query="How many locks has the canal?",
        sources=(
            Source(
                text="It has five locks.",
                url="https://example.org/canal",
                title="The canal",
                snippet="It has five ...",
                date="2023-06-13 00:00:00",
            ),
            # The snippet is the text already, and "NA" is no date.
            Source(text="Four locks."),
            Source(text=PAGE.strip(), date="2019"),
        ),
        conflict_type=ConflictType.OUTDATED,
        gold_answer="Five",
        origin="FreshQA",
    )
    assert (opinion.id, opinion.conflict_type) == ("2", ConflictType.OPINIONS)
    assert opinion.gold_answer is None


# The real rows


def test_the_real_rows(released: Path) -> None:
    rows = conflicts.read(released)
    assert len(rows) == 144
    assert [Counter(row.conflict_type for row in rows)[label] for label in LABELS] == [
        47, 34, 40, 19, 4,
    ]  # fmt: skip
    sizes = [len(row.sources) for row in rows]
    assert (sum(sizes), min(sizes), max(sizes)) == (1352, 5, 20)
    assert sum(row.passed_over for row in rows) == 0
    assert sum(bool(source.title) for row in rows for source in row.sources) == 140

    queries = read(released).queries
    assert {query.id for query in queries} == {str(row.number) for row in rows}
    assert max(int(query.id) for query in queries) <= QUERIES
    with_gold = [query for query in queries if query.gold_answer]
    assert len(with_gold) == 86
    assert all(query.gold_answer for query in queries if query.conflict_type in ANSWERABLE)


# Statistics


def test_counts_by_hand() -> None:
    given_queries = [
        query(*["Yes."] * 2, gold=ConflictType.NO_CONFLICT, origin="freshqa"),
        query(*["Yes."] * 5, gold=ConflictType.OPINIONS, origin="own"),
        query("Yes."),
    ]
    found = statistics(given_queries, passed_over=4)
    values = {(each.group, each.name): each.value for each in found}
    assert values == {
        **dict.fromkeys((("type", each.short) for each in TAXONOMY), 0),
        ("type", "No conflict"): 1,
        ("type", "Conflicting opinions"): 1,
        **dict.fromkeys((("origin", name) for name in BY_ORIGIN), 0),
        **dict.fromkeys((("origin", name) for name in ("FreshQA", "own", NOT_STATED)), 1),
        ("all", "queries"): 3,
        ("all", "search results per query"): pytest.approx(8 / 3),
        ("all", "search results without text"): 4,
        ("all", "flagged as conflicting"): 1,
        ("all", "single right answer"): 1,
    }


def test_no_origin_anywhere_makes_no_zero() -> None:
    values = {each.name: each.value for each in statistics([query("Yes.")])}
    assert {values[name] for name in BY_ORIGIN} == {None}


# Files without types


@pytest.mark.parametrize(
    "row", [OFFICIAL | {"conflict_type": None}, without(OFFICIAL, "conflict_type")]
)
def test_a_type_may_be_missing(row: dict[str, Any], tmp_path: Path) -> None:
    (untyped,) = read(lines(tmp_path / "own.jsonl", row)).queries
    assert untyped.conflict_type is None
