"""Claims from questions and answers: by rules, or by a language model (appendix A).

The paper has GPT-4 make them. A local model may do it too; what it gets wrong in a way that can be
seen (the answer is missing, the reply is unreadable) the rules make in its place.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from pipelines import prompts
from pipelines.conflictscore.detection.questions import QuestionAnswer
from pipelines.prompts import Prompt
from pipelines.text.declarative import NO, YES
from serving.calls import Sampling
from serving.client import Client

REPLY_TOKENS = 256


class Claim(BaseModel):
    """The JSON reply."""

    claim: Annotated[str, Field(min_length=1, max_length=600)]


def claim_prompt(overrides: Path | None = None) -> Prompt:
    """The prompt, the user's own where there is one."""
    return prompts.load("conflictscore/claim", {"question", "answer"}, overrides)


async def claims_by_model(
    asked: Sequence[QuestionAnswer], client: Client, prompt: Prompt
) -> dict[QuestionAnswer, str]:
    """Have a model put each question and answer as one statement, by `claim_prompt`.

    Where the reply is unreadable or leaves the answer out there is none; rules make these.
    """

    async def one(question: str, answer: str) -> str | None:
        reply = await client.structured(
            prompt.messages(question=question, answer=answer),
            Claim,
            Sampling(max_tokens=REPLY_TOKENS),
        )
        if reply.value is None:
            return None
        claim = " ".join(reply.value.claim.split())
        said = answer.strip().lower()
        return claim if said in YES | NO or said in claim.lower() else None

    replies = await asyncio.gather(*(one(*each) for each in asked))
    return {each: claim for each, claim in zip(asked, replies, strict=True) if claim}
