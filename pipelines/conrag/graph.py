"""The similarity graph of retrieved passages (ConRAG, section 2, evidence clustering)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from pipelines.conrag.tagged import SIDES, TaggedPassage
from pipelines.text.words import FUNCTION_WORDS, telling
from salience.words import word_pattern

if TYPE_CHECKING:
    import networkx as nx

_JOINING = frozenset(" -'’")
"""What may stand between the words of a name."""


class EdgeWeights(BaseModel, frozen=True, extra="forbid"):
    """What an edge's weight is made of; the paper names the parts and gives no figures.

    Attributes:
        topical, entities: Weights of topical similarity, and of shared names and key phrases.
        agreement: How far semantic agreement raises or lowers what the two make. With the default,
            two sure passages of opposite sides are joined by next to nothing, however alike their
            words are; passages of one side that have nothing in common are not joined either.
        least: An edge of less weight is none. Otherwise a passage with one edge would join its
            other end however weak it is, since any edge raises modularity.
        neighbours: Each passage keeps the edges to so many passages with the most similar words.
    """

    topical: float = Field(0.7, ge=0)
    entities: float = Field(0.3, ge=0)
    agreement: float = Field(1.0, ge=0, le=1)
    least: float = Field(0.1, gt=0)
    neighbours: int = Field(5, ge=1)


def edge_weight(topical: float, entities: float, agreement: float, weights: EdgeWeights) -> float:
    """The affinity of two passages, at least 0 (ConRAG, section 2, evidence clustering).

    Agreement increases or decreases what topic and entities give, as the paper has it, and is not
    added to them: two passages that support a claim by different facts are two perspectives.
    Similarity and overlap of names lie in [0, 1], agreement in [-1, 1].
    """
    alike = weights.topical * topical + weights.entities * entities
    return alike * (1 + weights.agreement * agreement)


def semantic_agreement(one: TaggedPassage, other: TaggedPassage) -> float:
    """How far two passages take the same side, in [-1, 1] (ConRAG, section 2).

    The product of their confidences where both support or both refute, its negative where one
    supports and the other refutes, 0 where one says nothing of the query.
    """
    if one.relation not in SIDES or other.relation not in SIDES:
        return 0.0
    sure = one.confidence * other.confidence
    return sure if one.relation is other.relation else -sure


def key_phrases(text: str) -> frozenset[str]:
    """Names and numbers of a text, in lower case.

    A name is a run of capitalised words with one space, hyphen or apostrophe between them, without
    function words at its beginning: "Ada Lovelace", and of "The Aldham dam" "aldham". It stands for
    the named entities and key noun phrases of the paper, and needs no model.
    """
    found: set[str] = set()
    run: list[str] = []
    end = 0
    for match in word_pattern().finditer(text):
        word = match.group()
        name = word[0].isupper()
        if run and not (name and text[end : match.start()] in _JOINING):
            found.add(" ".join(run))
            run = []
        end = match.end()
        if name and (run or word.lower() not in FUNCTION_WORDS):
            run.append(word.lower())
        elif word[0].isdigit():
            found.add(word.replace(",", ""))
    return frozenset(found | {" ".join(run)} - {""})


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Shared members over all members, in [0, 1]; 0 where both are empty."""
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

    The order of passages decides nothing. Nodes are passage ids in order; edges have a `weight`
    and its parts.
    """
    import networkx as nx

    ordered = sorted(tagged, key=lambda each: each.id)
    texts = [each.passage.as_read() for each in ordered]
    alike = word_cosine(texts) if ordered else []
    phrases = [key_phrases(text) for text in texts]
    graph = nx.Graph()
    graph.add_nodes_from(each.id for each in ordered)
    for i, j in _nearest(alike, weights.neighbours):
        parts = {
            "topical": float(alike[i][j]),
            "entities": jaccard(phrases[i], phrases[j]),
            "agreement": semantic_agreement(ordered[i], ordered[j]),
        }
        weight = edge_weight(**parts, weights=weights)
        if weight >= weights.least:
            graph.add_edge(ordered[i].id, ordered[j].id, weight=weight, **parts)
    return graph


def _nearest(similarity: Sequence[Sequence[float]], neighbours: int) -> list[tuple[int, int]]:
    """Pairs (i, j), i < j, of which one is among the other's nearest and shares words with it."""
    found = set()
    for i, row in enumerate(similarity):
        near = (j for j in range(len(row)) if j != i and row[j] > 0)
        others = sorted(near, key=lambda j: (-row[j], j))
        found |= {(min(i, j), max(i, j)) for j in others[:neighbours]}
    return sorted(found)
