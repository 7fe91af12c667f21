"""The judge of behaviour against people's labels, and our own labelled answers."""

import json
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from debates import asking
from people import JUDGED
from scripted import fenced_text

from pipelines.conflicts.citations import cited_sentences
from pipelines.conflicts.judges.experiment import judged
from pipelines.conflicts.judges.model import model_judge
from pipelines.conflicts.judges.validation import (
    SAMPLES,
    LabelledAnswer,
    Rating,
    agreement,
    read,
    read_wikicontradict,
)
from pipelines.conflicts.judges.verdicts import Adherence
from pipelines.conflicts.tables.judges import agreement_table
from pipelines.conflicts.taxonomy import CATEGORY, ConflictType
from pipelines.errors import InputError
from pipelines.metrics.estimate import Estimate
from pipelines.report.table import own_rows

LINE: dict[str, Any] = {
    "id": "a",
    "query": "When?",
    "conflict_type": "no-conflict",
    "answer": "In 1902 [1].",
    "adherent": True,
}


NUMBERS = count()


def rated(
    adherent: bool, says: bool | None, of: ConflictType = ConflictType.OPINIONS, name: str = "a"
) -> Rating:
    query = f"Question {next(NUMBERS)}?"
    labelled = LabelledAnswer(id=name, query=query, conflict_type=of, answer="a", adherent=adherent)
    return Rating(labelled=labelled, adherence=Adherence(adheres=says, type=of))


def written(folder: Path, *lines: object) -> Path:
    path = folder / "answers.jsonl"
    texts = [each if isinstance(each, str) else json.dumps(each) for each in lines]
    path.write_text("".join(f"{text}\n" for text in texts), "utf-8")
    return path


def test_our_samples_are_balanced() -> None:
    answers = read(SAMPLES)
    counts = Counter((each.conflict_type, each.adherent) for each in answers)
    assert len(answers) >= 40
    assert counts == {(of, adherent): 4 for of in ConflictType for adherent in (True, False)}


def test_our_samples_are_varied_and_explained() -> None:
    answers = read(SAMPLES)
    assert len({each.query for each in answers}) == len(answers)
    assert len({each.note for each in answers}) == len(answers)
    for each in answers:
        assert each.note.endswith("."), each.id
        assert ". " not in each.note, each.id  # one sentence
        assert any(sentence.cites for sentence in cited_sentences(each.answer, 5)), each.id
        assert not any(sentence.unknown for sentence in cited_sentences(each.answer, 5)), each.id
        assert len(each.answer) < 600


@pytest.mark.parametrize("label", ["Conflict due to outdated information", "outdated"])
def test_both_names_of_a_type_are_read(label: str, tmp_path: Path) -> None:
    (answer,) = read(written(tmp_path, LINE | {"conflict_type": label, "note": "n"}))
    assert answer.conflict_type is ConflictType.OUTDATED
    assert answer.note == "n"


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([], r"answers\.jsonl has no entry"),
        (["\n \n"], r"answers\.jsonl has no entry"),
        ([LINE, LINE], r"answers\.jsonl:2: the id 'a' stands here a second time"),
        ([LINE, "", "{"], r"answers\.jsonl:3: not valid JSON"),
        ([LINE, []], r"answers\.jsonl:2: a list where labelled answers has an object"),
        ([LINE | {"adherent": "yes"}], r"answers\.jsonl:1: the field 'adherent'"),
        ([LINE | {"adherent": 1}], r"answers\.jsonl:1: the field 'adherent'"),
        ([LINE | {"conflict_type": "other"}], r":1: the field 'conflict_type': 'other' is no type"),
        ([LINE | {"conflict_type": ["opinions"]}], r":1: the field 'conflict_type'"),
        ([LINE | {"answer": "  "}], r":1: the field 'answer' is empty"),
        ([LINE | {"verdict": True}], r":1: there is no field 'verdict'"),
        ([{"id": "a"}], r":1: the field 'query' is missing \(and 3 more\)"),
    ],
)
def test_files_that_cannot_be_read(lines: list[object], reason: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=reason) as caught:
        read(written(tmp_path, *lines))
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read(tmp_path / "nothing.jsonl")


def test_agreement_worked_by_hand() -> None:
    # Verdicts: 3 both yes, 1 judge alone, 1 person alone, 1 both no; one unreadable. 4 of 6 agree.
    # Persons say yes to 4 of 6, the judge too: p_e = (16 + 4) / 36 = 5/9,
    # kappa = (2/3 - 5/9) / (4/9) = 1/4.
    yes = [rated(True, True)] * 3
    rest = [rated(False, True), rated(True, False), rated(False, False), rated(True, None)]
    found = agreement([*yes, *rest])
    assert (found.true_positives, found.false_positives) == (3, 1)
    assert (found.false_negatives, found.true_negatives, found.unreadable) == (1, 1, 1)
    assert found.accuracy is not None
    assert found.accuracy.value == pytest.approx(4 / 6)
    assert found.accuracy.n == 6
    assert found.accuracy.low is not None
    assert found.kappa is not None
    assert found.kappa.value == pytest.approx(1 / 4)


def test_agreement_of_each_type() -> None:
    outdated = [rated(False, says, ConflictType.OUTDATED) for says in (True, None)]
    rows = own_rows(agreement_table([rated(True, True), *outdated], "judge", "file"))
    labels = [CATEGORY[each].label for each in (ConflictType.OPINIONS, ConflictType.OUTDATED)]
    assert [row["type"] for row in rows] == ["all", *labels]
    assert [row["answers"] for row in rows] == [3, 1, 2]
    assert [row["unreadable"] for row in rows] == [1, 0, 1]
    assert [row["judge_alone"] for row in rows] == [1, 0, 1]
    assert isinstance(rows[2]["accuracy"], Estimate)
    assert rows[2]["accuracy"].value == 0.0
    assert rows[1]["kappa"] is None  # both say yes to all


def test_agreement_of_nothing() -> None:
    found = agreement([rated(True, None)])
    assert found.accuracy is found.kappa is None
    assert found.unreadable == 1
    assert len(agreement_table([], "judge", "file").rows) == 1


async def test_every_answer_is_judged_by_its_type(tmp_path: Path) -> None:
    answers = read(SAMPLES)

    def reply(request: dict[str, Any]) -> str:
        """Finds that answers with three citations adhere; stumbles over one."""
        text = fenced_text(request, "ANSWER")
        if "Lusitania" in text:
            return "I cannot say."
        return json.dumps({"reason": "r", "adheres": text.count("[") >= 3})

    async with asking(tmp_path, reply) as (client, requests):
        by = model_judge(client, "json")
        found = [await judged(each, by) for each in answers]
    assert [each.labelled for each in found] == answers
    assert len(requests) == len(answers)
    for each in found:
        assert each.adherence is not None
        assert each.adherence.type is each.labelled.conflict_type
        said = None if each.id == "lusitania-sinking" else each.labelled.answer.count("[") >= 3
        assert each.adherence.adheres == said


def test_answers_to_one_question_are_a_cluster() -> None:
    """Ten times the same three answers: no more is known, and intervals are as wide."""
    said = [(True, True), (False, True), (False, False)]
    answers = [
        (f"{name}-{time}", name, *verdicts)
        for time in range(10)
        for name, verdicts in zip("abc", said, strict=True)
    ]
    ratings = [
        Rating(
            labelled=LabelledAnswer(
                id=name, query=query, conflict_type=ConflictType.OPINIONS, answer="a", adherent=one
            ),
            adherence=Adherence(adheres=other, type=ConflictType.OPINIONS, probability=other / 2),
        )
        for name, query, one, other in answers
    ]
    found = agreement(ratings)
    assert found.accuracy is not None
    assert found.accuracy.value == pytest.approx(2 / 3)
    assert found.accuracy.low == 0  # two of three, by t with two degrees of freedom
    # A yes outranks a no but where the second question's is as high: 1/2 (1 + 1/2).
    assert found.area is not None
    assert found.area.value == pytest.approx(3 / 4)
    assert found.always_yes is not None
    assert found.always_yes.value == pytest.approx(1 / 3)


def test_wikicontradicts_answers_are_labelled(tmp_path: Path) -> None:
    path = written(tmp_path, JUDGED)
    plain, told = read_wikicontradict(path)
    assert (plain.adherent, told.adherent) == (False, True)
    assert plain.conflict_type is told.conflict_type is ConflictType.OPINIONS
    assert told.note == "model-a, told of contradictions: correct"
