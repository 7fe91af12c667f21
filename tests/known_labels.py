"""A judge with known labels, in place of a tagger where a test fixes the labels."""

from collections.abc import Callable, Sequence

from pipelines.data.records import Document
from pipelines.judge.judgement import RELATIONS, Judgement, Judgements, Relation

LETTERS = dict(zip("scix", Relation, strict=True))


def letter(document: Document) -> Relation:
    """The relation that an id's first letter stands for: s, c, i, or x; others are irrelevant."""
    return LETTERS.get(document.id[0], Relation.IRRELEVANT)


class KnownLabels:
    """Labels documents by rule, and quotes their first sentence; for "x" the claim is too long.

    Args:
        relation: Relation of a document to any claim.
        probability: Probability of its label; None returns no probabilities.
    """

    identity = "known"

    def __init__(
        self, relation: Callable[[Document], Relation] = letter, probability: float | None = 0.8
    ) -> None:
        self._relation = relation
        self._probability = probability
        self.asked: list[tuple[str, str]] = []

    async def __call__(self, claims: Sequence[str], documents: Sequence[Document]) -> Judgements:
        wanted = [(claim, document) for claim in claims for document in documents]
        self.asked += [(claim, document.text) for claim, document in wanted]
        return Judgements(tuple(self._judgement(*pair) for pair in wanted), ())

    def _judgement(self, claim: str, document: Document) -> Judgement:
        relation = self._relation(document)
        invalid = relation is Relation.INVALID
        sided = relation in (Relation.SUPPORTS, Relation.CONTRADICTS)
        probabilities = None
        if self._probability is not None and not invalid:
            rest = (1 - self._probability) / 2
            probabilities = dict.fromkeys(RELATIONS, rest) | {relation: self._probability}
        return Judgement(
            claim=claim,
            document=document.id,
            relation=relation,
            probabilities=probabilities,
            reasoning=f"'{claim}' is too long" if invalid else "",
            snippet=f"{document.text.split('.')[0]}." if sided else None,
            snippet_found=True if sided else None,
            source="known",
        )
