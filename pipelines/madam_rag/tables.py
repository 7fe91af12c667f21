"""The tables of runs: the paper's Table 1, Figures 3, 4 and 5, and how debates went."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from math import inf
from typing import Any, Final, NamedTuple

from pipelines.experiment.metric import columns, differences, pair
from pipelines.madam_rag import paper
from pipelines.madam_rag.data import RELEASED, Statistic
from pipelines.madam_rag.debate import kept
from pipelines.madam_rag.methods import MADAM, WITHOUT_AGGREGATOR, QuestionResult
from pipelines.madam_rag.metrics import (
    ANSWERS,
    EXACT,
    F1,
    METRICS,
    Answers,
    Part,
    Results,
    base_id,
    debates_of,
    parts,
    shown_methods,
)
from pipelines.madam_rag.replies import Debate, joint_answers
from pipelines.metrics.answers import same_answer
from pipelines.metrics.estimate import Estimate, mean, share
from pipelines.report.compare import correction
from pipelines.report.failures import REASON, REPLY, WHAT, Failure, failed
from pipelines.report.failures import failures as failure_table
from pipelines.report.table import HERE, Column, Measure, Table, of_place

COMPARED: Final = (EXACT, F1)
"""What methods are compared by."""

DATA: Final = Column[Any]("data", "Data", lambda row: row.part.data)
TITLE: Final = Column[Any]("data", "Data", lambda row: row.part.title)
MODEL: Final = Column[Any]("model", "Model", lambda row: row.part.model)
EXPERIMENT: Final = Column[Any]("experiment", "Experiment", lambda row: row.part.experiment)
METHOD: Final = Column[Any]("method", "Method")
"""Of whatever belongs to a part, and to a method."""

COUNTS: Final[tuple[Column[Answers], ...]] = (
    Column("questions", "Questions", lambda row: len(row.asked)),
    Column("failed", "Failed"),
    Column("no_gold", "No gold answer", lambda row: row.without_gold),
    Column("unreadable", "Unreadable"),
)

RULES: Final = (
    "Exact match: all gold answers are named and no wrong one (section 5.1). By which rules an "
    "answer is named stands in docs/madam-rag.md."
)
COUNTED: Final = (
    "Figures are over questions with gold answers, in all tables the same; a reply that could not "
    "be read gives no answer, and is counted in a column of its own. Precision is over questions "
    "with any answer; without one recall and F1 are 0. In brackets 95 % intervals: Wilson of exact "
    "match, else t intervals."
)
PAIRED: Final = (
    "In brackets the paired 95 % t interval. McNemar's test is exact; signs are flipped at random "
    "for F1."
)
CHANGED: Final = (
    "An agent has changed its answer where two of its readable replies, one after the other, "
    "differ after normalisation; over agents with at least two."
)

AGGREGATOR: Final = {MADAM: "with", WITHOUT_AGGREGATOR: "without"}
"""Debates as Figure 3 calls them."""

Value = tuple[float, Hashable]
"""A value in [0, 1], and the question that it belongs to."""

Seat = tuple[QuestionResult, Debate, int]
"""A question, its debate, and which agent, from 0."""


def all_tables(
    results: Results,
    model_of: Mapping[str, str],
    statistics: Sequence[Statistic] = (),
    counted: str = "",
    failed_shown: int = 1_000,
) -> list[Table]:
    """Every table of a run folder, those without rows as well.

    Results and models are by name of a run; the averages of appendix A are those of the file
    `counted`, where it was at hand. Of failures at most `failed_shown` are listed.
    """
    made = parts(results, model_of)
    whole = [part for part in made if part.level is None]
    at_levels = [part for part in made if part.level is not None]
    return [
        methods([part for part in whole if part.experiment is None]),
        comparisons(whole),
        rounds(whole),
        levels(at_levels),
        drops(at_levels),
        debates(made),
        averages(statistics, counted),
        distributions(statistics, counted),
        failures(made, failed_shown),
    ]


def answers(made: Sequence[Part]) -> list[Answers]:
    """Every method on every part."""
    return [Answers(part, method) for part in made for method in shown_methods(part.results)]


def methods(made: Sequence[Part]) -> Table:
    """Table 1: every method on every data set."""
    return Table.of(
        answers(made),
        name="madam_methods",
        title="Methods",
        caption="A row is a method on a data set; figures are shares of questions, or means over "
        "them.",
        columns=[DATA, MODEL, METHOD, HERE, *COUNTS, *columns(METRICS)],
        quoted=paper.TABLE_1,
        notes=(
            RULES,
            "By substrings a name counts wherever its letters occur: the naive rule, for "
            "comparison.",
            COUNTED,
            "Replies are those of the model that a method took, cached ones included.",
            "The paper's rows were measured with larger models on 1,000 questions of FaithEval, "
            "1,000 of AmbigDocs and 500 of RAMDocs; they stand here for orientation. The paper "
            "does not say by which rule an output includes an answer.",
        ),
    )


def comparisons(made: Sequence[Part]) -> Table:
    """MADAM-RAG less every other method, and less it the variant, question by question."""
    pairs = []
    for part in made:
        shown = shown_methods(part.results)
        for method in shown if MADAM in shown else ():
            two = Answers(part, MADAM), Answers(part, method)
            if method == WITHOUT_AGGREGATOR:
                two = two[1], two[0]
            if method != MADAM:
                pairs.append(pair(two[0], *two, COMPARED))
    return Table.of(
        pairs,
        name="madam_comparisons",
        title="Differences between methods",
        caption="Differences question by question, the first method less the second.",
        columns=[
            *map(of_place, (TITLE, MODEL)),
            Column("first", "Method"),
            Column("second", "less"),
            *differences(COMPARED),
        ],
        notes=(
            *correction(pairs),
            PAIRED,
            RULES,
            "Questions without gold answers are left out.",
            "Runs that vary a level are in madam_levels and madam_drops.",
        ),
    )


def rounds(made: Sequence[Part]) -> Table:
    """Figure 3: what debates had concluded after one round, two, three."""

    def ended(row: Answers) -> int:
        held = debates_of(row.part.results, row.method)
        return sum(len(debate.rounds) < (row.rounds or 0) for _, debate in held)

    def most_rounds(part: Part, method: str) -> int:
        held = debates_of(part.results, method)
        return max((len(debate.rounds) for _, debate in held), default=0)

    return Table.of(
        [
            Answers(row.part, row.method, number)
            for row in answers(made)
            for number in range(1, most_rounds(row.part, row.method) + 1)
        ],
        name="madam_rounds",
        title="Rounds and the aggregator",
        caption="A row is what debates of at most so many rounds come to: of longer ones, what had "
        "been concluded by then.",
        columns=[
            *(TITLE, MODEL),
            Column("aggregator", "Aggregator", lambda row: AGGREGATOR.get(row.method, row.method)),
            HERE,
            Column("rounds", "Rounds"),
            Column("ended", "Ended before", ended),
            *COUNTS,
            *columns(ANSWERS),
        ],
        quoted=paper.SECTION_6_1,
        notes=(
            "Without an aggregator the joint answer is whatever agents answer between them "
            "(section 6.1). Ended before: debates that had fewer rounds, and stay as they ended.",
            RULES,
            COUNTED,
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


def levels(made: Sequence[Part]) -> Table:
    """Figure 4: every method by the number of documents for one answer, or with misinformation."""
    return Table.of(
        answers(made),
        name="madam_levels",
        title="Imbalance and misinformation",
        caption="A row is a method at a level: with so many documents for one of two right answers "
        "(support), or with misinformation.",
        columns=[
            *(DATA, MODEL, EXPERIMENT),
            Column("level", "Documents", lambda row: row.part.level),
            METHOD,
            *COUNTS,
            *columns(ANSWERS),
        ],
        notes=(
            RULES,
            COUNTED,
            "What the text on Figure 4 says of the baselines is in madam_drops. Of MADAM-RAG it "
            "says that it has 'an average variance of 3.33 across rounds' with imbalance.",
        ),
    )


class Drop(NamedTuple):
    """A part at a low level, and how high the highest is."""

    part: Part
    highest: int | None


def drops(made: Sequence[Part]) -> Table:
    """What every method loses up to the highest level, question by question."""
    pairs = []
    for _, of_one in groupby(made, key=lambda part: (part.data, part.experiment)):
        *lower, high = (_by_question(part) for part in of_one)
        every = [result for part in (*lower, high) for result in part.results]
        # From one document as in the paper, and from none where there is such a level.
        for low in (part for part in lower if part.level in {0, 1}):
            for method in shown_methods(every):
                two = Answers(high, method), Answers(low, method)
                pairs.append(pair(Drop(low, high.level), *two, COMPARED))
    return Table.of(
        pairs,
        name="madam_drops",
        title="Up to the highest level",
        caption="The highest level less a lower one, question by question.",
        columns=[
            *map(of_place, (DATA, MODEL, EXPERIMENT)),
            Column("method", "Method", lambda pair: pair.first),
            HERE,
            Column("lowest", "From documents", lambda pair: pair.at.part.level),
            Column("highest", "To documents", lambda pair: pair.at.highest),
            *differences(COMPARED),
        ],
        quoted=paper.DROPS,
        notes=(
            PAIRED,
            RULES,
            "The paper's text says 'by up to 8%' of the concatenated prompt with imbalance and "
            "'46%, each' of both baselines with misinformation; the rows take that as points.",
        ),
    )


def _by_question(part: Part) -> Part:
    """The part with questions by the name that they have at every level."""
    named = (r.model_copy(update={"id": base_id(r)}) for r in part.results)
    return replace(part, results=tuple(named))


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
            *(TITLE, MODEL, METHOD),
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
            CHANGED,
            "In brackets 95 % intervals: Wilson of ended debates, else t intervals, with the "
            "agents or answers of a question as one cluster.",
        ),
    )


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


def averages(statistics: Sequence[Statistic], counted: str) -> Table:
    """Appendix A: averages of the data set, beside the paper's."""

    def of_questions(gold: int) -> Column[Statistic]:
        title = f"{gold} gold answer{'s' if gold != 1 else ''}"
        return Measure(f"gold_{gold}", title, lambda each: each.by_answers.get(gold))

    within = {None: None, True: "yes", False: "no"}
    questions = max((each.estimate.n for each in statistics if each.estimate), default=0)
    part = (
        f"The release has {RELEASED:,} questions, sorted by the number of gold answers; averages "
        f"over {questions:,} need not be those of the whole."
    )
    return Table.of(
        statistics,
        name="madam_statistics",
        title="RAMDocs in numbers",
        caption=f"Averages over all questions of {counted}, beside those of appendix A."
        if counted
        else "",
        columns=[
            Column("name", "Average"),
            Measure("estimate", "Here"),
            Column("paper", "Paper"),
            Column("within", "Paper within the interval", lambda each: within[each.agrees]),
            Column("questions", "Questions", lambda each: each.estimate and each.estimate.n),
            *map(of_questions, sorted({gold for each in statistics for gold in each.by_answers})),
        ],
        notes=("In brackets the 95 % t interval.", *((part,) if questions != RELEASED else ())),
    )


def distributions(statistics: Sequence[Statistic], counted: str) -> Table:
    """Figure 5: how many questions have so many documents or answers."""

    def having(each: Statistic) -> Column[float]:
        return Column(each.name.replace(" ", "_"), each.name.capitalize(), each.distribution.get)

    return Table.of(
        sorted({number for each in statistics for number in each.distribution}),
        name="madam_distributions",
        title="Questions by number",
        caption=f"A row is a number, a column what there are so many of; cells are questions of "
        f"{counted}."
        if counted
        else "",
        columns=[Column("number", "Number", lambda n: f"{n:g}"), *map(having, statistics)],
        notes=("Documents per answer are rounded to the nearest half.",),
    )


class Place(NamedTuple):
    """Where something is lost."""

    part: Part
    question: str


def failures(made: Sequence[Part], shown: int) -> Table:
    """Questions that failed, and replies that could not be read."""
    return failure_table(
        (lost for part in made for each in part.results for lost in _lost(part, each)),
        name="madam_failures",
        title="Failed and unreadable",
        caption="Nothing that is listed here has a score; a failed question is tried again when "
        "the run is resumed.",
        places=[*(TITLE, MODEL), Column("question", "Question")],
        said=(WHAT, REASON, REPLY),
        most=shown,
    )


def _lost(part: Part, result: QuestionResult) -> Iterator[Failure[Place]]:
    at = Place(part, result.id)
    if result.status == "failed":
        yield failed(at, "failed", result.error)
    for method, outcome in result.outcomes.items():
        made = outcome.concluded
        if made.problem is not None:
            yield failed(at, f"unreadable, {method}", made.problem, made.raw)
