"""The tables of runs, in the layout of the paper's Table 1 and of its Figures 3 and 4."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import inf
from typing import NamedTuple

from pipelines.madam_rag import figures, paper
from pipelines.madam_rag.data import RELEASED, Statistic
from pipelines.madam_rag.debate_tables import agents, debates, rounds
from pipelines.madam_rag.figures import Answers, less
from pipelines.madam_rag.methods import MADAM, QuestionResult
from pipelines.madam_rag.scores import (
    VARIANTS,
    Part,
    Results,
    Scores,
    base_id,
    parts,
    scored,
    shown_methods,
)
from pipelines.metrics.estimate import Estimate, mean
from pipelines.report.compare import Pair, correction
from pipelines.report.failures import REASON, REPLY, WHAT, Failure, failed
from pipelines.report.failures import failures as failure_table
from pipelines.report.table import HERE, Column, Measure, Table, of_place


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
    whole = [each for each in made if each.level is None]
    at_levels = [each for each in made if each.level is not None]
    return [
        methods([each for each in whole if each.experiment is None]),
        comparisons(whole),
        rounds(whole),
        levels(at_levels),
        drops(at_levels),
        agents(made),
        debates(made),
        averages(statistics, counted),
        distributions(statistics, counted),
        failures(made, failed_shown),
    ]


def answers(made: Sequence[Part]) -> list[Answers]:
    """Every method on every part."""
    return [
        Answers(part, method, scored(part.results, method))
        for part in made
        for method in shown_methods(part.results)
    ]


def methods(made: Sequence[Part]) -> Table:
    """Table 1: every method on every data set."""
    return Table.of(
        answers(made),
        name="madam_methods",
        title="Methods",
        caption="A row is a method on a data set; figures are shares of questions, or means over "
        "them.",
        columns=[
            *(figures.DATA, figures.MODEL, figures.METHOD, HERE),
            *(*figures.COUNTS, figures.EXACT),
            Measure(
                "exact_match_of_all",
                "Exact match, unreadable as not right",
                lambda own: own.scores.exact_match_of_all,
            ),
            Measure(
                "exact_match_substrings",
                "Exact match by substrings",
                lambda own: own.scores.exact_match_substrings,
            ),
            *figures.WORTH,
            Measure("calls", "Replies per question", _calls),
        ],
        quoted=paper.TABLE_1,
        notes=(
            figures.RULES,
            "By substrings a name counts wherever its letters occur: the naive rule, for "
            "comparison.",
            figures.LEFT_OUT,
            "A method that is often unreadable answers fewer questions than others do. The column "
            "that takes unreadable ones as not right has the same questions for all; the paper's "
            "figures stand under it, as nothing says that it left any out.",
            figures.MEANS,
            "Replies are those of the model that a method took, cached ones included.",
            "The paper's rows were measured with larger models on 1,000 questions of FaithEval, "
            "1,000 of AmbigDocs and 500 of RAMDocs; they stand here for orientation. The paper "
            "does not say by which rule an output includes an answer.",
        ),
    )


def _calls(own: Answers) -> Estimate | None:
    found = [each.outcomes.get(own.method) for each in own.part.results]
    # What could not be asked at all took no reply.
    return mean([each.calls for each in found if each and each.calls], bounds=(1, inf))


def comparisons(made: Sequence[Part]) -> Table:
    """MADAM-RAG less every other method, and its variants less MADAM-RAG, question by question."""
    pairs = []
    for part in made:
        every = {own.method: own for own in answers([part])}
        for method, own in every.items() if MADAM in every else ():
            if method != MADAM:
                base = every[MADAM]
                first, second = (own, base) if method in VARIANTS else (base, own)
                by = less(first.scores, second.scores)
                pairs.append(Pair(own, first.method, second.method, by))
    return Table.of(
        pairs,
        name="madam_comparisons",
        title="Differences between methods",
        caption="Differences question by question, the first method less the second, over the "
        "questions on which both could be read.",
        columns=[
            *map(of_place, (figures.TITLE, figures.MODEL)),
            Column("first", "Method"),
            Column("second", "less"),
            *figures.DIFFERENCES,
        ],
        notes=(
            *correction(pairs),
            figures.PAIRED,
            figures.RULES,
            "Questions without gold answers are left out.",
            "Runs that vary a level are in madam_levels and madam_drops.",
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
            *(figures.DATA, figures.MODEL, figures.EXPERIMENT),
            Column("level", "Documents", lambda own: own.part.level),
            figures.METHOD,
            *(*figures.COUNTS, figures.EXACT, *figures.WORTH),
        ],
        notes=(
            figures.RULES,
            figures.LEFT_OUT,
            figures.MEANS,
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
    for _, found in groupby(made, key=lambda part: (part.data, part.experiment)):
        *lower, high = found
        every = [each for part in (*lower, high) for each in part.results]
        # From one document as in the paper, and from none where there is such a level.
        for low in (each for each in lower if each.level in {0, 1}):
            for method in shown_methods(every):
                first, second = (_by_question(part, method) for part in (high, low))
                pairs.append(Pair(Drop(low, high.level), method, method, less(first, second)))
    return Table.of(
        pairs,
        name="madam_drops",
        title="Up to the highest level",
        caption="The highest level less a lower one, over the questions on which a method could be "
        "read at both.",
        columns=[
            *map(of_place, (figures.DATA, figures.MODEL, figures.EXPERIMENT)),
            Column("method", "Method", lambda pair: pair.first),
            HERE,
            Column("lowest", "From documents", lambda pair: pair.at.part.level),
            Column("highest", "To documents", lambda pair: pair.at.highest),
            *figures.DIFFERENCES,
        ],
        quoted=paper.DROPS,
        notes=(
            figures.PAIRED,
            figures.RULES,
            "The paper's text says 'by up to 8%' of the concatenated prompt with imbalance and "
            "'46%, each' of both baselines with misinformation; the rows take that as points.",
        ),
    )


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
        places=[*(figures.TITLE, figures.MODEL), Column("question", "Question")],
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


def _by_question(part: Part, method: str) -> Scores:
    """Scores at one level, by the name that a question has at every level."""
    named = [each.model_copy(update={"id": base_id(each)}) for each in part.results]
    return scored(named, method)
