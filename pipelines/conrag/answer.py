"""ConRAG's output: evidence table, stance, conflict statement, and a cited answer."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, Field

from pipelines.conrag.evidence import SIDES, Cluster, Stance, TaggedPassage
from pipelines.conrag.packet import PANEL
from pipelines.data.records import Document
from pipelines.judge.judgement import RELATIONS, Relation, Truncation
from pipelines.option import Option
from pipelines.retrieval.documents import document_of
from pipelines.text.citations import cut_out, cuts

About = Literal["support", "refute", "conflict", "answer", "none"]
"""The subject of a sentence; "none" if it says nothing about the evidence."""

SIDE: Mapping[About, Relation] = {"support": Relation.SUPPORTS, "refute": Relation.CONTRADICTS}
"""The side that such a sentence takes."""

ABOUT: Mapping[Stance, About] = {Stance.SUPPORT: "support", Stance.REFUTE: "refute"}
"""The subject of a sentence that states a stance."""


class Statement(BaseModel, frozen=True):
    """A sentence of an answer, without citation marks; ids of passages are in the order cited.

    Attributes:
        cites: Passages that back it.
        dropped: Passages that it cited when written; dropped because they are wrong or by a policy.
        problems: Problems with its citations; a sentence with a problem cites nothing.
    """

    text: str
    about: About = "answer"
    cites: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def side(self) -> Relation | None:
        """The side that it takes: the relation of the passages that back it."""
        return SIDE.get(self.about)

    def faulty(self, *problems: str) -> "Statement":
        """The statement with these problems, if any: its citations are then dropped."""
        if not problems:
            return self
        dropped = (*self.dropped, *self.cites)
        return self.model_copy(update={"cites": (), "dropped": dropped, "problems": problems})


class Answer(BaseModel, frozen=True):
    """The structured output (ConRAG, section 2).

    Attributes:
        first_answer: For a question, the statements that passages were tagged against.
        stance: By the delta rule.
        model_stance: The stance given by the model that wrote the answer, for information only;
            None if a template wrote.
        kappa: Conflict score of the retrieved passages, in [0, 1].
        disputed: Whether kappa is at least tau.
        support, refute: U_sup and U_ref.
        evidence: The packet, as a table; the clusters are of all retrieved passages.
        conflict: The conflict statement; None if nothing disagrees.
        cut: Whether a reply broke off at the limit of tokens, sentences or first answers.
        problem: Why sentences are missing, in one line.
        raw: The unreadable reply.
        tags: Passage id -> tag, for all retrieved passages, in their order.
        unsure: Number of tags that are nearly ties.
        truncations: Passages that the judge read in part.
    """

    query: str
    first_answer: tuple[str, ...] = ()
    stance: Stance
    model_stance: Stance | None = None
    status: str
    kappa: float
    disputed: bool
    support: float
    refute: float
    evidence: tuple[TaggedPassage, ...]
    clusters: tuple[Cluster, ...]
    conflict: str | None
    sentences: tuple[Statement, ...]
    cut: bool = False
    problem: str | None = None
    raw: str | None = None
    tags: dict[str, Relation]
    unsure: int = 0
    truncations: tuple[Truncation, ...] = ()

    @property
    def unreadable(self) -> tuple[str, ...]:
        """Ids of passages whose label could not be read; they are left out of the evidence."""
        return tuple(name for name, tag in self.tags.items() if tag is Relation.INVALID)

    @property
    def relations(self) -> dict[str, Relation]:
        """Passage id -> its relation to the query: as sorted in the evidence, else its tag."""
        return self.tags | {row.id: row.relation for row in self.evidence}

    @property
    def unsaid(self) -> str | None:
        """The conflict statement, unless a sentence of the answer mentions the disagreement."""
        said = any(
            sentence.about == "conflict" and not sentence.problems for sentence in self.sentences
        )
        return None if said else self.conflict


def evidence_table(
    packet: Iterable[TaggedPassage], clusters: Iterable[Cluster]
) -> tuple[TaggedPassage, ...]:
    """The packet as a table, by its tags (ConRAG, section 2, sort)."""
    cluster_of = {name: cluster.name for cluster in clusters for name in cluster.members}
    return numbered(replace(passage, cluster=cluster_of[passage.id]) for passage in packet)


def numbered(rows: Iterable[TaggedPassage]) -> tuple[TaggedPassage, ...]:
    """The rows numbered: supporting passages, then refuting ones, then others, by relevance."""

    def place(row: TaggedPassage) -> tuple[int, float, str]:
        return RELATIONS.index(row.relation), -row.relevance, row.id

    return tuple(replace(row, number=n) for n, row in enumerate(sorted(rows, key=place), 1))


def has_sides(table: Sequence[TaggedPassage]) -> bool:
    """Whether a passage supports or contradicts."""
    return any(row.relation in SIDES for row in table)


def sides_of(table: Sequence[TaggedPassage]) -> list[list[TaggedPassage]]:
    """The rows that support and those that contradict."""
    return [[row for row in table if row.relation is side] for side in SIDES]


_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?")
_BRACKETS = str.maketrans("[【［]】］", "((()))")


class CitationPolicy(BaseModel, frozen=True, extra="forbid"):
    """Rules for the citations of a sentence about the evidence.

    The paper's protocol asks for a citation, and names both rules below as adaptations (ConRAG,
    section 2, citation binding).

    Attributes:
        numbers: Whether every number in a sentence must appear in a passage that it cites.
    """

    numbers: Literal["cited", "free"] = "cited"
    sources: Annotated[
        int,
        Field(ge=1),
        Option(
            "Number of independent sources (sites or documents) that a sentence must cite.",
            panel=PANEL,
        ),
    ] = 1


def problems(
    statement: Statement,
    table: Sequence[TaggedPassage],
    policy: CitationPolicy,
    unknown: Sequence[int] = (),
) -> tuple[str, ...]:
    """The problems with a statement's citations; empty if it counts as cited.

    A sentence cites passages of the packet that take a side, and no others, unless no passage does.
    A sentence about one side cites only that side, a sentence about the disagreement both. A
    sentence that is not about the evidence needs no citation. The policy may ask for more.
    """
    if not statement.text:
        return ("says nothing",)
    if unknown:
        return (f"cites [{unknown[0]}], which is not in the evidence",)
    rows = {row.id: row for row in table}
    cited = [rows[name] for name in statement.cites]
    if not cited:
        return () if statement.about == "none" else ("cites nothing",)
    faults = []
    idle = [row.number for row in cited if row.relation not in SIDES]
    if idle and has_sides(table):
        faults.append(f"cites [{idle[0]}], which takes no side")
    sides = {row.relation for row in cited} & set(SIDES)
    if statement.about == "conflict" and len(sides) < len(SIDES):
        faults.append("mentions the disagreement but cites only one side")
    if statement.side and sides - {statement.side}:
        faults.append("cites the other side")
    if policy.numbers == "cited":
        shown = _numbers(" ".join(row.passage.as_read() for row in cited))
        absent = _numbers(statement.text) - shown
        faults += [f"cites no passage with the number {number}" for number in sorted(absent)]
    independent = {source(row.passage) for row in cited}
    if len(independent) < policy.sources:
        faults.append(f"cites {len(independent)} sources; {policy.sources} are required")
    return tuple(faults)


def unmarked(text: str) -> str:
    """A text in one line, without citations: "[3]", "[1, 2]", "[Source 1]".

    Text from models and documents must not pass for a checked citation.
    """
    line = " ".join(text.split())
    for _ in range(3):  # one pass over "[1[2]]" would leave a mark
        line = cut_out(line, cuts(line, numbered=False))[0]
    return (line.translate(_BRACKETS) if any(cuts(line)) else line).strip()


def source(passage: Document) -> str:
    """The source of a passage: the site of its URL, else its document."""
    try:
        site = urlsplit(passage.url).hostname if passage.url else None
    except ValueError:  # not a valid URL
        site = None
    return site or document_of(passage.id)


def _numbers(text: str) -> set[str]:
    return {match.replace(",", "") for match in _NUMBER.findall(text)}


class Sorted(BaseModel, frozen=True):
    """How a language model sorted a passage of the packet, and why, in its words.

    A passage that the model left out keeps its tag, without a reason.
    """

    id: str
    relation: Relation
    reason: str | None


class Outcome(BaseModel, frozen=True):
    """A stance, and an answer from a packet of passages.

    Attributes:
        packet: Ids of the k' passages that the answer was written from.
        sorted: The packet as a language model sorted it; empty if no model did.
        support: How strongly the method holds the claim to be supported, in [0, 1]; see
            `pipelines.conrag.methods.support_share`.
        undecided: Whether the stance is unknown because its reply was unreadable.
        cut: Whether the answer broke off at the limit of tokens or sentences.
        problem: Why the answer is missing, in one line; `raw` is the unreadable reply.
    """

    stance: Stance
    packet: tuple[str, ...]
    statements: tuple[Statement, ...] = ()
    sorted: tuple[Sorted, ...] = ()
    support: float = 0.0  # missing in older results, which do not need it
    undecided: bool = False
    cut: bool = False
    problem: str | None = None
    raw: str | None = None

    @property
    def unbound(self) -> int:
        """Number of sentences whose citations were wrong and dropped."""
        return sum(bool(said.problems) for said in self.statements)

    @property
    def cited(self) -> tuple[str, ...]:
        """The passages that the answer cites, without repetition, in order."""
        return tuple(dict.fromkeys(name for said in self.statements for name in said.cites))
