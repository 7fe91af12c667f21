"""Answers with a person's label, to measure judges of truth and information by."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, NamedTuple

from pydantic import BaseModel

from pipelines.data.records import Text
from pipelines.data.released import entries, record
from pipelines.data.truthfulqa import TruthfulQuestion
from pipelines.errors import InputError

Kind = Literal["truthful", "informative"]

_KINDS: Final[dict[str, Kind]] = {"True": "truthful", "Helpful": "informative"}
_PROMPT = re.compile(r"Q: (.+?)\nA: (.*)\n(True|Helpful):\s*", re.DOTALL)


class FinetuneRow(BaseModel):
    """A row of `finetune_truth.jsonl` or `finetune_info.jsonl` (Lin et al. 2022)."""

    prompt: Text
    completion: Text


@dataclass(frozen=True)
class LabelledAnswer:
    """An answer with what people say of it.

    Attributes:
        id: Unique within its data.
        asked: The question; the answer itself is not among those known.
        answer: Not empty.
        kind: What was judged.
        label: Whether it is so.
    """

    id: str
    asked: TruthfulQuestion
    answer: str
    kind: Kind
    label: bool


class LabelledAnswers(NamedTuple):
    """Answers, and how many rows were passed over: about unknown questions, or empty."""

    answers: list[LabelledAnswer]
    passed_over: int


def known_answers(questions: Sequence[TruthfulQuestion]) -> LabelledAnswers:
    """TruthfulQA's own answers, true ones and false ones.

    Each is judged by the others: an answer that stands among the references is no test. A question
    with one true answer, or one false one, gives none of that side.
    """

    def found() -> Iterator[LabelledAnswer]:
        for question in questions:
            for label, every in (
                (True, question.correct_answers),
                (False, question.incorrect_answers),
            ):
                for number, answer in enumerate(every if len(every) > 1 else (), start=1):
                    name = f"{question.id}/{'true' if label else 'false'}-{number}"
                    asked = _without(question, answer)
                    yield LabelledAnswer(name, asked, answer, "truthful", label)

    return LabelledAnswers(list(found()), 0)


def read_labelled(path: Path, questions: Sequence[TruthfulQuestion]) -> LabelledAnswers:
    r"""The labelled answers of a file in the format of TruthfulQA's `finetune_*.jsonl`.

    Rows about questions that are not at hand have no references and are passed over.

    Args:
        path: JSON Lines with `prompt` ("Q: ...\nA: ...\nTrue:", or "Helpful:") and `completion`
            ("yes" or "no").
        questions: With their known answers.

    Raises:
        InputError: The file cannot be read, a row is of another format, or none is about one of
            the questions.
    """
    by_words = {_words(each.question): each for each in questions}
    answers: list[LabelledAnswer] = []
    passed_over = 0
    for number, entry in enumerate(entries(path), start=1):
        row = record(entry, FinetuneRow, "TruthfulQA's finetune_truth.jsonl")
        match = _PROMPT.fullmatch(row.prompt + "\n" if row.prompt.endswith(":") else row.prompt)
        said = row.completion.strip().lower()
        if match is None or said not in ("yes", "no"):
            raise InputError(
                f"{entry.where}: no 'Q: ... A: ... True:' with yes or no; name a file in the "
                "format of TruthfulQA's finetune_truth.jsonl"
            )
        asked, answer = by_words.get(_words(match[1])), match[2].strip()
        if asked is None or not answer:
            passed_over += 1
            continue
        kind = _KINDS[match[3]]
        name = f"{kind}-{number}"
        answers.append(LabelledAnswer(name, _without(asked, answer), answer, kind, said == "yes"))
    if not answers:
        raise InputError(f"{path} labels no answer to one of the questions; name their --data")
    return LabelledAnswers(answers, passed_over)


def _without(question: TruthfulQuestion, answer: str) -> TruthfulQuestion:
    """The question without an answer among those that are known."""
    left = {
        name: tuple(each for each in getattr(question, name) if _words(each) != _words(answer))
        for name in ("correct_answers", "incorrect_answers")
    }
    return question.model_copy(update=left)


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
