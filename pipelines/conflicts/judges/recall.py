"""Whether an answer includes the gold answer in meaning (CONFLICTS, section 4, answer recall)."""

from typing import Annotated, Final

from pydantic import BaseModel, StrictBool

from pipelines.conflicts.judges.model import ModelJudge
from pipelines.conflicts.judges.verdicts import Inclusion
from pipelines.data.records import Document
from pipelines.evidence.judgement import Relation
from pipelines.evidence.labeller import Labeller
from pipelines.metrics.answer_recall import named_answers, normalised
from pipelines.text.citations import without_marks
from pipelines.text.declarative import NO, YES, as_claim
from serving.schemas import told

WORD_FOR_WORD: Final = "named word for word"
"""The reason that the NLI judge gives where it need not ask."""


class InclusionJson(BaseModel):
    """The JSON reply."""

    reason: Annotated[str, told(maxLength=300)]
    included: StrictBool


async def inclusion(query: str, gold: str, answer: str, judge: ModelJudge | Labeller) -> Inclusion:
    """Judge whether an answer, with its citations, includes the gold answer, in whatever words.

    Raises:
        RequestError: The answer does not fit the model's context.
        ServingError: No server can be had.
    """
    if not isinstance(judge, ModelJudge):
        return await _by_labeller(query, gold, answer, judge)
    told = {"query": query, "gold": gold, "answer": answer}
    reply = await judge.reply("recall", InclusionJson, told, affinity="recall")
    if reply.value is None:
        return Inclusion(included=None, gold=gold, problem=reply.problem, raw=reply.raw)
    return Inclusion(included=reply.value.included, gold=gold, reason=reply.value.reason.strip())


async def _by_labeller(query: str, gold: str, answer: str, labeller: Labeller) -> Inclusion:
    """Included where the answer supports the statement that question and gold answer make."""
    # "According to [2]" must not name the answer 2.
    plain = " ".join(without_marks(answer).split())
    if not any(map(str.isalnum, plain)):
        return Inclusion(included=False, gold=gold, reason="the answer has no text")
    if named(gold, plain):
        return Inclusion(included=True, gold=gold, reason=WORD_FOR_WORD)
    claim = as_claim(query, gold)
    (judgement,) = (await labeller([claim], [Document(id="answer", text=plain)])).judgements
    unread = judgement.relation is Relation.INVALID
    problem = judgement.reasoning or "the labeller's reply could not be read"
    return Inclusion(
        included=None if unread else judgement.relation is Relation.SUPPORTS,
        gold=gold,
        reason=claim,
        judgement=judgement,
        problem=problem if unread else None,
        raw=judgement.raw if unread else None,
    )


def named(gold: str, answer: str) -> bool:
    """Whether the gold answer stands in an answer word for word, after normalisation.

    This is the rule of Mallen et al. (2023), which section 4 starts from and gives up since it
    misses paraphrases. What it finds is there all the same, so the NLI judge need not ask, and a
    tagger that is unsure of names does not overrule the plain text. As theirs, it takes an answer
    for named that the text denies or calls older. "Yes" and "no" are too common as words to name
    anything, so they are always asked. The answer has no citations, for "[2]" does not name "2".
    """
    return normalised(gold) not in YES | NO and named_answers([[gold]], answer)[0]
