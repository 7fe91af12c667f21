"""What was said in a debate."""

from collections.abc import Sequence

from pydantic import BaseModel

from pipelines.metrics.short_answers import known


class AgentReply(BaseModel, frozen=True):
    """What one agent says in one round: "unknown" where its document gives no answer.

    Where the reply could not be read, the answer is None, `problem` says why in one line, and `raw`
    is the reply as it came. As the released code has it, every reply has an answer and its `raw`.
    """

    answer: str | None
    explanation: str = ""
    problem: str | None = None
    raw: str | None = None


class Conclusion(BaseModel, frozen=True):
    """Answers with an explanation: of an aggregator, or of a method that has none.

    Answers are distinct after normalisation, without "unknown". Where there is a problem, as in
    `AgentReply`, there are none.
    """

    answers: tuple[str, ...] = ()
    explanation: str = ""
    problem: str | None = None
    raw: str | None = None


class Reliability(BaseModel, frozen=True):
    """How many of the other documents support an agent's answer and contradict it."""

    support: int
    refute: int
    others: int


class Round(BaseModel, frozen=True):
    """One round: a reply for each document, and what the aggregator made of them.

    There is no aggregate without an aggregator, or where a debate that closes with the round before
    needs none. Reliability is one per agent, where it was asked for; None without an answer.
    """

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


class Debate(BaseModel, frozen=True):
    """A debate of at least one round; `agreed` where it ended as every agent kept its answer.

    `problem` says why there is no final answer, whatever its rounds concluded.
    """

    rounds: tuple[Round, ...]
    agreed: bool
    problem: str | None = None

    def after(self, rounds: int) -> Conclusion:
        """What the debate had concluded after so many rounds (1 or more), or at an earlier end.

        So one debate of three rounds gives the results of one and of two as well (section 6.1).
        """
        held = self.rounds[:rounds]
        aggregates = (each.aggregate for each in reversed(held) if each.aggregate is not None)
        return next(aggregates, held[-1].concluded)

    @property
    def concluded(self) -> Conclusion:
        """The final answer."""
        if self.problem is not None:
            return Conclusion(problem=self.problem)
        return self.after(len(self.rounds))

    @property
    def calls(self) -> int:
        """Replies of a model in it."""
        return sum(len(each.agents) + (each.aggregate is not None) for each in self.rounds)


def joint_answers(replies: Sequence[AgentReply]) -> tuple[str, ...]:
    """The answers that agents give between them, each once (section 6.1, without aggregator)."""
    return known(reply.answer for reply in replies if reply.answer is not None)
