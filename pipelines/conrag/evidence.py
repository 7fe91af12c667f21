"""Evidence: tagged passages, their graph and clusters, and their stance (ConRAG, section 2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import fsum
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from pipelines.data.records import Document
from pipelines.judge.judgement import RELATIONS, Relation
from pipelines.text.words import FUNCTION_WORDS, telling
from salience.words import word_pattern

if TYPE_CHECKING:
    import networkx as nx


EPSILON = 1e-6
"""The constant of the denominator, far below the confidence of any label (1/3 and more)."""


def kappa(support: float, refute: float) -> float:
    """1 - |U_sup - U_ref| / (U_sup + U_ref + epsilon) (ConRAG, section 2, conflict scoring).

    In [0, 1]; 1 means balanced evidence. If a side has no evidence, nothing disagrees, and the
    score is 0; without any evidence the formula itself gives 1, which cannot be intended.
    """
    if min(support, refute) <= 0:
        return 0.0
    return 1 - abs(support - refute) / (support + refute + EPSILON)


SIDES = (Relation.SUPPORTS, Relation.CONTRADICTS)


@dataclass(frozen=True)
class TaggedPassage:
    """A retrieved passage p_i as the tagger sees it (ConRAG, section 2), and in the evidence table.

    Attributes:
        relevance: rel_i, normalised over the retrieved passages, in [0, 1].
        relation: t_i, its tag, or the side on which a language model sorted it. `INVALID` if the
            label was unreadable; such a passage is in no cluster.
        confidence: u_i, the probability of the tag, in [0, 1].
        rationale: The sentence of the passage that decided the tag; None if unknown.
        quality: Weight of the passage, at least 0: the reliability of its source, if known.
        probabilities: Probability of every relation, if the tagger gives them.
        label_mass: As in `Judgement`.
        number: Its number in the evidence table, from 1; 0 outside a table.
        cluster: Name of its cluster: "S1".
        tag: The tag before a language model sorted the evidence; None if no model was asked.
        reason: The model's reason, in its words; None if the model left the passage out.
    """

    passage: Document
    relevance: float
    relation: Relation
    confidence: float
    rationale: str | None = None
    quality: float = 1.0
    probabilities: Mapping[Relation, float] | None = None
    label_mass: float | None = None
    number: int = 0
    cluster: str = ""
    tag: Relation | None = None
    reason: str | None = None

    @property
    def id(self) -> str:
        """Id of the passage."""
        return self.passage.id


def evidence_mass(tagged: Sequence[TaggedPassage], relation: Relation) -> float:
    """U_sup or U_ref: the confidences of the passages with a relation, summed (ConRAG, section 2).

    Each is weighted by its passage's quality, which is 1 unless sources are weighted.
    """
    taking = (passage for passage in tagged if passage.relation is relation)
    return fsum(passage.quality * passage.confidence for passage in taking)


def conflict_score(tagged: Sequence[TaggedPassage]) -> float:
    """kappa(q, P) over passages, in [0, 1] (ConRAG, section 2)."""
    return kappa(*(evidence_mass(tagged, side) for side in SIDES))


DELTA = 0.10
"""Table III, margin for the stance decision."""

ROUNDING = 1e-9
"""Rounding error of float sums: 0.8 - 0.7 exceeds 0.1, 0.9 - 0.8 does not."""


class Stance(StrEnum):
    """The label s of a claim (ConRAG, section 2, adjudicate)."""

    SUPPORT = "SUPPORT"
    REFUTE = "REFUTE"
    NOT_ENOUGH_INFO = "NOT_ENOUGH_INFO"


STANCE_OF = {
    Relation.SUPPORTS: Stance.SUPPORT,
    Relation.CONTRADICTS: Stance.REFUTE,
    Relation.IRRELEVANT: Stance.NOT_ENOUGH_INFO,
    Relation.INVALID: Stance.NOT_ENOUGH_INFO,
}
"""Relation of a single passage or text -> stance."""

AGAINST = {Stance.SUPPORT: Relation.CONTRADICTS, Stance.REFUTE: Relation.SUPPORTS}
"""Stance -> the side that it rejects."""

STATUS = {
    Stance.SUPPORT: "supported by evidence",
    Stance.REFUTE: "refuted by evidence",
    Stance.NOT_ENOUGH_INFO: "insufficient evidence",
}
"""Status of the answer to a question, in place of a stance; see `Adjudication.status`."""


@dataclass(frozen=True)
class Adjudication:
    """A stance by the delta rule, and its evidence.

    Attributes:
        support, refute: U_sup and U_ref.
        disputed: Whether the conflict score kappa reaches tau, whatever the stance.
    """

    stance: Stance
    support: float
    refute: float
    kappa: float
    disputed: bool

    @property
    def status(self) -> str:
        """The stance in words, as for questions: "disputed" if no side has the margin."""
        if self.stance is Stance.NOT_ENOUGH_INFO and self.disputed:
            return "disputed"
        return STATUS[self.stance]


def delta_rule(support: float, refute: float, *, delta: float = DELTA) -> Stance:
    """Support if U_sup - U_ref > delta, Refute if U_ref - U_sup > delta, else neither.

    ConRAG, section 2, adjudicate, and line 8 of its pseudocode. All three are at least 0; a
    difference within `ROUNDING` of delta equals it.
    """
    if support - refute > delta + ROUNDING:
        return Stance.SUPPORT
    return Stance.REFUTE if refute - support > delta + ROUNDING else Stance.NOT_ENOUGH_INFO


def adjudicate(
    tagged: Sequence[TaggedPassage], kappa: float, *, delta: float = DELTA, tau: float = 0.50
) -> Adjudication:
    """The stance that passages give by the delta rule, over sums of confidences.

    Two sums over twenty passages are seldom within 0.10 of each other, so even a disputed
    claim usually gets a side. If the conflict score is at least `tau`, the claim is disputed.
    """
    support, refute = (evidence_mass(tagged, side) for side in SIDES)
    stance = delta_rule(support, refute, delta=delta)
    return Adjudication(stance, support, refute, kappa, kappa >= tau)


_JOINING = frozenset(" -'’")
"""Characters that may stand between the words of a name."""


class EdgeWeights(BaseModel, frozen=True, extra="forbid"):
    """The parts of an edge's weight, for which the paper gives no numbers.

    Attributes:
        topical, entities: Weights of topical similarity, and of shared names and key phrases.
        agreement: How strongly semantic agreement raises or lowers the sum of these two. By
            default, the edge between two confident passages on opposite sides is almost 0, however
            similar their words; so is that of passages on one side with nothing in common.
        least: Edges below this weight are dropped. Otherwise a passage with a single edge would
            be clustered with its neighbour however weak the edge, as any edge raises modularity.
        neighbours: A passage keeps its edges to this many passages with the most similar words.
    """

    topical: float = Field(0.7, ge=0)
    entities: float = Field(0.3, ge=0)
    agreement: float = Field(1.0, ge=0, le=1)
    least: float = Field(0.1, gt=0)
    neighbours: int = Field(5, ge=1)


def edge_weight(topical: float, entities: float, agreement: float, weights: EdgeWeights) -> float:
    """The affinity of two passages, at least 0 (ConRAG, section 2, evidence clustering).

    Agreement raises or lowers the weight from topic and names, as in the paper, instead of being
    added to it: two passages that support a claim by different facts are two perspectives.
    Similarity and overlap of names lie in [0, 1], agreement in [-1, 1].
    """
    alike = weights.topical * topical + weights.entities * entities
    return alike * (1 + weights.agreement * agreement)


def semantic_agreement(one: TaggedPassage, other: TaggedPassage) -> float:
    """How far two passages take the same side, in [-1, 1] (ConRAG, section 2).

    The product of their confidences if both support or both refute, its negative if they are on
    opposite sides, 0 if either takes no side.
    """
    if one.relation not in SIDES or other.relation not in SIDES:
        return 0.0
    sure = one.confidence * other.confidence
    return sure if one.relation is other.relation else -sure


def key_phrases(text: str) -> frozenset[str]:
    """Names and numbers of a text, in lower case.

    A name is a run of capitalised words with one space, hyphen or apostrophe between them, without
    function words at its beginning: "Ada Lovelace", or "aldham" in "The Aldham dam". Names stand in
    for the paper's named entities and key noun phrases, and need no model.
    """
    phrases: set[str] = set()
    run: list[str] = []
    end = 0
    for match in word_pattern().finditer(text):
        word = match.group()
        name = word[0].isupper()
        if run and not (name and text[end : match.start()] in _JOINING):
            phrases.add(" ".join(run))
            run = []
        end = match.end()
        if name and (run or word.lower() not in FUNCTION_WORDS):
            run.append(word.lower())
        elif word[0].isdigit():
            phrases.add(word.replace(",", ""))
    return frozenset(phrases | {" ".join(run)} - {""})


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Shared members over all members, in [0, 1]; 0 if both are empty."""
    return len(one & other) / len(one | other) if one or other else 0.0


def word_cosine(texts: Sequence[str]) -> list[list[float]]:
    """Cosine similarity of tf-idf vectors, in [0, 1], for each pair of texts."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    if not any(telling(text) for text in texts):
        return [[float(one == other) for other in texts] for one in texts]
    vectors = TfidfVectorizer(analyzer=telling, sublinear_tf=True).fit_transform(texts)
    dense: list[list[float]] = (vectors @ vectors.T).toarray().clip(0, 1).tolist()
    return dense


def similarity_graph(tagged: Sequence[TaggedPassage], weights: EdgeWeights) -> "nx.Graph":
    """The graph G = (V, E) over passages, sparsified to nearest neighbours by shared words.

    The order of passages does not matter. Nodes are passage ids in order; edges have a `weight`.
    """
    import networkx as nx

    ordered = sorted(tagged, key=lambda passage: passage.id)
    texts = [passage.passage.as_read() for passage in ordered]
    alike = word_cosine(texts) if ordered else []
    phrases = [key_phrases(text) for text in texts]
    graph = nx.Graph()
    graph.add_nodes_from(passage.id for passage in ordered)
    for i, j in _nearest(alike, weights.neighbours):
        shared = jaccard(phrases[i], phrases[j])
        agreement = semantic_agreement(ordered[i], ordered[j])
        weight = edge_weight(alike[i][j], shared, agreement, weights)
        if weight >= weights.least:
            graph.add_edge(ordered[i].id, ordered[j].id, weight=weight)
    return graph


def _nearest(similarity: Sequence[Sequence[float]], neighbours: int) -> list[tuple[int, int]]:
    """Pairs (i, j), i < j, that share words, with one among the other's nearest."""
    pairs = set()
    for i, row in enumerate(similarity):
        near = (j for j in range(len(row)) if j != i and row[j] > 0)
        others = sorted(near, key=lambda j: (-row[j], j))
        pairs |= {(min(i, j), max(i, j)) for j in others[:neighbours]}
    return sorted(pairs)


LETTER = {Relation.SUPPORTS: "S", Relation.CONTRADICTS: "R", Relation.IRRELEVANT: "I"}


@dataclass(frozen=True)
class Cluster:
    """An evidence group g_j (ConRAG, section 2, cluster schema).

    Attributes:
        name: "S1", "R1", "I1": the dominant tag and a number, the most confident first.
        members: Ids of its passages: those of the dominant tag first, each kind by confidence. The
            first one is its representative.
        tag: The dominant tag.
        confidence: Summed confidence of the members with that tag; at least 0.
    """

    name: str
    members: tuple[str, ...]
    tag: Relation
    confidence: float


def communities(graph: "nx.Graph") -> list[frozenset[str]]:
    """Communities by greedy modularity (Clauset, Newman and Moore 2004); ConRAG, section 2.

    Passages without an edge are communities of their own.
    """
    import networkx as nx

    if not graph.number_of_edges():
        return [frozenset({node}) for node in graph]
    return list(nx.community.greedy_modularity_communities(graph, weight="weight"))


def dominant_tag(members: Sequence[TaggedPassage]) -> Relation:
    """The tag with the largest sum of confidences; ties go to the first of `RELATIONS`."""
    return max(RELATIONS, key=lambda relation: evidence_mass(members, relation))


def clusters(tagged: Sequence[TaggedPassage], groups: Sequence[frozenset[str]]) -> list[Cluster]:
    """The clusters of a partition of passages: supporting ones first, each kind by confidence.

    `groups` hold ids; every passage is in exactly one.
    """
    by_id = {passage.id: passage for passage in tagged}
    by_tag: dict[Relation, list[tuple[float, tuple[str, ...]]]] = {tag: [] for tag in RELATIONS}
    for group in groups:
        members = [by_id[name] for name in group]
        tag = dominant_tag(members)
        members.sort(key=lambda member: (member.relation is not tag, -member.confidence, member.id))
        by_tag[tag].append((evidence_mass(members, tag), tuple(member.id for member in members)))
    return [
        Cluster(f"{LETTER[tag]}{number}", names, tag, confidence)
        for tag, rows in by_tag.items()
        for number, (confidence, names) in enumerate(
            sorted(rows, key=lambda row: (-row[0], row[1])), 1
        )
    ]
