"""What an outcome is worth against what the data say (ConRAG, Table II).

Passages of which the data say nothing bear nothing out and contradict nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipelines.conrag.outcome import Outcome, Statement
from pipelines.conrag.tagged import SIDES
from pipelines.evidence.judgement import Relation
from pipelines.metrics.citations import CitationCounts, CitedSentence, citation_counts

Truth = Mapping[str, Relation]
"""Passage id -> what it says of the claim, as far as the data say."""


@dataclass(frozen=True)
class Contradictions:
    """Statements of an answer against its packet.

    Attributes:
        statements: Those that take a side; of answers to questions, those that might.
        contradicting: Those of them that contradict the packet.
    """

    statements: int
    contradicting: int

    @property
    def share(self) -> float:
        """Contradicting statements over statements, in [0, 1]; 0 where no side is taken."""
        return self.contradicting / self.statements if self.statements else 0.0


def contradictions(outcome: Outcome, truth: Truth, *, disclosure: bool = True) -> Contradictions:
    """Count the statements that contradict the evidence packet (ConRAG, section 3, metrics).

    The paper calls it the proportion of generated statements that contradict the retrieved packet,
    and does not say how an answer is counted that shows both sides. Here a statement that takes a
    side contradicts the packet where a passage of the packet really takes the other, and the answer
    does not say so: no statement about the other side or about the conflict cites it.

    Without `disclosure`, what the answer itself says of the other side does not count for it: a
    statement contradicts wherever the packet has the other side.
    """

    def hidden(other: Relation) -> set[str]:
        """Passages on the other side that the answer does not name as being there."""
        shown = {
            name
            for each in outcome.statements
            if disclosure and (each.about == "conflict" or each.side is other)
            for name in each.cites
        }
        return {name for name in outcome.packet if truth.get(name) is other} - shown

    taken = [each.side for each in outcome.statements if each.side is not None]
    against = {
        Relation.SUPPORTS: hidden(Relation.CONTRADICTS),
        Relation.CONTRADICTS: hidden(Relation.SUPPORTS),
    }
    return Contradictions(len(taken), sum(bool(against[side]) for side in taken))


def citation_worth(outcome: Outcome, truth: Truth) -> CitationCounts:
    """Citation counts by ALCE's rules, judged by what the passages really say.

    Passages bear a statement on a side out if one of them takes that side; one about the conflict,
    if they take both; one that a language model wrote about neither, if one takes a side at all.
    Statements about nothing need no citation and are left out.
    """
    counts = [_counts(each, truth) for each in outcome.statements if each.about != "none"]
    return CitationCounts(
        sentences=len(counts),
        supported=sum(each.supported for each in counts),
        citations=sum(each.citations for each in counts),
        needed=sum(each.needed for each in counts),
    )


def _counts(statement: Statement, truth: Truth) -> CitationCounts:
    wanted = set(SIDES) if statement.side is None else {statement.side}

    def supports(positions: Sequence[int], _: str) -> bool:
        said = {truth.get(statement.cites[position]) for position in positions}
        return bool(wanted & said) if statement.about == "answer" else wanted <= said

    cited = tuple(range(len(statement.cites)))
    sentence = CitedSentence(statement.text, cited, len(statement.dropped))
    return citation_counts([sentence], len(statement.cites), supports)


def citation_leakage(outcome: Outcome, tags: Mapping[str, Relation]) -> tuple[int, int]:
    """Citations of passages that the tagger calls irrelevant, and all (ConRAG, section 2).

    Those that a policy dropped are among them: they were written.
    """
    cites = [name for each in outcome.statements for name in (*each.cites, *each.dropped)]
    return sum(tags.get(name) is Relation.IRRELEVANT for name in cites), len(cites)
