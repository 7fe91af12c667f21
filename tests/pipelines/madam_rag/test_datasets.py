"""Released files as questions with documents and answers."""

from pathlib import Path

from releases import AMBIGDOCS as AMBIG
from releases import FAITHEVAL as FAITH
from releases import RAMDOCS as RAM
from releases import lines

from pipelines.madam_rag.data import AMBIGDOCS, FAITHEVAL, RAMDOCS, GivenDocument, Question, read
from pipelines.madam_rag.settings import DatasetName


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
    # The third gold answer is the first in another spelling; of the wrong ones, one appears twice,
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
