"""How models are asked, and how what they say is read: JSON by schema, or the paper's free text."""

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Final

from pydantic import BaseModel, Field

from pipelines.madam_rag.settings import Replies
from pipelines.madam_rag.transcript import AgentReply, Conclusion
from pipelines.metrics.short_answers import distinct, is_unknown
from serving.client import Client, Sampling

Messages = Sequence[Mapping[str, str]]

ANSWERS: Final = 8
"""Most answers that a conclusion may hold."""

# A reply that runs to these lengths still ends within its tokens, and can be read.
Short = Annotated[str, Field(max_length=150)]
Explanation = Annotated[str, Field(max_length=400)]

_AGENT = re.compile(r"answer:(?P<answer>.*?)(?:explanation:(?P<explanation>.*))?\Z", re.I | re.S)
_CONCLUSION = re.compile(
    r"all correct answers:\s*(?P<answers>\[.*?\]|.*?)\s*\.?\s*"
    r"(?:explanation:(?P<explanation>.*))?\Z",
    re.I | re.S,
)
_QUOTED = re.compile(r'"([^"]+)"')


class AgentJson(BaseModel):
    """An agent's JSON reply."""

    answer: Short
    explanation: Explanation


class ConclusionJson(BaseModel):
    """The JSON reply of an aggregator, and of methods that answer at once."""

    answers: Annotated[list[Short], Field(max_length=ANSWERS)]
    explanation: Explanation


async def ask_agent(
    client: Client, messages: Messages, form: Replies, tokens: int, *, affinity: str
) -> AgentReply:
    """One agent's reply; one that cannot be read is a value with its raw text.

    Raises:
        RequestError: The prompt does not fit the model's context, or is refused.
        ServingError: No server can be had.
    """
    sampling = Sampling(max_tokens=tokens)
    if form == "text":
        return read_agent((await client.chat(messages, sampling, affinity=affinity)).text)
    reply = await client.structured(messages, AgentJson, sampling, affinity=affinity)
    if reply.value is None:
        return AgentReply(answer=None, problem=reply.problem, raw=reply.raw)
    return AgentReply(answer=reply.value.answer.strip(), explanation=reply.value.explanation)


async def ask_conclusion(
    client: Client, messages: Messages, form: Replies, tokens: int, *, affinity: str
) -> Conclusion:
    """Answers with an explanation; a reply that cannot be read is a value with its raw text.

    Raises:
        RequestError, ServingError: As `ask_agent`.
    """
    sampling = Sampling(max_tokens=tokens)
    if form == "text":
        return read_conclusion((await client.chat(messages, sampling, affinity=affinity)).text)
    reply = await client.structured(messages, ConclusionJson, sampling, affinity=affinity)
    if reply.value is None:
        return Conclusion(problem=reply.problem, raw=reply.raw)
    return Conclusion(answers=known(reply.value.answers), explanation=reply.value.explanation)


def known(answers: Sequence[str]) -> tuple[str, ...]:
    """Answers that are some, each once: "unknown" says that there is none."""
    return distinct(answer.strip() for answer in answers if not is_unknown(answer))


def read_agent(text: str) -> AgentReply:
    """Parse "Answer: A. Explanation: E.", the agents' format of appendix C.

    What stands before "Answer:" is passed over. Where no "Explanation:" follows (the reply was cut,
    or there is none), the answer ends with its line.
    """
    found = _AGENT.search(text)
    if found is None:
        return AgentReply(answer=None, problem="no 'Answer:' in the reply", raw=text)
    answer = found["answer"]
    if found["explanation"] is None:
        answer = answer.strip().partition("\n")[0]
    return AgentReply(answer=_bare(answer), explanation=(found["explanation"] or "").strip())


def read_conclusion(text: str) -> Conclusion:
    """Parse 'All Correct Answers: ["A", "B"]. Explanation: E.', the format of appendix C.

    The list is read as a list of literals; else whatever stands in it between quotes is an answer
    each; else it is one answer, since a comma may be part of it ("Austin, Texas").
    """
    found = _CONCLUSION.search(text)
    if found is None:
        return Conclusion(problem="no 'All Correct Answers:' in the reply", raw=text)
    listed = found["answers"]
    if found["explanation"] is None and not listed.startswith("["):
        listed = listed.partition("\n")[0]
    return Conclusion(
        answers=known(_listed(listed)), explanation=(found["explanation"] or "").strip()
    )


def _listed(text: str) -> list[str]:
    try:
        value = ast.literal_eval(text)  # of JSON lists and of those with single quotes
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return _QUOTED.findall(text) or [_bare(text.strip("[] \n"))]
    return [str(each) for each in value] if isinstance(value, list) else [str(value)]


def _bare(answer: str) -> str:
    """An answer without the signs that the format puts around it."""
    return answer.strip().rstrip(".").strip("{}'\" ").rstrip(".")
