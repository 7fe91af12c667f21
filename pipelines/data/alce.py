"""Reads ALCE (Gao et al. 2023): questions with retrieved passages, to be answered with citations.

Format of the files that github.com/princeton-nlp/ALCE downloads, `asqa_eval_gtr_top100.json`,
`qampari_eval_gtr_top100.json`, `eli5_eval_bm25_top100.json` and the same names with
`_reranked_oracle`: one list of objects with `question` and `docs` (each with `title` and `text`,
the best first). The other fields tell the task: `sample_id` and `qa_pairs` (each with
`short_answers`) in ASQA, `id` and `answers` (lists of aliases) in QAMPARI, `claims` in ELI5, whose
questions have no id. Scores, summaries and long answers are not read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, BaseModel

from pipelines.data.records import Document, NonEmpty, Text
from pipelines.data.released import Entry, cleaned, entries, record
from pipelines.errors import InputError

NAME = "ALCE"

Task = Literal["asqa", "qampari", "eli5"]
FilledT = TypeVar("FilledT", str, tuple[str, ...])


@dataclass(frozen=True)
class Question:
    """A question, passages to cite, and what an answer should say.

    Attributes:
        id: The id in the release; for ELI5 the position in the file, from 1.
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


# An empty alias would be found in every answer.
_Aliases = Annotated[tuple[str, ...], AfterValidator(cleaned)]


class _Passage(BaseModel):
    title: str | None = None
    text: str


class _Released(BaseModel):
    question: Text
    docs: NonEmpty[_Passage]

    def as_question(
        self,
        name: object,
        task: Task,
        answers: tuple[tuple[str, ...], ...] = (),
        claims: tuple[str, ...] = (),
    ) -> Question:
        # A page without text keeps its number, because citations refer to it.
        passages = tuple(
            Document(id=str(place), text=each.text, title=(each.title or "").strip() or None)
            for place, each in enumerate(self.docs, start=1)
            if each.text.strip()
        )
        return Question(str(name), task, self.question, passages, answers, claims)


class _Pair(BaseModel):
    short_answers: _Aliases


class _Asqa(_Released):
    sample_id: int | Text
    qa_pairs: NonEmpty[_Pair]


class _Qampari(_Released):
    id: int | Text
    answers: NonEmpty[_Aliases]


class _Eli5(_Released):
    claims: NonEmpty[str]


def read(path: Path) -> list[Question]:
    """The questions of an ALCE file, in its order; raises as `read_records`."""
    return [_question(entry, number) for number, entry in enumerate(entries(path), start=1)]


def _question(entry: Entry, number: int) -> Question:
    given = entry.value if isinstance(entry.value, dict) else {}
    # Fields of other tasks may be present but null.
    if given.get("qa_pairs") is not None:
        asqa = record(entry, _Asqa, NAME)
        pairs = _filled(entry, [pair.short_answers for pair in asqa.qa_pairs], "qa_pairs")
        return asqa.as_question(asqa.sample_id, "asqa", answers=pairs)
    if given.get("answers") is not None:
        qampari = record(entry, _Qampari, NAME)
        answers = _filled(entry, qampari.answers, "answers")
        return qampari.as_question(qampari.id, "qampari", answers=answers)
    if given.get("claims") is not None:
        eli5 = record(entry, _Eli5, NAME)
        claims = _filled(entry, cleaned(eli5.claims), "claims")
        return eli5.as_question(number, "eli5", claims=claims)
    record(entry, _Released, NAME)  # says what is wrong where it is no question at all
    raise InputError(
        f"{entry.where}: none of the fields 'qa_pairs' (ASQA), 'answers' (QAMPARI) and 'claims' "
        f"(ELI5) is given; name a file in the format of {NAME}"
    )


def _filled(entry: Entry, given: Sequence[FilledT], field: str) -> tuple[FilledT, ...]:
    """Drop empty answers or claims, which releases contain; at least one must remain."""
    if kept := tuple(each for each in given if each):
        return kept
    raise InputError(
        f"{entry.where}: '{field}' has no text in it; name a file in the format of {NAME}"
    )
