"""Which of a question's short answers a text names (ALCE, Gao et al. 2023, section 3.2)."""

import re
import string
from collections.abc import Sequence

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
