"""Reads WikiContradict (Hou et al. 2024): questions on which two passages of Wikipedia disagree.

Files of github.com/IBM/FactReasoner, one object per line:

- `wiki_contradict_refined.jsonl`: `question`; for side N (1 or 2) the passage
  (`contextN_self_contained`) and its answer as a statement (`answerN_self_contained`).
- `wiki_contradict_simple_humaneval.jsonl`: answers of a `model` to a question under five prompts
  (`answer0` to `answer4`), and people's labels (`label0` to `label4`).

If editors found that a passage contradicts itself, both sides have the same passage. No document
then takes one side, so such questions are not used.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple

from pydantic import BaseModel

from pipelines.data.records import Text
from pipelines.data.released import read_records

Verdict = Literal["Correct", "Partially correct", "Incorrect"]
"""People's labels: an answer gives all answers of its passages, some of them, or none."""

FROM_BOTH: Final = {3: "both passages", 4: "told of contradictions"}
"""Prompts whose answers were written from both passages, by number.

Prompt 0 has no passage; 1 and 2 have one, whose answer alone is correct; 4 also says that the
passages may contradict each other.
"""


class _Passages(BaseModel, frozen=True):
    """Two passages on a question."""

    question: Text
    context1_self_contained: Text
    context2_self_contained: Text

    @property
    def passages(self) -> tuple[str, str]:
        """Both passages, self-contained."""
        return self.context1_self_contained, self.context2_self_contained

    @property
    def differ(self) -> bool:
        """Whether the passages differ in more than white space."""
        first, second = (passage.split() for passage in self.passages)
        return first != second


class Contradiction(_Passages, frozen=True):
    """A question with two passages and their answers, as statements."""

    answer1_self_contained: Text
    answer2_self_contained: Text


class Side(NamedTuple):
    """A statement, the passage that makes it, and the passage that contradicts it."""

    question: str
    claim: str
    supporting: str
    contradicting: str


class HumanEvaluation(_Passages, frozen=True):
    """A model's answers under the prompts of `FROM_BOTH`, and people's labels."""

    model: Text
    answer3: Text
    answer4: Text
    label3: Verdict
    label4: Verdict


class JudgedAnswer(NamedTuple):
    """An answer that a model wrote from both passages, and people's label.

    The id is unique within the file; the prompt is one of `FROM_BOTH`.
    """

    id: str
    question: str
    passages: tuple[str, str]
    model: str
    prompt: str
    answer: str
    people: Verdict

    @property
    def both_sides(self) -> bool:
        """Whether it gives the answers of both passages."""
        return self.people == "Correct"


def read(path: Path) -> list[Contradiction]:
    """The questions of `wiki_contradict_refined.jsonl`, in order; raises as `read_records`."""
    return read_records(path, Contradiction, "WikiContradict")


def sides(path: Path) -> list[Side]:
    """Both statements of the questions whose passages differ; raises as `read`."""
    return [side for record in read(path) if record.differ for side in _sides(record)]


def _sides(record: Contradiction) -> Iterator[Side]:
    first, second = record.passages
    yield Side(record.question, record.answer1_self_contained, first, second)
    yield Side(record.question, record.answer2_self_contained, second, first)


def judged_answers(path: Path) -> list[JudgedAnswer]:
    """The answers of `wiki_contradict_simple_humaneval.jsonl` written from two passages, in order.

    Raises:
        InputError: As `read_records`.
    """
    records = read_records(path, HumanEvaluation, "WikiContradict's human evaluation")
    return [
        JudgedAnswer(
            id=f"{number}/{prompt}",
            question=record.question,
            passages=record.passages,
            model=record.model,
            prompt=name,
            answer=getattr(record, f"answer{prompt}"),
            people=getattr(record, f"label{prompt}"),
        )
        for number, record in enumerate(records, start=1)
        if record.differ
        for prompt, name in FROM_BOTH.items()
    ]
