"""Reads AVeriTeC (Schlichtkrull, Guo, Vlachos 2023): checked claims with evidence from the web.

Format of `dev.json` in fever.ai/dataset/averitec.html: a list of claims, each with `claim`, `label`
and `questions`, each with `question` and `answers`. An answer has `answer`, `answer_type`,
`source_url` and, where it is yes or no, `boolean_explanation`.
"""

from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel

from pipelines.data.records import Text
from pipelines.data.released import read_records

ClaimLabel = Literal[
    "Supported", "Refuted", "Not Enough Evidence", "Conflicting Evidence/Cherrypicking"
]

SUPPORTED, REFUTED, NOT_ENOUGH, CONFLICTING = get_args(ClaimLabel)


class Answer(BaseModel, frozen=True):
    """What was found on the web, in the source's words or in the annotator's."""

    answer: Text
    answer_type: Literal["Extractive", "Abstractive", "Boolean", "Unanswerable"]
    source_url: str | None = None
    boolean_explanation: str | None = None

    @property
    def text(self) -> str:
        """The answer, with the explanation of a mere yes or no."""
        return " ".join(part.strip() for part in (self.answer, self.boolean_explanation) if part)


class Question(BaseModel, frozen=True):
    """One question asked about a claim. It may have answers that disagree, or none."""

    question: Text
    answers: tuple[Answer, ...] = ()


class CheckedClaim(BaseModel, frozen=True):
    """One claim, what was asked and found about it, and the verdict."""

    claim: Text
    label: ClaimLabel
    questions: tuple[Question, ...] = ()


def read(path: Path) -> list[CheckedClaim]:
    """The claims of an AVeriTeC file, in its order; raises as `read_records`."""
    return read_records(path, CheckedClaim, "AVeriTeC")
