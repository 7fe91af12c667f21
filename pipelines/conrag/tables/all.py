"""All tables of an evaluation: Tables IV, VII and VIII of the paper, and others."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from pipelines.conrag import paper
from pipelines.conrag.evidence import Stance
from pipelines.conrag.methods import ABLATIONS
from pipelines.conrag.result import ClaimResult
from pipelines.conrag.tables import answers, figures
from pipelines.conrag.tables.answers import DATA, METHOD, RATES, Figure, Line, figure, gold_answers
from pipelines.conrag.tables.data import data_summary
from pipelines.conrag.tables.errors import error_table, errors_to_sort
from pipelines.conrag.tables.figures import OURS, Results
from pipelines.experiment.metric import Values
from pipelines.judge.judgement import Relation
from pipelines.metrics.calibration import low_label_mass
from pipelines.metrics.estimate import proportion
from pipelines.report.compare import Pair, Test, columns, compare
from pipelines.report.failures import Failure, failed, truncations
from pipelines.report.failures import failures as failure_table
from pipelines.report.table import HERE, Column, Measure, Table, shown


def right_for_free(results: Results) -> tuple[str, ...]:
    """A note for each data set with such claims: on how many of them every method is right."""
    notes = []
    for dataset, own in results.items():
        bare = [each for each in own if each.stance is not None and not each.passages]
        free = sum(each.stance is Stance.NOT_ENOUGH_INFO for each in bare)
        if bare:
            notes.append(
                f"{dataset}: {len(bare):,} of {len(own):,} claims had no passage; every method "
                f"says NOT_ENOUGH_INFO of them, which is right of {free:,} for free."
            )
    return tuple(notes)


BINS = ((paper.LOW, 0.0, 0.2), (paper.MEDIUM, 0.2, 0.5), (paper.HIGH, 0.5, 1.0))
"""Table VIII: name, lower end, upper end; the last one has its upper end in it."""

FAILURES_SHOWN = 1_000

ACCURACY = figure("accuracy", "Stance accuracy", figures.stance_accuracy)
EVIDENCE_F1 = figure("evidence_f1", "Evidence F1", figures.mean_evidence_f1)
TAKES_A_SIDE = figure("answered", "Takes a side", figures.coverage)

CONTRADICTION = (
    "A statement that takes a side contradicts the packet where a passage of it really takes the "
    "other, as far as the data say. It is undisclosed where the answer does not show that passage "
    "as being against it; the paper has no such rate."
)
RESPONSES = (
    "Of sentences of responses (ragtruth) and of averitec's claims the stance is known, and what "
    "passages say is not: there is no Oracle, and nothing to count contradictions by, unless a "
    "language model writes on the former and a judge reads it."
)


def all_tables(
    results: Results,
    halves: Mapping[str, str] | None = None,
    skipped: Mapping[str, int] | None = None,
) -> list[Table]:
    """Every table of a run folder; of failures the first ones are listed.

    `halves` says by data set which half was taken, `skipped` how many rows could not be.
    """
    done = figures.answered(results)
    doubts = low_label_mass(
        passage.label_mass for own in done.values() for each in own for passage in each.passages
    )
    return [
        data_summary(results, halves or {}, skipped),
        *(
            replace(table, notes=(*table.notes, *doubts))
            for table in (stances(done), answers.citations(done))
        ),
        gold_answers(done),
        answers.hallucinations(done),
        ablations(done),
        conflict_bins(done),
        paired(done),
        error_table(done),
        errors_to_sort(done),
        failures(results),
    ]


def stances(results: Results) -> Table:
    """Table IV: stance accuracy, evidence F1 and contradiction rate of every method."""
    return Table.of(
        [
            Line(dataset, method, own)
            for dataset, own in results.items()
            if not figures.of_questions(own)
            for method in figures.shown_methods(own)
        ],
        name="conrag_stance",
        title="Stance, evidence and contradictions",
        caption="Every method retrieves the same passages and shows at most as many of them.",
        columns=[
            *(DATA, METHOD, HERE, ACCURACY),
            figure("macro_f1", "Macro-F1", figures.stance_macro_f1),
            *(EVIDENCE_F1, *RATES),
            *(TAKES_A_SIDE, answers.UNREADABLE, answers.CUT),
            Column("claims", "Claims", lambda line: len(line.own)),
        ],
        quoted=paper.TABLE_IV,
        notes=(
            "In brackets the 95 % interval: Wilson of shares, a t interval of evidence F1, by "
            "bootstrap of macro-F1. Claims are taken as independent, and so are the statements of "
            "an answer, of which the intervals of contradiction rates are too narrow.",
            "Evidence is what the answer cites. Its F1 is the mean over claims that have gold "
            "evidence, each against the best of its gold sets.",
            CONTRADICTION,
            RESPONSES,
            *most_frequent(results),
            *right_for_free(results),
            "A claim without a gold stance is in no accuracy, nor is one whose stance a language "
            "model was to give and wrote nothing that can be read.",
            "The paper's rows were measured on FEVER and SciFact with a larger tagger and a "
            "language model; they stand here for orientation.",
        ),
    )


def most_frequent(results: Results) -> list[str]:
    """What always giving the most frequent gold stance reaches, a line for each data set."""
    lines = []
    for dataset, own in results.items():
        gold = [each.stance for each in own if each.stance is not None]
        if gold:
            ((stance, times),) = Counter(gold).most_common(1)
            right = shown(proportion(times, len(gold)))
            lines.append(f"Always saying {stance.value} has an accuracy of {right} on {dataset}.")
    return lines


def ablations(results: Results) -> Table:
    """Table VII: ConRAG without one of its parts."""
    return Table.of(
        [
            Line(dataset, method, own)
            for dataset, own in results.items()
            for method in (OURS, *ABLATIONS)
        ],
        name="conrag_ablations",
        title="Ablations",
        columns=[
            DATA,
            Column("variant", "Variant", lambda line: line.method),
            *(HERE, ACCURACY, EVIDENCE_F1, *RATES, TAKES_A_SIDE),
            *(answers.PRECISION, answers.RECALL),
        ],
        quoted=paper.TABLE_VII,
        notes=(CONTRADICTION, RESPONSES, answers.CITATIONS, answers.QUESTIONS),
    )


class Bin(NamedTuple):
    """Claims of a data set by their conflict score."""

    dataset: str
    bin: str
    inside: Sequence[ClaimResult]
    every: Sequence[ClaimResult]


def conflict_bins(results: Results) -> Table:
    """Table VIII: NLI-RAG and ConRAG by conflict score."""

    def of(method: str, key: str, figure: Figure) -> Measure[Bin]:
        return Measure(
            f"{method.lower().replace('-', '_')}_{key}",
            f"{method} {key.replace('_', ' ')}",
            lambda own: figure(own.inside, method),
        )

    return Table.of(
        [
            Bin(dataset, name, figures.in_bin(own, low, high), own)
            for dataset, own in results.items()
            for name, low, high in BINS
        ],
        name="conrag_conflict_bins",
        title="By conflict score",
        caption="Claims by κ over their retrieved passages.",
        columns=[
            DATA,
            Column("bin", "κ"),
            HERE,
            Measure("share", "Share", lambda own: proportion(len(own.inside), len(own.every))),
            of("NLI-RAG", "accuracy", figures.stance_accuracy),
            of(OURS, "accuracy", figures.stance_accuracy),
            of("NLI-RAG", "contradiction_rate", figures.contradiction_rate),
            of(OURS, "contradiction_rate", figures.contradiction_rate),
            of("NLI-RAG", "undisclosed_rate", figures.undisclosed_rate),
            of(OURS, "undisclosed_rate", figures.undisclosed_rate),
            Column("claims", "Claims", lambda own: len(own.inside)),
        ],
        quoted=paper.TABLE_VIII,
        notes=(CONTRADICTION, RESPONSES, answers.QUESTIONS),
    )


PAIRED: Mapping[str, tuple[str, Callable[[Sequence[ClaimResult], str], Values], Test]] = {
    "accuracy": ("Stance accuracy", figures.right_stances, "McNemar"),
    "contradiction_rate": (
        "Contradictions per claim",
        figures.contradictions_per_claim,
        "sign flips",
    ),
    "undisclosed_rate": (
        "Undisclosed per claim",
        partial(figures.contradictions_per_claim, undisclosed=True),
        "sign flips",
    ),
}
"""What methods are compared by: title, values of claims, test."""


def paired(results: Results) -> Table:
    """ConRAG against every other method, claim by claim."""
    pairs = []
    for dataset, own in results.items():
        for method in (*figures.shown_methods(own), *ABLATIONS):
            if method != OURS:
                comparisons = {
                    key: compare(values(own, OURS), values(own, method), test)
                    for key, (_, values, test) in PAIRED.items()
                }
                pairs.append(Pair(dataset, OURS, method, comparisons))
    return Table.of(
        pairs,
        name="conrag_paired",
        title="ConRAG against the others",
        caption="Differences claim by claim, ConRAG less the other method.",
        columns=[
            Column("dataset", "Data", lambda pair: pair.at),
            Column("method", "Other method", lambda pair: pair.second),
            *(
                column
                for key, (title, _, test) in PAIRED.items()
                for column in columns(key, title, test)
            ),
        ],
        notes=(
            "In brackets the paired 95 % t interval. McNemar's test is exact; signs are flipped "
            "9,999 times, seed 0. Nothing is corrected for the number of comparisons.",
            "Contradictions per claim: the share of an answer's statements that contradict its "
            "packet, 0 where it takes no side; so claims count alike, however long the answer. "
            "Undisclosed ones are those that the answer does not show.",
            RESPONSES,
            answers.QUESTIONS,
        ),
    )


def failures(results: Results) -> Table:
    """Claims that could not be judged, and labels that could not be read."""
    return failure_table(
        (lost for name, own in results.items() for each in own for lost in _lost(name, each)),
        name="conrag_failures",
        places=[
            Column("dataset", "Data", lambda at: at[0]),
            Column("claim", "Claim", lambda at: at[1]),
        ],
        most=FAILURES_SHOWN,
    )


def _lost(dataset: str, each: ClaimResult) -> Iterator[Failure[tuple[str, str]]]:
    at = (dataset, each.id)
    if each.status == "failed":
        yield failed(at, "failed", each.error)
    unreadable = [name for name, tag in each.tags.items() if tag is Relation.INVALID]
    if unreadable:
        yield Failure(at, "unreadable labels", ", ".join(unreadable))
    for method, outcome in each.outcomes.items():
        if outcome.problem is not None:
            yield failed(at, f"unreadable answer, {method}", outcome.problem)
    if each.question is not None and each.question.problem is not None:
        yield failed(at, "first answer", each.question.problem)
    if each.question is not None and each.question.cut:
        yield Failure(at, "first answer cut", " ".join(each.question.first_answer))
    yield from truncations(at, each.truncations)
    if each.judged is not None:
        yield from truncations(at, each.judged.truncations)
        if each.judged.unreadable:
            yield Failure(at, "unreadable labels of answers", str(each.judged.unreadable))
