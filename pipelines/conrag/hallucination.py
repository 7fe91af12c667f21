"""How well hallucinations in responses are detected (ConRAG, Tables II and VI, on RAGTruth).

Each sentence of a response is a claim that is checked against the passages of the response's
source. A method flags it unless its stance is support; flags are compared with the spans that
people marked.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from nli.sentences import Span
from pipelines.conrag.evidence import Stance
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.ranks import roc_auc
from pipelines.metrics.rates import clustered_f1

_TOKEN = re.compile(r"\S+")


class ResponseSentence(BaseModel, frozen=True):
    """The position of a claim that is a sentence of a response.

    Attributes:
        source: Id of the response's source. Responses to the same source are not independent.
        tokens: Number of the sentence's tokens.
        hallucinated: Number of tokens that people marked.
    """

    response: str
    source: str
    tokens: int = Field(ge=0)
    hallucinated: int = Field(ge=0)


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


def tokens(text: str, within: Span) -> tuple[Span, ...]:
    """The tokens of a part of a text: words between white space, with their punctuation."""
    return tuple(Span(*match.span()) for match in _TOKEN.finditer(text, *within))


def touched(parts: Iterable[Span], marks: Sequence[Span]) -> int:
    """Number of parts of a text with a character in one of the marks, which may overlap."""
    return sum(
        any(part.start < mark.end and mark.start < part.end for mark in marks) for part in parts
    )


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
