"""What ConRAG gives back: evidence table, stance, conflict statement, and a cited answer."""

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
from pipelines.retrieval.chunks import document_of
from pipelines.text.citations import cut_out, cuts

About = Literal["support", "refute", "conflict", "answer", "none"]
"""What a sentence speaks of; "none" where it says nothing of the evidence."""

SIDE: Mapping[About, Relation] = {"support": Relation.SUPPORTS, "refute": Relation.CONTRADICTS}
"""The side that such a sentence takes."""

ABOUT: Mapping[Stance, About] = {Stance.SUPPORT: "support", Stance.REFUTE: "refute"}
"""What a sentence speaks of that gives a stance."""


class Statement(BaseModel, frozen=True):
    """A sentence of an answer, without citation marks; ids of passages are in the order cited.

    Attributes:
        cites: Passages that it rests on.
        dropped: Passages that it cited as it was written, until that was found wrong, or a policy
            took the citation away.
        problems: What is wrong with its citations; a sentence with a problem cites nothing.
    """

    text: str
    about: About = "answer"
    cites: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def side(self) -> Relation | None:
        """The side that it takes: what a passage that bears it out says of the claim."""
        return SIDE.get(self.about)

    def faulty(self, *problems: str) -> "Statement":
        """The same with these problems, if any: then all that it cites is dropped."""
        if not problems:
            return self
        dropped = (*self.dropped, *self.cites)
        return self.model_copy(update={"cites": (), "dropped": dropped, "problems": problems})


class Answer(BaseModel, frozen=True):
    """The structured output (ConRAG, section 2).

    Attributes:
        first_answer: Of a question, the statements that passages were tagged by; of a claim, none.
        stance: By the delta rule.
        model_stance: What the model that wrote the answer takes it to be; it decides nothing. None
            where a template wrote.
        kappa: Conflict score of what was retrieved, in [0, 1]; disputed from tau on.
        support, refute: U_sup and U_ref.
        evidence: The packet, as a table; the clusters are of all that was retrieved.
        conflict: The conflict statement; None where nothing disagrees.
        cut: Whether a reply breaks off, for tokens, sentences or first answers ran out.
        problem: Why there are no sentences, in one line.
        raw: The reply that could not be read.
        tags: Passage id -> its tag, of all that was retrieved, in that order.
        unsure: How many of these tags are nearly ties.
        truncations: Passages of which the judge read a part.
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
        """Ids of passages whose label could not be read; they are in nothing else."""
        return tuple(name for name, tag in self.tags.items() if tag is Relation.INVALID)

    @property
    def relations(self) -> dict[str, Relation]:
        """Passage id -> what it says of the query: as the evidence has it, else by its tag."""
        return self.tags | {row.id: row.relation for row in self.evidence}

    @property
    def unsaid(self) -> str | None:
        """The conflict statement, where no sentence of the answer speaks of the disagreement."""
        said = any(one.about == "conflict" and not one.problems for one in self.sentences)
        return None if said else self.conflict


def evidence_table(
    packet: Iterable[TaggedPassage], clusters: Iterable[Cluster]
) -> tuple[TaggedPassage, ...]:
    """The packet as a table, by its tags (ConRAG, section 2, sort)."""
    cluster_of = {name: cluster.name for cluster in clusters for name in cluster.members}
    return numbered(replace(passage, cluster=cluster_of[passage.id]) for passage in packet)


def numbered(rows: Iterable[TaggedPassage]) -> tuple[TaggedPassage, ...]:
    """The rows numbered: supporting passages, refuting ones, the others, each as retrieved."""

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
    """What is asked of every sentence that says something of the evidence.

    The paper's protocol asks for no more than a citation; it names both rules as adaptations
    (ConRAG, section 2, citation binding). One source asks for no more than a citation.

    Attributes:
        numbers: Whether every number of a sentence must stand in a passage that it cites.
    """

    numbers: Literal["cited", "free"] = "cited"
    sources: Annotated[
        int,
        Field(ge=1),
        Option(
            "Independent sources (sites, or documents) that a sentence must cite to count as "
            "cited.",
            panel=PANEL,
        ),
    ] = 1


def problems(
    statement: Statement,
    table: Sequence[TaggedPassage],
    policy: CitationPolicy,
    unknown: Sequence[int] = (),
) -> tuple[str, ...]:
    """What is wrong with a statement's citations; nothing, where it may count as cited.

    Every sentence cites passages of the packet that take a side, and no others, unless none does.
    One that speaks of a side cites that side alone; one that speaks of the disagreement cites both.
    A sentence of no evidence needs none, and one without words is none. The policy may ask for
    more.
    """
    if not statement.text:
        return ("says nothing",)
    if unknown:
        return (f"cites [{unknown[0]}], which is not in the evidence",)
    rows = {row.id: row for row in table}
    cited = [rows[name] for name in statement.cites]
    if not cited:
        return () if statement.about == "none" else ("cites nothing",)
    found = []
    idle = [row.number for row in cited if row.relation not in SIDES]
    if idle and has_sides(table):
        found.append(f"cites [{idle[0]}], which takes no side")
    sides = {row.relation for row in cited} & set(SIDES)
    if statement.about == "conflict" and len(sides) < len(SIDES):
        found.append("speaks of the disagreement and cites one side alone")
    if statement.side and sides - {statement.side}:
        found.append("cites the other side")
    if policy.numbers == "cited":
        shown = _numbers(" ".join(row.passage.as_read() for row in cited))
        absent = _numbers(statement.text) - shown
        found += [f"cites no passage with the number {number}" for number in sorted(absent)]
    independent = {source(row.passage) for row in cited}
    if len(independent) < policy.sources:
        found.append(f"cites {len(independent)} sources, {policy.sources} are asked for")
    return tuple(found)


def unmarked(text: str) -> str:
    """A text in one line, without citations: "[3]", "[1, 2]", "[Source 1]".

    What models and documents write must not pass for a citation that was checked.
    """
    line = " ".join(text.split())
    for _ in range(3):  # "[1[2]]" leaves one
        line = cut_out(line, cuts(line, numbered=False))[0]
    return (line.translate(_BRACKETS) if any(cuts(line)) else line).strip()


def source(passage: Document) -> str:
    """Where a passage comes from: its site where it has a URL, else the document it is of."""
    try:
        site = urlsplit(passage.url).hostname if passage.url else None
    except ValueError:  # no URL, whatever it calls itself
        site = None
    return site or document_of(passage.id)


def _numbers(text: str) -> set[str]:
    return {match.replace(",", "") for match in _NUMBER.findall(text)}


class Sorted(BaseModel, frozen=True):
    """What a language model made of a passage of the packet, and why, in its words.

    The reason is None of a passage that it did not sort, which stays as tagged.
    """

    id: str
    relation: Relation
    reason: str | None


class Outcome(BaseModel, frozen=True):
    """A stance, and an answer from a packet of passages.

    Attributes:
        packet: Ids of the k' passages that the answer was written from.
        sorted: The packet as a language model sorted it; empty where none was asked to.
        support: How far the method holds the claim to be supported, in [0, 1]; see
            `pipelines.conrag.methods.support_share`.
        undecided: Whether the stance is unknown: the reply that was to give it could not be read.
        unbound: Sentences whose citations are wrong; all that they cite is dropped.
        cut: Whether the answer breaks off, for tokens or sentences ran out.
        problem: Why there is no answer, in one line; `raw` is the reply that could not be read.
    """

    stance: Stance
    packet: tuple[str, ...]
    statements: tuple[Statement, ...] = ()
    sorted: tuple[Sorted, ...] = ()
    support: float = 0.0  # older results do not have it, and need it for nothing
    undecided: bool = False
    unbound: int = 0
    cut: bool = False
    problem: str | None = None
    raw: str | None = None

    @property
    def cited(self) -> tuple[str, ...]:
        """What the answer shows as its evidence: each passage it cites, once, in order."""
        return tuple(dict.fromkeys(name for said in self.statements for name in said.cites))
