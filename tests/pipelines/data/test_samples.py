"""The bundled samples are valid, complete, within their bounds, and agree with their README."""

import json
import re
from collections import Counter
from importlib.resources import files
from itertools import combinations
from pathlib import Path

import pytest

from pipelines.data.ramdocs import UNKNOWN, RamQuestion, read
from pipelines.data.records import Record
from pipelines.text.substitution import has_words

SAMPLES = files("pipelines.data") / "samples"
LINES = (SAMPLES / "contested.jsonl").read_text(encoding="utf-8").splitlines()
RAMDOCS = Path(str(SAMPLES / "ramdocs.jsonl"))
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
    assert len({record.id for record in RECORDS}) == len(RECORDS) >= 12


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
    for several in (RECORDS, read(RAMDOCS)):
        passages = [runs(document.text, 9) for each in several for document in each.documents]
        for left, right in combinations(passages, 2):
            assert not left & right


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


# Questions in the format of RAMDocs

QUESTIONS = read(RAMDOCS)

each_question = pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: each.question)


def test_ten_questions_half_of_them_ambiguous() -> None:
    assert len({question.question for question in QUESTIONS}) == len(QUESTIONS) == 10
    ambiguous = [question for question in QUESTIONS if len(question.gold_answers) > 1]
    assert 4 <= len(ambiguous) <= 7
    assert max(len(question.gold_answers) for question in QUESTIONS) == 3


def test_questions_have_the_fields_of_the_release_and_no_others() -> None:
    for line in RAMDOCS.read_text(encoding="utf-8").splitlines():
        values = json.loads(line)
        assert set(values) == set(RamQuestion.model_fields)
        assert all(set(each) == {"text", "type", "answer"} for each in values["documents"])


@each_question
def test_question_is_complete(question: RamQuestion) -> None:
    assert question.question.endswith("?")
    assert 3 <= len(question.documents) <= 6
    assert len(question.disambig_entity) == len(question.gold_answers)
    given = {kind: set[str]() for kind in ("correct", "misinfo", "noise")}
    for document in question.documents:
        given[document.type].add(document.answer)
    assert given["correct"] == set(question.gold_answers), "every right answer has a document"
    assert given["misinfo"] == set(question.wrong_answers)
    assert given["noise"] <= {UNKNOWN}


@each_question
def test_documents_of_a_question_say_what_they_are_marked_with(question: RamQuestion) -> None:
    answers = {*question.gold_answers, *question.wrong_answers}
    for document in question.documents:
        assert 35 <= len(document.text.split()) <= 70
        assert document.text == " ".join(document.text.split()), "stray white space"
        said = {answer for answer in answers if has_words(document.text, answer)}
        assert said == ({document.answer} & answers), document.text


def test_all_kinds_of_documents_stand_in_every_place() -> None:
    places = {
        (document.type, place)
        for question in QUESTIONS
        for place, document in enumerate(question.documents)
    }
    kinds = Counter(kind for kind, _ in places)
    assert len(kinds) == 3
    assert min(kinds.values()) >= 3


def test_readme_names_every_question() -> None:
    for question in QUESTIONS:
        assert f"| {question.question} |" in README
