"""Metrics of methods on a data set (ConRAG, Table II), and counts over statements.

Figures are over answered claims, and None if there is nothing to count.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

from pipelines.conrag.answer import Outcome, Statement
from pipelines.conrag.data import ResponseSentence
from pipelines.conrag.evidence import SIDES, Stance
from pipelines.conrag.methods import METHODS
from pipelines.conrag.result import AnswerWorth, ClaimResult
from pipelines.experiment.metric import Metric, Values, of_each
from pipelines.judge.judgement import Relation
from pipelines.metrics.alce import CitationCounts, citation_counts, list_f1
from pipelines.metrics.estimate import Estimate, mean, proportion, share
from pipelines.metrics.ranks import roc_auc
from pipelines.metrics.rates import clustered_f1, evidence_f1, macro_f1

OURS = "ConRAG"
ORACLE = "Oracle"

Results = Mapping[str, Sequence[ClaimResult]]
"""Data set -> its results."""

Truth = Mapping[str, Relation]
"""Passage id -> its gold relation to the claim, if known."""


def worth_by_labels(outcome: Outcome, truth: Truth) -> AnswerWorth:
    """The quality of an answer, by the labels of its passages (ConRAG, section 3, metrics).

    A statement that takes a side contradicts the packet if a passage of the packet really takes the
    other side, whatever else the answer says.

    It is undisclosed if the answer hides such a passage: no statement about the other side or about
    the conflict cites it. The paper has no such count.
    """
    against: dict[Relation, set[str]] = {}
    hidden: dict[Relation, set[str]] = {}
    for side, other in zip(SIDES, reversed(SIDES), strict=True):
        against[side] = {name for name in outcome.packet if truth.get(name) is other}
        telling = (
            said for said in outcome.statements if said.about == "conflict" or said.side is other
        )
        hidden[side] = against[side].difference(*(said.cites for said in telling))
    taken = [said.side for said in outcome.statements if said.side is not None]
    return AnswerWorth(
        citations=citation_worth(outcome, truth),
        statements=len(taken),
        contradicting=sum(bool(hidden[side]) for side in taken),
        contradicting_strict=sum(bool(against[side]) for side in taken),
        recall=None,
    )


def citation_worth(outcome: Outcome, truth: Truth) -> CitationCounts:
    """Citation counts by ALCE's rules, judged by what the passages really say.

    Passages back a statement on a side if one of them takes that side, a statement about the
    conflict if they take both, and any other statement of a language model if one takes a side at
    all. Statements about nothing need no citation and are left out.
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

    def supports(cites: tuple[str, ...], _: str) -> bool:
        said = {truth.get(name) for name in cites}
        return bool(wanted & said) if statement.about == "answer" else wanted <= said

    return citation_counts([statement], statement.cites, supports)


def citation_leakage(outcome: Outcome, tags: Mapping[str, Relation]) -> tuple[int, int]:
    """Citations of passages tagged as irrelevant, and all citations (ConRAG, section 2).

    Citations that a policy dropped count, since they were written.
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
    """Whether claims are questions, which have no gold stance and whose answers were judged."""
    return any(result.question is not None for result in results)


def labelled(results: Sequence[ClaimResult]) -> bool:
    """Whether contradictions can be counted: by labels of passages, or by a judge."""
    return of_questions(results) or any(result.truth for result in results)


def generated(results: Sequence[ClaimResult]) -> bool:
    """Whether a language model wrote about sentences of responses, and a judge rated its text."""
    return any(result.generated is not None for result in results)


def shown_methods(results: Sequence[ClaimResult]) -> list[str]:
    """The methods of Table IV, without Oracle if no passage has a label for it to use."""
    return [method for method in METHODS if method != ORACLE or labelled(results)]


def in_bin(results: Sequence[ClaimResult], low: float, high: float) -> list[ClaimResult]:
    """Claims with a conflict score from `low` to below `high`; a `high` of 1 is included."""
    return [result for result in results if low <= result.kappa < high or result.kappa == high == 1]


# Stances


def stance_right(result: ClaimResult, method: str) -> float | None:
    """1 if the stance is right, else 0; None without a gold stance, or if it is unreadable."""
    outcome = result.outcomes.get(method)
    if outcome is None or outcome.undecided or result.stance is None:
        return None
    return float(outcome.stance is result.stance)


def stance_macro_f1(results: Sequence[ClaimResult], method: str) -> Estimate | None:
    """Macro-F1 of stances (Table II), over the claims that have a gold stance."""
    known = [result for result in results if stance_right(result, method) is not None]
    said = [result.outcomes[method].stance for result in known]
    return macro_f1([result.stance for result in known], said, list(Stance))


def coverage(results: Sequence[ClaimResult], method: str) -> Estimate | None:
    """Share of claims on which a side is taken, among those with a readable stance.

    None for questions, on which methods without tags give no stance.
    """
    if of_questions(results):
        return None
    outcomes = (result.outcomes[method] for result in results)
    return share(
        [
            outcome.stance is not Stance.NOT_ENOUGH_INFO
            for outcome in outcomes
            if not outcome.undecided
        ]
    )


# Answers against their passages


def worth(result: ClaimResult, method: str) -> AnswerWorth:
    """The quality of an answer, by the judge that read it, or else by the data's labels."""
    if result.judged is not None:
        return result.judged.worth[method]
    return worth_by_labels(result.outcomes[method], result.truth)


def _contradicting(answer: AnswerWorth, *, undisclosed: bool) -> int:
    return answer.contradicting if undisclosed else answer.contradicting_strict


def contradiction_rate(
    results: Sequence[ClaimResult], method: str, *, undisclosed: bool = False
) -> Estimate | None:
    """Share of all statements on a side that contradict their packet (Table II, section 3).

    If a judge reads answers, all sentences count except those about the conflict or about nothing.
    With `undisclosed`, which is not in the paper, only contradictions that the answer does not
    disclose count.

    None if passages have no labels and no judge reads answers: nothing could then contradict.
    """
    if not (labelled(results) or generated(results)):
        return None
    answers = [worth(result, method) for result in results]
    return proportion(
        sum(_contradicting(answer, undisclosed=undisclosed) for answer in answers),
        sum(answer.statements for answer in answers),
    )


def contradictions_per_claim(
    results: Sequence[ClaimResult], method: str, *, undisclosed: bool = False
) -> Values:
    """Claim -> contradictions per statement, 0 if the answer takes no side.

    Empty if passages have no labels and no judge reads answers.
    """
    if not (labelled(results) or generated(results)):
        return {}
    answers = {result.id: worth(result, method) for result in results if readable(result, method)}
    return {
        name: _contradicting(answer, undisclosed=undisclosed) / max(answer.statements, 1)
        for name, answer in answers.items()
    }


class Citations(NamedTuple):
    """Citation precision and recall, and the number of statements they cover."""

    precision: Estimate | None
    recall: Estimate | None
    statements: int


def citations(results: Sequence[ClaimResult], method: str) -> Citations:
    """Over all statements of all answers together; None unless the results are `labelled`.

    For questions, precision and recall are means over answers, as in ALCE.
    """
    if not labelled(results):
        return Citations(None, None, 0)
    counts = [worth(result, method).citations for result in results]
    statements = sum(count.sentences for count in counts)
    if of_questions(results):
        precisions = [value for count in counts if (value := count.precision) is not None]
        recalls = [value for count in counts if (value := count.recall) is not None]
        return Citations(mean(precisions, bounds=(0, 1)), mean(recalls, bounds=(0, 1)), statements)
    return Citations(
        proportion(sum(count.needed for count in counts), sum(count.citations for count in counts)),
        proportion(sum(count.supported for count in counts), statements),
        statements,
    )


def leakage(results: Sequence[ClaimResult], method: str) -> Estimate | None:
    """Share of all citations that cite a passage tagged as irrelevant."""
    # Without a first answer passages have no tags that could call them irrelevant.
    tagged = [
        result for result in results if result.question is None or result.question.first_answer
    ]
    counts = [citation_leakage(result.outcomes[method], result.tags) for result in tagged]
    return proportion(sum(leaks for leaks, _ in counts), sum(total for _, total in counts))


# Hallucinations in responses: each sentence is a claim that is checked against the passages of the
# response's source. A method flags it unless its stance is support; flags are compared with the
# spans that people marked (Tables II and VI, on RAGTruth).


@dataclass(frozen=True)
class CheckedSentence:
    """A sentence of a response, with a method's verdict.

    Attributes:
        gold: By the marks: supported without a mark, refuted if a mark contradicts the source,
            otherwise not enough information.
        support: How strongly the method holds it to be supported, in [0, 1].
    """

    sentence: ResponseSentence
    gold: Stance
    stance: Stance
    support: float

    @property
    def flagged(self) -> bool:
        """Whether the method calls the sentence hallucinated, as a whole."""
        return self.stance is not Stance.SUPPORT


def checked(results: Sequence[ClaimResult], method: str) -> list[CheckedSentence]:
    """The sentences of responses with a method's verdicts; Oracle's are the annotators'.

    Sentences with an unreadable verdict are left out.
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


def token_f1(checked: Sequence[CheckedSentence]) -> Estimate | None:
    """F1 of hallucinated tokens over all responses together (ConRAG, Table VI).

    All tokens of a flagged sentence are flagged. F1 is taken over the tokens of all responses
    (micro-average), since most responses have no hallucinated token, and so no F1.

    The 95 % interval is a percentile bootstrap over sources, seed 0, skipping resamples without an
    F1. At 0 and 1, where its width would be 0, and for a single source, the interval is missing.

    Observations are tokens; None if no token is flagged or marked.
    """
    marked: list[bool] = []
    flagged: list[bool] = []
    sources: list[str] = []
    for check in checked:
        where = check.sentence
        marked += [True] * where.hallucinated + [False] * (where.tokens - where.hallucinated)
        flagged += [check.flagged] * where.tokens
        sources += [where.source] * where.tokens
    estimate = clustered_f1(marked, flagged, sources)
    if estimate is None or estimate.value not in (0, 1):
        return estimate
    return Estimate(estimate.value, None, None, estimate.n)


def passage_auc(checked: Sequence[CheckedSentence]) -> Estimate | None:
    """Area under the ROC curve of the responses' scores (ConRAG, Table VI, "Passage AUC").

    The paper does not say what its passages are; here they are whole responses. A sentence scores
    1 - support, a response as its worst sentence. A response is hallucinated if one of its
    sentences has a mark. The interval is clustered by source.

    Observations are responses; None if all or no responses are hallucinated.
    """
    responses: dict[str, list[CheckedSentence]] = defaultdict(list)
    for check in checked:
        responses[check.sentence.response].append(check)
    return roc_auc(
        [max(1 - sentence.support for sentence in sentences) for sentences in responses.values()],
        [
            any(sentence.gold is not Stance.SUPPORT for sentence in sentences)
            for sentences in responses.values()
        ],
        [sentences[0].sentence.source for sentences in responses.values()],
    )


# Readable answers, claim by claim


def readable(result: ClaimResult, method: str) -> bool:
    """Whether a claim has an answer that can be read."""
    outcome = result.outcomes.get(method)
    return outcome is not None and outcome.problem is None


def unreadable(results: Sequence[ClaimResult], method: str) -> int:
    """Count of unreadable answers of a language model."""
    return sum(not readable(result, method) for result in results)


COMPARED: Final = {method: method for method in METHODS}


def _alone(
    key: str, title: str, value: Callable[[ClaimResult, str], float | None]
) -> Metric[ClaimResult]:
    """A metric of single claims, over readable answers."""
    return Metric(
        key,
        title,
        of_each(lambda result, method: value(result, method) if readable(result, method) else None),
        COMPARED,
    )


def _said(
    key: str, title: str, value: Callable[[AnswerWorth], float | None]
) -> Metric[ClaimResult]:
    """A metric of answers to questions, by the judge."""
    return _alone(
        key,
        title,
        lambda result, method: value(result.question.worth[method]) if result.question else None,
    )


def _list_f1_5(answer: AnswerWorth) -> float | None:
    """F1 of a list, with recall-5 (ALCE)."""
    if answer.list_precision is None or answer.recall is None:
        return None
    return list_f1(answer.list_precision, answer.recall)


STANCE: Final = Metric("stance", "Stance right", of_each(stance_right), COMPARED, test="McNemar")
EVIDENCE: Final = _alone(
    "evidence_f1",
    "Evidence F1",
    lambda result, method: evidence_f1(result.outcomes[method].cited, result.evidence),
)
RECALL: Final = _said("recall", "Gold answers said", lambda answer: answer.recall)
LISTS: Final = (
    _said("str_em_substrings", "STR-EM, ALCE's rule", lambda answer: answer.str_em),
    _said("list_precision", "List precision", lambda answer: answer.list_precision),
    _said("list_f1_5", "List F1-5", _list_f1_5),
)
"""Short answers and lists by ALCE's rules, for Table V."""
CONTRADICTIONS: Final = (
    Metric(
        "contradictions",
        "Contradictions per claim",
        contradictions_per_claim,
        COMPARED,
        better="lower",
    ),
    Metric(
        "undisclosed",
        "Undisclosed per claim",
        partial(contradictions_per_claim, undisclosed=True),
        COMPARED,
        better="lower",
    ),
)
METRICS: Final = (STANCE, *CONTRADICTIONS, EVIDENCE, RECALL)
