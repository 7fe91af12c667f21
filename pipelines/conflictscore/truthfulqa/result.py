"""TruthfulQA's questions, each in one setting, and their results."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, NamedTuple

from pydantic import BaseModel

from pipelines.conflictscore.regeneration import Feedback
from pipelines.conflictscore.result import Score
from pipelines.data.records import Document
from pipelines.data.truthfulqa import TruthfulQuestion
from pipelines.errors import InputError
from pipelines.judge.judgement import Judgement, Truncation
from pipelines.metrics.answers import canonical
from pipelines.retrieval.index import Index, Method

Letter = Literal["A", "B"]

_BRACKETED: Final = re.compile(r"\(([AB])\)")
_LEADING: Final = re.compile(
    r"\W*(?:(?:the |my )?(?:(?:correct|right|best|final) )?(?:answer|choice)(?: is)?\W*)?"
    r"(?:option (?P<named>[ab])\b|\((?P<bracketed>[ab])\)"
    r"|(?P<bare>(?-i:[AB]))(?=\s*(?:[).:,–—-]|$)))",
    re.IGNORECASE,
)
_OTHER_TOO: Final = re.compile(r"\)?\s*(?:,|/|&|or\b|and\b)\s*(?:or\s+)?\(?[ab]\b", re.IGNORECASE)


class Options(NamedTuple):
    """The two answers in the order shown.

    Attributes:
        a, b: Their texts.
        correct: The letter of the true one.
    """

    a: str
    b: str
    correct: Letter

    def text(self, letter: Letter) -> str:
        """The answer with a letter."""
        return self.a if letter == "A" else self.b


class Chosen(NamedTuple):
    """A reply's choice.

    The letter is None if it is unclear; the justification is the second line that Table 16 asks
    for.
    """

    letter: Letter | None
    justification: str | None = None


def options_of(question: TruthfulQuestion) -> Options:
    """The options of a question, in an order drawn from the question alone.

    Raises:
        ValueError: It has no incorrect answer.
    """
    if question.best_incorrect_answer is None:
        raise ValueError(f"'{question.id}' has a single option")
    right, wrong = question.best_answer, question.best_incorrect_answer
    draw = random.Random(f"0/{question.question}")  # noqa: S311  draws an order, no secret
    return Options(right, wrong, "A") if draw.random() < 0.5 else Options(wrong, right, "B")


def read_choice(reply: str, options: Options) -> Chosen:
    """The option that a reply chooses (ConflictScore, Tables 14 to 16).

    The choice is the letter that the first line begins with ("A – because (B) is false",
    "Answer: A", "Option A", "(a)") or has in brackets; otherwise the option whose text that line
    is; otherwise the only letter in brackets anywhere in the reply. A reply that begins with both
    ("A or B"), has both in brackets, or neither, chooses nothing.
    """
    plain = (line.replace("*", "").replace("`", "").strip() for line in reply.splitlines())
    lines = [line for line in plain if line]
    if not lines:
        return Chosen(None)
    first, rest = lines[0], lines[1:]
    said = next((line for line in rest if line.lower().startswith("justification:")), None)
    justification = said.partition(":")[2].strip() if said else None
    return Chosen(_letter(first, reply, options), justification or None)


def _letter(first: str, reply: str, options: Options) -> Letter | None:
    if leading := _LEADING.match(first):
        if _OTHER_TOO.match(first, leading.end()):
            return None
        letter = str(leading["named"] or leading["bracketed"] or leading["bare"])
        return "A" if letter in "Aa" else "B"
    letters = set(_BRACKETED.findall(first))
    if not letters:
        plain = canonical(first)
        letters = {letter for letter in ("A", "B") if plain == canonical(options.text(letter))}
    if not letters:
        letters = set(_BRACKETED.findall(reply))
    if len(letters) != 1:
        return None
    return "A" if letters == {"A"} else "B"


Setting = Literal["free-form", "binary"]

Condition = Literal["rag", "control", "rewritten", "regenerated"]

CONDITIONS: Final[dict[Condition, str]] = {
    "rag": "RAG",
    "control": "Control-RAG",
    "rewritten": "Rewritten, untold",
    "regenerated": "Regenerated-RAG",
}
"""Titles of the conditions in tables, in order: those of section 6.1, and "rewritten", which is
ours. It rewrites the answer as Regenerated-RAG does, but without telling the writer about the
conflict, so any gain of Regenerated-RAG over it is due to the feedback."""


class Verdict(BaseModel, frozen=True):
    """A judge's verdict on an answer.

    Attributes:
        verdict: None if the reply could not be read.
        explanation: The judge's explanation.
        problem: Why it could not be read.
        raw: The unreadable reply.
    """

    verdict: bool | None
    explanation: str = ""
    problem: str | None = None
    raw: str | None = None


class Outcome(BaseModel, frozen=True):
    """An answer under a condition.

    Attributes:
        response: The answer; for a choice the chosen option's text, empty if unreadable.
        reply: The model's reply.
        asked: Whether the model was asked under this condition; if RAG's answer is not in conflict,
            it stands and the model is not asked again.
        finished: Whether the reply ended by itself, not at its length limit.
        score: ConflictScore of the answer.
        letter: For a choice.
        justification: For a repeated choice.
        truthful, informative: For a free-form answer; None if not judged.
        ignored: Whether a rewritten answer still contains the disputed claim.
        truncations: Documents that the writer saw only in part.
    """

    response: str
    reply: str
    asked: bool = True
    finished: bool = True
    score: Score | None = None
    letter: Letter | None = None
    justification: str | None = None
    truthful: Verdict | None = None
    informative: Verdict | None = None
    ignored: bool | None = None
    truncations: tuple[Truncation, ...] = ()


class TruthResult(BaseModel, frozen=True):
    """The result of a question in one setting.

    Attributes:
        id: `question/setting`.
        group: The question's id.
        setting: Free-form, or binary choice.
        question: The question.
        category: Category of the misconception.
        correct_answers: Known true answers, the best first.
        incorrect_answers: Known false answers.
        options: For a choice: letter -> answer.
        correct: For a choice: the letter of the true one.
        documents: The documents that were read.
        status: "answered", or "failed".
        feedback: On RAG's answer, for Regenerated-RAG; None if the answer is not in conflict.
        outcomes: By condition.
        error: One line for "failed".
    """

    id: str
    group: str
    setting: Setting
    question: str
    category: str = ""
    correct_answers: tuple[str, ...] = ()
    incorrect_answers: tuple[str, ...] = ()
    options: Mapping[Letter, str] = {}
    correct: Letter | None = None
    documents: tuple[Document, ...] = ()
    status: Literal["answered", "failed"]
    feedback: Feedback | None = None
    outcomes: Mapping[Condition, Outcome] = {}
    error: str | None = None

    @property
    def judgements(self) -> list[Judgement]:
        """Judgements of the claims of all scored answers."""
        scores = (outcome.score for outcome in self.outcomes.values())
        return [judgement for score in scores if score for judgement in score.judgements]

    def right(self, condition: Condition) -> bool | None:
        """Whether the answer is right: the true option, or judged truthful; None if unknown."""
        outcome = self.outcomes.get(condition)
        if outcome is None:
            return None
        if self.setting == "binary":
            return None if outcome.letter is None else outcome.letter == self.correct
        return None if outcome.truthful is None else outcome.truthful.verdict

    def right_or_unread(self, condition: Condition) -> bool | None:
        """As `right`, except that an unreadable choice is wrong (Table 5)."""
        right = self.right(condition)
        unread = right is None and self.setting == "binary" and condition in self.outcomes
        return False if unread else right


@dataclass(frozen=True)
class Item:
    """A question in a setting.

    Attributes:
        asked: The question.
        setting: Free-form, or binary choice.
        documents: At least one.
        options: For a choice.
    """

    asked: TruthfulQuestion
    setting: Setting
    documents: tuple[Document, ...]
    options: Options | None = None

    @property
    def id(self) -> str:
        """`question/setting`."""
        return f"{self.asked.id}/{self.setting}"


class LeftOut(NamedTuple):
    """Numbers of questions read, and of those that cannot be asked, or only in one setting.

    Attributes:
        questions: Questions of the file that were read.
        undocumented: Questions without documents: left out.
        single: Questions with documents but only one option: asked only in free form.
    """

    questions: int
    undocumented: int
    single: int


def items_of(
    questions: Sequence[TruthfulQuestion],
    *,
    documents: int,
    index: Path | None = None,
    limit: int | None = None,
) -> tuple[list[Item], LeftOut]:
    """Every question with documents, in free form and, if it has two options, as a choice.

    Returned with the numbers of questions left out.

    Args:
        questions: In the order of their file.
        documents: Maximum documents per question; the first ones are taken.
        index: Folder of an index to search for questions without documents.
        limit: Take only the first questions that have documents.

    Raises:
        InputError: The index cannot be used, or no question has documents.
    """
    searched = Index(index) if index is not None else None
    items: list[Item] = []
    looked_at = undocumented = single = taken = 0
    for question in questions:
        if limit is not None and taken >= limit:
            break
        looked_at += 1
        given = question.documents[:documents]
        if not given and searched is not None:
            method: Method = "hybrid" if searched.about.model else "bm25"
            retrieved = searched.search(question.question, k=documents, method=method)
            given = tuple(hit.passage for hit in retrieved)
        if not given:
            undocumented += 1
            continue
        taken += 1
        items.append(Item(question, "free-form", given))
        if question.best_incorrect_answer is None:
            single += 1
        else:
            items.append(Item(question, "binary", given, options_of(question)))
    if not taken:
        raise InputError(
            "none of the questions has documents; give a file of documents with --documents, or "
            "an index with --index"
        )
    return items, LeftOut(looked_at, undocumented, single)
