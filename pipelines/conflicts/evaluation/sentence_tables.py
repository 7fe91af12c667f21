"""The tables of sentences: how they stand to their sources, and what they cite."""

from collections import Counter
from collections.abc import Sequence
from math import inf
from typing import Final

from pipelines.conflicts.evaluation.figures import JUDGE, RUN, STRATEGY, WRITER
from pipelines.conflicts.evaluation.methods import STRATEGIES
from pipelines.conflicts.evaluation.scores import (
    Part,
    answered,
    factual,
    judged_sentences,
    shown_strategies,
)
from pipelines.conflicts.judges.verdicts import Grounds
from pipelines.metrics.mean import mean
from pipelines.report.table import Column, Row, Table

GROUNDS: Final = {
    Grounds.SUPPORTED: Column("supported", "Supported"),
    Grounds.UNSUPPORTED: Column("unsupported", "Unsupported"),
    Grounds.CONTRADICTORY: Column("contradictory", "Contradictory"),
    Grounds.NO_FACT: Column("no_fact", "No factual information"),
    None: Column("unreadable", "No verdict"),
}
"""Verdicts on a sentence, with the columns that count them."""

CLUSTERED: Final = "In brackets 95 % t intervals over sentences, with queries as clusters."


def grounds(made: Sequence[Part]) -> Table:
    """Sentences by the judge's verdict."""
    rows: list[Row] = []
    for part in made:
        for strategy in shown_strategies(part.results):
            judged = judged_sentences(part.results, strategy)
            counts = Counter(each.grounds for own in judged.values() for each in own)
            facts = factual(judged)
            asked = answered(part.results, strategy)
            unread = sum(each.answer.problem is not None for each in asked.values())
            rows.append(
                (
                    *(part.run, part.writer, part.judge, STRATEGIES[strategy]),
                    *(len(asked), unread, len(asked) - unread - len(judged)),
                    sum(len(own) for own in judged.values()),
                    *(counts[each] for each in GROUNDS),
                    mean(
                        [float(supported) for _, supported in facts],
                        clusters=[name for name, _ in facts],
                        bounds=(0, 1),
                    ),
                )
            )
    return Table(
        name="conflicts_grounding",
        title="Grounding of sentences",
        caption="How the sentences of answers stand to the sources that they are judged by.",
        columns=(
            *(RUN, WRITER, JUDGE, STRATEGY),
            Column("answers", "Answers"),
            Column("unreadable_answers", "Unreadable answers"),
            Column("unjudged", "Answers not judged"),
            Column("sentences", "Sentences"),
            *GROUNDS.values(),
            Column("share", "Supported of factual ones", interval=True),
        ),
        rows=tuple(rows),
        notes=(
            "The share is over all sentences, so that long answers weigh more; the factual "
            "grounding of conflicts_answers is the mean over answers.",
            CLUSTERED,
        ),
    )


def citations(made: Sequence[Part]) -> Table:
    """What sentences cite."""
    rows: list[Row] = []
    for part in made:
        for strategy in shown_strategies(part.results):
            asked = answered(part.results, strategy)
            read = {
                name: each.answer for name, each in asked.items() if each.answer.problem is None
            }
            own = [(name, each) for name, answer in read.items() for each in answer.sentences]
            names = [name for name, _ in own]
            rows.append(
                (
                    *(part.run, part.writer, STRATEGIES[strategy]),
                    *(len(asked), len(asked) - len(read), len(own)),
                    mean([float(bool(each.cites)) for _, each in own], names, bounds=(0, 1)),
                    sum(len(each.cites) for _, each in own),
                    sum(len(each.unknown) for _, each in own),
                    mean([float(len(each.cites)) for _, each in own], names, bounds=(0, inf)),
                )
            )
    return Table(
        name="conflicts_citations",
        title="Citations",
        caption="What the sentences of answers cite.",
        columns=(
            *(RUN, WRITER, STRATEGY),
            Column("answers", "Answers"),
            Column("unreadable_answers", "Unreadable answers"),
            Column("sentences", "Sentences"),
            Column("cited", "Share that cite a source", interval=True),
            Column("citations", "Citations"),
            Column("unknown", "Of no source"),
            Column("per_sentence", "Citations per sentence", interval=True),
        ),
        rows=tuple(rows),
        notes=(
            "Numbers that are no source's are counted apart, and are no citations elsewhere in "
            "this table.",
            CLUSTERED,
        ),
    )
