"""What answers cite, and name, and what responses invent (ConRAG, Tables II, V and VI)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Generic, NamedTuple, TypeVar

from pipelines.conrag import paper
from pipelines.conrag.citations import judge_told
from pipelines.conrag.hallucination import (
    CheckedSentence,
    accepted_contradictions,
    passage_auc,
    token_f1,
)
from pipelines.conrag.methods import ABLATIONS, METHODS
from pipelines.conrag.query import ListWorth
from pipelines.conrag.result import AnswerWorth, ClaimResult
from pipelines.conrag.tables import figures
from pipelines.conrag.tables.figures import OURS, Results
from pipelines.metrics.estimate import Estimate, mean, share
from pipelines.report.table import HERE, Column, Measure, Table

JUDGED = (
    "conrag_stance",
    "conrag_hallucination",
    "conrag_citations",
    "conrag_ablations",
    "conrag_paired",
    "conrag_conflict_bins",
    "conrag_errors",
)
"""Tables with figures of what passages say of sentences."""


def with_judges(
    made: Iterable[Table], results: figures.Results, configs: Mapping[str, Mapping[str, Any]]
) -> list[Table]:
    """The tables with a note of who judged each data set of questions.

    Results and configurations of `run.json` are by data set.
    """
    notes = [
        f"{name}: {told}."
        for name, own in results.items()
        if (figures.of_questions(own) or figures.generated(own)) and (told := _told(configs[name]))
    ]
    return [
        replace(table, notes=(*table.notes, *notes)) if table.name in JUDGED else table
        for table in made
    ]


def _told(config: Mapping[str, Any]) -> str:
    """Who judged; of older runs the judge did, in its own case."""
    return judge_told({"citations": {"model": config["model"]}, **config})


QUESTIONS = (
    "Of questions (alce), precision and recall are means over answers, as in ALCE, and what "
    "passages say of a sentence is judged by a model, where ALCE has an entailment model of 11 "
    "billion parameters. Every sentence counts there; of contradictions, all but those about the "
    "conflict or about nothing. Of lists every item counts, behind its question. A sentence "
    "contradicts the packet where one of its passages contradicts it, undisclosed where no other "
    "sentence gives that passage's version and cites it. Gold answers said: short answers named, "
    "recall-5 of lists, or claims entailed."
)
CITATIONS = (
    "Citation precision and recall follow ALCE's rules (the first three citations of a sentence "
    "count). Whether a passage bears a statement out is read from the data's own labels: passages "
    "without a label bear nothing out, so where few have one, the figures are low for all."
)


Own = TypeVar("Own")
Figure = Callable[[Sequence[ClaimResult], str], Estimate | None]
"""(results, method) -> what they come to."""


class Line(NamedTuple, Generic[Own]):
    """A method on a data set."""

    dataset: str
    method: str
    own: Sequence[Own]


def figure(key: str, title: str, of: Figure) -> Measure[Line[ClaimResult]]:
    """The column of a figure."""
    return Measure(key, title, lambda line: of(line.own, line.method))


DATA: Final = Column[Any]("dataset", "Data")
METHOD: Final = Column[Line[Any]]("method", "Method")
RATES: Final = (
    figure("contradiction_rate", "Contradiction rate", figures.contradiction_rate),
    figure("undisclosed_rate", "Undisclosed contradictions", figures.undisclosed_rate),
)
"""The paper's rate, and ours beside it."""
PRECISION: Final = figure(
    "precision", "Citation precision", lambda own, method: figures.citations(own, method).precision
)
RECALL: Final = figure(
    "recall", "Citation recall", lambda own, method: figures.citations(own, method).recall
)
UNREADABLE: Final = Column[Line[ClaimResult]](
    "unreadable", "Unreadable", lambda line: figures.unreadable(line.own, line.method)
)
CUT: Final = Column[Line[ClaimResult]](
    "cut", "Cut", lambda line: sum(each.outcomes[line.method].cut for each in line.own)
)


def citations(results: Results) -> Table:
    """Table V: citation precision and recall, and the share of citations that leak."""
    return Table.of(
        [
            Line(dataset, method, own)
            for dataset, own in results.items()
            if figures.labelled(own)
            for method in (*METHODS, *ABLATIONS)
        ],
        name="conrag_citations",
        title="Citations",
        caption="What the sentences of answers cite, and whether that bears them out.",
        columns=[
            *(DATA, METHOD, HERE),
            *(PRECISION, RECALL),
            figure("leakage", "Citation leakage", figures.leakage),
            *RATES,
            figure("answer_recall", "Gold answers said", figures.answer_recall),
            figure("answered", "Answers", figures.says_something),
            Column(
                "unbound",
                "Wrong citations",
                lambda line: sum(each.outcomes[line.method].unbound for each in line.own),
            ),
            *(UNREADABLE, CUT),
            Column(
                "statements",
                "Statements",
                lambda line: figures.citations(line.own, line.method).statements,
            ),
        ],
        quoted=paper.TABLE_V,
        notes=(
            CITATIONS,
            "Leakage is the share of citations of passages that the tagger calls irrelevant.",
            "Answers: the share of readable answers with a sentence about the evidence. Wrong "
            "citations: sentences that cite nothing, or what is not there, or break the policy. "
            "They count as citing nothing; the passages that they named stay among the citations "
            "of which precision and leakage are shares, as do those that NLI-RAG drops.",
            QUESTIONS,
            "The paper's rows are of ALCE with a larger language model and judge.",
        ),
    )


def hallucinations(results: Results) -> Table:
    """Table VI: how well hallucinated sentences of responses are found, and what passes."""
    return Table.of(
        [
            Line(dataset, method, own)
            for dataset, own in results.items()
            if figures.of_responses(own)
            for method in METHODS
        ],
        name="conrag_hallucination",
        title="Hallucinations",
        caption="Every sentence of a response is checked against what the response was written "
        "from.",
        columns=[
            *(DATA, METHOD, HERE),
            _checked("token_f1", "Token F1", token_f1),
            _checked("passage_auc", "Passage AUC", passage_auc),
            *RATES,
            _checked("passed_contradictions", "Contradictions passed", accepted_contradictions),
            _checked("flagged", "Flags", lambda checked: share([one.flagged for one in checked])),
            Column("sentences", "Sentences", lambda line: len(_sentences(line))),
            Column(
                "responses",
                "Responses",
                lambda line: len({one.sentence.response for one in _sentences(line)}),
            ),
        ],
        quoted=paper.TABLE_VI,
        notes=(
            "A sentence is flagged as a whole, where the stance on it is not that it is supported. "
            "Tokens are words between white space, those of all responses together.",
            "Passage AUC: the probability that a response with a hallucination scores higher than "
            "one without. A sentence scores 1 − support, in [0, 1]: how far the method does not "
            "hold it to be supported; a response scores as its worst sentence. The paper does not "
            "say what its passages are.",
            "Contradiction rate: of what a language model writes about the sentences, with who "
            "judges it named below; the template writes nothing that could be counted. "
            "Contradictions passed: the share of the sentences that pass as supported in which "
            "people marked a contradiction of the source; ours.",
            "Oracle flags the sentences that people marked something in: no sentence escapes it, "
            "so its AUC is 1 and its rate 0; its F1 is below 1 as it flags whole sentences.",
            "Responses count by those of their sentences that were checked.",
            "In brackets the 95 % interval: of token F1 by bootstrap over sources, of AUC DeLong's "
            "clustered by source, else Wilson's, which takes sentences as independent.",
        ),
    )


def _sentences(line: Line[ClaimResult]) -> list[CheckedSentence]:
    return figures.checked(line.own, line.method)


def _checked(
    key: str, title: str, of: Callable[[list[CheckedSentence]], Estimate | None]
) -> Measure[Line[ClaimResult]]:
    """A column of sentences of responses."""
    return Measure(key, title, lambda line: of(_sentences(line)))


def gold_answers(results: Results) -> Table:
    """STR-EM by both rules (ASQA), precision, recall and F1 of lists (QAMPARI)."""
    return Table.of(
        [
            Line(dataset, method, own)
            for dataset, own in results.items()
            if any(each.str_em is not None or each.listed for each in _worth(own, OURS))
            for method in (*METHODS, *ABLATIONS)
        ],
        name="conrag_gold_answers",
        title="Short answers",
        caption="Which of the short answers that are known the answers to questions give.",
        columns=[
            *(DATA, METHOD, HERE),
            _said("str_em", "STR-EM", lambda worth: worth.recall),
            _said("str_em_substrings", "STR-EM, ALCE's rule", lambda worth: worth.str_em),
            _of_lists("list_precision", "Precision", lambda listed: listed.precision),
            _of_lists("list_recall_5", "Recall-5", lambda listed: listed.recall_5),
            _of_lists("list_f1_5", "F1-5", lambda listed: listed.f1_5),
            _of_lists("list_recall", "Recall", lambda listed: listed.recall),
            _of_lists("list_f1", "F1", lambda listed: listed.f1),
            Measure("items", "Items", lambda line: _items(line.own, line.method)),
            UNREADABLE,
            Column("answers", "Answers", lambda line: len(line.own)),
        ],
        notes=(
            "Means over answers, as in ALCE, unreadable ones aside. STR-EM (ASQA): the share of "
            "short answers that are said, as whole words; ALCE's rule takes parts of words, too.",
            "Of lists (QAMPARI), as in ALCE: an item between commas is right if it is an alias of "
            "a gold answer after normalisation; five gold answers are enough for recall-5 and "
            "F1-5. Items is their mean number. A sentence about a conflict is no item.",
        ),
    )


def _worth(own: Sequence[ClaimResult], method: str) -> list[AnswerWorth]:
    """Of the readable answers to questions."""
    return [
        each.question.worth[method]
        for each in own
        if each.question is not None and each.outcomes[method].problem is None
    ]


def _said(
    key: str, title: str, of: Callable[[AnswerWorth], float | None]
) -> Measure[Line[ClaimResult]]:
    """A column of answers in prose."""

    def share(own: Sequence[ClaimResult], method: str) -> Estimate | None:
        short = [each for each in _worth(own, method) if each.str_em is not None]
        shares = [value for each in short if (value := of(each)) is not None]
        return mean(shares, bounds=(0, 1))

    return figure(key, title, share)


def _of_lists(key: str, title: str, of: Callable[[ListWorth], float]) -> Measure[Line[ClaimResult]]:
    """A column of lists."""

    def share(own: Sequence[ClaimResult], method: str) -> Estimate | None:
        lists = [each.listed for each in _worth(own, method) if each.listed]
        return mean([of(each) for each in lists], bounds=(0, 1))

    return figure(key, title, share)


def _items(own: Sequence[ClaimResult], method: str) -> Estimate | None:
    return mean([float(each.listed.items) for each in _worth(own, method) if each.listed])
