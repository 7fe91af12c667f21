"""What ConRAG gives back: evidence table, stance, conflict statement, and a cited answer."""

import re
from collections.abc import Iterable, Mapping, Sequence
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


class Evidence(BaseModel, frozen=True):
    """A row of the evidence table (ConRAG, section 2, sort).

    Attributes:
        number: What sentences cite it by, from 1.
        relation: What it says of the query: its tag, unless a language model sorted it.
        confidence: Of the tag, in [0, 1].
        relevance: To the query, in [0, 1].
        cluster: Name of its cluster: "S1".
        rationale: The sentence of the passage that decided; None of irrelevant passages, and where
            the judge names none that the passage has.
        tag: The tag of a passage that a language model was to sort; None where none was.
        reason: Why it is sorted so, in the model's words; None where it did not sort it.
        unsure: Whether its tag is nearly a tie.
    """

    number: int
    passage: Document
    relation: Relation
    confidence: float
    relevance: float
    cluster: str
    rationale: str | None
    tag: Relation | None = None
    reason: str | None = None
    unsure: bool = False


class AnswerSentence(BaseModel, frozen=True):
    """A sentence of the answer, bound to evidence.

    Attributes:
        text: Without citation marks.
        cites: Numbers of the evidence it rests on.
        problems: What is wrong with its citations; a sentence with a problem is not cited.
    """

    text: str
    cites: tuple[int, ...] = ()
    about: About = "answer"
    problems: tuple[str, ...] = ()


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
        edges: The similarity graph that they come from: two passage ids and a weight each.
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
    evidence: tuple[Evidence, ...]
    clusters: tuple[Cluster, ...]
    edges: tuple[tuple[str, str, float], ...]
    conflict: str | None
    sentences: tuple[AnswerSentence, ...]
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
        return self.tags | {row.passage.id: row.relation for row in self.evidence}

    @property
    def unsaid(self) -> str | None:
        """The conflict statement, where no sentence of the answer speaks of the disagreement."""
        said = any(each.about == "conflict" and not each.problems for each in self.sentences)
        return None if said else self.conflict


def evidence_table(
    packet: Iterable[TaggedPassage], clusters: Iterable[Cluster]
) -> tuple[Evidence, ...]:
    """The packet as a table, by its tags."""
    cluster_of = {name: cluster.name for cluster in clusters for name in cluster.members}
    return numbered(
        Evidence(
            number=0,
            passage=tagged.passage,
            relation=tagged.relation,
            confidence=tagged.confidence,
            relevance=tagged.relevance,
            cluster=cluster_of[tagged.id],
            rationale=tagged.rationale,
            unsure=tagged.unsure,
        )
        for tagged in packet
    )


def numbered(rows: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """The rows numbered: supporting passages, refuting ones, the others, each as retrieved."""

    def place(row: Evidence) -> tuple[int, float, str]:
        return RELATIONS.index(row.relation), -row.relevance, row.passage.id

    ordered = enumerate(sorted(rows, key=place), 1)
    return tuple(each.model_copy(update={"number": number}) for number, each in ordered)


def has_sides(table: Sequence[Evidence]) -> bool:
    """Whether a passage supports or contradicts."""
    return any(row.relation in SIDES for row in table)


def sides_of(table: Sequence[Evidence]) -> list[list[Evidence]]:
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
    sentence: AnswerSentence, table: Sequence[Evidence], policy: CitationPolicy
) -> tuple[str, ...]:
    """What is wrong with a sentence's citations; nothing, where it may count as cited.

    Every sentence cites passages of the packet that take a side, and no others, unless none does.
    One that speaks of a side cites that side alone; one that speaks of the disagreement cites both.
    A sentence of no evidence needs none, and one without words is none. The policy may ask for
    more.
    """
    if not sentence.text:
        return ("says nothing",)
    rows = {each.number: each for each in table}
    unknown = [number for number in sentence.cites if number not in rows]
    if unknown:
        return (f"cites [{unknown[0]}], which is not in the evidence",)
    cited = [rows[number] for number in sentence.cites]
    if not cited:
        return () if sentence.about == "none" else ("cites nothing",)
    found = []
    idle = [each.number for each in cited if each.relation not in SIDES]
    if idle and has_sides(table):
        found.append(f"cites [{idle[0]}], which takes no side")
    sides = {each.relation for each in cited} & set(SIDES)
    if sentence.about == "conflict" and len(sides) < len(SIDES):
        found.append("speaks of the disagreement and cites one side alone")
    wanted = SIDE.get(sentence.about)
    if wanted and sides - {wanted}:
        found.append("cites the other side")
    if policy.numbers == "cited":
        absent = _numbers(sentence.text) - _numbers(" ".join(e.passage.as_read() for e in cited))
        found += [f"cites no passage with the number {number}" for number in sorted(absent)]
    independent = {source(each.passage) for each in cited}
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


class Statement(BaseModel, frozen=True):
    """A sentence of an answer, without citation marks; ids of passages are in the order cited.

    Attributes:
        cites: Passages that it cites.
        dropped: Passages that it cited as it was written, until a policy took the citation away.
    """

    text: str
    about: About
    cites: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    @property
    def side(self) -> Relation | None:
        """The side that it takes: what a passage that bears it out says of the claim."""
        return SIDE.get(self.about)


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
        return tuple(dict.fromkeys(name for each in self.statements for name in each.cites))
