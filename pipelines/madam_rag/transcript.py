"""What was said in a debate."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from pipelines.metrics.short_answers import known


class AgentReply(BaseModel):
    """What one agent says in one round.

    Attributes:
        answer: Its answer, "unknown" where its document gives none; None where the reply could not
            be read.
        explanation: Why.
        problem: Why the reply could not be read, in one line.
        raw: The reply as it came, where it could not be read.
    """

    model_config = ConfigDict(frozen=True)

    answer: str | None
    explanation: str = ""
    problem: str | None = None
    raw: str | None = None


class Conclusion(BaseModel):
    """Answers with an explanation: of an aggregator, or of a method that has none.

    Attributes:
        answers: Distinct after normalisation, without "unknown"; empty where there is no answer.
        explanation: Why.
        problem: Why the reply could not be read, in one line; there are no answers then.
        raw: The reply as it came, where it could not be read.
    """

    model_config = ConfigDict(frozen=True)

    answers: tuple[str, ...] = ()
    explanation: str = ""
    problem: str | None = None
    raw: str | None = None


class Reliability(BaseModel):
    """How the other documents relate to an agent's answer, by the tagger.

    Attributes:
        support: Documents that support it.
        refute: Documents that contradict it.
        others: Documents that were asked.
    """

    model_config = ConfigDict(frozen=True)

    support: int
    refute: int
    others: int


class Round(BaseModel):
    """One round.

    Attributes:
        agents: One reply per document.
        aggregate: What the aggregator made of them; None without an aggregator, or where a debate
            that closes with the round before needs none.
        reliability: One per agent, where it was asked for; None of an agent without an answer.
    """

    model_config = ConfigDict(frozen=True)

    agents: tuple[AgentReply, ...]
    aggregate: Conclusion | None = None
    reliability: tuple[Reliability | None, ...] = ()

    @property
    def concluded(self) -> Conclusion:
        """The aggregate, or without one the joint answer of the agents (section 6.1).

        The joint answer is unreadable where no agent's reply could be read.
        """
        if self.aggregate is not None:
            return self.aggregate
        if all(reply.answer is None for reply in self.agents):
            return Conclusion(problem="no agent's reply could be read")
        return Conclusion(answers=joint_answers(self.agents))


class Debate(BaseModel):
    """A whole debate.

    Attributes:
        rounds: In order, at least one.
        agreed: Whether it ended because every agent kept its answer.
    """

    model_config = ConfigDict(frozen=True)

    rounds: tuple[Round, ...]
    agreed: bool

    def after(self, rounds: int) -> Conclusion:
        """What the debate had concluded after so many rounds, or at its end if that came before.

        So one debate of three rounds gives the results of one and of two as well (section 6.1).

        Args:
            rounds: At least 1.
        """
        held = self.rounds[:rounds]
        aggregates = (each.aggregate for each in reversed(held) if each.aggregate is not None)
        return next(aggregates, held[-1].concluded)

    @property
    def concluded(self) -> Conclusion:
        """The final answer."""
        return self.after(len(self.rounds))

    @property
    def calls(self) -> int:
        """Replies of a model in it."""
        return sum(len(each.agents) + (each.aggregate is not None) for each in self.rounds)


def joint_answers(replies: Sequence[AgentReply]) -> tuple[str, ...]:
    """The answers that agents give between them, each once (section 6.1, without aggregator)."""
    return known(reply.answer for reply in replies if reply.answer is not None)
