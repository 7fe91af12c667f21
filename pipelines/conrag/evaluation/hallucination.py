"""How well hallucinations are found in responses (ConRAG, Tables II and VI, on RAGTruth).

Each sentence of a response is a claim that is checked against the passages of the response's
source. What comes of that, a flag and a score for each sentence, is compared with the spans that
people marked.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import get_args

from nli.windows import Span, sentences
from pipelines.data.ragtruth import Response, Source, SpanType
from pipelines.data.records import Document
from pipelines.metrics.auc import roc_auc
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.f1 import f1
from pipelines.retrieval.chunks import passages

ALL_SPANS: frozenset[SpanType] = frozenset(get_args(SpanType))
"""Whatever the source does not bear out, as RAGTruth's own evaluation counts."""

_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class CheckedResponse:
    """A response, its sentences, what to check them against, and what is wrong with it.

    Attributes:
        id: Its name.
        source: Name of its source. Responses to one source are not independent.
        text: The response.
        sentences: Where its sentences stand, in order; none in a response that is blank.
        passages: The source, in passages; their ids are unique among all sources.
        hallucinated: The characters that people marked; spans may overlap.
    """

    id: str
    source: str
    text: str
    sentences: tuple[Span, ...]
    passages: tuple[Document, ...]
    hallucinated: tuple[Span, ...]

    @property
    def claims(self) -> tuple[str, ...]:
        """The sentences themselves, each on one line."""
        return tuple(" ".join(self.text[slice(*span)].split()) for span in self.sentences)

    @property
    def is_hallucinated(self) -> bool:
        """The gold label of the whole: whether anything in it is marked."""
        return bool(self.hallucinated)

    @property
    def oracle_flags(self) -> tuple[bool, ...]:
        """Which sentences touch a mark: what a checker of sentences that errs nowhere flags."""
        return tuple(_touches(span, self.hallucinated) for span in self.sentences)


def from_ragtruth(
    responses: Iterable[Response],
    sources: Mapping[str, Source],
    *,
    types: Collection[SpanType] = ALL_SPANS,
) -> list[CheckedResponse]:
    """Responses with their sources cut into passages, in the order given.

    Left out are responses that the release calls faulty as a whole, as its own evaluation does, and
    those whose source is missing or no prose: a table (Data2txt) has no passages.

    Args:
        responses: Of one split.
        sources: Source id -> source.
        types: What counts as hallucinated; `pipelines.data.ragtruth.CONFLICTS` for contradictions
            alone.
    """
    cut: dict[str, tuple[Document, ...]] = {}
    found = []
    for response in responses:
        name = response.source_id
        if response.quality != "good" or name not in sources:
            continue
        if name not in cut:
            cut[name] = _passages(sources[name])
        if cut[name]:
            found.append(
                CheckedResponse(
                    id=response.id,
                    source=name,
                    text=response.response,
                    sentences=tuple(sentences(response.response)),
                    passages=cut[name],
                    hallucinated=tuple(
                        Span(each.start, each.end)
                        for each in response.labels
                        if each.label_type in types
                    ),
                )
            )
    return found


@dataclass(frozen=True)
class TokenCounts:
    """Tokens of one or of many responses, by what was said of them.

    Attributes:
        true_positives: Flagged, and marked by people.
        false_positives: Flagged, and not marked.
        false_negatives: Marked, and not flagged.
    """

    true_positives: int
    false_positives: int
    false_negatives: int

    @property
    def precision(self) -> float | None:
        """Flagged tokens that are marked, in [0, 1]; None where none is flagged."""
        flagged = self.true_positives + self.false_positives
        return self.true_positives / flagged if flagged else None

    @property
    def recall(self) -> float | None:
        """Marked tokens that are flagged, in [0, 1]; None where none is marked."""
        marked = self.true_positives + self.false_negatives
        return self.true_positives / marked if marked else None

    @property
    def f1(self) -> float | None:
        """In [0, 1]; None where no token is either flagged or marked."""
        return f1(self.true_positives, self.false_positives, self.false_negatives)


def tokens(text: str) -> tuple[Span, ...]:
    """The tokens of a text: its words, as white space separates them, with their punctuation."""
    return tuple(Span(*match.span()) for match in _WORD.finditer(text))


def token_counts(text: str, flagged: Sequence[Span], marked: Sequence[Span]) -> TokenCounts:
    """Count the tokens that are flagged and those that are marked.

    A token is either as soon as one of its characters is.

    Args:
        text: A response.
        flagged: What a method calls hallucinated, in characters; spans may overlap.
        marked: What people do.
    """
    said = [(_touches(token, flagged), _touches(token, marked)) for token in tokens(text)]
    return TokenCounts(
        true_positives=said.count((True, True)),
        false_positives=said.count((True, False)),
        false_negatives=said.count((False, True)),
    )


def flagged_token_counts(response: CheckedResponse, flags: Sequence[bool]) -> TokenCounts:
    """The tokens of a response whose flagged sentences are called hallucinated as a whole.

    Args:
        response: The response.
        flags: For each of its sentences, whether it is.

    Raises:
        ValueError: There are not as many flags as sentences.
    """
    _check_length(response, flags, "flags")
    flagged = tuple(compress(response.sentences, flags))
    return token_counts(response.text, flagged, response.hallucinated)


def token_f1(counts: Iterable[TokenCounts]) -> float | None:
    """F1 of hallucinated tokens over all responses together (ConRAG, Table VI).

    Tokens of all responses are counted before F1 is taken (micro-average): most responses have
    none that is hallucinated, and by themselves no F1. One response's own is `TokenCounts.f1`.

    Args:
        counts: One for each response.

    Returns:
        A value in [0, 1]; None where no token is either flagged or marked.
    """
    found = list(counts)
    return f1(
        sum(each.true_positives for each in found),
        sum(each.false_positives for each in found),
        sum(each.false_negatives for each in found),
    )


def response_score(sentence_scores: Iterable[float]) -> float:
    """The hallucination score of a response: the largest of its sentences.

    Args:
        sentence_scores: In [0, 1], higher for what is more likely hallucinated.

    Returns:
        A value in [0, 1]; 0 for a response without a sentence, which claims nothing.
    """
    return max(sentence_scores, default=0.0)


def passage_auc(
    responses: Sequence[CheckedResponse],
    sentence_scores: Sequence[Sequence[float]],
    *,
    confidence: float = 0.95,
) -> Estimate | None:
    """Area under the ROC curve of the responses' scores (ConRAG, Table VI, "Passage AUC").

    The paper does not say what its passages are; here they are whole responses. The interval is
    clustered by source.

    Args:
        responses: With marks and without.
        sentence_scores: For each response, the scores of its sentences.
        confidence: Level of the interval, in (0, 1).

    Returns:
        A value in [0, 1]; None where all responses are hallucinated, or none is.

    Raises:
        ValueError: There are not as many scores as sentences or responses, a score is not finite,
            or the level is outside (0, 1).
    """
    if len(responses) != len(sentence_scores):
        raise ValueError(f"{len(responses)} responses, but scores of {len(sentence_scores)}")
    for response, scores in zip(responses, sentence_scores, strict=True):
        _check_length(response, scores, "scores")
    return roc_auc(
        [response_score(scores) for scores in sentence_scores],
        [response.is_hallucinated for response in responses],
        [response.source for response in responses],
        confidence=confidence,
    )


def _passages(source: Source) -> tuple[Document, ...]:
    return tuple(
        part
        for number, text in enumerate(source.passages(), start=1)
        for part in passages(Document(id=f"{source.source_id}:{number}", text=text))
    )


def _touches(span: Span, others: Iterable[Span]) -> bool:
    return any(span.start < other.end and other.start < span.end for other in others)


def _check_length(response: CheckedResponse, values: Sequence[object], what: str) -> None:
    if len(values) != len(response.sentences):
        raise ValueError(
            f"{len(response.sentences)} sentences in response '{response.id}', "
            f"but {len(values)} {what}"
        )
