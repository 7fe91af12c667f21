"""How well hallucinations are found in responses (ConRAG, Tables II and VI, on RAGTruth).

Each sentence of a response is a claim that is checked against the passages of the response's
source. A method flags it where its stance is not that it is supported; what it flags is compared
with the spans that people marked.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from nli.sentences import Span
from pipelines.conrag.evidence import Stance
from pipelines.metrics.estimate import Estimate, proportion
from pipelines.metrics.ranks import roc_auc
from pipelines.metrics.rates import f1

CONFIDENCE = 0.95
_TOKEN = re.compile(r"\S+")


class ResponseSentence(BaseModel, frozen=True):
    """Where a claim stands, if it is a sentence of a response.

    Attributes:
        source: Id of what it was written from. Responses to one source are not independent.
        tokens: How many tokens the sentence has.
        hallucinated: Those of them that people marked.
    """

    response: str
    source: str
    tokens: int = Field(ge=0)
    hallucinated: int = Field(ge=0)


@dataclass(frozen=True)
class CheckedSentence:
    """A sentence of a response, and what a method says of it.

    Attributes:
        gold: What the marks say of it: supported where it has none, refuted where one of them
            contradicts the source, else that there is not enough information.
        support: How far the method holds it to be supported, in [0, 1].
    """

    sentence: ResponseSentence
    gold: Stance
    stance: Stance
    support: float

    @property
    def flagged(self) -> bool:
        """Whether the method calls the sentence hallucinated, as a whole."""
        return self.stance is not Stance.SUPPORT


def tokens(text: str, within: Span) -> tuple[Span, ...]:
    """The tokens of a part of a text: words between white space, with their punctuation."""
    return tuple(Span(*match.span()) for match in _TOKEN.finditer(text, *within))


def touched(parts: Iterable[Span], marks: Sequence[Span]) -> int:
    """How many parts of a text have a character in one of the marks, which may overlap."""
    return sum(
        any(part.start < mark.end and mark.start < part.end for mark in marks) for part in parts
    )


def token_f1(checked: Sequence[CheckedSentence], *, resamples: int = 1_000) -> Estimate | None:
    """F1 of hallucinated tokens over all responses together (ConRAG, Table VI).

    A flagged sentence has all its tokens flagged. Tokens of all responses are counted before F1 is
    taken (micro-average): most responses have none that is hallucinated, and by themselves no F1.

    The 95 % interval is of the percentile bootstrap over sources, seed 0; resamples without an F1
    are passed over. At 0 and at 1 it would have a width of 0, however few the sources: there, and
    for a single source, the value comes without one.

    Of as many observations as tokens; None where no token is either flagged or marked.
    """
    # By source, tokens that are flagged and marked, only flagged, and only marked.
    by_source: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for each in checked:
        marked, counted = each.sentence.hallucinated, by_source[each.sentence.source]
        if each.flagged:
            counted[0] += marked
            counted[1] += each.sentence.tokens - marked
        else:
            counted[2] += marked
    counts = list(by_source.values())
    value = f1(*(sum(row[column] for row in counts) for column in range(3)))
    if value is None:
        return None
    n = sum(each.sentence.tokens for each in checked)
    if len(counts) == 1 or value in (0, 1):
        return Estimate(value, None, None, n)

    import numpy as np

    rng, even = np.random.default_rng(0), np.full(len(counts), 1 / len(counts))
    # How often each source is drawn, times its counts: (resamples, 3).
    drawn = np.array([rng.multinomial(len(counts), even) @ counts for _ in range(resamples)])
    drawn = drawn[drawn.sum(axis=1) > 0]
    found = 2 * drawn[:, 0] / (2 * drawn[:, 0] + drawn[:, 1] + drawn[:, 2])
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(found, [tail, 1 - tail])
    # F1 is no mean: the percentiles of a small sample may both lie on one side of the value.
    return Estimate(value, min(float(low), value), max(float(high), value), n, CONFIDENCE)


def passage_auc(checked: Sequence[CheckedSentence]) -> Estimate | None:
    """Area under the ROC curve of the responses' scores (ConRAG, Table VI, "Passage AUC").

    The paper does not say what its passages are; here they are whole responses. A sentence scores
    1 - support, a response as its worst sentence. A response is hallucinated where one of its
    sentences has a mark. The interval is clustered by source.

    Of as many observations as responses; None where all of them are hallucinated, or none is.
    """
    responses: dict[str, list[CheckedSentence]] = defaultdict(list)
    for each in checked:
        responses[each.sentence.response].append(each)
    return roc_auc(
        [max(1 - each.support for each in own) for own in responses.values()],
        [any(each.gold is not Stance.SUPPORT for each in own) for own in responses.values()],
        [own[0].sentence.source for own in responses.values()],
    )


def accepted_contradictions(checked: Iterable[CheckedSentence]) -> Estimate | None:
    """Share of accepted sentences that contradict the source; ours, and needs no judge.

    The paper counts statements that a method generates (Table VI, "Contrad. rate"). These are the
    sentences that it lets pass as supported, and one of them contradicts the source where a mark of
    people says that it does, whatever the method's answer shows.

    The interval is Wilson's; None where no sentence is accepted.
    """
    accepted = [each for each in checked if not each.flagged]
    return proportion(sum(each.gold is Stance.REFUTE for each in accepted), len(accepted))
