"""The variants of a debate."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

History = Literal["aggregate", "agents"]
Agreement = Literal["same", "contained", "never"]
Closing = Literal["last", "previous"]
Replies = Literal["json", "text"]


class DebateSettings(BaseModel):
    """How a debate is held.

    The defaults are those of the paper's section 4. Its released code (`RELEASED`) differs in four
    of them, and lets every reply have 128 tokens.

    Attributes:
        rounds: T, the most rounds, at least 1.
        history: What an agent is told of the round before: the aggregator's answers and explanation
            (section 4), or the other agents' replies (the prompt in appendix C, the released code).
        agreement: When an agent has kept its answer: when both are the `same` after normalisation
            (section 4), or one is `contained` in the other (the released code; everything contains
            an empty answer there, here an unreadable one never agrees). `never` holds all rounds.
        closing: Whose aggregate is final when all agents have kept their answers: that of the
            `last` round, A(R^(t_end)) in section 4, or that of the `previous` one, which saves a
            call (the released code).
        replies: Whether models are held to a JSON schema, or write free text that is parsed.
        agent_tokens: Most tokens of an agent's reply.
        conclusion_tokens: Most tokens of the aggregator's, and of a baseline's answer.
        aggregator: Whether there is one. Without, the joint answer is what the agents answer
            between them (section 6.1), and `history` must be "agents".
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    rounds: int = Field(3, ge=1)
    history: History = "aggregate"
    agreement: Agreement = "same"
    closing: Closing = "last"
    replies: Replies = "json"
    aggregator: bool = True
    agent_tokens: int = Field(256, ge=1)
    conclusion_tokens: int = Field(512, ge=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.aggregator and self.history == "aggregate":
            raise ValueError(
                "without an aggregator agents can only be told of each other's replies"
            )
        return self

    def without_aggregator(self) -> Self:
        """The same debate as section 6.1 has it without an aggregator."""
        return self.model_copy(update={"aggregator": False, "history": "agents"})


RELEASED = DebateSettings(
    history="agents",
    agreement="contained",
    closing="previous",
    replies="text",
    agent_tokens=128,
    conclusion_tokens=128,
)
"""The debate as the paper's released code holds it."""
