"""What methods come to on a data set (ConRAG, Table II): `METRICS`, and figures over statements.

Figures are over claims that were answered; None says that there is nothing to count.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

from pipelines.conrag.answer import Outcome, Statement
from pipelines.conrag.evidence import SIDES, Stance
from pipelines.conrag.hallucination import CheckedSentence
from pipelines.conrag.methods import METHODS
from pipelines.conrag.result import AnswerWorth, ClaimResult
from pipelines.experiment.metric import Metric, Values, of_each
from pipelines.judge.judgement import Relation
from pipelines.metrics.alce import CitationCounts, CitedSentence, citation_counts
from pipelines.metrics.estimate import Estimate, mean, proportion, share
from pipelines.metrics.rates import evidence_f1, macro_f1

OURS = "ConRAG"
ORACLE = "Oracle"

Results = Mapping[str, Sequence[ClaimResult]]
"""Data set -> its results."""

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
            for said in outcome.statements
            if undisclosed and (said.about == "conflict" or said.side is other)
            for name in said.cites
        }
        return {name for name in outcome.packet if truth.get(name) is other} - shown

    taken = [said.side for said in outcome.statements if said.side is not None]
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
    counts = [_counts(said, truth) for said in outcome.statements if said.about != "none"]
    return CitationCounts(
        sentences=len(counts),
        supported=sum(count.supported for count in counts),
        citations=sum(count.citations for count in counts),
        needed=sum(count.needed for count in counts),
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
    cites = [name for said in outcome.statements for name in (*said.cites, *said.dropped)]
    return sum(tags.get(name) is Relation.IRRELEVANT for name in cites), len(cites)


def answered(results: Results) -> dict[str, list[ClaimResult]]:
    """The results that are not failures; data sets without any are left out."""
    done = {
        name: [result for result in claims if result.status == "answered"]
        for name, claims in results.items()
    }
    return {name: claims for name, claims in done.items() if claims}


def of_responses(results: Sequence[ClaimResult]) -> bool:
    """Whether the claims of a data set are sentences of responses."""
    return any(result.response is not None for result in results)


def of_questions(results: Sequence[ClaimResult]) -> bool:
    """Whether they are questions; then no claim has a gold stance, and answers were judged."""
    return any(result.question is not None for result in results)


def labelled(results: Sequence[ClaimResult]) -> bool:
    """Whether there is anything to count contradictions by: passages with labels, or judges."""
    return of_questions(results) or any(result.truth for result in results)


def generated(results: Sequence[ClaimResult]) -> bool:
    """Whether a language model wrote on sentences of responses, and a judge read it."""
    return any(result.generated is not None for result in results)


def shown_methods(results: Sequence[ClaimResult]) -> list[str]:
    """The methods of Table IV; without Oracle where no passage has a label that it could know."""
    return [method for method in METHODS if method != ORACLE or labelled(results)]


def checked(results: Sequence[ClaimResult], method: str) -> list[CheckedSentence]:
    """The sentences of responses, with what a method says of each; Oracle says what people do.

    Sentences on which nobody can read what the method says are left out.
    """
    sentences = []
    for result in results:
        outcome = result.outcomes[method]
        if result.response is not None and result.stance is not None and not outcome.undecided:
            stance, support = outcome.stance, outcome.support
            if method == ORACLE:
                stance, support = result.stance, float(result.stance is Stance.SUPPORT)
            sentences.append(CheckedSentence(result.response, result.stance, stance, support))
    return sentences


def in_bin(results: Sequence[ClaimResult], low: float, high: float) -> list[ClaimResult]:
    """Claims with a conflict score of at least `low` and below `high`, or 1 where that is 1."""
    return [one for one in results if low <= one.kappa < high or one.kappa == high == 1]


# Stances


def right_stances(results: Sequence[ClaimResult], method: str) -> Values:
    """Claim -> 1 where the stance is right, else 0; without those that cannot be read."""
    return {name: float(gold is stance) for name, gold, stance in _stances(results, method)}


def stance_macro_f1(results: Sequence[ClaimResult], method: str) -> Estimate | None:
    """Macro-F1 of stances (Table II), over the claims that have a gold stance."""
    known = _stances(results, method)
    return macro_f1([gold for _, gold, _ in known], [said for *_, said in known], list(Stance))


def coverage(results: Sequence[ClaimResult], method: str) -> Estimate | None:
    """Share of claims on which a side is taken, among those whose stance could be read.

    None for questions: methods without tags give no stance on them.
    """
    if of_questions(results):
        return None
    outcomes = (result.outcomes[method] for result in results)
    return share(
        [one.stance is not Stance.NOT_ENOUGH_INFO for one in outcomes if not one.undecided]
    )


def _stances(results: Sequence[ClaimResult], method: str) -> list[tuple[str, Stance, Stance]]:
    """Id, gold stance and the method's; without claims that lack one, and unreadable replies."""
    return [
        (result.id, result.stance, outcome.stance)
        for result, outcome in _outcomes(results, method)
        if result.stance is not None and not outcome.undecided
    ]


def _outcomes(results: Sequence[ClaimResult], method: str) -> Iterator[tuple[ClaimResult, Outcome]]:
    """Of the claims that were answered."""
    return ((one, one.outcomes[method]) for one in results if method in one.outcomes)


# Contradictions


def contradiction_rate(
    results: Sequence[ClaimResult], method: str, *, undisclosed: bool = False
) -> Estimate | None:
    """Share of all statements on a side that contradict their packet (Table II, section 3).

    Where a judge reads answers, of all sentences but those about the conflict, or about nothing.
    If `undisclosed`, only those count that the answer does not disclose; ours.

    None where no passage has a label and nobody judges: then nothing would ever contradict it.
    """
    if not (labelled(results) or generated(results)):
        return None
    counts = [_contradictions(one, method, undisclosed=undisclosed) for one in results]
    return proportion(
        sum(count.contradicting for count in counts), sum(count.statements for count in counts)
    )


def contradictions_per_claim(
    results: Sequence[ClaimResult], method: str, *, undisclosed: bool = False
) -> Values:
    """Claim -> contradictions per statement; no claim where no passage has a label."""
    if not (labelled(results) or generated(results)):
        return {}
    return {
        result.id: _contradictions(result, method, undisclosed=undisclosed).share
        for result, _ in _readable(results, method)
    }


def _contradictions(
    result: ClaimResult, method: str, *, undisclosed: bool = False
) -> Contradictions:
    """By what the data say of passages, or by what a judge of the answers says."""
    if result.judged is None:
        return contradictions(result.outcomes[method], result.truth, undisclosed=undisclosed)
    worth = result.judged.worth[method]
    counted = worth.contradicting if undisclosed else worth.contradicting_strict
    return Contradictions(worth.statements, counted)


# Evidence and citations


class Citations(NamedTuple):
    """Citation precision and recall, and the number of statements that they are of."""

    precision: Estimate | None
    recall: Estimate | None
    statements: int


def citations(results: Sequence[ClaimResult], method: str) -> Citations:
    """Over all statements of all answers together; None where no passage has a label.

    Of questions precision and recall are means over their answers, as ALCE has it.
    """
    if not labelled(results):
        return Citations(None, None, 0)
    asked = [worth.citations for worth in question_worth(results, method)]
    if asked:
        precisions = [value for one in asked if (value := one.precision) is not None]
        recalls = [value for one in asked if (value := one.recall) is not None]
        return Citations(
            mean(precisions, bounds=(0, 1)),
            mean(recalls, bounds=(0, 1)),
            sum(one.sentences for one in asked),
        )
    worth = [citation_worth(result.outcomes[method], result.truth) for result in results]
    statements = sum(one.sentences for one in worth)
    return Citations(
        proportion(sum(one.needed for one in worth), sum(one.citations for one in worth)),
        proportion(sum(one.supported for one in worth), statements),
        statements,
    )


def leakage(results: Sequence[ClaimResult], method: str) -> Estimate | None:
    """Share of all citations that are of passages which the tagger calls irrelevant."""
    # Without a first answer passages have no tags that would say that they are irrelevant.
    tagged = [one for one in results if one.question is None or one.question.first_answer]
    counts = [citation_leakage(one.outcomes[method], one.tags) for one in tagged]
    return proportion(sum(leaks for leaks, _ in counts), sum(every for _, every in counts))


# Answers


def unreadable(results: Sequence[ClaimResult], method: str) -> int:
    """Answers that a language model wrote and nobody can read."""
    return len(results) - len(_readable(results, method))


def question_worth(results: Sequence[ClaimResult], method: str) -> list[AnswerWorth]:
    """Of the answers to questions."""
    return [result.question.worth[method] for result in results if result.question is not None]


def _readable(results: Sequence[ClaimResult], method: str) -> list[tuple[ClaimResult, Outcome]]:
    return [pair for pair in _outcomes(results, method) if pair[1].problem is None]


def _alone(
    value: Callable[[ClaimResult, str], float | None],
) -> Callable[[Sequence[ClaimResult], str], Values]:
    """The values of a figure that each claim has by itself, over readable answers."""

    def readable(result: ClaimResult, method: str) -> float | None:
        outcome = result.outcomes.get(method)
        return None if outcome is None or outcome.problem else value(result, method)

    return of_each(readable)


def _recall(result: ClaimResult, method: str) -> float | None:
    """The share of what is to be said that an answer says."""
    return None if result.question is None else result.question.worth[method].recall


_COMPARED: Final = {method: method for method in METHODS}

STANCE: Final = Metric("stance", "Stance right", right_stances, _COMPARED, test="McNemar")
EVIDENCE: Final = Metric(
    "evidence_f1",
    "Evidence F1",
    _alone(lambda result, method: evidence_f1(result.outcomes[method].cited, result.evidence)),
    _COMPARED,
)
RECALL: Final = Metric("recall", "Gold answers said", _alone(_recall), _COMPARED)
CONTRADICTIONS: Final = (
    Metric(
        "contradictions",
        "Contradictions per claim",
        contradictions_per_claim,
        _COMPARED,
        better="lower",
    ),
    Metric(
        "undisclosed",
        "Undisclosed per claim",
        partial(contradictions_per_claim, undisclosed=True),
        _COMPARED,
        better="lower",
    ),
)
METRICS: Final = (STANCE, *CONTRADICTIONS, EVIDENCE, RECALL)
