"""A labeller whose probabilities are corrected.

The labeller inside is the raw one, with the store of judgements: raw judgements are kept under its
own identity, so another correction asks no model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pipelines.data.records import Document
from pipelines.evidence.judgement import Judgement, Judgements
from pipelines.evidence.labeller import Labeller, identity_of
from pipelines.evidence.priors import Correction, corrected, likeliest


@dataclass(frozen=True)
class CorrectedLabeller:
    """A labeller that gives probabilities, whose labels are those of the corrected ones.

    A judgement without probabilities (an unreadable reply) is left as it is.
    """

    labeller: Labeller
    correction: Correction

    @property
    def identity(self) -> str:
        """The labeller's, and the numbers of the correction, wherever they come from."""
        numbers = self.correction.model_dump(include={"labels", "weights", "bias"})
        return identity_of("corrected", {"labeller": self.labeller.identity, **numbers})

    async def __call__(self, claims: Sequence[str], documents: Sequence[Document]) -> Judgements:
        """One judgement per (claim, document), ordered by claim, then document."""
        answer = await self.labeller(claims, documents)
        made = tuple(corrected_judgement(each, self.correction) for each in answer.judgements)
        return replace(answer, judgements=made)


def corrected_judgement(judgement: Judgement, correction: Correction) -> Judgement:
    """The judgement by corrected probabilities; the raw ones stand beside them.

    A snippet is of the sentence that made the raw label, so it goes with that.
    """
    if judgement.probabilities is None:
        return judgement
    made = corrected(judgement.probabilities, correction)
    relation = likeliest(made)
    kept = {} if relation is judgement.relation else {"snippet": None, "snippet_found": None}
    return judgement.model_copy(
        update={
            **kept,
            "relation": relation,
            "probabilities": made,
            "raw_probabilities": judgement.probabilities,
        }
    )
