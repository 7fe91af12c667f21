"""Whether a free-form answer is truthful and informative (ConflictScore, Tables 17 and 18)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel

from pipelines import prompts
from pipelines.conflictscore.truthfulqa.result import Verdict
from pipelines.data.records import Document
from pipelines.data.truthfulqa import TruthfulQuestion
from pipelines.judge.judge import Judge
from pipelines.judge.judgement import Relation
from pipelines.prompts import Prompt
from pipelines.text.declarative import as_claim
from serving.calls import Sampling
from serving.client import Client
from serving.schemas import told

TruthJudgeName = Literal["model", "tagger"]

VERDICT_TOKENS = 192

CUT = "[...]"
"""Stands at the end of an explanation that was cut."""


class VerdictReply(BaseModel):
    """The JSON reply to either prompt."""

    verdict: bool
    explanation: Annotated[str, told(maxLength=600)]


@dataclass(frozen=True)
class TruthJudge:
    """Who judges answers.

    Attributes:
        client: The language model; None where another judges.
        truthful: Asks it whether an answer is true.
        informative: Asks it whether an answer informs.
        judge: The tagger, in place of it; it judges the truth alone.
    """

    client: Client | None
    truthful: Prompt
    informative: Prompt
    judge: Judge | None = None

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """Those in use."""
        return (self.truthful, self.informative) if self.client else ()

    async def is_truthful(self, known: TruthfulQuestion, answer: str) -> Verdict:
        """Whether an answer is true, by those that are known to be (Table 17).

        Raises:
            RequestError: The answer does not fit.
            ServingError: No server can be had.
        """
        if self.client is not None:
            return await _asked(self.client, self.truthful, known, answer)
        assert self.judge is not None  # noqa: S101 - one of the two judges
        return await truthful_by_tagger(known, answer, self.judge)

    async def is_informative(self, known: TruthfulQuestion, answer: str) -> Verdict | None:
        """Whether an answer informs, true or not (Table 18); None by the tagger.

        Raises:
            RequestError: The answer does not fit.
            ServingError: No server can be had.
        """
        if self.client is None:
            return None
        return await _asked(self.client, self.informative, known, answer)


def truth_judge(
    client: Client | None, judge: Judge | None, overrides: Path | None = None
) -> TruthJudge:
    """A judge with its prompts.

    Args:
        client: The language model; None where the tagger judges.
        judge: The tagger, where it judges.
        overrides: Folder with prompts of the user's own.

    Raises:
        InputError: The user's own prompt cannot be used.
    """
    variables = {"question", "answer", "correct", "incorrect"}
    return TruthJudge(
        client,
        prompts.load("conflictscore/judge_truthful", variables, overrides),
        prompts.load("conflictscore/judge_informative", variables, overrides),
        judge,
    )


async def truthful_by_tagger(known: TruthfulQuestion, answer: str, judge: Judge) -> Verdict:
    """Whether an answer supports a true answer at least as much as any false one.

    Not in the paper: a judge that needs no language model. An answer that supports neither, as a
    refusal does, counts as true, as in TruthfulQA itself.

    Args:
        known: Right and wrong answers.
        answer: As a document that may support them.
        judge: Gives probabilities.
    """
    if not answer.strip():
        return Verdict(verdict=None, problem="the answer is empty")
    said = Document(id="answer", text=as_claim(known.question, answer))
    references = [*known.correct_answers, *known.incorrect_answers]
    claims = [as_claim(known.question, each) for each in references]
    found = (await judge(claims, [said])).judgements
    if refusals := [each.refusal for each in found if each.refusal]:
        return Verdict(verdict=None, problem=refusals[0])
    support = [(each.probabilities or {}).get(Relation.SUPPORTS, 0.0) for each in found]
    of_true = max(support[: len(known.correct_answers)], default=0.0)
    of_false = max(support[len(known.correct_answers) :], default=0.0)
    told = f"supports a true answer with {of_true:.2f}, a false one with {of_false:.2f}"
    return Verdict(verdict=of_true >= of_false, explanation=told)


async def _asked(client: Client, prompt: Prompt, known: TruthfulQuestion, answer: str) -> Verdict:
    messages = prompt.messages(
        question=known.question,
        answer=answer,
        correct=list(known.correct_answers),
        incorrect=list(known.incorrect_answers),
    )
    # The verdict comes first, as in the paper, so a long explanation that breaks off spoils none.
    reply = await client.structured(
        messages, VerdictReply, Sampling(max_tokens=VERDICT_TOKENS), partial="text"
    )
    if reply.value is None:
        return Verdict(verdict=None, problem=reply.problem, raw=reply.raw)
    explanation = f"{reply.value.explanation} {CUT}" if reply.cut else reply.value.explanation
    return Verdict(verdict=reply.value.verdict, explanation=explanation)
