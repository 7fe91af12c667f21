"""What was drawn for a data set like RAMDocs: counted, and written beside it."""

from collections.abc import Sequence

from pydantic import BaseModel

from pipelines.data.ramdocs import RamQuestion
from pipelines.madam_rag.statistics import RELEASED, statistics
from pipelines.metrics.estimate import Estimate
from pipelines.report.table import Column, Measure, Table


class Made(BaseModel, frozen=True):
    """Documents of a kind: how many were drawn, and how many there are."""

    drawn: int = 0
    made: int = 0

    def plus(self, drawn: int, made: int) -> "Made":
        """With so many more."""
        return Made(drawn=self.drawn + drawn, made=self.made + made)


class Counts(BaseModel, frozen=True):
    """What was drawn, and what could not be made.

    Attributes:
        read: Questions of the AmbigDocs file.
        unanswered: Questions passed over, since none of their documents states its answer.
        sharing: Questions passed over, since another has one of their documents.
        questions: Questions that were drawn.
        supporting, misinformation, noise: Their documents.
        copies: Misinformation made of a copy of a document that is shown as well.
        unmade: Why misinformation that was drawn could not be made -> how many documents.
    """

    read: int
    unanswered: int
    sharing: int
    questions: int
    supporting: Made
    misinformation: Made
    noise: Made
    copies: int
    unmade: dict[str, int]


class Source(BaseModel, frozen=True):
    """A file, or several, and the SHA-256 of what was read of them."""

    name: str
    sha256: str
    entries: int


class BuildRecord(BaseModel, frozen=True):
    """What a data set was built from; the same again makes the same bytes."""

    ambigdocs: Source
    passages: Source
    seed: int
    counts: Counts


def drawn(counts: Counts) -> Table:
    """Documents by kind: drawn, written, and why fewer."""
    why = {
        "supporting": "retrieval found no more",
        "misinformation": "; ".join(f"{reason}: {n:,}" for reason, n in counts.unmade.items()),
        "noise": "retrieval found no more",
    }
    rows = {name: getattr(counts, name) for name in why}
    return Table.of(
        rows.items(),
        name="ramdocs_build",
        title="Documents",
        columns=[
            Column("kind", "Documents", lambda row: row[0]),
            Column("drawn", "Drawn", lambda row: row[1].drawn),
            Column("made", "Written", lambda row: row[1].made),
            Column(
                "why",
                "Why fewer",
                lambda row: why[row[0]] if row[1].made < row[1].drawn else None,
            ),
        ],
    )


def averages(questions: Sequence[RamQuestion]) -> Table:
    """The averages of appendix A, of a build and of the paper."""
    return Table.of(
        statistics(questions),
        name="ramdocs_averages",
        title="Averages over questions",
        columns=[
            Column("name", "Average"),
            Measure("estimate", "This build"),
            Measure("paper", "Paper", lambda each: Estimate(each.paper, None, None, RELEASED)),
        ],
    )
