"""The data sets of a run (ConRAG, Table I)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum
from typing import Final, NamedTuple

from pipelines.conrag import paper
from pipelines.conrag.evidence import Stance
from pipelines.conrag.result import ClaimResult
from pipelines.conrag.tables.figures import Results, of_questions, of_responses
from pipelines.evidence.judgement import Relation
from pipelines.report.glance import count
from pipelines.report.table import HERE, Column, Table

_LABELS = "SUPPORT/REFUTE/NEI"


class Kind(NamedTuple):
    """What a data set is, whatever its size.

    Attributes:
        evidence: What a passage is, and which are known to be evidence.
        conflict: Where disagreement in it comes from.
    """

    task: str
    labels: str
    evidence: str
    conflict: str


_ALCE = "passages of 100 words, retrieved by ALCE"
KINDS: Final[Mapping[str, Kind]] = {
    "claims": Kind(
        "claim verification",
        _LABELS,
        "documents with their relations",
        "documents that disagree, as their labels say",
    ),
    "fool-me-twice": Kind(
        "claim verification",
        "SUPPORT/REFUTE",
        "Wikipedia sentences",
        "claims written to be taken for true or false",
    ),
    "climate-fever": Kind(
        "claim verification",
        _LABELS,
        "five Wikipedia sentences, voted on",
        "sentences on both sides: DISPUTED claims",
    ),
    "averitec": Kind(
        "claim verification",
        _LABELS,
        "answers from the web to questions about the claim",
        "claims of conflicting evidence",
    ),
    "wice": Kind(
        "claim verification", "none", "sentences of a cited page", "none that is labelled"
    ),
    "scifact": Kind(
        "scientific claim verification",
        _LABELS,
        "sentences of abstracts; rationales",
        "claims that an abstract refutes",
    ),
    "fever": Kind(
        "claim verification",
        _LABELS,
        "Wikipedia sentences",
        "claims mutated until a page refutes them",
    ),
    "ragtruth": Kind(
        "hallucination analysis",
        "spans: contradicting, baseless",
        "passages of what a response was written from",
        "responses that contradict their source",
    ),
    "alce-asqa": Kind(
        "long-form QA with citations", "none (short answers)", _ALCE, "ambiguous questions"
    ),
    "alce-qampari": Kind(
        "list QA with citations", "none (short answers)", _ALCE, "none that is labelled"
    ),
    "alce-eli5": Kind(
        "explanatory QA with citations", "none (claims)", _ALCE, "none that is labelled"
    ),
}
"""By the names that results have."""

UNKNOWN = Kind("", "", "", "")


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
            Column("conflict", "Where conflicts come from", lambda one: one.kind.conflict),
            Column("rows", "Rows", lambda one: len(one.own)),
            Column("skipped", "Skipped", lambda one: skipped.get(one.name, 0)),
            Column("passages", "Passages per row", lambda one: mean_passages(one.own)),
            Column("with_evidence", "With gold evidence", lambda one: with_evidence(one.own)),
            Column("stances", "Gold stances", lambda one: gold_stances(one.own)),
            Column("disputed", "Known disputes", lambda one: known_disputes(one.own)),
            Column("both_sides", "Both sides tagged", lambda one: both_sides(one.own)),
        ],
        quoted=paper.TABLE_I,
        notes=(
            "Rows are what was run: a half, or the first ones with --limit, and those that failed. "
            "Skipped are rows of the whole file that are not in its format. "
            "Passages are those retrieved. The paper's sizes are of whole releases.",
        ),
    )


def mean_passages(own: Sequence[ClaimResult]) -> float | None:
    """Passages retrieved per row that was done; None where none was."""
    counts = [len(each.passages) for each in own if each.status == "answered"]
    return fsum(counts) / len(counts) if counts else None


def with_evidence(own: Sequence[ClaimResult]) -> int:
    """Rows whose evidence is known: gold passages, or ones known to support the gold answer."""
    return sum(bool(each.evidence or Relation.SUPPORTS in each.truth.values()) for each in own)


def gold_stances(own: Sequence[ClaimResult]) -> str:
    """How many rows have each gold stance, in words; a dash where none has one."""
    counts = Counter(each.stance for each in own)
    named = {"support": Stance.SUPPORT, "refute": Stance.REFUTE, "NEI": Stance.NOT_ENOUGH_INFO}
    return ", ".join(f"{name} {counts[it]:,}" for name, it in named.items() if counts[it]) or "–"


def known_disputes(own: Sequence[ClaimResult]) -> int | None:
    """Rows whose evidence is known to disagree; None where the data say it of no row."""
    known = [each.disputed for each in own if each.disputed is not None]
    return sum(known) if known else None


def both_sides(own: Sequence[ClaimResult]) -> int:
    """Rows with passages that the tagger finds on both sides."""
    return sum({Relation.SUPPORTS, Relation.CONTRADICTS} <= {*each.tags.values()} for each in own)
