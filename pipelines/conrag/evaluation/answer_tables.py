"""The tables of what answers cite and of what responses invent (ConRAG, Tables V and VI)."""

from pipelines.conrag.evaluation import paper
from pipelines.conrag.evaluation.figures import (
    HERE,
    Results,
    answer_recall,
    checked,
    citation_figures,
    contradiction_rate,
    leakage,
    of_responses,
    says_something,
    unreadable,
)
from pipelines.conrag.evaluation.hallucination import (
    accepted_contradictions,
    passage_auc,
    token_f1,
)
from pipelines.conrag.evaluation.methods import ABLATIONS, METHODS
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.proportion import proportion
from pipelines.report.table import Column, Row, Table

QUESTIONS = (
    "Of questions (alce), precision and recall are means over answers, as in ALCE, and what "
    "passages say of a sentence is judged by the labeller of the run, where ALCE has a larger "
    "entailment model. Every sentence counts there; of contradictions, all but those about the "
    "conflict or about nothing. A sentence contradicts the packet where one of its passages "
    "contradicts it and no other sentence gives that passage's version and cites it. Gold answers "
    "said: short answers named (of lists, five are enough), or claims entailed."
)
CITATIONS = (
    "Citation precision and recall follow ALCE's rules (the first three citations of a sentence "
    "count). Whether a passage bears a statement out is read from the data's own labels: passages "
    "without a label bear nothing out, so where few have one, the figures are low for all."
)


def citations(results: Results) -> Table:
    """Table V: citation precision and recall, and the share of citations that leak."""
    rows: list[Row] = []
    for dataset, own in results.items():
        if of_responses(own):
            continue
        for method in (*METHODS, *ABLATIONS):
            precision, recall, statements = citation_figures(own, method)
            rows.append(
                (
                    dataset,
                    method,
                    HERE,
                    precision,
                    recall,
                    leakage(own, method),
                    contradiction_rate(own, method),
                    answer_recall(own, method),
                    says_something(own, method),
                    sum(each.outcomes[method].unbound for each in own),
                    unreadable(own, method),
                    statements,
                )
            )
    quoted: list[Row] = [
        (dataset, method, "paper, Table V", Estimate(p, p_low, p_high, 1),
         Estimate(r, r_low, r_high, 1), None, rate,
         None, None, None, None, None)
        for dataset, method, p, p_low, p_high, r, r_low, r_high, rate in paper.TABLE_V
    ]  # fmt: skip
    return Table(
        name="conrag_citations",
        title="Citations",
        caption="What the sentences of answers cite, and whether that bears them out.",
        columns=(
            Column("dataset", "Data"),
            Column("method", "Method"),
            Column("figures", "Figures"),
            Column("precision", "Citation precision", interval=True),
            Column("recall", "Citation recall", interval=True),
            Column("leakage", "Citation leakage", interval=True),
            Column("contradiction_rate", "Contradiction rate", interval=True),
            Column("answer_recall", "Gold answers said", interval=True),
            Column("answered", "Answers", interval=True),
            Column("unbound", "Wrong citations"),
            Column("unreadable", "Unreadable"),
            Column("statements", "Statements"),
        ),
        rows=tuple(rows),
        quoted=tuple(quoted),
        notes=(
            CITATIONS,
            "Leakage is the share of citations of passages that the tagger calls irrelevant.",
            "Answers: the share of readable answers with a sentence about the evidence. Wrong "
            "citations: sentences that cite nothing, or what is not there, or break the policy; "
            "they count as citing nothing.",
            QUESTIONS,
            "The paper's rows are of ALCE with a larger language model and judge.",
        ),
    )


def hallucinations(results: Results) -> Table:
    """Table VI: how well hallucinated sentences of responses are found, and what passes."""
    rows: list[Row] = []
    for dataset, own in results.items():
        if not of_responses(own):
            continue
        for method in METHODS:
            found = checked(own, method)
            rows.append(
                (
                    dataset,
                    method,
                    HERE,
                    token_f1(found),
                    passage_auc(found),
                    accepted_contradictions(found),
                    proportion(sum(each.flagged for each in found), len(found)),
                    len(found),
                    len({each.sentence.response for each in found}),
                )
            )
    quoted: list[Row] = [
        ("RAGTruth", method, "paper, Table VI", *figures, None, None, None)
        for method, *figures in paper.TABLE_VI
    ]
    return Table(
        name="conrag_hallucination",
        title="Hallucinations",
        caption="Every sentence of a response is checked against what the response was written "
        "from.",
        columns=(
            Column("dataset", "Data"),
            Column("method", "Method"),
            Column("figures", "Figures"),
            Column("token_f1", "Token F1", interval=True),
            Column("passage_auc", "Passage AUC", interval=True),
            Column("contradiction_rate", "Contradiction rate", interval=True),
            Column("flagged", "Flags", interval=True),
            Column("sentences", "Sentences"),
            Column("responses", "Responses"),
        ),
        rows=tuple(rows),
        quoted=tuple(quoted),
        notes=(
            "A sentence is flagged as a whole, where the stance on it is not that it is supported. "
            "Tokens are words between white space, those of all responses together.",
            "Passage AUC: the probability that a response with a hallucination scores higher than "
            "one without. A sentence scores 1 − support, in [0, 1]: how far the method does not "
            "hold it to be supported; a response scores as its worst sentence. The paper does not "
            "say what its passages are.",
            "Contradiction rate: the share of the sentences that pass as supported in which people "
            "marked a contradiction of the source. The paper counts statements that are generated; "
            "nothing is generated here.",
            "Oracle flags the sentences that people marked something in: no sentence escapes it, "
            "so its AUC is 1 and its rate 0; its F1 is below 1 as it flags whole sentences.",
            "Responses count by those of their sentences that were checked.",
            "In brackets the 95 % interval: of token F1 by bootstrap over sources, of AUC DeLong's "
            "clustered by source, else Wilson's, which takes sentences as independent.",
        ),
    )
