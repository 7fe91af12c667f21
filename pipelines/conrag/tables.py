"""All tables of an evaluation, in the layout of the paper's Tables I and IV to IX."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

from pipelines.conrag import metrics, paper
from pipelines.conrag.answer import Outcome
from pipelines.conrag.answer_worth import judge_told
from pipelines.conrag.evidence import Stance
from pipelines.conrag.methods import ABLATIONS, METHODS
from pipelines.conrag.metrics import EVIDENCE, LISTS, METRICS, OURS, RECALL, STANCE, Results
from pipelines.conrag.mistakes import error_table
from pipelines.conrag.result import ClaimResult
from pipelines.experiment.metric import columns as columns_of
from pipelines.experiment.metric import pair
from pipelines.metrics.calibration import low_label_mass
from pipelines.metrics.estimate import Estimate, proportion
from pipelines.report.compare import columns
from pipelines.report.glance import count
from pipelines.report.table import HERE, Column, Measure, Table, shown

BINS = ((paper.LOW, 0.0, 0.2), (paper.MEDIUM, 0.2, 0.5), (paper.HIGH, 0.5, 1.0))
"""Table VIII: name, lower end, upper end; only the last bin includes its upper end."""

CONTRADICTION = (
    "A statement contradicts the packet if, by the labels of the data, a passage of it takes "
    "the other side. The contradiction is undisclosed (ours) if the answer does not present "
    "that passage as opposing."
)
RESPONSES = (
    "The data do not label passages for sentences of responses (ragtruth), so there is no Oracle, "
    "and contradictions are counted only if a judge reads what a language model writes."
)
QUESTIONS = (
    "For questions (alce), precision and recall are means over answers, as in ALCE, by a judge's "
    "labels. A contradiction is undisclosed if no other sentence states and cites that passage's "
    "version. Gold answers said: short answers named, recall-5 of lists, or claims entailed."
)
CITATIONS = (
    "Citation precision and recall follow ALCE's rules (the first three citations of a "
    "sentence count). Passages without a label in the data support nothing."
)

Figure = Callable[[Sequence[ClaimResult], str], Estimate | None]
"""(results, method) -> the estimate."""


class Line(NamedTuple):
    """A method on a data set."""

    dataset: str
    method: str
    results: Sequence[ClaimResult]

    @property
    def outcomes(self) -> list[Outcome]:
        """The method's outcomes on the claims."""
        return [result.outcomes[self.method] for result in self.results]

    @property
    def cited(self) -> metrics.Citations:
        """Its citations."""
        return metrics.citations(self.results, self.method)

    @property
    def checked(self) -> list[metrics.CheckedSentence]:
        """Sentences of responses, with the method's verdicts."""
        return metrics.checked(self.results, self.method)


def _lines(
    results: Results,
    methods: Callable[[Sequence[ClaimResult]], Sequence[str]],
    where: Callable[[Sequence[ClaimResult]], bool] = lambda _: True,
) -> list[Line]:
    """A line for each method on each data set of such results."""
    return [
        Line(dataset, method, claims)
        for dataset, claims in results.items()
        if where(claims)
        for method in methods(claims)
    ]


def figure(key: str, title: str, of: Figure) -> Measure[Line]:
    """The column of a figure."""
    return Measure(key, title, lambda line: of(line.results, line.method))


_UNDISCLOSED: Final = partial(metrics.contradiction_rate, undisclosed=True)

DATA: Final = Column[Any]("dataset", "Data")
METHOD: Final = Column[Line]("method", "Method")
ACCURACY: Final = Measure[Line]("accuracy", "Stance accuracy", STANCE.of)
EVIDENCE_F1: Final = Measure[Line]("evidence_f1", "Evidence F1", EVIDENCE.of)
TAKES_A_SIDE: Final = figure("answered", "Takes a side", metrics.coverage)
RATES: Final = (
    figure("contradiction_rate", "Contradiction rate", metrics.contradiction_rate),
    figure("undisclosed_rate", "Undisclosed contradictions", _UNDISCLOSED),
)
"""The paper's rate, and ours beside it."""
CITED: Final = (
    Measure[Line]("precision", "Citation precision", lambda line: line.cited.precision),
    Measure[Line]("recall", "Citation recall", lambda line: line.cited.recall),
)
PROBLEMS: Final = (
    Column[Line](
        "unreadable", "Unreadable", lambda line: metrics.unreadable(line.results, line.method)
    ),
    Column[Line]("cut", "Cut", lambda line: sum(outcome.cut for outcome in line.outcomes)),
)


def all_tables(results: Results, configs: Mapping[str, Mapping[str, Any]]) -> list[Table]:
    """All tables of a run folder.

    `configs` are the configurations of `run.json` by data set, with the number of rows `skipped`.
    """
    done = metrics.answered(results)
    added = [
        *low_label_mass(
            passage.label_mass
            for claims in done.values()
            for result in claims
            for passage in result.passages
        ),
        *(f"{name}: {judge}." for name in results if (judge := judge_told(configs.get(name, {})))),
    ]
    judged = (stances, citations, hallucinations, ablations, conflict_bins, paired, error_table)
    return [
        data_summary(results, configs),
        *(
            replace(table, notes=(*table.notes, *added))
            for table in (make(done) for make in judged)
        ),
    ]


def data_summary(results: Results, configs: Mapping[str, Mapping[str, Any]]) -> Table:
    """Table I: the data sets of the run, and the number of claims used.

    Failed claims are included.
    """
    kept = {name: claims for name, claims in results.items() if claims}

    def size(name: str) -> str:
        """Size in words, as in Table I: "250 claims, test half"."""
        claims, part = kept[name], configs.get(name, {}).get("half", "all")
        text = count(len(claims), "question" if metrics.of_questions(claims) else "claim")
        if metrics.of_responses(claims):
            responses = {claim.response.response for claim in claims if claim.response}
            text = f"{count(len(responses), 'response')} of {count(len(claims), 'sentence')}"
        return text if part == "all" else f"{text}, {part} half"

    def papers(key: str) -> Column[str]:
        return Column(key, key.capitalize(), lambda _: None)

    return Table.of(
        kept,
        name="conrag_data",
        title="Data",
        columns=[
            Column("dataset", "Data", lambda name: name),
            *(HERE, papers("task"), papers("labels")),
            Column("size", "Size", size),
            papers("evidence"),
            Column("rows", "Rows", lambda name: len(kept[name])),
            Column("skipped", "Skipped", lambda name: configs.get(name, {}).get("skipped", 0)),
        ],
        quoted=paper.TABLE_I,
        notes=(
            "Rows were run, failures included; skipped rows have another format. The paper's sizes "
            "are those of the full releases.",
        ),
    )


def stances(results: Results) -> Table:
    """Table IV: stance accuracy, evidence F1 and contradiction rate of every method."""
    return Table.of(
        _lines(results, metrics.shown_methods, lambda claims: not metrics.of_questions(claims)),
        name="conrag_stance",
        title="Stance, evidence and contradictions",
        caption="Every method retrieves the same passages and shows at most as many of them.",
        columns=[
            *(DATA, METHOD, HERE, ACCURACY),
            figure("macro_f1", "Macro-F1", metrics.stance_macro_f1),
            *(EVIDENCE_F1, *RATES, TAKES_A_SIDE, *PROBLEMS),
            Column("claims", "Claims", lambda line: len(line.results)),
        ],
        quoted=paper.TABLE_IV,
        notes=(
            "In brackets, the 95 % interval: Wilson for shares, t for evidence F1, bootstrap for "
            "macro-F1. Statements of an answer are treated as independent, so the intervals of "
            "contradiction rates are too narrow.",
            "Evidence is what the answer cites; its F1 is against a claim's closest gold set.",
            CONTRADICTION,
            RESPONSES,
            *for_free(results),
            "Accuracies leave out claims without a gold stance or a readable stance.",
            "The paper's rows are for FEVER and SciFact, with a larger tagger and language model.",
        ),
    )


def for_free(results: Results) -> Iterator[str]:
    """Notes on accuracy that needs no method.

    It comes from always giving the most frequent gold stance, and from claims without a passage.
    """
    for dataset, claims in results.items():
        gold = [result.stance for result in claims if result.stance is not None]
        if gold:
            ((stance, times),) = Counter(gold).most_common(1)
            right = shown(proportion(times, len(gold)))
            yield f"Always answering {stance.value} has an accuracy of {right} on {dataset}."
    for dataset, claims in results.items():
        bare = [result.stance for result in claims if result.stance and not result.passages]
        if bare:
            yield (
                f"{dataset}: {len(bare):,} of {len(claims):,} claims had no passage; every method "
                "answers NOT_ENOUGH_INFO, which is right for "
                f"{bare.count(Stance.NOT_ENOUGH_INFO):,} of them without any evidence."
            )


def citations(results: Results) -> Table:
    """Table V: citation precision and recall, and the share of citations that leak."""
    return Table.of(
        _lines(results, lambda _: METHODS, metrics.labelled),
        name="conrag_citations",
        title="Citations",
        caption="Citations in answers, and whether they support their sentences.",
        columns=[
            *(DATA, METHOD, HERE, *CITED),
            figure("leakage", "Citation leakage", metrics.leakage),
            *RATES,
            Measure("answer_recall", RECALL.title, RECALL.of),
            *columns_of(LISTS),
            Column(
                "unbound",
                "Wrong citations",
                lambda line: sum(outcome.unbound for outcome in line.outcomes),
            ),
            *PROBLEMS,
            Column("statements", "Statements", lambda line: line.cited.statements),
        ],
        quoted=paper.TABLE_V,
        notes=(
            CITATIONS,
            "Leakage is the share of citations whose passage the tagger calls irrelevant.",
            "Wrong citations: sentences that cite nothing, cite missing passages, or break the "
            "policy. Their citations, and those that NLI-RAG drops, count in precision and "
            "leakage.",
            QUESTIONS,
            "STR-EM by ALCE's rule also accepts parts of words. An item of a list (QAMPARI) is "
            "right if it is an alias of a gold answer; five gold answers are enough.",
            "The paper's rows are for ALCE, with a larger language model and judge.",
        ),
    )


def hallucinations(results: Results) -> Table:
    """Table VI: how well hallucinated sentences of responses are detected."""

    def responses(line: Line) -> int:
        return len({check.sentence.response for check in line.checked})

    return Table.of(
        _lines(results, lambda _: METHODS, metrics.of_responses),
        name="conrag_hallucination",
        title="Hallucinations",
        caption="Every sentence is checked against the source of the response.",
        columns=[
            *(DATA, METHOD, HERE),
            Measure("token_f1", "Token F1", lambda line: metrics.token_f1(line.checked)),
            Measure("passage_auc", "Passage AUC", lambda line: metrics.passage_auc(line.checked)),
            *RATES,
            Column("sentences", "Sentences", lambda line: len(line.checked)),
            Column("responses", "Responses", responses),
        ],
        quoted=paper.TABLE_VI,
        notes=(
            "A sentence without support is flagged as a whole. Tokens are words between white "
            "space, pooled over responses.",
            "Passage AUC: the probability that a response with a hallucination scores higher than "
            "one without. A response scores as its worst sentence, a sentence 1 − support.",
            "Contradiction rates are over what a language model writes about the sentences.",
            "Oracle flags the sentences in which people marked something.",
            "In brackets, the 95 % interval: bootstrap over sources for token F1, DeLong clustered "
            "by source for AUC, Wilson for rates, which treats sentences as independent.",
        ),
    )


def ablations(results: Results) -> Table:
    """Table VII: ConRAG without one of its parts."""
    return Table.of(
        _lines(results, lambda _: (OURS, *ABLATIONS)),
        name="conrag_ablations",
        title="Ablations",
        columns=[
            DATA,
            Column("variant", "Variant", lambda line: line.method),
            *(HERE, ACCURACY, EVIDENCE_F1, *RATES, TAKES_A_SIDE, *CITED),
        ],
        quoted=paper.TABLE_VII,
        notes=(CONTRADICTION, RESPONSES, CITATIONS, QUESTIONS),
    )


class Bin(NamedTuple):
    """Claims of a data set by their conflict score."""

    dataset: str
    bin: str
    inside: Sequence[ClaimResult]
    every: Sequence[ClaimResult]


def conflict_bins(results: Results) -> Table:
    """Table VIII: NLI-RAG and ConRAG by conflict score."""

    def by(column: Column[Line], method: str) -> Measure[Bin]:
        key = column.key.replace("_", " ")
        return Measure(
            f"{method.lower().replace('-', '_')}_{column.key}",
            f"{method} {key}",
            lambda row: column.of(Line(row.dataset, method, row.inside)),
        )

    return Table.of(
        [
            Bin(dataset, name, metrics.in_bin(claims, low, high), claims)
            for dataset, claims in results.items()
            for name, low, high in BINS
        ],
        name="conrag_conflict_bins",
        title="By conflict score",
        caption="Claims by κ over their retrieved passages.",
        columns=[
            DATA,
            Column("bin", "κ"),
            HERE,
            Measure("share", "Share", lambda row: proportion(len(row.inside), len(row.every))),
            *(by(column, method) for column in (ACCURACY, *RATES) for method in ("NLI-RAG", OURS)),
            Column("claims", "Claims", lambda row: len(row.inside)),
        ],
        quoted=paper.TABLE_VIII,
        notes=(CONTRADICTION, RESPONSES, QUESTIONS),
    )


def paired(results: Results) -> Table:
    """ConRAG against every other method, claim by claim."""
    return Table.of(
        [
            pair(dataset, Line(dataset, OURS, claims), Line(dataset, method, claims), METRICS)
            for dataset, claims in results.items()
            for method in (*metrics.shown_methods(claims), *ABLATIONS)
            if method != OURS
        ],
        name="conrag_paired",
        title="ConRAG against the others",
        caption="Differences by claim: ConRAG minus the other method.",
        columns=[
            Column("dataset", "Data", lambda pair: str(pair.at)),
            Column("method", "Other method", lambda pair: pair.second),
            *(
                column
                for metric in METRICS
                for column in columns(metric.key, metric.title, metric.test)
            ),
        ],
        notes=(
            "In brackets, the paired 95 % t interval. McNemar's test is exact; the other tests "
            "flip signs 9,999 times, seed 0. There is no correction for multiple comparisons.",
            "Contradictions per claim: the share of an answer's statements that contradict its "
            "packet, or 0 if it takes no side, so claims count equally however long the answer.",
            RESPONSES,
            QUESTIONS,
        ),
    )
