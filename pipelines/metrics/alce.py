"""Scores of answers and of their citations, as in ALCE (Gao et al. 2023, section 3 and its code).

"Support" is a question to an entailment model: do these passages, read together, entail the
sentence? The rules here say which questions are put, and what follows from the answers.
"""

import re
import string
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(text: str) -> str:
    """A text in lower case, without punctuation and articles, its words parted by one space.

    So question answering compares answers since SQuAD; punctuation joins what it stood between:
    "U.S." is "us".
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def named_answers(
    answers: Sequence[Sequence[str]], text: str, *, substrings: bool = False
) -> list[bool]:
    """Whether a text has a name of each answer in it, after normalisation.

    Answers are lists of aliases. Names are whole words; with `substrings` parts of words count, as
    in ALCE's code: "1911" then names "19".
    """
    within = normalised(text) if substrings else f" {normalised(text)} "
    found = []
    for aliases in answers:
        names = [name for name in map(normalised, aliases) if name]
        found.append(any((name if substrings else f" {name} ") in within for name in names))
    return found


Rule = Literal["words", "substrings"]
"""How an answer is looked for: as whole words, or as part of the text, as ALCE's code does."""


def str_em(answers: Sequence[Sequence[str]], output: str, *, rule: Rule = "words") -> float | None:
    """Share of the short answers of which the output has an alias, in [0, 1].

    By ALCE's rule, "substrings", an output with "1911" has "19", and any has an alias of which
    normalisation leaves nothing ("..."). By "words" neither is so; see `named_answers`. None
    without a short answer.
    """
    if not answers:
        return None
    if rule == "words":
        return sum(named_answers(answers, output)) / len(answers)
    within = normalised(output)
    had = [any(normalised(alias) in within for alias in aliases) for aliases in answers]
    return sum(had) / len(answers)


def list_items(output: str) -> list[str]:
    """The items of a comma-separated list, as they stand there; empty ones are left out.

    Points at its end go, then commas. A name with a comma in it is two items, as in ALCE. An item
    of which normalisation leaves nothing is empty.
    """
    parts = output.rstrip().rstrip(".").rstrip(",").split(",")
    return [part.strip() for part in parts if normalised(part)]


def list_precision(items: Sequence[str], gold: Sequence[Sequence[str]]) -> float:
    """Share of the items that are an alias of a gold answer after normalisation, in [0, 1].

    An item that is given twice counts twice. 0 without an item, as in ALCE's code.
    """
    if not items:
        return 0.0
    names = {normalised(alias) for aliases in gold for alias in aliases}
    return sum(normalised(item) in names for item in items) / len(items)


ENOUGH = 5
"""Answers that recall-5 takes for all of them."""


def list_recall(
    items: Sequence[str], gold: Sequence[Sequence[str]], *, most: int | None = None
) -> float:
    """Share of the gold answers of which an alias is among the items, in [0, 1].

    With `most`, min(most, answers found) / min(most, answers): recall-5 has 5. Aliases and items
    are equal after normalisation. ValueError without a gold answer.
    """
    if not gold:
        raise ValueError("recall needs a gold answer")
    said = {normalised(item) for item in items}
    found = sum(any(normalised(alias) in said for alias in aliases) for aliases in gold)
    enough = len(gold) if most is None else min(most, len(gold))
    return min(found, enough) / enough


def list_f1(precision: float, recall: float) -> float:
    """Harmonic mean of an answer's precision and recall, in [0, 1]; 0 where both are 0."""
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def as_scored(output: str) -> str:
    """The first line of an output that has text, without citation marks and chat markers.

    Of a mark "[12]" the bracket and its number go with one space before them; then every "]" and
    every " |" goes, whatever they are of.
    """
    line = output.strip().split("\n")[0].replace("<|im_end|>", "")
    return re.sub(r" ?\[\d+", "", line).replace(" |", "").replace("]", "")


AT_MOST = 3
"""Citations of a sentence that ALCE's code looks at."""

Supports = Callable[[tuple[str, ...], str], bool]
"""(ids of passages that are read together, in order; sentence) -> whether they entail it."""


class Cited(Protocol):
    """A sentence of an answer, without its citation marks."""

    @property
    def text(self) -> str:
        """What it says."""
        ...

    @property
    def cites(self) -> tuple[str, ...]:
        """Ids of passages, in the order cited."""
        ...

    @property
    def dropped(self) -> tuple[str, ...]:
        """Those that it cited when written, and that a policy took away."""
        ...


@dataclass(frozen=True)
class CitationCounts:
    """Sentences, those that their citations entail, citations looked at, and those that are needed.

    A sentence is entailed by its citations read together; a citation is needed that is precise.
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


def precise_citations(text: str, cited: tuple[str, ...], supports: Supports) -> int:
    """How many citations of a supported sentence are precise (ALCE, section 3.3).

    A citation is superfluous if it does not entail the sentence by itself and the others do without
    it; all others are precise. Each is asked about with all the others present: of two that have
    the same part of what is needed, both are superfluous. A passage that is cited twice is taken
    out once.
    """
    if len(cited) == 1:
        return 1
    return sum(
        supports((each,), text) or not supports(cited[:n] + cited[n + 1 :], text)
        for n, each in enumerate(cited)
    )


def citation_counts(
    sentences: Sequence[Cited], passages: Collection[str], supports: Supports
) -> CitationCounts:
    """Count over the sentences of an answer.

    A sentence that cites nothing, or a passage that there is not, is not supported, and its
    citations are in no count: so ALCE's code has it. A sentence is supported where all that it
    cites, read together, entails it (ALCE, section 3.3); of one that is not, no citation is
    precise.

    A citation that was dropped supports nothing, and stays among the citations: otherwise precision
    would be had for nothing, by a rule that throws citations away. At most `AT_MOST` citations of
    a sentence are looked at, and as many dropped ones counted.

    Args:
        sentences: Of one answer.
        passages: Ids of those that there are to cite.
        supports: The entailment model.
    """
    cited = [
        (each.text, each.cites[:AT_MOST])
        for each in sentences
        if each.cites and all(name in passages for name in each.cites)
    ]
    right = [(text, cites) for text, cites in cited if supports(cites, text)]
    return CitationCounts(
        sentences=len(sentences),
        supported=len(right),
        citations=sum(len(cites) for _, cites in cited)
        + sum(len(each.dropped[:AT_MOST]) for each in sentences),
        needed=sum(precise_citations(text, cites, supports) for text, cites in right),
    )
