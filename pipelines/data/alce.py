"""Reads ALCE (Gao et al. 2023): questions with retrieved passages, to be answered with citations.

Format of the files that github.com/princeton-nlp/ALCE downloads, `asqa_eval_gtr_top100.json`,
`qampari_eval_gtr_top100.json`, `eli5_eval_bm25_top100.json` and the same names with
`_reranked_oracle`: one list of objects with `question` and `docs` (each with `title` and `text`,
the best first). The other fields depend on the task: `sample_id` and `qa_pairs` (each with
`short_answers`) in ASQA, `id` and `answers` (lists of aliases) in QAMPARI, `claims` in ELI5, whose
questions have no id. Scores, summaries and long answers are not read.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel

from pipelines.data.records import Document, NonEmpty, Text
from pipelines.data.released import Entry, cleaned, entries, record
from pipelines.errors import InputError

NAME = "ALCE"

Task = Literal["asqa", "qampari", "eli5"]


@dataclass(frozen=True)
class Question:
    """A question, passages to cite, and what an answer should say.

    Attributes:
        id: The id in the release; without one, as in ELI5, the position in the file, from 1.
        passages: Best first, with ids "1", "2" and so on, as ALCE's answers cite them.
        answers: For ASQA and QAMPARI, the aliases of each short answer; any one counts.
        claims: For ELI5, the claims that the answer should entail.
    """

    id: str
    task: Task
    question: str
    passages: tuple[Document, ...]
    answers: tuple[tuple[str, ...], ...] = ()
    claims: tuple[str, ...] = ()


# An empty alias would match every answer.
_Aliases = Annotated[tuple[str, ...], AfterValidator(cleaned)]


class _Passage(BaseModel):
    title: str | None = None
    text: str


class _Pair(BaseModel):
    short_answers: _Aliases


class _Released(BaseModel):
    """A question of any task; fields of other tasks are missing or null."""

    question: Text
    docs: NonEmpty[_Passage]
    sample_id: int | Text | None = None
    id: int | Text | None = None
    qa_pairs: tuple[_Pair, ...] | None = None
    answers: tuple[_Aliases, ...] | None = None
    claims: tuple[str, ...] | None = None


def read(path: Path) -> list[Question]:
    """The questions of an ALCE file, in its order; raises as `read_records`."""
    return [_question(entry, number) for number, entry in enumerate(entries(path), start=1)]


def _question(entry: Entry, number: int) -> Question:
    row = record(entry, _Released, NAME)
    task: Task
    answers: tuple[tuple[str, ...], ...] = ()
    claims: tuple[str, ...] = ()
    # Releases contain empty answers and claims.
    if row.qa_pairs is not None:
        task, name = "asqa", row.sample_id
        answers = tuple(pair.short_answers for pair in row.qa_pairs if pair.short_answers)
    elif row.answers is not None:
        task, name = "qampari", row.id
        answers = tuple(filter(None, row.answers))
    elif row.claims is not None:
        task, name = "eli5", None
        claims = cleaned(row.claims)
    else:
        raise InputError(
            f"{entry.where}: none of the fields 'qa_pairs' (ASQA), 'answers' (QAMPARI) and "
            f"'claims' (ELI5) is given; name a file in the format of {NAME}"
        )
    if not answers and not claims:
        raise InputError(
            f"{entry.where}: no expected answer or claim has text; name a file in the format of "
            f"{NAME}"
        )
    # A passage without text is dropped, but its number is not reused: citations refer to it.
    passages = tuple(
        Document(id=str(place), text=passage.text, title=(passage.title or "").strip() or None)
        for place, passage in enumerate(row.docs, start=1)
        if passage.text.strip()
    )
    question_id = str(number if name is None else name)
    return Question(question_id, task, row.question, passages, answers, claims)
