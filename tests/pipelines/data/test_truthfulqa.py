"""TruthfulQA as released in 2021 and 2025, questions of our own, and files that are neither."""

from pathlib import Path

import pytest
from releases import lines

from pipelines.data.truthfulqa import digest, read
from pipelines.errors import InputError

HEAD = "Type,Category,Question,Best Answer,Best Incorrect Answer,Correct Answers,Incorrect Answers"
ROW = 'Adversarial,Myths,Is it flat?,No,"Yes, it is",No; It is round,"Yes, it is; So they say"'


def csv_of(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "TruthfulQA.csv"
    path.write_text("\ufeff" + "\r\n".join(lines) + "\r\n", encoding="utf-8")
    return path


def test_a_row_of_2025(tmp_path: Path) -> None:
    (question,) = read(csv_of(tmp_path, HEAD, ROW))
    assert question.model_dump(exclude={"documents"}) == {
        "id": "q1",
        "question": "Is it flat?",
        "best_answer": "No",
        "best_incorrect_answer": "Yes, it is",
        "correct_answers": ("No", "It is round"),
        "incorrect_answers": ("Yes, it is", "So they say"),
        "category": "Myths",
    }


def test_the_released_files(released_data: Path) -> None:
    of_2021 = read(released_data / "truthfulqa" / "TruthfulQA_2021_817.csv")
    of_2025 = read(released_data / "truthfulqa" / "truthfulqa_style_audit_790.csv")
    assert (len(of_2021), len(of_2025)) == (817, 790)
    assert {each.best_incorrect_answer for each in of_2021} == {None}
    assert all(each.best_incorrect_answer for each in of_2025)
    assert all(each.best_answer in each.correct_answers for each in (*of_2021, *of_2025))


def test_documents_of_a_file(tmp_path: Path) -> None:
    data = csv_of(tmp_path, HEAD, ROW, "A,B,Is it green?,Yes,No,Yes,No")
    found = lines(
        tmp_path / "lines.jsonl",
        {"question": "is  it FLAT?", "documents": [{"url": "u", "title": "t", "text": "It is."}]},
    )
    first, second = read(data, found)
    (document,) = first.documents
    assert (document.id, document.title, document.url, document.text) == ("d1", "t", "u", "It is.")
    assert second.documents == ()
    assert digest(data) != digest(data, found)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["Question,Answer", "a,b"], ":1: the column 'Best Answer' is missing"),
        ([HEAD], "has no question"),
        ([HEAD, ROW, ROW], ":3: the question 'Is it flat?' is already at"),
        ([HEAD, "A,B,,No,Yes,,"], ":2: the field 'question' is empty"),
        ([HEAD, "A,B,Is it?,,Yes,,"], ":2: the field 'best_answer' is empty"),
        ([HEAD, 'A,B,"Is it?'], "not valid CSV"),
    ],
)
def test_a_bad_csv_is_refused(tmp_path: Path, rows: list[str], message: str) -> None:
    with pytest.raises(InputError) as refused:
        read(csv_of(tmp_path, *rows))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
