"""Asking models and reading their replies: JSON by schema, or the paper's free text."""

import ast
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Final, TypeVar

from pydantic import BaseModel, create_model

from nli.sentences import sentences
from pipelines.data.records import whole
from pipelines.madam_rag.settings import DebateSettings, Form
from pipelines.metrics.answers import known
from serving.calls import Sampling, Structured
from serving.client import Client
from serving.schemas import told


class AgentReply(BaseModel, frozen=True):
    """An agent's reply in one round: "unknown" if its document gives no answer.

    If the reply could not be read, the answer is None, `problem` says why in one line, and `raw` is
    the unchanged reply. In the released code's variant, every reply has an answer and its `raw`.
    """

    answer: str | None
    explanation: str = ""
    problem: str | None = None
    raw: str | None = None


class Conclusion(BaseModel, frozen=True):
    """Answers with an explanation: by an aggregator, or by a method without one.

    Answers are distinct after normalisation, without "unknown". With a problem, as in `AgentReply`,
    they are empty.
    """

    answers: tuple[str, ...] = ()
    explanation: str = ""
    problem: str | None = None
    raw: str | None = None


class Round(BaseModel, frozen=True):
    """One round: a reply for each document, and the aggregate.

    The aggregate is None without an aggregator, or if a debate closes with the round before and
    needs none.
    """

    agents: tuple[AgentReply, ...]
    aggregate: Conclusion | None = None

    @property
    def concluded(self) -> Conclusion:
        """The aggregate, or without one the joint answer of the agents (section 6.1).

        The joint answer is unreadable if no agent's reply could be read.
        """
        if self.aggregate is not None:
            return self.aggregate
        if all(reply.answer is None for reply in self.agents):
            return Conclusion(problem="no agent's reply could be read")
        return Conclusion(answers=joint_answers(self.agents))


class Debate(BaseModel, frozen=True):
    """A debate of at least one round; `agreed` if it ended because every agent kept its answer.

    `problem` says why there is no final answer, whatever its rounds concluded.
    """

    rounds: tuple[Round, ...]
    agreed: bool
    problem: str | None = None

    def after(self, rounds: int) -> Conclusion:
        """The conclusion after `rounds` rounds (1 or more), or at an earlier end.

        So a debate of three rounds also gives the results after one and two (section 6.1).
        """
        held = self.rounds[:rounds]
        aggregates = (round_.aggregate for round_ in reversed(held) if round_.aggregate is not None)
        return next(aggregates, held[-1].concluded)

    @property
    def concluded(self) -> Conclusion:
        """The final answer."""
        if self.problem is not None:
            return Conclusion(problem=self.problem)
        return self.after(len(self.rounds))

    @property
    def calls(self) -> int:
        """Number of model replies in it."""
        return sum(len(round_.agents) + (round_.aggregate is not None) for round_ in self.rounds)


def joint_answers(replies: Sequence[AgentReply]) -> tuple[str, ...]:
    """The agents' answers, without repetitions (section 6.1, without aggregator)."""
    return known(reply.answer for reply in replies if reply.answer is not None)


Messages = Sequence[Mapping[str, str]]
Schema = TypeVar("Schema", bound=BaseModel)

ANSWERS: Final = 8
"""Maximum number of answers in a conclusion."""

# The server gets the maximum length, so that a reply ends within its token limit. A longer reply
# from a server that ignores the length stays readable.
Short = Annotated[str, told(maxLength=100)]
LONGEST: Final = 700
"""Maximum characters of an explanation; `explained` allows fewer if a reply has few tokens."""
Explanation = Annotated[str, told(maxLength=LONGEST)]

_HEADING = (
    r"(?:here(?:['’]s| is) (?:(?:the|an?|my) )?)?(?:(?:brief|detailed|step[- ]by[- ]step) )*"
    r"(?:reasoning(?: explanation)?|explanation)(?: \(?step[- ]by[- ]step\)?)? ?:"
)
_EXPLAINED = rf"(?:{_HEADING}(?P<explanation>.*))?\Z"
_AGENT = re.compile(rf"answer ?:(?P<answer>.*?){_EXPLAINED}", re.I | re.S)
_CONCLUSION = re.compile(rf"all correct answers ?:(?P<answers>.*?){_EXPLAINED}", re.I | re.S)
_QUOTED = re.compile(r'"([^"]+)"|(?<!\w)\'(.+?)\'(?!\w)')
_OR_THOUSANDS = re.compile(
    r"(\"[^\"]*\"|'[^']*')|(?<![\w.,])[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?(?!\w|[.,]\d)"
)
_SIGNS = re.compile(r"\*\*|^#+ +", re.M)
"""Marks that Markdown puts around words and headings."""
_LISTED = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+(.+)$", re.M)


class AgentJson(BaseModel):
    """An agent's JSON reply: it reasons before it answers."""

    explanation: Explanation
    answer: Short


class ConclusionJson(BaseModel):
    """The JSON reply of an aggregator, and of methods that answer at once."""

    explanation: Explanation
    answers: Annotated[list[Short], told(maxItems=ANSWERS)]


@cache
def explained(schema: type[Schema], tokens: int) -> type[Schema]:
    """The schema with an explanation of at most 0.7 of `tokens`, so that the answer fits.

    A token is counted as 4 characters, the average in English.
    """
    shorter = Annotated[str, told(maxLength=min(LONGEST, 4 * tokens * 7 // 10))]
    return create_model(schema.__name__, __base__=schema, explanation=(shorter, ...))


async def ask(
    client: Client,
    messages: Messages,
    schema: type[Schema],
    form: Form,
    tokens: int,
    *,
    affinity: str,
) -> str | Structured[Schema]:
    """One reply of at most `tokens` tokens: free text, or JSON by the schema.

    Raises:
        RequestError: The prompt does not fit the model's context, or is refused.
        ServingError: No server is available.
    """
    sampling = Sampling(max_tokens=tokens)
    if form == "text":
        return (await client.chat(messages, sampling, affinity=affinity)).text
    return await client.structured(messages, schema, sampling, affinity=affinity)


async def ask_agent(
    client: Client, messages: Messages, settings: DebateSettings, *, affinity: str
) -> AgentReply:
    """One agent's reply; an unreadable one is returned with its raw text. Errors as in `ask`."""
    form, tokens = settings.form, settings.agent_tokens
    schema = explained(AgentJson, tokens)
    reply = await ask(client, messages, schema, form, tokens, affinity=affinity)
    if isinstance(reply, str):
        return cut_as_released(reply) if settings.replies == "released" else read_agent(reply)
    if reply.value is None:
        return AgentReply(answer=None, problem=reply.problem, raw=reply.raw)
    return AgentReply(answer=reply.value.answer.strip(), explanation=reply.value.explanation)


async def ask_conclusion(
    client: Client, messages: Messages, settings: DebateSettings, *, affinity: str
) -> Conclusion:
    """Answers with an explanation; unreadable replies and errors as in `ask_agent`."""
    form, tokens = settings.form, settings.conclusion_tokens
    schema = explained(ConclusionJson, tokens)
    reply = await ask(client, messages, schema, form, tokens, affinity=affinity)
    if isinstance(reply, str):
        read = read_conclusion(reply)
        kept = settings.replies == "released"
        return read.model_copy(update={"raw": reply.strip()}) if kept else read
    if reply.value is None:
        return Conclusion(problem=reply.problem, raw=reply.raw)
    return Conclusion(
        answers=known(reply.value.answers)[:ANSWERS], explanation=reply.value.explanation
    )


def read_agent(text: str) -> AgentReply:
    """Parse "Answer: A. Explanation: E.", the agents' format of appendix C.

    Text before "Answer:" is ignored; a reply of only "unknown" is an answer. If no "Explanation:"
    follows (the reply was cut, or has none), the answer ends with its first sentence or its line.
    """
    match = _AGENT.search(_SIGNS.sub("", text))
    if match is None:
        if bare := _unknown(text):
            return AgentReply(answer=bare)
        return AgentReply(answer=None, problem="no 'Answer:' in the reply", raw=text)
    answer = match["answer"].strip()
    if match["explanation"] is None:
        line = answer.partition("\n")[0]
        answer = line[slice(*next(iter(sentences(line)), (0, 0)))]
    return AgentReply(answer=_bare(answer), explanation=(match["explanation"] or "").strip())


def cut_as_released(text: str) -> AgentReply:
    """An agent's reply, cut as in the paper's released code, so that it always has an answer.

    The answer goes from the first "Answer: " to the first "Explanation"; the explanation begins
    after the first "Explanation: ". A missing mark counts as found at index -1: the answer then
    begins with the reply's eighth character, or lacks the reply's last one, and the explanation
    begins with the thirteenth.
    """
    reply = text.strip()
    answer = slice(_behind("Answer: ", reply), reply.find("Explanation"))
    return AgentReply(
        answer=reply[answer].strip(),
        explanation=reply[_behind("Explanation: ", reply) :],
        raw=reply,
    )


def _behind(mark: str, text: str) -> int:
    return text.find(mark) + len(mark)


def read_conclusion(text: str) -> Conclusion:
    """Parse 'All Correct Answers: ["A", "B"]. Explanation: E.', the format of appendix C.

    A reply of only "unknown", as the prompt asks for, has no answers. The list ends with its
    bracket, whatever follows. Text that is not a list of literals has an answer in each pair of
    quotes, or on each line with a bullet; without these it is one answer, since a comma may be part
    of it ("Austin, Texas").
    """
    match = _CONCLUSION.search(_SIGNS.sub("", text))
    if match is None:
        if _unknown(text):
            return Conclusion()
        return Conclusion(problem="no 'All Correct Answers:' in the reply", raw=text)
    return Conclusion(
        answers=known(_listed(match["answers"].strip())),
        explanation=(match["explanation"] or "").strip(),
    )


def _listed(text: str) -> list[str]:
    if not text.startswith("["):
        return _LISTED.findall(text) or [_bare(text.partition("\n")[0])]
    if '"' not in text:
        text = re.sub("[“”]", '"', text)
    for end in (place for place, sign in enumerate(text, 1) if sign == "]"):
        try:
            values = ast.literal_eval(_whole_numbers(text[:end]))
            return [whole(str(value)) for value in values]  # "\\ud800" is half of a character
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    inside = text.partition("]")[0]
    return [one or other for one, other in _QUOTED.findall(inside)] or [_bare(inside.strip("[ \n"))]


def _whole_numbers(text: str) -> str:
    """A list in which 1,856 is a single, quoted number; with a space, 1, 856 are two."""
    return _OR_THOUSANDS.sub(lambda match: match[1] or f'"{match[0]}"', text)


def _unknown(text: str) -> str:
    """The reply if it says only "unknown" (appendix C); otherwise an empty text."""
    bare = _bare(_SIGNS.sub("", text))
    return bare if bare.casefold() == "unknown" else ""


def _bare(answer: str) -> str:
    """An answer without the characters that the format puts around it."""
    return answer.strip().rstrip(".").strip("{}'\" ").rstrip(".")
