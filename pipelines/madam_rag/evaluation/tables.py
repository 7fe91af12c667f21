"""The tables of runs, in the layout of the paper's Table 1 and of its Figures 3 and 4."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from math import inf

from pipelines.madam_rag.evaluation import paper
from pipelines.madam_rag.evaluation.debate_tables import agents, debates, rounds
from pipelines.madam_rag.evaluation.figures import (
    COUNTS,
    DIFFERENCES,
    EXACT,
    HERE,
    LEFT_OUT,
    MEANS,
    PAIRED,
    RULES,
    WORTH,
    counts,
    differences,
    figures,
)
from pipelines.madam_rag.evaluation.methods import MADAM
from pipelines.madam_rag.evaluation.reliability_table import reliability
from pipelines.madam_rag.evaluation.scores import (
    VARIANTS,
    Part,
    Results,
    Scored,
    base_id,
    parts,
    scored,
    shown_methods,
)
from pipelines.madam_rag.evaluation.statistics import Statistic
from pipelines.metrics.mean import mean
from pipelines.metrics.proportion import proportion
from pipelines.report.table import Column, Row, Table
from pipelines.report.text import one_line

ALPHA = 0.05

RAW_SHOWN = 200
"""Characters of a reply that could not be read."""


def all_tables(
    results: Results,
    model_of: Mapping[str, str],
    statistics: Sequence[Statistic] = (),
    counted: str = "",
    failed_shown: int = 1_000,
) -> list[Table]:
    """Every table of a run folder, those without rows as well.

    Args:
        results: Name of a run -> its results.
        model_of: Name of a run -> name of its model.
        statistics: The averages of appendix A, where the data set was at hand.
        counted: Name of the file that they are of.
        failed_shown: Most failures that are listed.
    """
    made = parts(results, model_of)
    return [
        methods([each for each in made if each.experiment is None]),
        comparisons([each for each in made if each.level is None]),
        rounds([each for each in made if each.level is None]),
        levels([each for each in made if each.level is not None]),
        drops([each for each in made if each.level is not None]),
        agents(made),
        debates(made),
        reliability([each for each in made if each.level is None]),
        averages(statistics, counted),
        failures(made, failed_shown),
    ]


def methods(made: Sequence[Part]) -> Table:
    """Table 1: every method on every data set."""
    rows: list[Row] = []
    for part in made:
        for method in shown_methods(part.results):
            own = scored(part.results, method)
            exact, *worth = figures(own)
            outcomes = [each.outcomes[method] for each in part.results if method in each.outcomes]
            rows.append(
                (
                    *(part.data, part.model, method, HERE),
                    *counts(own),
                    exact,
                    proportion(
                        sum(one.exact for one in own.scores.values()),
                        len(own.scores) + own.unreadable,
                    ),
                    proportion(sum(one.substrings for one in own.scores.values()), len(own.scores)),
                    *worth,
                    # What could not be asked at all took no reply.
                    mean([each.calls for each in outcomes if each.calls], bounds=(1, inf)),
                )
            )
    quoted: list[Row] = [
        (data, model, method, "paper, Table 1", *(None,) * 4, None, exact, *(None,) * 5)
        for data, place in (("RAMDocs", 2), ("AmbigDocs", 1), ("FaithEval", 0))
        for model, method, *shares in paper.TABLE_1
        for exact in (shares[place],)
    ]
    return Table(
        name="madam_methods",
        title="Methods",
        caption="A row is a method on a data set; figures are shares of questions, or means over "
        "them.",
        columns=(
            Column("data", "Data"),
            Column("model", "Model"),
            Column("method", "Method"),
            Column("figures", "Figures"),
            *COUNTS,
            EXACT,
            Column("exact_match_of_all", "Exact match, unreadable as not right", interval=True),
            Column("exact_match_substrings", "Exact match by substrings", interval=True),
            *WORTH,
            Column("calls", "Replies per question", interval=True),
        ),
        rows=tuple(rows),
        quoted=tuple(quoted),
        notes=(
            RULES,
            "By substrings a name counts wherever its letters occur: the naive rule, for "
            "comparison.",
            LEFT_OUT,
            "A method that is often unreadable answers fewer questions than others do. The column "
            "that takes unreadable ones as not right has the same questions for all; the paper's "
            "figures stand under it, as nothing says that it left any out.",
            MEANS,
            "Replies are those of the model that a method took, cached ones included.",
            "The paper's rows were measured with larger models on 1,000 questions of FaithEval, "
            "1,000 of AmbigDocs and 500 of RAMDocs; they stand here for orientation. The paper "
            "does not say by which rule an output includes an answer.",
        ),
    )


def comparisons(made: Sequence[Part]) -> Table:
    """MADAM-RAG less every other method, and its variants less MADAM-RAG, question by question."""
    rows: list[Row] = []
    for part in made:
        shown = shown_methods(part.results)
        for method in shown if MADAM in shown else ():
            if method != MADAM:
                pair = (method, MADAM) if method in VARIANTS else (MADAM, method)
                first, second = (scored(part.results, each) for each in pair)
                rows.append((part.title, part.model, *pair, *differences(first, second)))
    places = [len(rows[0]) - len(DIFFERENCES) + at for at in (1, 3)] if rows else []
    tested = sum(row[place] is not None for row in rows for place in places)
    return Table(
        name="madam_comparisons",
        title="Differences between methods",
        caption="Differences question by question, the first method less the second, over the "
        "questions on which both could be read.",
        columns=(
            Column("data", "Data"),
            Column("model", "Model"),
            Column("first", "Method"),
            Column("second", "less"),
            *DIFFERENCES,
        ),
        rows=tuple(rows),
        notes=(
            *([_bonferroni(len(rows), tested)] if tested else []),
            PAIRED,
            RULES,
            "Questions without gold answers are left out.",
            "Runs that vary a level are in madam_levels and madam_drops.",
        ),
    )


def levels(made: Sequence[Part]) -> Table:
    """Figure 4: every method by the number of documents for one answer, or with misinformation."""
    rows: list[Row] = []
    for part in made:
        for method in shown_methods(part.results):
            own = scored(part.results, method)
            rows.append(
                (part.data, part.model, part.experiment, part.level, method, *counts(own),
                 *figures(own))
            )  # fmt: skip
    return Table(
        name="madam_levels",
        title="Imbalance and misinformation",
        caption="A row is a method at a level: with so many documents for one of two right answers "
        "(support), or with misinformation.",
        columns=(
            Column("data", "Data"),
            Column("model", "Model"),
            Column("experiment", "Experiment"),
            Column("level", "Documents"),
            Column("method", "Method"),
            *COUNTS,
            EXACT,
            *WORTH,
        ),
        rows=tuple(rows),
        notes=(
            RULES,
            LEFT_OUT,
            MEANS,
            "What the text on Figure 4 says of the baselines is in madam_drops. Of MADAM-RAG it "
            "says that it has 'an average variance of 3.33 across rounds' with imbalance.",
        ),
    )


def drops(made: Sequence[Part]) -> Table:
    """What every method loses up to the highest level, question by question."""
    rows: list[Row] = []
    for _, found in groupby(made, key=lambda part: (part.data, part.experiment)):
        own = list(found)
        high = own[-1]
        every = [each for part in own for each in part.results]
        # From one document as in the paper, and from none where there is such a level.
        for low in (each for each in own[:-1] if each.level in {0, 1}):
            rows += [
                (
                    *(low.data, low.model, low.experiment, method, HERE, low.level, high.level),
                    *differences(_by_question(high, method), _by_question(low, method)),
                )
                for method in shown_methods(every)
            ]
    quoted: list[Row] = [
        ("RAMDocs", paper.LLAMA, experiment, method, f"paper, section {section}", 1, 3, change,
         None, None, None, None)
        for section, experiment, method, change in paper.DROPS
    ]  # fmt: skip
    return Table(
        name="madam_drops",
        title="Up to the highest level",
        caption="The highest level less a lower one, over the questions on which a method could be "
        "read at both.",
        columns=(
            Column("data", "Data"),
            Column("model", "Model"),
            Column("experiment", "Experiment"),
            Column("method", "Method"),
            Column("figures", "Figures"),
            Column("lowest", "From documents"),
            Column("highest", "To documents"),
            *DIFFERENCES,
        ),
        rows=tuple(rows),
        quoted=tuple(quoted),
        notes=(
            PAIRED,
            RULES,
            "The paper's text says 'by up to 8%' of the concatenated prompt with imbalance and "
            "'46%, each' of both baselines with misinformation; the rows take that as points.",
        ),
    )


def averages(statistics: Sequence[Statistic], counted: str) -> Table:
    """Appendix A: averages of the data set, beside the paper's."""
    numbers = sorted({number for each in statistics for number in each.by_answers})
    rows: list[Row] = [
        (
            each.name,
            each.estimate,
            each.paper,
            None if each.agrees is None else "yes" if each.agrees else "no",
            each.estimate and each.estimate.n,
            *(each.by_answers.get(number) for number in numbers),
        )
        for each in statistics
    ]
    return Table(
        name="madam_statistics",
        title="RAMDocs in numbers",
        caption=f"Averages over all questions of {counted}, beside those of appendix A."
        if counted
        else "",
        columns=(
            Column("name", "Average"),
            Column("estimate", "Here", interval=True),
            Column("paper", "Paper"),
            Column("within", "Paper within the interval"),
            Column("questions", "Questions"),
            *(
                Column(f"gold_{number}", f"{number} gold answer{'s' if number != 1 else ''}", True)
                for number in numbers
            ),
        ),
        rows=tuple(rows),
        notes=(
            "In brackets the 95 % t interval. The release is sorted by the number of gold answers, "
            "so that averages over a part from its start need not be those of the whole.",
        ),
    )


def failures(made: Sequence[Part], shown: int) -> Table:
    """Questions that failed, and replies that could not be read."""
    rows: list[Row] = []
    for part in made:
        for each in part.results:
            if each.status == "failed":
                error = one_line(each.error or "", 400)
                rows.append((part.title, part.model, each.id, "failed", error, None))
            rows += [
                (part.title, part.model, each.id, f"unreadable, {method}",
                 one_line(outcome.concluded.problem, 400),
                 one_line(outcome.concluded.raw or "", RAW_SHOWN) or None)
                for method, outcome in each.outcomes.items()
                if outcome.concluded.problem is not None
            ]  # fmt: skip
    more = len(rows) - shown
    return Table(
        name="madam_failures",
        title="Failed and unreadable",
        caption="Nothing that is listed here has a score; a failed question is tried again when "
        "the run is resumed.",
        columns=(
            Column("data", "Data"),
            Column("model", "Model"),
            Column("question", "Question"),
            Column("what", "What"),
            Column("reason", "Reason"),
            Column("reply", "Beginning of the reply"),
        ),
        rows=tuple(rows[:shown]),
        notes=(f"{more:,} more stand in the results.",) if more > 0 else (),
    )


def _by_question(part: Part, method: str) -> Scored:
    """Scores at one level, by the name that a question has at every level."""
    named = [each.model_copy(update={"id": base_id(each)}) for each in part.results]
    return scored(named, method)


def _bonferroni(pairs: int, tested: int) -> str:
    return (
        f"There are {pairs:,} comparisons with {tested:,} values of p. Bonferroni's correction "
        f"asks for a p below {ALPHA:g} / {tested:,} = {ALPHA / tested:.2g}."
    )
