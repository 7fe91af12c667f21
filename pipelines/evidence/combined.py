"""Labels by both judges: the tagger says whether a document matters, the model on which side.

The language model is asked only for what the tagger calls relevant; `evidence.combination` joins
what the two say.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.evidence.combination import UNFITTED, Combination, Shares
from pipelines.evidence.judgement import Judgement, Judgements, Relation
from pipelines.evidence.labeller import Labeller, identity_of, label_pairs, readable
from pipelines.evidence.priors import likeliest

BY_TAGGER = "combined-nli"
BY_BOTH = "combined-llm"
BY_MODEL = "combined-llm-alone"


@dataclass(frozen=True)
class CombinedLabeller:
    """The tagger (`nli`) decides relevance, a language model (`llm`) the side, as combined.

    A claim too long for the tagger is judged by the model alone, without the weights: with a fitted
    combination as it is, uncorrected, and no bound of risk is of such labels. The model gives
    probabilities and reads single documents.
    """

    nli: Labeller
    llm: Labeller
    combination: Combination = UNFITTED

    @property
    def identity(self) -> str:
        """Both judges, the weights, and who is spared the question."""
        combination = self.combination.model_dump(include={"relevance", "polarity", "spared"})
        return identity_of(
            "combined",
            {"nli": self.nli.identity, "llm": self.llm.identity, "combination": combination},
        )

    async def __call__(self, claims: Sequence[str], documents: Sequence[Document]) -> Judgements:
        """One judgement per (claim, document), ordered by claim, then document."""
        tagged = {
            (judgement.claim, judgement.document): judgement
            for judgement in await readable(self.nli, claims, documents)
        }
        relevant = [
            (claim, document)
            for document in documents
            for claim in claims
            if not self._spared(tagged.get((claim, document.id)))
        ]
        asked, cut = await label_pairs(self.llm, relevant)
        pairs = [(claim, document.id) for claim in claims for document in documents]
        return Judgements(
            tuple(self._joined(tagged.get(pair), asked.get(pair)) for pair in pairs),
            tuple(cut[document.id] for document in documents if document.id in cut),
        )

    def _spared(self, tagged: Judgement | None) -> bool:
        return tagged is not None and self.combination.spares(shares_of(tagged))

    def _joined(self, tagged: Judgement | None, asked: Judgement | None) -> Judgement:
        if asked is None:
            assert tagged is not None  # noqa: S101  what was not tagged was asked
            return tagged.model_copy(update={"source": BY_TAGGER})
        if tagged is None:
            return asked.model_copy(update={"source": BY_MODEL})
        if asked.relation is Relation.INVALID:
            return asked.model_copy(update={"source": BY_BOTH})
        own = shares_of(tagged)
        shares = self.combination.shares(own, shares_of(asked))
        relation = likeliest(shares, own)
        # The tagger's sentence made the tagger's label: it explains no other.
        explains = relation is tagged.relation
        return asked.model_copy(
            update={
                "relation": relation,
                "probabilities": shares,
                "snippet": tagged.snippet if explains else None,
                "snippet_found": tagged.snippet_found if explains else None,
                "source": BY_BOTH,
            }
        )


def shares_of(judgement: Judgement) -> Shares:
    """The probabilities of a judgement; InputError where it has none."""
    if judgement.probabilities is None:
        raise InputError(
            f"the labeller {judgement.source} gives no probabilities, and without them nothing "
            "can be combined; ask the model by 'choice'"
        )
    return judgement.probabilities
