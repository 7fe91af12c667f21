"""STR-EM: the share of a question's short answers that an output has (ALCE, section 3.2)."""

from collections.abc import Sequence
from typing import Literal

from pipelines.metrics.answer_recall import named_answers, normalised

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
