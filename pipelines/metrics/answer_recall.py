"""How many of a question's short answers a text names (ALCE, Gao et al. 2023, section 3.2)."""

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


def is_named(aliases: Sequence[str], text: str, *, substrings: bool = False) -> bool:
    """Whether a text has one of an answer's names in it, after normalisation.

    Args:
        aliases: The names.
        text: Where they are looked for.
        substrings: Whether parts of words count, as in ALCE's code: "19" is then named by "1911".
            By default names are whole words.
    """
    within = normalised(text)
    if not substrings:
        within = f" {within} "
    names = [name for name in map(normalised, aliases) if name]
    return any((name if substrings else f" {name} ") in within for name in names)


def answer_recall(answers: Sequence[Sequence[str]], text: str) -> float | None:
    """Share of short answers that a text names: ALCE's exact match recall (section 3.2).

    Args:
        answers: The aliases of each.
        text: The answer.

    Returns:
        A value in [0, 1]; None without an answer to name.
    """
    return sum(is_named(each, text) for each in answers) / len(answers) if answers else None
