"""What the results of a data set come to, method by method (ConRAG, Table II).

Every figure is over claims that were answered; None says that there is nothing to count.
"""

from collections.abc import Mapping, Sequence

from pipelines.conrag.hallucination import CheckedSentence
from pipelines.conrag.methods import METHODS
from pipelines.conrag.result import ClaimResult
from pipelines.conrag.stance import Stance
from pipelines.conrag.tables.measures import (
    Contradictions,
    citation_leakage,
    citation_worth,
    contradictions,
)
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.evidence_f1 import evidence_f1
from pipelines.metrics.f1 import macro_f1
from pipelines.metrics.mean import mean
from pipelines.metrics.proportion import proportion, share

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
    """Whether the claims of a data set are sentences of responses; then no passage has a label."""
    return any(each.response is not None for each in own)


def of_questions(own: Sequence[ClaimResult]) -> bool:
    """Whether they are questions; then no claim has a gold stance, and answers were judged."""
    return any(each.question is not None for each in own)


def shown_methods(own: Sequence[ClaimResult]) -> list[str]:
    """The methods of Table IV; without Oracle where no passage has a label that it could know."""
    return [method for method in METHODS if not (method == ORACLE and of_responses(own))]


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


def stance_accuracy(own: Sequence[ClaimResult], method: str) -> Estimate | None:
    """Share of claims with the gold stance (Table II), among those that have one."""
    return share([value == 1 for value in right_stances(own, method).values()])


def contradiction_rate(
    own: Sequence[ClaimResult], method: str, *, disclosure: bool = True
) -> Estimate | None:
    """Share of all statements on a side that contradict their packet (Table II).

    Of questions, of all sentences but those about the conflict, or about nothing.

    None where no passage has a label: then nothing would ever contradict it.
    """
    if of_responses(own):
        return None
    counts = [_contradictions(each, method, disclosure=disclosure) for each in own]
    return proportion(
        sum(each.contradicting for each in counts), sum(each.statements for each in counts)
    )


def in_bin(own: Sequence[ClaimResult], low: float, high: float) -> list[ClaimResult]:
    """Claims with a conflict score of at least `low` and below `high`, or 1 where that is 1."""
    return [each for each in own if low <= each.kappa < high or each.kappa == high == 1]


def right_stances(own: Sequence[ClaimResult], method: str) -> dict[str, float]:
    """Claim -> 1 where the stance is right, else 0.

    Claims without a gold stance are left out, and those whose stance could not be read.
    """
    return {
        each.id: float(each.outcomes[method].stance is each.stance)
        for each in own
        if each.stance is not None and not each.outcomes[method].undecided
    }


def contradictions_per_claim(own: Sequence[ClaimResult], method: str) -> dict[str, float]:
    """Claim -> contradictions per statement; no claim where no passage has a label."""
    if of_responses(own):
        return {}
    return {
        each.id: _contradictions(each, method).share
        for each in own
        if each.outcomes[method].problem is None
    }


def _contradictions(each: ClaimResult, method: str, *, disclosure: bool = True) -> Contradictions:
    """By what the data say of passages; of a question's answer, by what the labeller says."""
    if each.question is None:
        return contradictions(each.outcomes[method], each.truth, disclosure=disclosure)
    worth = each.question.worth[method]
    counted = worth.contradicting if disclosure else worth.contradicting_strict
    return Contradictions(worth.statements, counted)


def stance_macro_f1(own: Sequence[ClaimResult], method: str) -> Estimate | None:
    """Macro-F1 of stances (Table II), over the claims that have a gold stance."""
    known = [
        each for each in own if each.stance is not None and not each.outcomes[method].undecided
    ]
    gold = [each.stance for each in known]
    return macro_f1(gold, [each.outcomes[method].stance for each in known], list(Stance))


def mean_evidence_f1(own: Sequence[ClaimResult], method: str) -> Estimate | None:
    """Mean over claims with gold evidence of the F1 of what is cited (Table II)."""
    scores = [
        evidence_f1(each.outcomes[method].cited, each.evidence)
        for each in own
        if each.outcomes[method].problem is None
    ]
    return mean([score for score in scores if score is not None], bounds=(0, 1))


def coverage(own: Sequence[ClaimResult], method: str) -> Estimate | None:
    """Share of claims on which a side is taken, among those whose stance could be read.

    There is none for questions: methods without tags give no stance on them.
    """
    if of_questions(own):
        return None
    read = [each.outcomes[method] for each in own if not each.outcomes[method].undecided]
    return share([each.stance is not Stance.NOT_ENOUGH_INFO for each in read])


def citation_figures(
    own: Sequence[ClaimResult], method: str
) -> tuple[Estimate | None, Estimate | None, int]:
    """Citation precision and recall, and the number of statements.

    Over all statements of all answers together; of questions, the mean over their answers, as ALCE
    has it.
    """
    asked = [each.question.worth[method].citations for each in own if each.question is not None]
    if asked:
        return (
            mean([each.precision for each in asked if each.precision is not None], bounds=(0, 1)),
            mean([each.recall for each in asked if each.recall is not None], bounds=(0, 1)),
            sum(each.sentences for each in asked),
        )
    worth = [citation_worth(each.outcomes[method], each.truth) for each in own]
    statements = sum(each.sentences for each in worth)
    return (
        proportion(sum(each.needed for each in worth), sum(each.citations for each in worth)),
        proportion(sum(each.supported for each in worth), statements),
        statements,
    )


def citation_precision(own: Sequence[ClaimResult], method: str) -> Estimate | None:
    """Citation precision; None of responses, which cite nothing."""
    return None if of_responses(own) else citation_figures(own, method)[0]


def citation_recall(own: Sequence[ClaimResult], method: str) -> Estimate | None:
    """Citation recall, likewise."""
    return None if of_responses(own) else citation_figures(own, method)[1]


def answer_recall(own: Sequence[ClaimResult], method: str) -> Estimate | None:
    """Mean share of what is to be said that answers to questions say; unreadable ones aside."""
    recalls = [
        each.question.worth[method].recall
        for each in own
        if each.question is not None and each.outcomes[method].problem is None
    ]
    return mean([recall for recall in recalls if recall is not None], bounds=(0, 1))


def says_something(own: Sequence[ClaimResult], method: str) -> Estimate | None:
    """Share of readable answers with a sentence about the evidence."""
    readable = [each.outcomes[method] for each in own if each.outcomes[method].problem is None]
    return share([any(said.about != "none" for said in each.statements) for each in readable])


def unreadable(own: Sequence[ClaimResult], method: str) -> int:
    """Answers that a language model wrote and nobody can read."""
    return sum(each.outcomes[method].problem is not None for each in own)


def leakage(own: Sequence[ClaimResult], method: str) -> Estimate | None:
    """Share of all citations that are of passages which the tagger calls irrelevant."""
    # Without a first answer passages have no tags that would say that they are irrelevant.
    tagged = [each for each in own if each.question is None or each.question.first_answer]
    counts = [citation_leakage(each.outcomes[method], each.tags) for each in tagged]
    return proportion(sum(one for one, _ in counts), sum(every for _, every in counts))
