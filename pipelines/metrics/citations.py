"""Citation precision and recall by the rules of ALCE (Gao et al. 2023, section 3 and its code).

"Support" is a question to an entailment model: do these passages, read together, entail the
sentence? The rules here say which questions are put, and what follows from the answers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

AT_MOST = 3
"""Citations of a sentence that ALCE's code looks at by default."""

Supports = Callable[[Sequence[int], str], bool]
"""(positions of passages that are read together, in order; sentence) -> whether they entail it."""


@dataclass(frozen=True)
class CitedSentence:
    """A sentence of an answer without its citation marks, and the passages that it cites.

    They are positions from 0, in the order cited; one that is no passage is out of range.
    Beside them, `dropped` citations were written and taken away by a policy.
    """

    text: str
    citations: tuple[int, ...]
    dropped: int = 0


@dataclass(frozen=True)
class CitationCounts:
    """Sentences, those that their citations entail, citations looked at, and those that are needed.

    A sentence is entailed by its citations read together; a citation is needed that is precise.
    """

    sentences: int
    supported: int
    citations: int
    needed: int

    @property
    def recall(self) -> float | None:
        """Supported sentences over sentences, in [0, 1]; None without a sentence."""
        return self.supported / self.sentences if self.sentences else None

    @property
    def precision(self) -> float | None:
        """Precise citations over citations, in [0, 1]; 0 without a citation, as in ALCE's code.

        None without a sentence.
        """
        if not self.sentences:
            return None
        return self.needed / self.citations if self.citations else 0.0


def precise_citations(sentence: CitedSentence, supports: Supports) -> int:
    """How many citations of a supported sentence are precise (ALCE, section 3.3).

    A citation is superfluous if it does not entail the sentence by itself and the others do without
    it; all others are precise. Each is asked about with all the others present: of two that have
    the same part of what is needed, both are superfluous. A passage that is cited twice is taken
    out once.
    """
    text, cited = sentence.text, sentence.citations
    if len(cited) == 1:
        return 1
    return sum(
        supports((each,), text) or not supports(cited[:n] + cited[n + 1 :], text)
        for n, each in enumerate(cited)
    )


def citation_counts(
    sentences: Sequence[CitedSentence],
    passages: int,
    supports: Supports,
    *,
    most: int | None = AT_MOST,
) -> CitationCounts:
    """Count over the sentences of an answer.

    A sentence that cites nothing, or a passage that there is not, is not supported, and its
    citations are in no count: so ALCE's code has it. (There, "[0]" is the last passage; here it is
    out of range.) A sentence is supported where all that it cites, read together, entails it (ALCE,
    section 3.3); of one that is not, no citation is precise.

    A citation that was dropped supports nothing, and stays among the citations: otherwise precision
    would be had for nothing, by a rule that throws citations away.

    Args:
        sentences: Of one answer.
        passages: How many there are to cite.
        supports: The entailment model.
        most: So many citations of a sentence are looked at, 3 in ALCE's code, and so many dropped
            ones counted; None takes all.
    """
    cited = [
        CitedSentence(each.text, each.citations[:most])
        for each in sentences
        if each.citations and all(0 <= position < passages for position in each.citations)
    ]
    right = [each for each in cited if supports(each.citations, each.text)]
    return CitationCounts(
        sentences=len(sentences),
        supported=len(right),
        citations=sum(len(each.citations) for each in cited)
        + sum(each.dropped if most is None else min(each.dropped, most) for each in sentences),
        needed=sum(precise_citations(each, supports) for each in right),
    )
