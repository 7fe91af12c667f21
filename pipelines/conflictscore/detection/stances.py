"""Which side a passage takes on an answer, by rules.

MacNoise and ContraQA say which passages were written to mislead, not which of them contradict the
answer: some avoid the point, some still say it. No tagger decides, since a labeller that has made
the gold labels cannot be measured by them; and none that comes with the program is good enough.
The rules would rather leave a passage out than give it a wrong side.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from nli.sentences import sentences
from pipelines.metrics.short_answers import canonical
from pipelines.retrieval.bm25 import distinct_stems
from pipelines.text.words import FUNCTION_WORDS, content_words, words

Stances = Literal["rules", "release"]
"""Who says which side a passage takes: the rules of this module, or the release alone."""

ALIGNED: Final = 0.6
"""Share of a sentence's words from which another is the same sentence with something exchanged."""

VERBATIM: Final = 0.8
"""The same for answers that are no name or number, whose substitutes cannot be told by form."""

LEAST_WORDS: Final = 3
"""Content words that a sentence needs beside the answer to be known again."""

_NOT: Final = re.compile(
    r"\b(?:not(?! (?:only|just|merely|the only)\b)|never|nor|neither|cannot)\b|n['’]t\b"
    r"|\b(?:rather than|instead of|contrary to)\b",
    re.IGNORECASE,
)
_UNTIL: Final = re.compile(r"(?:\bnot|n['’]t)\b.*\b(?:until|before)\b", re.IGNORECASE)
"""Denies what was before, not what is named: "It was not opened until 1932"."""
_FALSE: Final = re.compile(
    r"\b(?:no longer|false|untrue|wrong|incorrect|mistaken(?:ly)?|myth|misconception|"
    r"fail(?:s|ed)? to)\b",
    re.IGNORECASE,
)
"""May deny what is named, or something else: such a clause takes no side."""
_CLAUSES: Final = re.compile(r";|(?<!,) but\b")
_PARTS: Final = re.compile(
    r"[,;:](?=\s)|\b(?:but|when|where|because|since|although|though|while|whereas|and(?= not\b))\b"
    r"|(?=\b(?:rather than|instead of|contrary to)\b)",
    re.IGNORECASE,
)
"""Between parts of a sentence that are denied each by itself: "in 1932, not in 1936"."""
_WORDS: Final = "one two three four five six seven eight nine ten eleven twelve"
_DIGITS: Final = {word: str(number) for number, word in enumerate(_WORDS.split(" "), 1)}
_NUMBERS: Final = re.compile(
    r"\d+(?:[.,]\d+)*(?![\d.,]*\d|s\b)|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|"
    r"thirty|forty|fifty|hundred|thousand|million)\b",
    re.IGNORECASE,
)
"""But decades: "the early 70s" is not another year than 1973."""
_CAPITALISED: Final = re.compile(r"\b[A-Z][\w'’-]*")


def supports(text: str, question: str, answers: Sequence[str], title: str = "") -> bool:
    """Whether a passage answers the question: it names an answer where it speaks of the matter.

    A clause names an answer and does not deny it; its sentence has a content word of the question,
    and with the title half of them. "Four lead characters" is no answer to "how many seasons".
    """
    asked, about = (distinct_stems(each) for each in (question, title))
    for alias in answers:
        wanted = asked - distinct_stems(alias)
        for sentence in _sentences(text):
            named = [each for each in _CLAUSES.split(sentence) if names(each, alias)]
            own = wanted & distinct_stems(sentence)
            if not all(_denied(each) or _FALSE.search(each) for each in named) and (
                not wanted or (own and 2 * len(own | (wanted & about)) >= len(wanted))
            ):
                return True
    return False


def contradicts(text: str, original: str, question: str, answers: Sequence[str]) -> bool:
    """Whether the rewriting of a passage takes the other side than the passage, and no other."""
    against = denies(text, answers) or replaces(text, original, question, answers)
    return against and not supports(text, question, answers)


def denies(text: str, answers: Sequence[str]) -> bool:
    """Whether a passage names an answer to deny it: "It is not the Steelers, but the Cowboys".

    The negation stands in the same part of the sentence: "It opened in 1932, not in 1936" and "He
    did not see it, although it opened in 1932" deny no 1932.
    """
    return any(
        names(part, alias) and _denied(part)
        for sentence in _sentences(text)
        for part in _PARTS.split(sentence)
        for alias in answers
    )


def replaces(text: str, original: str, question: str, answers: Sequence[str]) -> bool:
    """Whether a passage says what the original says, with something else in place of the answer.

    A sentence of the original that names an answer has its like in the passage (`ALIGNED`), which
    names none in any spelling, and has a number or name, as the answer is one, that neither the
    original nor the question has.
    """
    known = f"{original} {question}"
    others = [each for each in _sentences(text) if not any(_spells(each, one) for one in answers)]
    for sentence in _sentences(original):
        for alias in (each for each in answers if names(sentence, each)):
            kept = content_words(sentence) - content_words(alias)
            if len(kept) < LEAST_WORDS:
                continue
            least = ALIGNED if _NUMBERS.search(alias) or alias[:1].isupper() else VERBATIM
            if any(
                len(kept & content_words(other)) >= least * len(kept)
                and _others_of_kind(alias, other, known)
                for other in others
            ):
                return True
    return False


def _denied(part: str) -> bool:
    return _NOT.search(part) is not None and not _UNTIL.search(part)


def names(text: str, answer: str) -> bool:
    """Whether an answer stands in a text word by word, whatever is between the words."""
    named = " ".join(words(answer))
    return bool(named) and f" {named} " in f" {' '.join(words(text))} "


def _spells(text: str, answer: str) -> bool:
    """Whether a text may name an answer in a spelling of its own.

    With other accents or separators, a number as a word, or the words of a name apart: "Moliere",
    "1.2 million" for "1,200,000", "7" for "seven", "John M. Hay".
    """
    own = content_words(answer)
    return (
        names(text, answer)
        or f" {_canonical(answer)} " in f" {_canonical(text)} "
        or bool(own and own <= content_words(text))
    )


def _canonical(text: str) -> str:
    return " ".join(_DIGITS.get(word, word) for word in canonical(text).split())


def _others_of_kind(answer: str, sentence: str, known: str) -> set[str]:
    """What a sentence has that could stand in the answer's place, and is not known."""
    if _NUMBERS.search(answer):
        return _numbers(sentence) - _numbers(known)
    new = content_words(sentence) - content_words(known)
    if not answer[:1].isupper():
        return set(new)
    # "Interestingly," at the beginning is no name.
    return {each for each in _lower(_CAPITALISED.findall(sentence)) if not each.endswith("ly")} & (
        new - FUNCTION_WORDS
    )


def _numbers(text: str) -> set[str]:
    return {_DIGITS.get(each, each.replace(",", "")) for each in _lower(_NUMBERS.findall(text))}


def _lower(texts: Sequence[str]) -> set[str]:
    return {text.lower() for text in texts}


def _sentences(text: str) -> Iterator[str]:
    return (text[span.start : span.end] for span in sentences(text))
