"""The tables of sentences: how they stand to their sources, and what they cite."""

from collections.abc import Sequence
from math import inf
from typing import Final

from pipelines.conflicts.answer import Sentence
from pipelines.conflicts.judges.verdicts import Grounds
from pipelines.conflicts.tables.answers import JUDGE, RUN, STRATEGY, WRITER
from pipelines.conflicts.tables.scores import Part, Slice, factual, judged_sentences, slices
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.mean import mean
from pipelines.report.table import Column, Measure, Table

CLUSTERED: Final = "In brackets 95 % t intervals over sentences, with queries as clusters."

ANSWERS: Final[tuple[Column[Slice], ...]] = (
    Column("answers", "Answers", lambda own: len(own.outcomes)),
    Column("unreadable_answers", "Unreadable answers", lambda own: own.unreadable),
)


def grounds(made: Sequence[Part]) -> Table:
    """Sentences by the judge's verdict."""

    def count(key: str, title: str, verdict: Grounds | None) -> Column[Slice]:
        return Column(key, title, lambda own: _verdicts(own).count(verdict))

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
    return Table.of(
        slices(made),
        name="conflicts_citations",
        title="Citations",
        caption="What the sentences of answers cite.",
        columns=[
            *(RUN, WRITER, STRATEGY),
            *ANSWERS,
            Column("sentences", "Sentences", lambda own: len(_sentences(own))),
            Measure("cited", "Share that cite a source", _citing),
            Column("citations", "Citations", lambda own: sum(_cites(own))),
            Column("unknown", "Of no source", _unknown),
            Measure("per_sentence", "Citations per sentence", _per_sentence),
        ],
        notes=(
            "Numbers that are no source's are counted apart, and are no citations elsewhere in "
            "this table.",
            CLUSTERED,
        ),
    )


def _verdicts(own: Slice) -> list[Grounds | None]:
    """Of every sentence that a judge was asked about."""
    judged = judged_sentences(own.outcomes).values()
    return [each.grounds for sentences in judged for each in sentences]


def _unjudged(own: Slice) -> int:
    return len(own.outcomes) - own.unreadable - len(judged_sentences(own.outcomes))


def _supported(own: Slice) -> Estimate | None:
    facts = factual(judged_sentences(own.outcomes))
    return mean([float(holds) for _, holds in facts], [name for name, _ in facts], bounds=(0, 1))


def _sentences(own: Slice) -> list[tuple[str, Sentence]]:
    """The sentences of answers that could be read, each with its query."""
    answers = {name: each.answer for name, each in own.outcomes.items()}
    return [
        (name, sentence)
        for name, answer in answers.items()
        if answer.problem is None
        for sentence in answer.sentences
    ]


def _cites(own: Slice) -> list[int]:
    """Citations of every sentence."""
    return [len(sentence.cites) for _, sentence in _sentences(own)]


def _citing(own: Slice) -> Estimate | None:
    names = [name for name, _ in _sentences(own)]
    return mean([float(cites > 0) for cites in _cites(own)], names, bounds=(0, 1))


def _unknown(own: Slice) -> int:
    return sum(len(sentence.unknown) for _, sentence in _sentences(own))


def _per_sentence(own: Slice) -> Estimate | None:
    return mean([float(n) for n in _cites(own)], [n for n, _ in _sentences(own)], bounds=(0, inf))
