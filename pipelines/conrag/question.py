"""A question's first answers, put as claims that passages can be tagged by.

A tagger compares a passage with a statement, and the paper's query may be a question (section 2).
It does not say how the two meet. Here a language model answers from the most relevant passages, and
the question with that answer makes the statement. So the relations are to the first answer: where
passages give another one they contradict it, and the conflict score sees it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel

from pipelines.conrag.generator import Generator
from pipelines.conrag.policies import unmarked
from pipelines.retrieval.index import Retrieved
from pipelines.text.declarative import as_claim
from serving.schemas import told

MOST = 5
CHARACTERS = 240
"""Where a server that holds replies to their schema ends an answer."""
REPLY_TOKENS = 256


class FirstAnswerReply(BaseModel):
    """The JSON reply."""

    answers: Annotated[
        list[Annotated[str, told(minLength=1, maxLength=CHARACTERS)]], told(maxItems=MOST)
    ]


@dataclass(frozen=True)
class FirstAnswer:
    """What a question seems to have for an answer.

    Attributes:
        claims: Statements, one for each thing that is asked for; none where the passages do not
            answer the question, or the reply was unreadable.
        problem: Why there is no claim, in one line; None where the passages have no answer. What
            could not be read is `raw`.
        cut: Whether there were more answers than are read, tokens ran out, or an answer is as long
            as a server lets it be.
    """

    claims: tuple[str, ...]
    problem: str | None = None
    raw: str | None = None
    cut: bool = False


async def first_answer(
    question: str, found: Sequence[Retrieved], generator: Generator | None
) -> FirstAnswer:
    """Answer a question from the most relevant passages, in statements.

    Raises:
        RequestError, ServingError: As of `Generator.ask`.
        ValueError: There is no generator.
    """
    if generator is None:
        raise ValueError("a question needs a generator, which answers it first")
    if not found:
        return FirstAnswer(())
    shown = [{"number": n, "text": each.passage.as_read()} for n, each in enumerate(found, 1)]
    reply = await generator.ask(
        "first_answer", FirstAnswerReply, REPLY_TOKENS, query=question, evidence=shown
    )
    if reply.value is None:
        return FirstAnswer((), problem=f"first answer: {reply.problem}", raw=reply.raw)
    every = [text for each in reply.value.answers if (text := unmarked(each))]
    claims = tuple(dict.fromkeys(as_claim(question, each) for each in every[:MOST]))
    ended = any(len(each) == CHARACTERS for each in reply.value.answers)
    return FirstAnswer(claims, cut=reply.cut or ended or len(every) > MOST)
