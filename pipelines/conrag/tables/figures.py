"""What the results of a data set come to, method by method (ConRAG, Table II).

Every figure is over claims that were answered; None says that there is nothing to count.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pipelines.conrag.answer import Outcome, Statement
from pipelines.conrag.evidence import SIDES, Stance
from pipelines.conrag.hallucination import CheckedSentence
from pipelines.conrag.methods import METHODS
from pipelines.conrag.result import AnswerWorth, ClaimResult
from pipelines.judge.judgement import Relation
from pipelines.metrics.alce import CitationCounts, CitedSentence, citation_counts
from pipelines.metrics.estimate import Estimate, mean, proportion, share
from pipelines.metrics.rates import evidence_f1, macro_f1

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


def contradictions(outcome: Outcome, truth: Truth, *, undisclosed: bool = False) -> Contradictions:
    """Count the statements that contradict the evidence packet (ConRAG, section 3, metrics).

    A statement that takes a side contradicts the packet where a passage of the packet really takes
    the other, whatever else the answer says.

    If `undisclosed`, only statements count whose answer hides such a passage: no statement about
    the other side or about the conflict cites it. That rate is ours.
    """

    def hidden(other: Relation) -> set[str]:
        """Passages on the other side that the answer does not name as being there."""
        shown = {
            name
            for each in outcome.statements
            if undisclosed and (each.about == "conflict" or each.side is other)
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


Results = Mapping[str, Sequence[ClaimResult]]
"""Data set -> its results."""

OURS = "ConRAG"
ORACLE = "Oracle"


def answered(results: Results) -> dict[str, list[ClaimResult]]:
    """The results that are not failures; data sets without any are left out."""
    done = {
        name: [each for each in own if each.status == "answered"] for name, own in results.items()
    }
    return {name: own for name, own in done.items() if own}


def of_responses(own: Sequence[ClaimResult]) -> bool:
    """Whether the claims of a data set are sentences of responses."""
    return any(each.response is not None for each in own)


def labelled(own: Sequence[ClaimResult]) -> bool:
    """Whether there is anything to count contradictions by: passages with labels, or judges."""
    return of_questions(own) or any(each.truth for each in own)


def generated(own: Sequence[ClaimResult]) -> bool:
    """Whether a language model wrote on sentences of responses, and a judge read it."""
    return any(each.generated is not None for each in own)


def _comparable(own: Sequence[ClaimResult]) -> bool:
    """Whether it is known, or judged, what passages say of statements."""
    return labelled(own) or generated(own)


def of_questions(own: Sequence[ClaimResult]) -> bool:
    """Whether they are questions; then no claim has a gold stance, and answers were judged."""
    return any(each.question is not None for each in own)


def shown_methods(own: Sequence[ClaimResult]) -> list[str]:
    """The methods of Table IV; without Oracle where no passage has a label that it could know."""
    return [method for method in METHODS if method != ORACLE or labelled(own)]


def checked(own: Sequence[ClaimResult], method: str) -> list[CheckedSentence]:
    """The sentences of responses, with what a method says of each; Oracle says what people do.

    Sentences on which nobody can read what the method says are left out.
    """
    found = []
    for each in own:
        outcome = each.outcomes[method]
        if each.response is not None and each.stance is not None and not outcome.undecided:
            stance, support = outcome.stance, outcome.support
            if method == ORACLE:
                stance, support = each.stance, float(each.stance is Stance.SUPPORT)
            found.append(CheckedSentence(each.response, each.stance, stance, support))
    return found


def in_bin(own: Sequence[ClaimResult], low: float, high: float) -> list[ClaimResult]:
    """Claims with a conflict score of at least `low` and below `high`, or 1 where that is 1."""
    return [each for each in own if low <= each.kappa < high or each.kappa == high == 1]


# Stances


def stance_accuracy(own: Sequence[ClaimResult], method: str) -> Estimate | None:
    """Share of claims with the gold stance (Table II), among those that have one."""
    return share([gold is stance for _, gold, stance in _stances(own, method)])


def stance_macro_f1(own: Sequence[ClaimResult], method: str) -> Estimate | None:
    """Macro-F1 of stances (Table II), over the claims that have a gold stance."""
    known = _stances(own, method)
    gold = [each for _, each, _ in known]
    return macro_f1(gold, [stance for *_, stance in known], list(Stance))


def right_stances(own: Sequence[ClaimResult], method: str) -> dict[str, float]:
    """Claim -> 1 where the stance is right, else 0."""
    return {name: float(gold is stance) for name, gold, stance in _stances(own, method)}


def coverage(own: Sequence[ClaimResult], method: str) -> Estimate | None:
    """Share of claims on which a side is taken, among those whose stance could be read.

    There is none for questions: methods without tags give no stance on them.
    """
    if of_questions(own):
        return None
    read = [each.outcomes[method] for each in own if not each.outcomes[method].undecided]
    return share([each.stance is not Stance.NOT_ENOUGH_INFO for each in read])


def _stances(own: Sequence[ClaimResult], method: str) -> list[tuple[str, Stance, Stance]]:
    """Id, gold stance and the method's; without claims that lack one, and unreadable replies."""
    return [
        (each.id, each.stance, each.outcomes[method].stance)
        for each in own
        if each.stance is not None and not each.outcomes[method].undecided
    ]


# Contradictions


def contradiction_rate(
    own: Sequence[ClaimResult], method: str, *, undisclosed: bool = False
) -> Estimate | None:
    """Share of all statements on a side that contradict their packet (Table II, section 3).

    Where a judge reads answers, of all sentences but those about the conflict, or about nothing.

    None where no passage has a label and nobody judges: then nothing would ever contradict it.
    """
    if not _comparable(own):
        return None
    counts = [_contradictions(each, method, undisclosed=undisclosed) for each in own]
    return proportion(
        sum(each.contradicting for each in counts), sum(each.statements for each in counts)
    )


def undisclosed_rate(own: Sequence[ClaimResult], method: str) -> Estimate | None:
    """The contradiction rate with only those counted that the answer does not disclose; ours."""
    return contradiction_rate(own, method, undisclosed=True)


def contradictions_per_claim(
    own: Sequence[ClaimResult], method: str, *, undisclosed: bool = False
) -> dict[str, float]:
    """Claim -> contradictions per statement; no claim where no passage has a label."""
    if not _comparable(own):
        return {}
    return {
        each.id: _contradictions(each, method, undisclosed=undisclosed).share
        for each, _ in _readable(own, method)
    }


def _contradictions(each: ClaimResult, method: str, *, undisclosed: bool = False) -> Contradictions:
    """By what the data say of passages, or by what a judge of the answers says."""
    if each.judged is None:
        return contradictions(each.outcomes[method], each.truth, undisclosed=undisclosed)
    worth = each.judged.worth[method]
    counted = worth.contradicting if undisclosed else worth.contradicting_strict
    return Contradictions(worth.statements, counted)


# Evidence and citations


def mean_evidence_f1(own: Sequence[ClaimResult], method: str) -> Estimate | None:
    """Mean over claims with gold evidence of the F1 of what is cited (Table II)."""
    return _mean(
        evidence_f1(outcome.cited, each.evidence) for each, outcome in _readable(own, method)
    )


class Citations(NamedTuple):
    """Citation precision and recall, and the number of statements that they are of."""

    precision: Estimate | None
    recall: Estimate | None
    statements: int


def citations(own: Sequence[ClaimResult], method: str) -> Citations:
    """Over all statements of all answers together; none where no passage has a label.

    Of questions precision and recall are means over their answers, as ALCE has it.
    """
    if not labelled(own):
        return Citations(None, None, 0)
    asked = [each.citations for each in _worth(own, method)]
    if asked:
        return Citations(
            _mean(each.precision for each in asked),
            _mean(each.recall for each in asked),
            sum(each.sentences for each in asked),
        )
    worth = [citation_worth(each.outcomes[method], each.truth) for each in own]
    statements = sum(each.sentences for each in worth)
    return Citations(
        proportion(sum(each.needed for each in worth), sum(each.citations for each in worth)),
        proportion(sum(each.supported for each in worth), statements),
        statements,
    )


def leakage(own: Sequence[ClaimResult], method: str) -> Estimate | None:
    """Share of all citations that are of passages which the tagger calls irrelevant."""
    # Without a first answer passages have no tags that would say that they are irrelevant.
    tagged = [each for each in own if each.question is None or each.question.first_answer]
    counts = [citation_leakage(each.outcomes[method], each.tags) for each in tagged]
    return proportion(sum(one for one, _ in counts), sum(every for _, every in counts))


# Answers


def answer_recall(own: Sequence[ClaimResult], method: str) -> Estimate | None:
    """Mean share of what is to be said that answers to questions say; unreadable ones aside."""
    readable = [each for each, _ in _readable(own, method)]
    return _mean(each.recall for each in _worth(readable, method))


def says_something(own: Sequence[ClaimResult], method: str) -> Estimate | None:
    """Share of readable answers with a sentence about the evidence."""
    readable = [outcome for _, outcome in _readable(own, method)]
    return share([any(said.about != "none" for said in each.statements) for each in readable])


def unreadable(own: Sequence[ClaimResult], method: str) -> int:
    """Answers that a language model wrote and nobody can read."""
    return len(own) - len(_readable(own, method))


def _readable(own: Sequence[ClaimResult], method: str) -> list[tuple[ClaimResult, Outcome]]:
    return [(each, each.outcomes[method]) for each in own if each.outcomes[method].problem is None]


def _worth(own: Sequence[ClaimResult], method: str) -> list[AnswerWorth]:
    """Of the answers to questions."""
    return [each.question.worth[method] for each in own if each.question is not None]


def _mean(values: Iterable[float | None]) -> Estimate | None:
    """Of the shares that exist."""
    return mean([value for value in values if value is not None], bounds=(0, 1))
