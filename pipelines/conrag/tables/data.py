"""The data sets of a run (ConRAG, Table I)."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from pipelines.conrag import paper
from pipelines.conrag.result import ClaimResult
from pipelines.conrag.tables.figures import Results, of_questions, of_responses
from pipelines.report.glance import count
from pipelines.report.table import HERE, Column, Table

_LABELS = "SUPPORT/REFUTE/NEI"


class Kind(NamedTuple):
    """What a data set is, whatever its size.

    Attributes:
        evidence: What a passage is, and which are known to be evidence.
    """

    task: str
    labels: str
    evidence: str


_ALCE = "passages of 100 words, retrieved by ALCE"
KINDS: Final[Mapping[str, Kind]] = {
    "claims": Kind("claim verification", _LABELS, "documents with their relations"),
    "fool-me-twice": Kind("claim verification", "SUPPORT/REFUTE", "Wikipedia sentences"),
    "climate-fever": Kind("claim verification", _LABELS, "five Wikipedia sentences, voted on"),
    "averitec": Kind(
        "claim verification", _LABELS, "answers from the web to questions about the claim"
    ),
    "wice": Kind("claim verification", "none", "sentences of a cited page"),
    "scifact": Kind("scientific claim verification", _LABELS, "sentences of abstracts; rationales"),
    "fever": Kind("claim verification", _LABELS, "Wikipedia sentences"),
    "ragtruth": Kind(
        "hallucination analysis",
        "spans: contradicting, baseless",
        "passages of what a response was written from",
    ),
    "alce-asqa": Kind("long-form QA with citations", "none (short answers)", _ALCE),
    "alce-qampari": Kind("list QA with citations", "none (short answers)", _ALCE),
    "alce-eli5": Kind("explanatory QA with citations", "none (claims)", _ALCE),
}
"""By the names that results have."""

UNKNOWN = Kind("", "", "")


class Summary(NamedTuple):
    """A data set of a run."""

    name: str
    part: str
    own: Sequence[ClaimResult]

    @property
    def kind(self) -> Kind:
        """What the data set is."""
        return KINDS.get(self.name, UNKNOWN)

    @property
    def size(self) -> str:
        """Its rows in words, as Table I counts them: "250 claims, test half"."""
        said = count(len(self.own), "question" if of_questions(self.own) else "claim")
        if of_responses(self.own):
            responses = {each.response.response for each in self.own if each.response}
            said = f"{count(len(responses), 'response')} of {count(len(self.own), 'sentence')}"
        return said if self.part in ("", "all") else f"{said}, {self.part} half"


def data_summary(
    results: Results, parts: Mapping[str, str], skipped: Mapping[str, int] | None = None
) -> Table:
    """Table I: what each data set of the run is, and how much there was of it.

    Failed claims are among them. `parts` says by data set which half was taken, `skipped` how many
    rows of its file were not in the format.
    """
    skipped = skipped or {}
    return Table.of(
        [Summary(name, parts.get(name, ""), own) for name, own in results.items() if own],
        name="conrag_data",
        title="Data",
        columns=[
            Column("dataset", "Data", lambda one: one.name),
            HERE,
            Column("task", "Task", lambda one: one.kind.task),
            Column("labels", "Labels", lambda one: one.kind.labels),
            Column("size", "Size"),
            Column("evidence", "Evidence", lambda one: one.kind.evidence),
            Column("rows", "Rows", lambda one: len(one.own)),
            Column("skipped", "Skipped", lambda one: skipped.get(one.name, 0)),
        ],
        quoted=paper.TABLE_I,
        notes=(
            "Rows are what was run: a half, or the first ones with --limit, and those that failed. "
            "Skipped are rows of the whole file that are not in its format. "
            "The paper's sizes are of whole releases.",
        ),
    )
