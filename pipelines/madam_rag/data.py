"""Questions with documents: data sets by name, and their content (MADAM-RAG, sections 3, 5.1)."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from pipelines.data import ambigdocs, faitheval, ramdocs
from pipelines.data.ambigdocs import AmbiguousQuestion
from pipelines.data.faitheval import FaithQuestion
from pipelines.data.ramdocs import UNKNOWN, RamQuestion
from pipelines.data.records import Document, NonEmpty, Text
from pipelines.files import SAMPLES_FOLDER, sha256_of
from pipelines.madam_rag.settings import DatasetName
from pipelines.metrics.answers import canonical, distinct
from pipelines.metrics.estimate import Estimate, mean

Kind = Literal["correct", "misinfo", "noise"]
"""A document's role for its question (RAMDocs, section 3): it supports a gold answer, it supports a
wrong one, or it answers nothing."""


class GivenDocument(BaseModel, frozen=True):
    """A document of a question, its kind and its answer; None if the data do not say."""

    document: Document
    kind: Kind | None = None
    answer: str | None = None


class Question(BaseModel, frozen=True):
    """A question, whose id is unique within its data set; its documents have distinct ids.

    Attributes:
        gold: Right answers; each is a list of its names, one of which is enough.
        wrong: Answers that only misinformation supports.
        one_answer: Whether the gold answers are complete, so that every other answer is wrong
            (FaithEval); else only those in `wrong` are.
        level: In a construction of section 6, the number of documents for the varied answer.
    """

    id: str
    question: Text
    documents: NonEmpty[GivenDocument]
    gold: tuple[tuple[Text, ...], ...] = ()
    wrong: tuple[Text, ...] = ()
    one_answer: bool = False
    level: int | None = None


RELEASED = 500
"""Number of questions in the release."""


@dataclass(frozen=True)
class Statistic:
    """A dimension of Figure 5: its mean over questions, beside the paper's in appendix A.

    The mean is None if no question counts. `distribution` gives the number of questions for each
    value, rounded to the nearest half.
    """

    name: str
    paper: float
    estimate: Estimate | None
    distribution: Mapping[float, int] = field(default_factory=dict)


def statistics(questions: Sequence[RamQuestion]) -> tuple[Statistic, ...]:
    """The dimensions of appendix A, in its order.

    Questions are counted as released, with repeated wrong answers, which `Question` drops.
    """
    made = []
    for name, paper, number in AVERAGES:
        values = [value for q in questions if (value := number(q)) is not None]
        halves = Counter(round(2 * value) / 2 for value in values)
        made.append(Statistic(name, paper, mean(values), dict(sorted(halves.items()))))
    return tuple(made)


def _of_type(question: RamQuestion, kind: str) -> int:
    return sum(document.type == kind for document in question.documents)


def _per_wrong_answer(question: RamQuestion) -> float | None:
    wrong = len(question.wrong_answers)
    return _of_type(question, "misinfo") / wrong if wrong else None


AVERAGES: tuple[tuple[str, float, Callable[[RamQuestion], float | None]], ...] = (
    ("documents", 5.53, lambda q: len(q.documents)),
    ("supporting documents", 3.84, lambda q: _of_type(q, "correct")),
    ("misinformation documents", 0.61, lambda q: _of_type(q, "misinfo")),
    ("noise documents", 1.08, lambda q: _of_type(q, "noise")),
    ("gold answers", 2.20, lambda q: len(q.gold_answers)),
    ("wrong answers", 0.86, lambda q: len(q.wrong_answers)),
    ("documents per gold answer", 1.77, lambda q: _of_type(q, "correct") / len(q.gold_answers)),
    ("documents per wrong answer", 0.73, _per_wrong_answer),
)
"""Name, figure of appendix A, and the value of a question; None if the question does not count."""


RAMDOCS: DatasetName = "ramdocs"
AMBIGDOCS: DatasetName = "ambigdocs"
FAITHEVAL: DatasetName = "faitheval"

SAMPLES = SAMPLES_FOLDER / "ramdocs.jsonl"
"""Ten bundled questions in the format of RAMDocs."""


@dataclass(frozen=True)
class Dataset:
    """Questions of a file, in its order, with distinct ids.

    The digest is the SHA-256 of the file's bytes.
    """

    name: DatasetName
    file: str
    digest: str
    questions: tuple[Question, ...]


def read(name: DatasetName, path: Path) -> Dataset:
    """Read the questions of a released file.

    Raises:
        InputError: The file cannot be read, or has another format.
    """
    release, as_question = _RELEASES[name]
    released = enumerate(release(path), start=1)
    questions = _with_distinct_ids([as_question(row, number) for number, row in released])
    return Dataset(name, path.name, sha256_of(path), tuple(questions))


def from_ramdocs(question: RamQuestion, number: int) -> Question:
    """A question of RAMDocs.

    Gold answers that are equal after normalisation count once. Wrong answers are distinct and not
    empty, and none is a gold answer too: six of the first 250 questions have such an answer, and it
    would be impossible to give all gold answers without it. Documents keep their kind and their
    answer even then. The id is the row's number in the file, from 1, since the release has no ids.
    """
    right = {canonical(answer) for answer in question.gold_answers}
    wrong = distinct(question.wrong_answers)
    return Question(
        id=str(number),
        question=question.question,
        documents=_documents(
            (document.text, document.type, None if document.answer == UNKNOWN else document.answer)
            for document in question.documents
        ),
        gold=_gold(question.gold_answers),
        wrong=tuple(answer for answer in wrong if canonical(answer) not in right),
    )


def from_ambigdocs(question: AmbiguousQuestion, number: int) -> Question:
    """A question of AmbigDocs: every document gives a right answer, and none is wrong.

    Titles name the entity that a document is about. The paper's agents do not see them.
    """
    return Question(
        id=str(question.qid if question.qid is not None else number),
        question=question.question,
        documents=_documents(
            (document.text, "correct", document.answer) for document in question.documents
        ),
        gold=_gold([document.answer for document in question.documents]),
    )


def from_faitheval(question: FaithQuestion, number: int) -> Question:
    """A question of FaithEval: one right answer with several names; all other answers are wrong."""
    return Question(
        id=str(question.qid if question.qid is not None else number),
        question=question.question,
        documents=_documents((text, None, None) for text in faitheval.documents(question.context)),
        gold=(question.answers,),
        one_answer=True,
    )


def _documents(
    given: Iterable[tuple[str, Kind | None, str | None]],
) -> tuple[GivenDocument, ...]:
    """Documents "d1", "d2" and so on, from texts, kinds and answers."""
    return tuple(
        GivenDocument(document=Document(id=f"d{n}", text=text), kind=kind, answer=answer)
        for n, (text, kind, answer) in enumerate(given, start=1)
    )


def _gold(answers: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Right answers, distinct after normalisation; if it empties all of them ("A"), as written."""
    return tuple((answer,) for answer in distinct(answers) or dict.fromkeys(answers))


def _with_distinct_ids(questions: Sequence[Question]) -> Sequence[Question]:
    """The questions, with row numbers as ids if a release repeats an id."""
    if len({question.id for question in questions}) == len(questions):
        return questions
    return [q.model_copy(update={"id": str(n)}) for n, q in enumerate(questions, start=1)]


_RELEASES: Mapping[DatasetName, tuple[Callable[[Path], Sequence[Any]], Callable[..., Question]]] = {
    RAMDOCS: (ramdocs.read, from_ramdocs),
    AMBIGDOCS: (ambigdocs.read, from_ambigdocs),
    FAITHEVAL: (faitheval.read, from_faitheval),
}
"""The reader of a release, and the function that makes a question from a row and its number."""
