"""What answers say of the short answers that they should give, by ALCE's metrics (Table II)."""

from collections.abc import Callable, Sequence

from pipelines.conrag.listing import ListWorth
from pipelines.conrag.methods import ABLATIONS, METHODS
from pipelines.conrag.result import AnswerWorth, ClaimResult
from pipelines.conrag.tables.answers import DATA, METHOD, UNREADABLE, Line, figure
from pipelines.conrag.tables.figures import OURS, Results
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.mean import mean
from pipelines.report.table import HERE, Column, Measure, Table


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
