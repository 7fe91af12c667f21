"""What happens in debates: what agents make of their documents, and what becomes of it."""

from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise
from math import inf
from typing import Literal, NamedTuple, get_args

from pipelines.madam_rag import figures, paper
from pipelines.madam_rag.data import Kind, Question
from pipelines.madam_rag.debate import kept
from pipelines.madam_rag.figures import Answers
from pipelines.madam_rag.methods import MADAM, WITHOUT_AGGREGATOR, QuestionResult
from pipelines.madam_rag.replies import AgentReply, Debate, joint_answers
from pipelines.madam_rag.scores import Part, debates_of, mark, scored, shown_methods
from pipelines.metrics.answers import same_answer
from pipelines.metrics.estimate import Estimate, mean, share
from pipelines.report.table import HERE, Column, Measure, Table

Said = Literal["right", "wrong", "unknown", "other", "unreadable"]
"""What one agent's answer is by the data; each is one of them."""

KINDS: tuple[Kind, ...] = get_args(Kind)

Value = tuple[float, Hashable]
"""A value in [0, 1], and the question that it belongs to."""

Seat = tuple[QuestionResult, Debate, int]
"""A question, its debate, and which agent, from 0."""

_AGGREGATOR = {
    MADAM: "with",
    WITHOUT_AGGREGATOR: "without",
}
"""Debates as Figure 3 calls them."""

_CHANGED = (
    "An agent has changed its answer where two of its readable replies, one after the other, "
    "differ after normalisation; over agents with at least two."
)


def rounds(made: Sequence[Part]) -> Table:
    """Figure 3: what debates had concluded after one round, two, three."""

    def ended(own: Answers) -> int:
        held = debates_of(own.part.results, own.method)
        return sum(len(each.rounds) < own.rounds for _, each in held)

    def most_rounds(part: Part, method: str) -> int:
        return max((len(each.rounds) for _, each in debates_of(part.results, method)), default=0)

    return Table.of(
        [
            Answers(part, method, scored(part.results, method, most), most)
            for part in made
            for method in shown_methods(part.results)
            for most in range(1, most_rounds(part, method) + 1)
        ],
        name="madam_rounds",
        title="Rounds and the aggregator",
        caption="A row is what debates of at most so many rounds come to: of longer ones, what had "
        "been concluded by then.",
        columns=[
            *(figures.TITLE, figures.MODEL),
            Column("aggregator", "Aggregator", lambda own: _AGGREGATOR.get(own.method, own.method)),
            HERE,
            Column("rounds", "Rounds"),
            Column("ended", "Ended before", ended),
            *(*figures.COUNTS, figures.EXACT, *figures.WORTH),
        ],
        quoted=paper.SECTION_6_1,
        notes=(
            "Without an aggregator the joint answer is whatever agents answer between them "
            "(section 6.1). Ended before: debates that had fewer rounds, and stay as they ended.",
            figures.RULES,
            figures.LEFT_OUT,
            figures.MEANS,
            "The paper's rows are what the text on Figure 3 says; F1 without aggregator after "
            "three rounds is the one after one and the gain of 3.62 points. The text also has a "
            "gain of 21.10 points of exact match from one round to three without aggregator on "
            "FaithEval, and the introduction 19 points by the aggregator and 5.30 by rounds there.",
            "The text gives RAMDocs an exact match of 0.378 with aggregator after one round, which "
            "is more than the 0.344 of Table 1 after three. It is also what FaithEval would have: "
            "0.431 in Table 1, less 5.30 points.",
            "Runs that vary a level are in madam_levels.",
        ),
    )


class Agents(NamedTuple):
    """What agents with documents of a kind say in a round, and whether they have changed it."""

    part: Part
    method: str
    kind: Kind | None
    round: str
    said: Sequence[tuple[Said, str]]
    changes: Sequence[Value] = ()


def agents(made: Sequence[Part]) -> Table:
    """What agents answer, by the kind of their document, in the first round and in the last."""

    def saying(said: Said) -> Column[Agents]:
        def cell(own: Agents) -> Estimate | None:
            among = [each for each in own.said if said == "unreadable" or each[0] != "unreadable"]
            return _share([(float(what == said), name) for what, name in among])

        return Measure(said, said.capitalize(), cell)

    return Table.of(
        [
            own
            for part in made
            for method in shown_methods(part.results)
            for own in _agents(part, method)
        ],
        name="madam_agents",
        title="What agents answer",
        caption="Agents of all debates, by the kind of the document that they read.",
        columns=[
            *(figures.TITLE, figures.MODEL, figures.METHOD),
            Column("kind", "Document", lambda own: own.kind or "not known"),
            Column("round", "Round"),
            Column("agents", "Agents", lambda own: len(own.said)),
            *map(saying, get_args(Said)),
            Measure("changed", "Changed its answer", lambda own: _share(own.changes)),
        ],
        notes=(
            "Wrong is an answer that names a wrong one, even beside a gold one; where the gold "
            "answers are all there are, every answer that names none of them. Right is one that "
            "names a gold answer and no wrong one; unknown, one that says there is none; other, "
            "whatever is left.",
            "Shares of answers are over replies that could be read, and those that could not are "
            "a share of all. The last round is the first where a debate had only one.",
            _CHANGED,
            "In brackets 95 % t intervals, with the agents of a question as one cluster. Questions "
            "without gold answers are left out.",
            "correct documents support a gold answer, misinfo ones a wrong one, noise none.",
        ),
    )


class Course(NamedTuple):
    """How the debates of a method went; `read` and `concluded` say which replies could be read."""

    part: Part
    method: str
    rounds: Sequence[int]
    agreed: Sequence[bool]
    changes: Sequence[Value]
    invented: Sequence[Value]
    read: Sequence[bool]
    concluded: Sequence[bool]


def debates(made: Sequence[Part]) -> Table:
    """How debates went, and whether the aggregator keeps to what agents said."""
    return Table.of(
        [
            _course(part, method, held)
            for part in made
            for method in shown_methods(part.results)
            if (held := debates_of(part.results, method))
        ],
        name="madam_debates",
        title="How debates went",
        columns=[
            *(figures.TITLE, figures.MODEL, figures.METHOD),
            Column("debates", "Debates", lambda own: len(own.rounds)),
            Measure("rounds", "Rounds", lambda own: mean(own.rounds, bounds=(1, inf))),
            Measure("agreed", "Ended by agreement", lambda own: share(own.agreed)),
            Measure("changed", "Agents that changed", lambda own: _share(own.changes)),
            Column("aggregated", "Aggregator's answers", lambda own: len(own.invented)),
            Measure("invented", "Given by no agent", lambda own: _share(own.invented)),
            Column("agent_replies", "Agents' replies", lambda own: len(own.read)),
            Column("agent_unreadable", "Unreadable", lambda own: own.read.count(False)),
            Column("aggregator_replies", "Aggregator's replies", lambda own: len(own.concluded)),
            Column("aggregator_unreadable", "Unreadable", lambda own: own.concluded.count(False)),
        ],
        notes=(
            "Of the aggregator's answers in all rounds, 'given by no agent' are those of which no "
            "agent's answer in that round names it, or is named by it, by the rules in "
            "docs/madam-rag.md.",
            f"Without an aggregator there are no such answers; in {MADAM} a debate that closes "
            "with the round before has no aggregate of its last round.",
            _CHANGED,
            "In brackets 95 % intervals: Wilson of ended debates, else t intervals, with the "
            "agents or answers of a question as one cluster.",
        ),
    )


def said(reply: AgentReply, asked: Question) -> Said:
    """What a reply to a question with gold answers is by the data."""
    match mark(reply.answer, asked):
        case "both":
            return "wrong"
        case "neither" | "unjudged":
            return "other"
        case made:
            return made


def changed(debate: Debate, agent: int) -> bool | None:
    """Whether an agent (from 0) changed its answer; None with fewer than two readable replies."""
    replies = (each.agents[agent].answer for each in debate.rounds)
    answers = [answer for answer in replies if answer is not None]
    if len(answers) < 2:
        return None
    return not all(kept(before, now, "same") for before, now in pairwise(answers))


def invented(debate: Debate) -> list[bool]:
    """Of each of the aggregator's answers, whether no agent had given it in that round."""
    return [
        not any(same_answer(answer, one) for one in joint_answers(each.agents))
        for each in debate.rounds
        if each.aggregate is not None
        for answer in each.aggregate.answers
    ]


def _seats(held: Sequence[tuple[QuestionResult, Debate]]) -> list[Seat]:
    return [(*one, agent) for one in held for agent in range(len(one[1].rounds[0].agents))]


def _agents(part: Part, method: str) -> Iterator[Agents]:
    """The first and the last round of agents by the kind of their document; nothing without any."""
    seats = _seats(debates_of(part.results, method))
    for kind in (*KINDS, None):
        own = [
            (each, debate, agent)
            for each, debate, agent in seats
            if each.asked.gold and each.asked.documents[agent].kind == kind
        ]
        for name, place in (("first", 0), ("last", -1)) if own else ():
            sayings = [
                (said(debate.rounds[place].agents[agent], each.asked), each.id)
                for each, debate, agent in own
            ]
            yield Agents(part, method, kind, name, sayings, _changes(own) if place else ())


def _course(part: Part, method: str, held: Sequence[tuple[QuestionResult, Debate]]) -> Course:
    rounds = [each for _, debate in held for each in debate.rounds]
    return Course(
        *(part, method),
        rounds=[len(debate.rounds) for _, debate in held],
        agreed=[debate.agreed for _, debate in held],
        changes=_changes(_seats(held)),
        invented=[(new, each.id) for each, debate in held for new in invented(debate)],
        read=[reply.answer is not None for each in rounds for reply in each.agents],
        concluded=[each.aggregate.problem is None for each in rounds if each.aggregate is not None],
    )


def _changes(seats: Sequence[Seat]) -> list[Value]:
    """1 where an agent has changed its answer, else 0; without those that nobody can tell of."""
    found = [(changed(debate, agent), each.id) for each, debate, agent in seats]
    return [(change, name) for change, name in found if change is not None]


def _share(values: Sequence[Value]) -> Estimate | None:
    return mean([value for value, _ in values], [name for _, name in values], bounds=(0, 1))
