"""Judges of truth beside labels: released files, known answers, agreement worked out by hand."""

import json
from pathlib import Path

import pytest
from commands import Contested
from scripted import Scripted, fenced_text

from pipelines.conflictscore.truthfulqa.labelled import known_answers, read_labelled
from pipelines.data.sampling import sample
from pipelines.data.truthfulqa import SAMPLES, TruthfulQuestion, read
from pipelines.errors import InputError

ASKED = TruthfulQuestion(
    id="q1",
    question="Is it flat?",
    best_answer="No",
    best_incorrect_answer="Yes",
    correct_answers=("It is round",),
)


def row(answer: str, said: str, kind: str = "True", question: str = "Is it  flat?") -> str:
    prompt = f"Q: {question}\nA: {answer}\n{kind}:"
    return json.dumps({"prompt": prompt, "completion": f" {said}"}) + "\n"


def test_known_answers_are_judged_by_the_others() -> None:
    answers, passed_over = known_answers([ASKED])
    assert [(each.id, each.answer, each.label) for each in answers] == [
        ("q1/true-1", "No", True),
        ("q1/true-2", "It is round", True),
    ]
    assert answers[0].asked.correct_answers == ("It is round",)
    assert answers[0].asked.incorrect_answers == ("Yes",)
    assert passed_over == 0


def test_a_file_of_labels(tmp_path: Path) -> None:
    path = tmp_path / "finetune.jsonl"
    path.write_text(
        row("no", "yes") + row("Yes\nit is", "no") + row("Maybe", "no", "Helpful")
        + row("x", "yes", question="Another?")
    )  # fmt: skip
    found = read_labelled(path, [ASKED])
    assert [(each.answer, each.kind, each.label) for each in found.answers] == [
        ("no", "truthful", True),
        ("Yes\nit is", "truthful", False),
        ("Maybe", "informative", False),
    ]
    assert found.passed_over == 1
    assert found.answers[0].asked.correct_answers == ("It is round",)
    assert sample(found.answers, 2, 0) == sample(found.answers, 2, 0)
    assert len(sample(found.answers, 2, 0)) == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (row("no", "maybe"), ":1: no 'Q: ... A: ... True:'"),
        ('{"prompt": "Is it?", "completion": "yes"}', ":1: no 'Q: ... A: ... True:'"),
        ('{"prompt": "Q: a\\nA: b\\nTrue:"}', "the field 'completion' is missing"),
        (row("x", "yes", question="Another?"), "labels no answer to one of the questions"),
    ],
)
def test_bad_labels_are_refused(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "finetune.jsonl"
    path.write_text(line)
    with pytest.raises(InputError) as refused:
        read_labelled(path, [ASKED])
    assert message in str(refused.value)


def test_the_released_labels(released_data: Path) -> None:
    folder = released_data / "truthfulqa"
    questions = read(folder / "TruthfulQA_2021_817.csv")
    found = read_labelled(folder / "finetune_truth.jsonl.gz", questions)
    assert len(found.answers) > 15_000
    assert 0.2 < sum(each.label for each in found.answers) / len(found.answers) < 0.7


def test_agreement_beside_always_yes(
    endpoint: Scripted,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Four labels yes, yes, no, no; the judge says yes, no, yes and nothing: one of three agrees.

    Of the readable three, two labels and two verdicts are yes: chance agreement is
    2/3 2/3 + 1/3 1/3 = 5/9, and kappa (1/3 - 5/9) / (1 - 5/9) = -1/2.
    """
    monkeypatch.chdir(tmp_path)
    Path("q.csv").write_text(
        "Question,Best Answer,Best Incorrect Answer,Correct Answers,Incorrect Answers\n"
        "Is it flat?,No,Yes,No; Round,Yes; Flat\n"
    )
    Path("labels.jsonl").write_text(
        row("one", "yes") + row("two", "yes") + row("three", "no") + row("four", "no")
    )
    says = {"one": "true", "two": "false", "three": "true", "four": "perhaps"}
    endpoint.reply = lambda request: (
        f'{{"verdict": {says[fenced_text(request, "ANSWER")]}, "explanation": "so"}}'
    )
    contested = Contested(capsys)
    command = ("run", "truth-judges", "--data", "q.csv", "--labelled", "labels.jsonl")
    contested.done(*command, "--endpoint", endpoint.url)
    (found,) = json.loads(Path("results/tables/truth_judges_agreement.json").read_text())["rows"]
    assert found["accuracy"] == pytest.approx(1 / 3)
    assert found["always_yes"] == pytest.approx(2 / 3)
    assert found["kappa"] == pytest.approx(-1 / 2)
    assert (found["answers"], found["unreadable"]) == (4, 1)
    assert "Do judges of truth" in Path("results/report.html").read_text()
    assert "no effect with --truth llm" in contested.refused(*command, "--tagger", "t")


def test_the_tagger_judges_known_answers(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Contested(capsys).done("run", "truth-judges", "--truth", "nli", "--sample", "30")
    (found,) = json.loads(Path("results/tables/truth_judges_agreement.json").read_text())["rows"]
    assert found["answers"] == 30
    assert found["data"] == SAMPLES.name
