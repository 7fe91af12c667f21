"""Released files as questions with documents and answers."""

import gzip
import hashlib
from pathlib import Path
from typing import Any

import pytest
from releases import AMBIGDOCS as AMBIG
from releases import FAITHEVAL as FAITH
from releases import RAMDOCS as RAM
from releases import lines, refusal

from pipelines.madam_rag.data import (
    AMBIGDOCS,
    FAITHEVAL,
    RAMDOCS,
    SAMPLES,
    DatasetName,
    GivenDocument,
    Question,
    read,
)
from pipelines.metrics.answers import canonical

ROWS: dict[DatasetName, dict[str, Any]] = {RAMDOCS: RAM, AMBIGDOCS: AMBIG, FAITHEVAL: FAITH}


def only(name: DatasetName, tmp_path: Path, row: object) -> Question:
    (question,) = read(name, lines(tmp_path / "rows.jsonl", row)).questions
    return question


def brief(given_: GivenDocument) -> tuple[str, str | None, str | None, str | None]:
    return given_.document.text, given_.document.title, given_.kind, given_.answer


def test_a_question_of_ramdocs(tmp_path: Path) -> None:
    question = only(RAMDOCS, tmp_path, RAM)
    assert (question.id, question.question) == ("1", RAM["question"])
    assert [brief(each) for each in question.documents] == [
        ("In July 1905.", None, "correct", "15 July 1905"),
        ("In 1911.", None, "correct", "1911"),
        ("In 1954.", None, "misinfo", "1954"),
        ("On flour.", None, "noise", None),
    ]
    # The third gold answer is the first in another spelling; of the wrong ones, one stands twice,
    # one is empty, and one is a gold answer.
    assert question.gold == (("15 July 1905",), ("1911",))
    assert question.wrong == ("1954",)
    assert not question.one_answer


def test_agents_do_not_see_the_entity_in_a_title(tmp_path: Path) -> None:
    question = only(AMBIGDOCS, tmp_path, AMBIG)
    assert question.id == "7"
    assert [brief(each) for each in question.documents] == [
        ("In Ohio.", None, "correct", "Ohio"),
        ("In Utah.", None, "correct", "Utah"),
        ("Ohio, too.", None, "correct", "ohio"),
    ]
    assert question.gold == (("Ohio",), ("Utah",))
    assert question.wrong == ()
    assert not question.one_answer


def test_a_question_of_faitheval(tmp_path: Path) -> None:
    question = only(FAITHEVAL, tmp_path, FAITH)
    assert question.id == "a1"
    assert [brief(each) for each in question.documents] == [
        ("Ada Ng built the mill.", None, None, None),
        ("The mill was built by Bo Li.", None, None, None),
    ]
    assert question.gold == (("Ada Ng", "Ng"),)
    assert question.one_answer


@pytest.mark.parametrize("name", [AMBIGDOCS, FAITHEVAL])
def test_rows_name_questions_where_ids_do_not(name: DatasetName, tmp_path: Path) -> None:
    row = ROWS[name]
    for qids in ((None, None), ("x", "x"), (1, "1")):
        rows = [row | {"qid": qid} for qid in qids]
        found = read(name, lines(tmp_path / "rows.jsonl", *rows))
        assert [question.id for question in found.questions] == ["1", "2"]


def test_an_answer_of_which_normalisation_leaves_nothing_stays(tmp_path: Path) -> None:
    row = RAM | {"gold_answers": ["!"], "wrong_answers": []}
    assert canonical("!") == ""
    assert only(RAMDOCS, tmp_path, row).gold == (("!",),)


@pytest.mark.parametrize("name", ROWS)
def test_a_data_set_says_what_it_was_read_from(name: DatasetName, tmp_path: Path) -> None:
    path = lines(tmp_path / "rows.jsonl", ROWS[name])
    found = read(name, path)
    assert (found.name, found.file) == (name, "rows.jsonl")
    assert found.digest == hashlib.sha256(path.read_bytes()).hexdigest()
    packed = tmp_path / "rows.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read(name, packed).questions == found.questions


@pytest.mark.parametrize("name", ROWS)
def test_a_file_of_another_format_is_refused_in_one_line(name: DatasetName, tmp_path: Path) -> None:
    path = lines(tmp_path / "rows.jsonl", {"question": "Who?"})
    assert "rows.jsonl:1: the field" in refusal(lambda file: read(name, file), path)


def test_the_bundled_sample() -> None:
    found = read(RAMDOCS, SAMPLES)
    assert [question.id for question in found.questions] == [str(n) for n in range(1, 11)]


def test_on_the_release(released_data: Path) -> None:
    questions = read(RAMDOCS, released_data / "ramdocs" / "RAMDocs_250.jsonl").questions
    assert len(questions) == 250
    for question in questions:
        assert question.gold
        gold = {canonical(name) for names in question.gold for name in names}
        assert len(gold) == len(question.gold)
        assert not gold & {canonical(answer) for answer in question.wrong}
        # Every document's answer is one of the question's, but where a wrong one is right as well.
        for each in question.documents:
            if each.kind == "correct":
                assert canonical(each.answer or "") in gold
            assert (each.answer is None) == (each.kind == "noise")
