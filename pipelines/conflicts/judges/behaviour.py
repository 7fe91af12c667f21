"""Whether an answer behaves as its conflict type wants (CONFLICTS, section 4)."""

from typing import Annotated

from pydantic import BaseModel, StrictBool

from pipelines.conflicts.judges.model import BEHAVIOUR, ModelJudge
from pipelines.conflicts.judges.verdicts import Adherence
from pipelines.conflicts.taxonomy import CATEGORY, ConflictType
from serving.schemas import told

YES, NO = "YES", "NO"


class AdherenceJson(BaseModel):
    """The JSON reply; the reason comes first, so that the verdict follows from it."""

    reason: Annotated[str, told(maxLength=300)]
    adheres: StrictBool


async def behaviour(
    query: str,
    type: ConflictType,  # noqa: A002  (the paper's t)
    answer: str,
    judge: ModelJudge,
) -> Adherence:
    """Judge an answer that is not empty by the expected behaviour s = f(t) of a type.

    The judge sees the question, the type's definition and behaviour, examples, and the answer with
    its citations; as in the paper, it sees neither the search results nor the gold answer.

    Raises:
        RequestError: The answer does not fit the model's context.
        ServingError: No server can be had.
    """
    told = {
        "definition": CATEGORY[type].definition,
        "expected": CATEGORY[type].expected,
        "query": query,
        "answer": answer,
        "form": judge.form,
    }
    # Queries of one type share the prompt up to the query.
    affinity = f"behaviour {type}"
    if judge.form == "choice":
        messages = judge.templates[BEHAVIOUR[type]].messages(**told)
        choice = await judge.client.choose(messages, (YES, NO), affinity=affinity)
        return Adherence(
            adheres=None if choice.label is None else choice.label == YES,
            type=type,
            probability=choice.probabilities[YES],
            mass=choice.mass,
            problem=choice.problem,
        )
    reply = await judge.reply(BEHAVIOUR[type], AdherenceJson, told, affinity=affinity)
    if reply.value is None:
        return Adherence(adheres=None, type=type, problem=reply.problem, raw=reply.raw)
    return Adherence(adheres=reply.value.adheres, type=type, reason=reply.value.reason.strip())
