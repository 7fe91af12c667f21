"""Predicting the conflict type by a model or by a rule (CONFLICTS, section 4, Task 1)."""

from typing import Annotated, Final

from pydantic import BaseModel, Field

from pipelines.conflicts.prediction import Prediction, decide
from pipelines.conflicts.question import Query
from pipelines.conflicts.taxonomy import TAXONOMY, ConflictType, of_number
from pipelines.conflicts.writer import EXPLANATION_TOKENS, Writer
from pipelines.text.declarative import affirmed
from serving.calls import Sampling
from serving.schemas import told

NUMBERS: Final = tuple(str(each.number) for each in TAXONOMY)
"""What the model chooses from: "1" to "5"."""


def by_yes_no(query: Query) -> Prediction:
    """The yes/no rule: opinions where a question asks for yes or no, else no conflict.

    It reads no source. The two are the most frequent types of such questions and of others in
    CONFLICTS, where the former come from a collection of controversial ones (ConflictingQA).
    """
    asks = affirmed(query.query) is not None
    return Prediction(
        type=ConflictType.OPINIONS if asks else ConflictType.NO_CONFLICT,
        by="yes-no",
        explanation=f"The question {'asks' if asks else 'does not ask'} for yes or no; "
        "no source was read.",
    )


class CategoryJson(BaseModel):
    """The JSON reply of Figure 2: why, then which."""

    # The length is told to the server, so that a reply ends within its tokens. A server that does
    # not keep to it makes no reply unreadable.
    explanation: Annotated[str, told(maxLength=300)]
    category: Annotated[int, Field(ge=1, le=len(TAXONOMY), strict=True)]


async def by_json(query: Query, writer: Writer) -> Prediction:
    """p(t | T, q, C_q) as the paper asks for it: an explanation and a number (Figure 2).

    There are no probabilities, so the thresholds of the settings do not hold.

    Raises:
        RequestError: The sources do not fit the model's context.
        ServingError: No server can be had.
    """
    reply = await writer.client.structured(
        writer.asks_type("classify", query),
        CategoryJson,
        Sampling(max_tokens=EXPLANATION_TOKENS),
        affinity=query.query,
    )
    if reply.value is None:
        return Prediction(type=None, by="json", problem=reply.problem, raw=reply.raw)
    return explained(reply.value)


def explained(reply: CategoryJson) -> Prediction:
    """The prediction of a reply that could be read."""
    return Prediction(
        type=of_number(reply.category), by="json", explanation=reply.explanation.strip()
    )


async def by_choice(query: Query, writer: Writer) -> Prediction:
    """p(t | T, q, C_q) as the probabilities of the five numbers, in one token.

    Raises:
        RequestError, ServingError: As `by_json`.
    """
    choice = await writer.client.choose(
        writer.asks_type("classify_choice", query), NUMBERS, affinity=query.query
    )
    shares = {of_number(int(label)): p for label, p in choice.probabilities.items()}
    likely = decide(shares, writer.settings.thresholds)
    return Prediction(
        type=likely,
        by="choice",
        probabilities=shares,
        mass=choice.mass,
        abstained=likely is None and not choice.tied,
        problem=choice.problem,
    )
