"""The tables of sentences: how they stand to their sources, and what they cite."""

from collections.abc import Callable, Sequence
from math import inf
from typing import Final

from pipelines.conflicts.result import Grounds, Sentence
from pipelines.conflicts.tables.answers import JUDGE, RUN, STRATEGY, WRITER
from pipelines.conflicts.tables.scores import Part, Slice, slices
from pipelines.metrics.estimate import Estimate, mean
from pipelines.report.table import Column, Measure, Table

CLUSTERED: Final = "In brackets 95 % t intervals over sentences, with queries as clusters."

ANSWERS: Final[tuple[Column[Slice], ...]] = (
    Column("answers", "Answers", lambda own: len(own.outcomes)),
    Column("unreadable_answers", "Unreadable answers", lambda own: own.unreadable),
)


def grounds(made: Sequence[Part]) -> Table:
    """Sentences by the judge's verdict."""

    def count(key: str, title: str, verdict: Grounds | None) -> Column[Slice]:
        return Column(key, title, lambda own: [each for _, each in _verdicts(own)].count(verdict))

    return Table.of(
        slices(made),
        name="conflicts_grounding",
        title="Grounding of sentences",
        caption="How the sentences of answers stand to the sources that they are judged by.",
        columns=[
            *(RUN, WRITER, JUDGE, STRATEGY),
            *ANSWERS,
            Column("unjudged", "Answers not judged", _unjudged),
            Column("sentences", "Sentences", lambda own: len(_verdicts(own))),
            count("supported", "Supported", Grounds.SUPPORTED),
            count("unsupported", "Unsupported", Grounds.UNSUPPORTED),
            count("contradictory", "Contradictory", Grounds.CONTRADICTORY),
            count("no_fact", "No factual information", Grounds.NO_FACT),
            count("unreadable", "No verdict", None),
            Measure("share", "Supported of factual ones", _supported),
        ],
        notes=(
            "The share is over all sentences, so that long answers weigh more; the factual "
            "grounding of conflicts_answers is the mean over answers.",
            CLUSTERED,
        ),
    )


def citations(made: Sequence[Part]) -> Table:
    """What sentences cite."""

    def total(key: str, title: str, count: Callable[[Sentence], int]) -> Column[Slice]:
        return Column(key, title, lambda own: sum(count(each) for _, each in _sentences(own)))

    def average(
        key: str, title: str, value: Callable[[Sentence], float], most: float = 1
    ) -> Column[Slice]:
        def cell(own: Slice) -> Estimate | None:
            return _clustered([(name, value(each)) for name, each in _sentences(own)], most)

        return Measure(key, title, cell)

    return Table.of(
        slices(made),
        name="conflicts_citations",
        title="Citations",
        caption="What the sentences of answers cite.",
        columns=[
            *(RUN, WRITER, STRATEGY),
            *ANSWERS,
            Column("sentences", "Sentences", lambda own: len(_sentences(own))),
            average("cited", "Share that cite a source", lambda each: bool(each.cites)),
            total("citations", "Citations", lambda each: len(each.cites)),
            total("unknown", "Of no source", lambda each: len(each.unknown)),
            average("per_sentence", "Citations per sentence", lambda each: len(each.cites), inf),
        ],
        notes=(
            "Numbers that are no source's are counted apart, and are no citations elsewhere in "
            "this table.",
            CLUSTERED,
        ),
    )


def _verdicts(own: Slice) -> list[tuple[str, Grounds | None]]:
    """Of every sentence that a judge was asked about, with its query."""
    return [
        (name, each.grounds)
        for name, outcome in own.outcomes.items()
        if outcome.judged.grounding is not None
        for each in outcome.judged.grounding.sentences
    ]


def _unjudged(own: Slice) -> int:
    judged = sum(each.judged.grounding is not None for each in own.outcomes.values())
    return len(own.outcomes) - own.unreadable - judged


def _supported(own: Slice) -> Estimate | None:
    return _clustered(
        [
            (name, verdict is Grounds.SUPPORTED)
            for name, verdict in _verdicts(own)
            if verdict not in {None, Grounds.NO_FACT}
        ]
    )


def _sentences(own: Slice) -> list[tuple[str, Sentence]]:
    """The sentences of answers that could be read, each with its query."""
    return [
        (name, sentence)
        for name, outcome in own.outcomes.items()
        if outcome.answer.problem is None
        for sentence in outcome.answer.sentences
    ]


def _clustered(values: Sequence[tuple[str, float]], most: float = 1) -> Estimate | None:
    """The mean over sentences, each with its query as the cluster."""
    names, own = [name for name, _ in values], [float(value) for _, value in values]
    return mean(own, names, bounds=(0, most))
