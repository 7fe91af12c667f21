"""Citation precision and recall by the rules of ALCE (Gao et al. 2023, section 3 and its code).

"Support" is a question to an entailment model: do these passages, read together, entail the
sentence? The rules here say which questions are put, and what follows from the answers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Supports = Callable[[Sequence[int], str], bool]
"""(positions of passages that are read together, in order; sentence) -> whether they entail it."""


@dataclass(frozen=True)
class CitedSentence:
    """A sentence of an answer.

    Attributes:
        text: Without its citation marks.
        citations: Positions of passages, from 0, in the order cited. A position that is no passage
            is a citation out of range.
    """

    text: str
    citations: tuple[int, ...]


@dataclass(frozen=True)
class CitationCounts:
    """What citations of an answer are worth.

    Attributes:
        sentences: All of them.
        supported: Those that their citations, read together, entail.
        citations: All citations of sentences that cite passages alone.
        needed: Those of them that are precise.
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


def citation_recall(sentence: CitedSentence, passages: int, supports: Supports) -> bool:
    """Whether all that a sentence cites, read together, entails it (ALCE, section 3.3).

    A sentence without citations is not supported, nor is one that cites out of range.

    Args:
        sentence: With its citations.
        passages: How many there are to cite.
        supports: Asked at most once.
    """
    return _in_range(sentence, passages) and supports(sentence.citations, sentence.text)


def precise_citations(sentence: CitedSentence, passages: int, supports: Supports) -> int:
    """How many citations of a sentence are precise (ALCE, section 3.3).

    Where the sentence is supported, a citation is superfluous if it does not entail the sentence by
    itself and the others do without it. All others are precise. Where the sentence is not
    supported, none is. Each is asked about with all the others present: of two that say the same,
    both are superfluous. A passage that is cited twice is taken out once.

    Args:
        sentence: With its citations.
        passages: How many there are to cite.
        supports: Asked at most 1 + 2 * citations times.
    """
    if not citation_recall(sentence, passages, supports):
        return 0
    if len(sentence.citations) == 1:
        return 1
    return sum(
        supports((cited,), sentence.text) or not supports(_without(sentence, n), sentence.text)
        for n, cited in enumerate(sentence.citations)
    )


def citation_counts(
    sentences: Sequence[CitedSentence], passages: int, supports: Supports
) -> CitationCounts:
    """Count over the sentences of an answer.

    Citations of a sentence that cites out of range are in no count, as in ALCE's code; the sentence
    itself counts as not supported.

    Args:
        sentences: Of one answer.
        passages: How many there are to cite.
        supports: The entailment model.
    """
    return CitationCounts(
        sentences=len(sentences),
        supported=sum(citation_recall(each, passages, supports) for each in sentences),
        citations=sum(len(each.citations) for each in sentences if _in_range(each, passages)),
        needed=sum(precise_citations(each, passages, supports) for each in sentences),
    )


def _in_range(sentence: CitedSentence, passages: int) -> bool:
    return bool(sentence.citations) and all(0 <= n < passages for n in sentence.citations)


def _without(sentence: CitedSentence, position: int) -> tuple[int, ...]:
    return sentence.citations[:position] + sentence.citations[position + 1 :]
