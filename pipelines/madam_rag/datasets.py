"""The data sets of section 5.1 by name: a released file as questions with documents and answers."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pipelines.data import ambigdocs, faitheval, ramdocs
from pipelines.data.ambigdocs import AmbiguousQuestion
from pipelines.data.faitheval import FaithQuestion
from pipelines.data.ramdocs import UNKNOWN, RamQuestion
from pipelines.data.records import Document
from pipelines.data.released import Part, in_part
from pipelines.data.sampling import sample
from pipelines.errors import InputError
from pipelines.files import read_bytes
from pipelines.madam_rag.question import GivenDocument, Kind, Question
from pipelines.metrics.short_answers import canonical, distinct

DatasetName = Literal["ramdocs", "ambigdocs", "faitheval"]

RAMDOCS: DatasetName = "ramdocs"
AMBIGDOCS: DatasetName = "ambigdocs"
FAITHEVAL: DatasetName = "faitheval"

SAMPLES = Path(__file__).parents[1] / "data" / "samples" / "ramdocs.jsonl"
"""Ten questions in the format of RAMDocs that come with the program."""


@dataclass(frozen=True)
class Dataset:
    """Questions of a file or of one half of it, in its order, with distinct ids.

    The digest is the SHA-256 of the file's bytes.
    """

    name: DatasetName
    file: str
    digest: str
    part: Part
    questions: tuple[Question, ...]


def read(name: DatasetName, path: Path, *, part: Part = "all", titles: bool = False) -> Dataset:
    """The questions of a released file, or those of one half, by their text.

    The training half of RAMDocs may have trained the tagger that comes with the program. Titles of
    AmbigDocs name the entity that a document is about. The paper's agents do not see them; here
    they do with `titles`.

    Raises:
        InputError: The file cannot be read, is of another format, or has no question in this half.
    """
    release, as_question = _RELEASES[name]
    released = enumerate(release(path), start=1)
    questions = _with_distinct_ids([as_question(row, number) for number, row in released])
    if not titles:
        questions = [question.untitled() for question in questions]
    chosen = in_part(questions, part, lambda question: question.question)
    if not chosen:
        raise InputError(f"{path} has no question in the {part} half; choose another --half")
    digest = hashlib.sha256(read_bytes(path)).hexdigest()
    return Dataset(name, path.name, digest, part, tuple(chosen))


def sampled(questions: Sequence[Question], n: int, seed: int) -> tuple[Question, ...]:
    """Some of the questions, drawn without replacement, in their order.

    The paper samples 1,000 of AmbigDocs' test split (section 5.1). Which ones it does not say. The
    same seed chooses the same of the same questions; all are taken where there are no more than n.
    """
    return tuple(sample(questions, n, seed))


def from_ramdocs(question: RamQuestion, number: int) -> Question:
    """A question of RAMDocs.

    Gold answers that are one after normalisation count once. Wrong answers are distinct, none is
    empty, and none is a gold answer too: six of the first 250 questions have such a one, and nobody
    can give all gold answers without giving it. Documents keep their kind and their answer even
    then. The id is the row's number in the file, from 1, for the release has none.
    """
    right = {canonical(answer) for answer in question.gold_answers}
    wrong = distinct(question.wrong_answers)
    return Question(
        id=str(number),
        question=question.question,
        documents=_documents(
            (each.text, None, each.type, None if each.answer == UNKNOWN else each.answer)
            for each in question.documents
        ),
        gold=_gold(question.gold_answers),
        wrong=tuple(answer for answer in wrong if canonical(answer) not in right),
    )


def from_ambigdocs(question: AmbiguousQuestion, number: int) -> Question:
    """A question of AmbigDocs: every document gives a right answer, and none is wrong."""
    return Question(
        id=str(question.qid if question.qid is not None else number),
        question=question.question,
        documents=_documents(
            (each.text, each.title, "correct", each.answer) for each in question.documents
        ),
        gold=_gold([document.answer for document in question.documents]),
    )


def from_faitheval(question: FaithQuestion, number: int) -> Question:
    """A question of FaithEval: one right answer with several names, and all others are wrong."""
    return Question(
        id=str(question.qid if question.qid is not None else number),
        question=question.question,
        documents=_documents(
            (text, None, None, None) for text in faitheval.documents(question.context)
        ),
        gold=(question.answers,),
        one_answer=True,
    )


def _documents(
    given: Iterable[tuple[str, str | None, Kind | None, str | None]],
) -> tuple[GivenDocument, ...]:
    """Documents "d1", "d2" and so on, each of a text, a title, a kind and an answer."""
    return tuple(
        GivenDocument(
            document=Document(id=f"d{n}", text=text, title=title), kind=kind, answer=answer
        )
        for n, (text, title, kind, answer) in enumerate(given, start=1)
    )


def _gold(answers: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Right answers, each once; where normalisation leaves nothing of any ("A"), as they stand."""
    return tuple((answer,) for answer in distinct(answers) or dict.fromkeys(answers))


def _with_distinct_ids(questions: Sequence[Question]) -> Sequence[Question]:
    """The questions, named by their rows where a release gives one id twice."""
    if len({question.id for question in questions}) == len(questions):
        return questions
    return [q.model_copy(update={"id": str(n)}) for n, q in enumerate(questions, start=1)]


_RELEASES: Mapping[DatasetName, tuple[Callable[[Path], Sequence[Any]], Callable[..., Question]]] = {
    RAMDOCS: (ramdocs.read, from_ramdocs),
    AMBIGDOCS: (ambigdocs.read, from_ambigdocs),
    FAITHEVAL: (faitheval.read, from_faitheval),
}
"""How a release is read, and what makes a question of one of its rows and the row's number."""
