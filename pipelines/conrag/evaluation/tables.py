"""The tables of an evaluation, in the layout of the paper's Tables IV, VII and VIII, and others."""

from collections.abc import Callable, Mapping

from pipelines.conrag.evaluation import paper
from pipelines.conrag.evaluation.answer_tables import (
    CITATIONS,
    QUESTIONS,
    citations,
    hallucinations,
)
from pipelines.conrag.evaluation.errors import error_table, errors_to_sort
from pipelines.conrag.evaluation.figures import (
    HERE,
    OURS,
    Results,
    answered,
    citation_figures,
    contradiction_rate,
    contradictions_per_claim,
    coverage,
    in_bin,
    mean_evidence_f1,
    of_questions,
    of_responses,
    right_stances,
    shown_methods,
    stance_accuracy,
    stance_macro_f1,
    unreadable,
)
from pipelines.conrag.evaluation.methods import ABLATIONS
from pipelines.conrag.evaluation.result import ClaimResult
from pipelines.metrics.auc import roc_auc
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.mcnemar import mcnemar
from pipelines.metrics.paired import paired_difference
from pipelines.metrics.proportion import proportion
from pipelines.metrics.sign_flip import sign_flip
from pipelines.report.table import Column, Row, Table
from pipelines.report.text import one_line

BINS = (("low (0–0.2)", 0.0, 0.2), ("medium (0.2–0.5)", 0.2, 0.5), ("high (0.5–1.0)", 0.5, 1.0))
"""Table VIII: name, lower end, upper end; the last one has its upper end in it."""

KAPPAS: Mapping[str, Callable[[ClaimResult], float]] = {
    "κ over passages": lambda result: result.kappa,
    "κ over clusters": lambda result: result.kappa_clusters,
    "κ over expected numbers": lambda result: result.kappa_expected,
}

CONTRADICTION = (
    "A statement that takes a side contradicts the packet where a passage of it really takes the "
    "other, as far as the data say, and the answer does not show that passage as being against it. "
    "'Whatever is shown' counts it even then."
)
RESPONSES = (
    "Sentences of responses (ragtruth) have a gold stance and no gold labels of passages: there is "
    "nothing to count contradictions by, and no Oracle. conrag_hallucination has what is known."
)


def all_tables(results: Results, failed_shown: int = 1_000) -> list[Table]:
    """Every table of a run folder.

    Args:
        results: Data set -> its results.
        failed_shown: Most failures that are listed.
    """
    done = answered(results)
    return [
        stances(done),
        citations(done),
        hallucinations(done),
        ablations(done),
        conflict_bins(done),
        conflict_auc(done),
        paired(done),
        error_table(done),
        errors_to_sort(done),
        failures(results, failed_shown),
    ]


def stances(results: Results) -> Table:
    """Table IV: stance accuracy, evidence F1 and contradiction rate of every method."""
    rows: list[Row] = [
        (
            dataset,
            method,
            HERE,
            stance_accuracy(own, method),
            stance_macro_f1(own, method),
            mean_evidence_f1(own, method),
            contradiction_rate(own, method),
            contradiction_rate(own, method, disclosure=False),
            coverage(own, method),
            unreadable(own, method),
            len(own),
        )
        for dataset, own in results.items()
        if not of_questions(own)
        for method in shown_methods(own)
    ]
    quoted: list[Row] = [
        (dataset, method, "paper, Table IV", Estimate(accuracy, low, high, 1), None, f1, rate,
         None, None, None, None)
        for dataset, method, accuracy, low, high, f1, rate in paper.TABLE_IV
    ]  # fmt: skip
    return Table(
        name="conrag_stance",
        title="Stance, evidence and contradictions",
        caption="Every method retrieves the same passages and shows at most as many of them.",
        columns=(
            Column("dataset", "Data"),
            Column("method", "Method"),
            Column("figures", "Figures"),
            Column("accuracy", "Stance accuracy", interval=True),
            Column("macro_f1", "Macro-F1", interval=True),
            Column("evidence_f1", "Evidence F1", interval=True),
            Column("contradiction_rate", "Contradiction rate", interval=True),
            Column("contradiction_rate_strict", "Whatever is shown", interval=True),
            Column("answered", "Takes a side", interval=True),
            Column("unreadable", "Unreadable"),
            Column("claims", "Claims"),
        ),
        rows=tuple(rows),
        quoted=tuple(quoted),
        notes=(
            "In brackets the 95 % interval: Wilson of shares, a t interval of evidence F1, by "
            "bootstrap of macro-F1. Claims are taken as independent, and so are the statements of "
            "an answer, of which the intervals of contradiction rates are too narrow.",
            "Evidence is what the answer cites. Its F1 is the mean over claims that have gold "
            "evidence, each against the best of its gold sets.",
            CONTRADICTION,
            RESPONSES,
            "A claim without a gold stance is in no accuracy, nor is one whose stance a language "
            "model was to give and wrote nothing that can be read.",
            "The paper's rows were measured on FEVER and SciFact with a larger tagger and a "
            "language model; they stand here for orientation.",
        ),
    )


def ablations(results: Results) -> Table:
    """Table VII: ConRAG with one of its parts taken away."""
    rows: list[Row] = [
        (
            dataset,
            method,
            HERE,
            stance_accuracy(own, method),
            mean_evidence_f1(own, method),
            contradiction_rate(own, method),
            coverage(own, method),
            *((None, None) if of_responses(own) else citation_figures(own, method)[:2]),
        )
        for dataset, own in results.items()
        for method in (OURS, *ABLATIONS)
    ]
    quoted: list[Row] = [
        ("FEVER, ALCE", method, "paper, Table VII", accuracy, f1, rate, None, precision, recall)
        for method, accuracy, f1, rate, precision, recall in paper.TABLE_VII
    ]
    return Table(
        name="conrag_ablations",
        title="Ablations",
        columns=(
            Column("dataset", "Data"),
            Column("variant", "Variant"),
            Column("figures", "Figures"),
            Column("accuracy", "Stance accuracy", interval=True),
            Column("evidence_f1", "Evidence F1", interval=True),
            Column("contradiction_rate", "Contradiction rate", interval=True),
            Column("answered", "Takes a side", interval=True),
            Column("precision", "Citation precision", interval=True),
            Column("recall", "Citation recall", interval=True),
        ),
        rows=tuple(rows),
        quoted=tuple(quoted),
        notes=(CONTRADICTION, RESPONSES, CITATIONS, QUESTIONS),
    )


def conflict_bins(results: Results) -> Table:
    """Table VIII: NLI-RAG and ConRAG by conflict score."""
    rows: list[Row] = []
    for dataset, own in results.items():
        for name, low, high in BINS:
            inside = in_bin(own, low, high)
            rows.append(
                (
                    dataset,
                    name,
                    HERE,
                    proportion(len(inside), len(own)),
                    stance_accuracy(inside, "NLI-RAG"),
                    stance_accuracy(inside, OURS),
                    contradiction_rate(inside, "NLI-RAG"),
                    contradiction_rate(inside, OURS),
                    len(inside),
                )
            )
    quoted: list[Row] = [
        ("FEVER", name, "paper, Table VIII", *figures, None)
        for (name, _, _), figures in zip(BINS, paper.TABLE_VIII, strict=True)
    ]
    return Table(
        name="conrag_conflict_bins",
        title="By conflict score",
        caption="Claims by κ over their retrieved passages.",
        columns=(
            Column("dataset", "Data"),
            Column("bin", "κ"),
            Column("figures", "Figures"),
            Column("share", "Share", interval=True),
            Column("nli_rag_accuracy", "NLI-RAG accuracy", interval=True),
            Column("conrag_accuracy", "ConRAG accuracy", interval=True),
            Column("nli_rag_contradiction_rate", "NLI-RAG contradiction rate", interval=True),
            Column("conrag_contradiction_rate", "ConRAG contradiction rate", interval=True),
            Column("claims", "Claims"),
        ),
        rows=tuple(rows),
        quoted=tuple(quoted),
        notes=(CONTRADICTION, RESPONSES, QUESTIONS),
    )


def conflict_auc(results: Results) -> Table:
    """How well conflict scores tell disputed claims from others, where the data say which are."""
    rows: list[Row] = []
    for dataset, own in results.items():
        known = [each for each in own if each.disputed is not None]
        disputed = [bool(each.disputed) for each in known]
        for name, score in KAPPAS.items():
            auc = roc_auc([score(each) for each in known], disputed)
            if auc is not None:
                rows.append((dataset, name, auc, sum(disputed), len(known)))
    return Table(
        name="conrag_conflict_auc",
        title="Conflict score against known disputes",
        caption="Probability that a disputed claim has the higher conflict score.",
        columns=(
            Column("dataset", "Data"),
            Column("score", "Score"),
            Column("auc", "AUC", interval=True),
            Column("disputed", "Disputed"),
            Column("claims", "Claims"),
        ),
        rows=tuple(rows),
        notes=(
            "0.5 says nothing; ties count half. In brackets the 95 % interval of DeLong.",
            "κ is 0 wherever no passage is labelled for one of the sides. Over expected numbers of "
            "passages every probability of a side counts, so that it is not.",
        ),
    )


def paired(results: Results) -> Table:
    """ConRAG against every other method, claim by claim."""
    rows: list[Row] = []
    for dataset, own in results.items():
        for method in (*shown_methods(own), *ABLATIONS):
            if method == OURS:
                continue
            ours, others = right_stances(own, OURS), right_stances(own, method)
            rate, other_rate = (
                contradictions_per_claim(own, OURS),
                contradictions_per_claim(own, method),
            )
            rows.append(
                (
                    dataset,
                    method,
                    paired_difference(ours, others, bounds=(-1, 1)),
                    mcnemar({key: value == 1 for key, value in ours.items()},
                            {key: value == 1 for key, value in others.items()}),
                    paired_difference(rate, other_rate, bounds=(-1, 1)),
                    sign_flip([rate[key] - other_rate[key] for key in rate if key in other_rate]),
                )
            )  # fmt: skip
    return Table(
        name="conrag_paired",
        title="ConRAG against the others",
        caption="Differences claim by claim, ConRAG less the other method.",
        columns=(
            Column("dataset", "Data"),
            Column("method", "Other method"),
            Column("accuracy", "Stance accuracy", interval=True),
            Column("accuracy_p", "p (McNemar)"),
            Column("contradiction_rate", "Contradictions per claim", interval=True),
            Column("contradiction_rate_p", "p (sign flips)"),
        ),
        rows=tuple(rows),
        notes=(
            "In brackets the paired 95 % t interval. McNemar's test is exact; signs are flipped "
            "9,999 times, seed 0. Nothing is corrected for the number of comparisons.",
            "Contradictions per claim: the share of an answer's statements that contradict its "
            "packet, 0 where it takes no side; so claims count alike, however long the answer.",
            RESPONSES,
            QUESTIONS,
        ),
    )


def failures(results: Results, shown: int) -> Table:
    """Claims that could not be judged, and labels that could not be read."""
    rows: list[Row] = []
    for dataset, own in results.items():
        for each in own:
            if each.status == "failed":
                rows.append((dataset, each.id, "failed", one_line(each.error or "", 400)))
            unreadable = [name for name, tag in each.tags.items() if tag.value == "INVALID"]
            if unreadable:
                rows.append((dataset, each.id, "unreadable labels", ", ".join(unreadable)))
            rows += [
                (dataset, each.id, f"unreadable answer, {method}", one_line(outcome.problem, 400))
                for method, outcome in each.outcomes.items()
                if outcome.problem is not None
            ]
            if each.question is not None and each.question.problem is not None:
                rows.append(
                    (dataset, each.id, "first answer", one_line(each.question.problem, 400))
                )
            judged = each.question.truncations if each.question else ()
            rows += [
                (dataset, each.id, "truncation",
                 f"{cut.text}: the first {cut.kept:,} of {cut.tokens:,} tokens were seen")
                for cut in (*each.truncations, *judged)
            ]  # fmt: skip
            if each.question is not None and each.question.unreadable:
                rows.append(
                    (
                        dataset,
                        each.id,
                        "unreadable labels of answers",
                        str(each.question.unreadable),
                    )
                )
    return Table(
        name="conrag_failures",
        title="Failures and truncations",
        columns=(
            Column("dataset", "Data"),
            Column("claim", "Claim"),
            Column("what", "What"),
            Column("detail", "Detail"),
        ),
        rows=tuple(rows[:shown]),
        notes=(f"{len(rows) - shown:,} more stand in the results.",) if len(rows) > shown else (),
    )
