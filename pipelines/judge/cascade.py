"""Labels by a cascade: the cross-encoder where it is sure, a language model for the rest.

The threshold comes from calibration data; see `judge.risk`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isinf

from pipelines.data.records import Document
from pipelines.judge.judge import Judge, identity_of, label_pairs
from pipelines.judge.judgement import Judgements


@dataclass(frozen=True)
class CascadeJudge:
    """Two judges; the second judges only pairs that the first is unsure of or cannot read.

    The tagger's label is kept if its probability reaches the threshold; infinity asks the model for
    everything. The model may not read documents together, since it sees only some pairs.
    """

    tagger: Judge
    model: Judge
    threshold: float

    @property
    def identity(self) -> str:
        """Both judges and the threshold."""
        return identity_of(
            "cascade",
            {
                "tagger": self.tagger.identity,
                "model": self.model.identity,
                "threshold": None if isinf(self.threshold) else self.threshold,
            },
        )

    async def __call__(self, claims: Sequence[str], documents: Sequence[Document]) -> Judgements:
        """One judgement per (claim, document), ordered by claim, then document."""
        wanted = [(claim, document) for document in documents for claim in claims]
        quick = {}
        if not isinf(self.threshold):  # no label would be kept
            quick = {
                (judgement.claim, judgement.document): judgement
                for judgement in (await self.tagger(claims, documents)).judgements
                if judgement.confidence is not None and judgement.confidence >= self.threshold
            }
        unsure = [pair for pair in wanted if (pair[0], pair[1].id) not in quick]
        slow, cut = await label_pairs(self.model, unsure)
        by_pair = {
            pair: judgement.model_copy(update={"source": source})
            for source, judged in (("cascade-tagger", quick), ("cascade-model", slow))
            for pair, judgement in judged.items()
        }
        return Judgements(
            tuple(by_pair[claim, document.id] for claim in claims for document in documents),
            tuple(cut[document.id] for document in documents if document.id in cut),
        )
