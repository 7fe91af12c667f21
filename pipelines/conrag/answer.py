"""What ConRAG gives back: evidence table, stance, conflict statement, and a cited answer."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from pydantic import BaseModel

from pipelines.conrag.clusters import Cluster
from pipelines.conrag.packet import Packet
from pipelines.conrag.stance import Stance
from pipelines.conrag.tagged import SIDES
from pipelines.data.records import Document
from pipelines.evidence.judgement import RELATIONS, Relation, Truncation

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
            the labeller names none that the passage has.
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
        repaired: Whether it was written anew because of a problem, and has none now.
    """

    text: str
    cites: tuple[int, ...] = ()
    about: About = "answer"
    problems: tuple[str, ...] = ()
    repaired: bool = False


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
        truncations: Passages of which the labeller read a part.
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


def evidence_table(packet: Packet, clusters: Iterable[Cluster]) -> tuple[Evidence, ...]:
    """The packet as a table, by its tags."""
    cluster_of = {name: each.name for each in clusters for name in each.members}
    return numbered(
        Evidence(
            number=0,
            passage=each.passage,
            relation=each.relation,
            confidence=each.confidence,
            relevance=each.relevance,
            cluster=cluster_of[each.id],
            rationale=each.rationale,
            unsure=each.unsure,
        )
        for each in packet.passages
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
