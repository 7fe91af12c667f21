"""Scores of answers and of their citations, as in ALCE (Gao et al. 2023, section 3 and its code).

"Supports" is decided by an entailment model: do these passages, read together, entail the sentence?
This module decides which questions to ask the model and how to score its replies.
"""

import re
import string
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(text: str) -> str:
    """Lower-case a text, remove punctuation and articles, and collapse whitespace.

    This is the usual normalisation in question answering since SQuAD. Removing punctuation joins
    its neighbours: "U.S." is "us".
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def named_answers(
    answers: Sequence[Sequence[str]], text: str, *, substrings: bool = False
) -> list[bool]:
    """Whether a text contains an alias of each answer, after normalisation.

    Each answer is a list of aliases. Aliases match whole words; with `substrings` they also match
    parts of words, as in ALCE's code: "1911" then matches "19".
    """
    within = normalised(text) if substrings else f" {normalised(text)} "
    named = []
    for aliases in answers:
        names = [name for name in map(normalised, aliases) if name]
        named.append(any((name if substrings else f" {name} ") in within for name in names))
    return named


def str_em(
    answers: Sequence[Sequence[str]], output: str, *, substrings: bool = False
) -> float | None:
    """Share of the short answers with an alias in the output, in [0, 1].

    With `substrings`, ALCE's rule, an output with "1911" matches "19", and an alias that
    normalises to nothing ("...") matches every output. Without, neither matches; see
    `named_answers`. None without short answers.
    """
    if not answers:
        return None
    if not substrings:
        return sum(named_answers(answers, output)) / len(answers)
    within = normalised(output)
    matches = [any(normalised(alias) in within for alias in aliases) for aliases in answers]
    return sum(matches) / len(answers)


def list_items(output: str) -> list[str]:
    """The items of a comma-separated list, verbatim; empty items are dropped.

    Trailing periods are removed, then trailing commas. A name that contains a comma becomes two
    items, as in ALCE. An item that normalises to nothing is empty.
    """
    parts = output.rstrip().rstrip(".").rstrip(",").split(",")
    return [part.strip() for part in parts if normalised(part)]


def list_precision(items: Sequence[str], gold: Sequence[Sequence[str]]) -> float:
    """Share of the items that match an alias of a gold answer after normalisation, in [0, 1].

    Repeated items count every time. 0 without items, as in ALCE's code.
    """
    if not items:
        return 0.0
    names = {normalised(alias) for aliases in gold for alias in aliases}
    return sum(normalised(item) in names for item in items) / len(items)


ENOUGH = 5
"""Number of answers that give full recall-5."""


def list_recall(
    items: Sequence[str], gold: Sequence[Sequence[str]], *, most: int | None = None
) -> float:
    """Share of the gold answers with an alias among the items, in [0, 1].

    With `most`, this is min(most, matched answers) / min(most, gold answers); recall-5 uses 5.
    Aliases and items are compared after normalisation. ValueError without gold answers.
    """
    if not gold:
        raise ValueError("recall needs a gold answer")
    said = {normalised(item) for item in items}
    matched = sum(any(normalised(alias) in said for alias in aliases) for aliases in gold)
    enough = len(gold) if most is None else min(most, len(gold))
    return min(matched, enough) / enough


def list_f1(precision: float, recall: float) -> float:
    """Harmonic mean of an answer's precision and recall, in [0, 1]; 0 if both are 0."""
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def as_scored(output: str) -> str:
    """The first line of the stripped output, without citation marks and chat markers.

    In a mark such as "[12]", the opening bracket, the number and one preceding space are removed.
    Then every "]" and every " |" is removed, wherever it occurs.
    """
    line = output.strip().split("\n")[0].replace("<|im_end|>", "")
    return re.sub(r" ?\[\d+", "", line).replace(" |", "").replace("]", "")


AT_MOST = 3
"""Maximum number of citations per sentence that ALCE's code scores."""

Supports = Callable[[tuple[str, ...], str], bool]
"""(ids of passages read together, in order; sentence) -> whether the passages entail it."""


class Cited(Protocol):
    """A sentence of an answer, without its citation marks."""

    @property
    def text(self) -> str:
        """The text of the sentence."""
        ...

    @property
    def cites(self) -> tuple[str, ...]:
        """Ids of the cited passages, in citation order."""
        ...

    @property
    def dropped(self) -> tuple[str, ...]:
        """Ids that were cited when the sentence was written and then removed by a policy."""
        ...


@dataclass(frozen=True)
class CitationCounts:
    """Counts of sentences, supported sentences, citations scored, and precise citations.

    A sentence is supported if its citations, read together, entail it. `needed` counts precise
    citations.
    """

    sentences: int
    supported: int
    citations: int
    needed: int

    @property
    def recall(self) -> float | None:
        """Supported sentences over sentences, in [0, 1]; None without sentences."""
        return self.supported / self.sentences if self.sentences else None

    @property
    def precision(self) -> float | None:
        """Precise citations over citations, in [0, 1]; 0 without citations, as in ALCE's code.

        None without sentences.
        """
        if not self.sentences:
            return None
        return self.needed / self.citations if self.citations else 0.0


def precise_citations(text: str, cited: tuple[str, ...], supports: Supports) -> int:
    """Number of precise citations of a supported sentence (ALCE, section 3.3).

    A citation is redundant if it does not entail the sentence alone and the remaining citations
    still do; every other citation is precise. Each citation is tested against all the others: if
    two supply the same part of the evidence, both are redundant. If a passage is cited twice, one
    copy is removed per test.
    """
    if len(cited) == 1:
        return 1
    return sum(
        supports((name,), text) or not supports(cited[:n] + cited[n + 1 :], text)
        for n, name in enumerate(cited)
    )


def citation_counts(
    sentences: Sequence[Cited], passages: Collection[str], supports: Supports
) -> CitationCounts:
    """Count citations over the sentences of an answer.

    A sentence without citations, or with a citation of an unknown passage, is unsupported, and its
    citations are not counted, as in ALCE's code. A sentence is supported if its citations, read
    together, entail it (ALCE, section 3.3). Citations of an unsupported sentence are not precise.

    A dropped citation supports nothing but still counts as a citation; otherwise a policy that
    drops citations would raise precision for free. At most `AT_MOST` citations per sentence are
    scored, and at most as many dropped ones are counted.

    Args:
        sentences: The sentences of one answer.
        passages: Ids of the passages that can be cited.
        supports: The entailment model.
    """
    cited = [
        (sentence.text, sentence.cites[:AT_MOST])
        for sentence in sentences
        if sentence.cites and all(name in passages for name in sentence.cites)
    ]
    right = [(text, cites) for text, cites in cited if supports(cites, text)]
    return CitationCounts(
        sentences=len(sentences),
        supported=len(right),
        citations=sum(len(cites) for _, cites in cited)
        + sum(len(sentence.dropped[:AT_MOST]) for sentence in sentences),
        needed=sum(precise_citations(text, cites, supports) for text, cites in right),
    )
