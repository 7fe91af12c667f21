"""Labels by a cascade: the cross-encoder where it is sure, a language model for the rest.

How sure is sure enough comes from calibration data; see `evidence.risk`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isinf

from pipelines.data.records import Document
from pipelines.evidence.judgement import Judgements
from pipelines.evidence.labeller import Labeller, identity_of, label_pairs


@dataclass(frozen=True)
class CascadeLabeller:
    """Two judges, the second of whom is asked only what the first is unsure of or cannot read.

    The label of the first (`nli`) is kept where its probability is at least the threshold; infinity
    asks the second (`llm`) for everything. That one may not read documents together, since it sees
    some pairs only.
    """

    nli: Labeller
    llm: Labeller
    threshold: float

    @property
    def identity(self) -> str:
        """Both judges and the threshold."""
        return identity_of(
            "cascade",
            {
                "nli": self.nli.identity,
                "llm": self.llm.identity,
                "threshold": None if isinf(self.threshold) else self.threshold,
            },
        )

    async def __call__(self, claims: Sequence[str], documents: Sequence[Document]) -> Judgements:
        """One judgement per (claim, document), ordered by claim, then document."""
        wanted = [(claim, document) for document in documents for claim in claims]
        quick = {}
        if not isinf(self.threshold):  # what is never kept need not be computed
            quick = {
                (judgement.claim, judgement.document): judgement
                for judgement in (await self.nli(claims, documents)).judgements
                if judgement.confidence is not None and judgement.confidence >= self.threshold
            }
        unsure = [pair for pair in wanted if (pair[0], pair[1].id) not in quick]
        slow, cut = await label_pairs(self.llm, unsure)
        by_pair = {
            pair: judgement.model_copy(update={"source": source})
            for source, judged in (("cascade-nli", quick), ("cascade-llm", slow))
            for pair, judgement in judged.items()
        }
        return Judgements(
            tuple(by_pair[claim, document.id] for claim in claims for document in documents),
            tuple(cut[document.id] for document in documents if document.id in cut),
        )
