"""What the reliability signal is worth where agents read without a mistake."""

from collections.abc import Hashable, Sequence

from pipelines.madam_rag.evaluation.scores import Part
from pipelines.madam_rag.question import Kind
from pipelines.madam_rag.transcript import Reliability
from pipelines.metrics.auc import roc_auc
from pipelines.metrics.mean import mean
from pipelines.report.table import Column, Row, Table

Told = tuple[Hashable, Kind, Reliability]
"""The question, what a document is to it, and what the others say of that document's answer."""


def net_support(told: Reliability) -> float:
    """Share of the other documents that support an answer, less the share that contradict it.

    Returns:
        A value in [-1, 1].
    """
    return (told.support - told.refute) / told.others


def told_of(part: Part) -> list[Told]:
    """The documents of a part with an answer, a known kind and others beside them."""
    return [
        (each.id, given.kind, told)
        for each in part.results
        for given, told in zip(each.asked.documents, each.borne_out, strict=bool(each.borne_out))
        if told is not None and told.others and given.kind is not None
    ]


def reliability(made: Sequence[Part]) -> Table:
    """How documents bear each other out, by kind: right answers should have more support."""
    rows: list[Row] = []
    for part in made:
        every = told_of(part)
        for kind in ("correct", "misinfo"):
            own = [each for each in every if each[1] == kind]
            if not own:
                continue
            clusters = [question for question, _, _ in own]
            auc = None
            if kind == "misinfo":
                auc = roc_auc(
                    [net_support(told) for _, _, told in every],
                    [each == "correct" for _, each, _ in every],
                    [question for question, _, _ in every],
                )
            rows.append(
                (
                    part.title,
                    kind,
                    len(own),
                    mean(
                        [told.support / told.others for _, _, told in own], clusters, bounds=(0, 1)
                    ),
                    mean(
                        [told.refute / told.others for _, _, told in own], clusters, bounds=(0, 1)
                    ),
                    auc,
                )
            )
    return Table(
        name="madam_reliability",
        title="What the reliability signal is worth",
        caption="What an aggregator would be told of agents that answer what the data say that "
        "their document says.",
        columns=(
            Column("data", "Data"),
            Column("kind", "Document"),
            Column("documents", "Documents"),
            Column("support", "Others that support it", interval=True),
            Column("refute", "Others that contradict it", interval=True),
            Column("auc", "AUC, correct against misinfo", interval=True),
        ),
        rows=tuple(rows),
        notes=(
            "The AUC is the probability that a correct document's answer has more net support "
            "(supporting less contradicting, of all others) than that of one with misinformation; "
            "0.5 is chance. A right answer that belongs to another entity of the name has no "
            "support either.",
            "The tagger that comes with the program learned from the training half of RAMDocs: "
            "only figures of --half test are of questions that it has not seen.",
            "In brackets 95 % intervals with the documents of a question as one cluster.",
        ),
    )
