"""What happens in debates: what agents make of their documents, and what becomes of it."""

from collections.abc import Sequence
from itertools import pairwise
from math import inf
from typing import Literal, get_args

from pipelines.madam_rag.debate import kept
from pipelines.madam_rag.evaluation import paper
from pipelines.madam_rag.evaluation.figures import (
    COUNTS,
    EXACT,
    HERE,
    LEFT_OUT,
    MEANS,
    RULES,
    WORTH,
    counts,
    figures,
)
from pipelines.madam_rag.evaluation.methods import MADAM, WITH_RELIABILITY, WITHOUT_AGGREGATOR
from pipelines.madam_rag.evaluation.result import QuestionResult
from pipelines.madam_rag.evaluation.scores import Part, debates_of, mark, scored, shown_methods
from pipelines.madam_rag.question import Kind, Question
from pipelines.madam_rag.transcript import AgentReply, Debate, joint_answers
from pipelines.metrics.mean import mean
from pipelines.metrics.proportion import proportion
from pipelines.metrics.strict_match import same_answer
from pipelines.report.table import Cell, Column, Row, Table

Said = Literal["right", "wrong", "unknown", "other", "unreadable"]
"""What one agent's answer is by the data; each is one of them."""

KINDS: tuple[Kind, ...] = get_args(Kind)

_AGGREGATOR = {
    MADAM: "with",
    WITHOUT_AGGREGATOR: "without",
    WITH_RELIABILITY: "with, + reliability",
}
"""Debates as Figure 3 calls them."""

_CHANGED = (
    "An agent has changed its answer where two of its readable replies, one after the other, "
    "differ after normalisation; over agents with at least two."
)


def rounds(made: Sequence[Part]) -> Table:
    """Figure 3: what debates had concluded after one round, two, three."""
    rows: list[Row] = []
    for part in made:
        for method in shown_methods(part.results):
            held = [debate for _, debate in debates_of(part.results, method)]
            for most in range(1, max((len(each.rounds) for each in held), default=0) + 1):
                own = scored(part.results, method, most)
                rows.append(
                    (
                        *(part.title, part.model, _AGGREGATOR.get(method, method), HERE, most),
                        sum(len(each.rounds) < most for each in held),
                        *counts(own),
                        *figures(own),
                    )
                )
    quoted: list[Row] = [
        (data, paper.LLAMA, _AGGREGATOR[method], "paper, section 6.1", most, *(None,) * 5,
         exact, precision, None, f1)
        for data, method, most, exact, precision, f1 in paper.SECTION_6_1
    ]  # fmt: skip
    return Table(
        name="madam_rounds",
        title="Rounds and the aggregator",
        caption="A row is what debates of at most so many rounds come to: of longer ones, what had "
        "been concluded by then.",
        columns=(
            Column("data", "Data"),
            Column("model", "Model"),
            Column("aggregator", "Aggregator"),
            Column("figures", "Figures"),
            Column("rounds", "Rounds"),
            Column("ended", "Ended before"),
            *COUNTS,
            EXACT,
            *WORTH,
        ),
        rows=tuple(rows),
        quoted=tuple(quoted),
        notes=(
            "Without an aggregator the joint answer is whatever agents answer between them "
            "(section 6.1). Ended before: debates that had fewer rounds, and stay as they ended.",
            RULES,
            LEFT_OUT,
            MEANS,
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


def agents(made: Sequence[Part]) -> Table:
    """What agents answer, by the kind of their document, in the first round and in the last."""
    rows: list[Row] = []
    for part in made:
        for method in shown_methods(part.results):
            held = [(each, debate) for each, debate in debates_of(part.results, method)
                    if each.asked.gold]  # fmt: skip
            for kind in (*KINDS, None):
                rows += [
                    (part.title, part.model, method, kind or "not known", *cells)
                    for cells in _of_kind(held, kind)
                ]
    return Table(
        name="madam_agents",
        title="What agents answer",
        caption="Agents of all debates, by the kind of the document that they read.",
        columns=(
            Column("data", "Data"),
            Column("model", "Model"),
            Column("method", "Method"),
            Column("kind", "Document"),
            Column("round", "Round"),
            Column("agents", "Agents"),
            Column("right", "Right", interval=True),
            Column("wrong", "Wrong", interval=True),
            Column("unknown", "Unknown", interval=True),
            Column("other", "Other", interval=True),
            Column("unreadable", "Unreadable", interval=True),
            Column("changed", "Changed its answer", interval=True),
        ),
        rows=tuple(rows),
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


def debates(made: Sequence[Part]) -> Table:
    """How debates went, and whether the aggregator keeps to what agents said."""
    rows: list[Row] = []
    for part in made:
        for method in shown_methods(part.results):
            held = debates_of(part.results, method)
            if held:
                rows.append((part.title, part.model, method, len(held), *_course(held)))
    return Table(
        name="madam_debates",
        title="How debates went",
        columns=(
            Column("data", "Data"),
            Column("model", "Model"),
            Column("method", "Method"),
            Column("debates", "Debates"),
            Column("rounds", "Rounds", interval=True),
            Column("agreed", "Ended by agreement", interval=True),
            Column("changed", "Agents that changed", interval=True),
            Column("aggregated", "Aggregator's answers"),
            Column("invented", "Given by no agent", interval=True),
            Column("agent_replies", "Agents' replies"),
            Column("agent_unreadable", "Unreadable"),
            Column("aggregator_replies", "Aggregator's replies"),
            Column("aggregator_unreadable", "Unreadable"),
        ),
        rows=tuple(rows),
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
    """Whether an agent changed its answer; None with fewer than two readable replies.

    Args:
        debate: The debate.
        agent: Which agent, from 0.
    """
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


def _of_kind(held: Sequence[tuple[QuestionResult, Debate]], kind: Kind | None) -> list[Row]:
    """The first and the last round of agents with documents of a kind; nothing without any."""
    chosen = [
        (each, debate, agent)
        for each, debate in held
        for agent, given in enumerate(each.asked.documents)
        if given.kind == kind
    ]
    if not chosen:
        return []
    changes = [
        (float(change), each.id)
        for each, debate, agent in chosen
        if (change := changed(debate, agent)) is not None
    ]
    return [
        (name, len(chosen),
         *_shares([(said(debate.rounds[place].agents[agent], each.asked), each.id)
                   for each, debate, agent in chosen]),
         None if place == 0 else _share(changes))
        for name, place in (("first", 0), ("last", -1))
    ]  # fmt: skip


def _shares(sayings: Sequence[tuple[Said, str]]) -> list[Cell]:
    """Shares of what is said, each with the question that it is said of."""
    read = [(what, name) for what, name in sayings if what != "unreadable"]
    return [
        *(
            _share([(float(what == kind), name) for what, name in read])
            for kind in ("right", "wrong", "unknown", "other")
        ),
        _share([(float(what == "unreadable"), name) for what, name in sayings]),
    ]


def _course(held: Sequence[tuple[QuestionResult, Debate]]) -> list[Cell]:
    rounds = [each for _, debate in held for each in debate.rounds]
    replies = [reply for each in rounds for reply in each.agents]
    aggregates = [each.aggregate for each in rounds if each.aggregate is not None]
    new = [(float(one), each.id) for each, debate in held for one in invented(debate)]
    changes = [
        (float(change), each.id)
        for each, debate in held
        for agent in range(len(debate.rounds[0].agents))
        if (change := changed(debate, agent)) is not None
    ]
    return [
        mean([len(debate.rounds) for _, debate in held], bounds=(1, inf)),
        proportion(sum(debate.agreed for _, debate in held), len(held)),
        _share(changes),
        len(new),
        _share(new),
        len(replies),
        sum(reply.answer is None for reply in replies),
        len(aggregates),
        sum(each.problem is not None for each in aggregates),
    ]


def _share(values: Sequence[tuple[float, str]]) -> Cell:
    """A mean of values in [0, 1], each with the question that it belongs to."""
    return mean([value for value, _ in values], [name for _, name in values], bounds=(0, 1))
