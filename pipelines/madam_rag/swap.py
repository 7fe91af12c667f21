"""Wrong answers in place of right ones (MADAM-RAG, section 3), and the order of draws."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence

from pipelines.metrics.answers import canonical
from pipelines.text.substitution import exchanged, has_words


def borrowed(
    lent: Iterable[str], right: Sequence[str], texts: Sequence[str], draw: tuple[int, str, str]
) -> Iterator[str]:
    """Answers of other questions that are wrong here, in a drawn order.

    None is part of a right answer, or contains one, and none occurs in the texts. The order depends
    on the seed, the question and a prefix.
    """
    seed, question, beginning = draw
    for answer in sorted(lent, key=lambda answer: rank(seed, question, f"{beginning}{answer}")):
        if apart(answer, right) and not any(says(text, answer) for text in texts):
            yield answer


def apart(answer: str, right: Iterable[str]) -> bool:
    """Whether an answer is no part of a right one, nor the other way round."""
    return not any(says(answer, name) or says(name, answer) for name in right)


_QUANTITY = re.compile(r"([0-9](?:[0-9]|[.,](?=[0-9])){2,}) \D+")
"""A long number with its unit, "3,559 people"."""


def swapped(text: str, right: str, wrong: str, answers: Iterable[str]) -> str | None:
    """A document that gives a wrong answer wherever it gave the right one.

    If both are a long number with its unit ("3,559 people"), the number alone is replaced as well.

    Returns:
        The new document; None if it does not contain the right answer word for word, or if one of
        the right `answers` would remain, in any spelling.
    """
    if not right or not has_words(text, right):
        return None
    made = exchanged(text, right, wrong)
    old, new = _QUANTITY.fullmatch(right), _QUANTITY.fullmatch(wrong)
    if old and new:
        made = exchanged(made, old[1], new[1])
    return None if any(says(made, answer) for answer in answers) else made


def rank(seed: int, question: str, what: str) -> str:
    """Sort key for draws, from the seed and a question's own text, not its place in a file."""
    key = f"{seed}\n{question}\n{what}"
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


def says(text: str, answer: str) -> bool:
    """Whether a text contains an answer as whole words, as written or after normalisation."""
    normal = canonical(answer)
    return has_words(text, answer) or (bool(normal) and f" {normal} " in f" {canonical(text)} ")


def squeezed(text: str) -> str:
    """A key that is equal for texts that differ only in white space."""
    return " ".join(text.split())
