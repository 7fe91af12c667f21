"""Makes the sentences of a text readable one at a time.

"It cost four million." cannot be judged without knowing what "it" is, "Yes." without its question,
nor "The study, however, says 1936." without the sentence before. Rules insert the subject, make a
bare answer a statement, and join a contrast to the sentence that it answers; if they are unsure, a
sentence stays as it is.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from pipelines.text.declarative import PREPOSITIONS, be_split, declarative, is_verb, verb_split
from pipelines.text.views import NUMBER, SAYS, finite
from pipelines.text.words import FUNCTION_WORDS, content_words

MOST_WORDS = 8
"""Most words of a subject; longer ones usually contain a clause."""

MOST_BARE = 4
"""Most words of a bare answer other than yes and no."""

_DOES = r"\w+ (?:is|are|was|were|did|does|do|has|have|had|can|will)"
_YES_NO = re.compile(
    rf"(?:(?P<yes>yes)(?:, {_DOES})?|no(?:, {_DOES}(?:n['’]t| not))?)[.!]?", re.IGNORECASE
)
_AMOUNT = re.compile(NUMBER)
_LOWERED = frozenset((*PREPOSITIONS.split("|"), "the", "a", "an", "before", "during", "since"))
"""Words that have no capital inside a sentence, even if an answer begins with one."""
_PRONOUN = re.compile(r"(It|He|She|They|Its|His|Her|Their) (?=\w)")
_PRONOUNS = {"It", "He", "She", "They", "We", "I"}
# "It is disputed whether", "it takes", "it was in 1932 that": "it" refers to nothing.
_EXPLETIVE = re.compile(
    r"It (?:depends|takes|took|rain\w*|snow\w*"
    r"|.{0,60}\b(?:that|whether|if|to|how|why|when|who|where)\b)"
)
_ADVERBIAL = re.compile(
    r"(?:According to|In|On|At|By|After|Before|During|Since|For|As) [^,]{1,60}, "
)
_BE = frozenset(("is", "are", "was", "were"))
_QUESTION = re.compile(
    r"(?:when|where|why|who|(?:how|what|which)\b.*?|)\s*"
    r"\b(is|are|was|were|did|does|do) (.+?)\??",
    re.IGNORECASE,
)
_CONTRAST = re.compile(
    r"(?:(?:but|however|yet|by contrast|in contrast|conversely|on the other hand),?"
    rf"|(?:still )?(?:others?|another)(?: \w+)? {SAYS})\b"
    rf"|(?:[\w'’-]+ ){{1,4}}{SAYS}(?: (?:in|at|it was))? \d[\d.,]*\.?\Z"
    r"|[^,]{1,60}, (?:however|by contrast|in contrast|on the other hand|though)[,.]",
    re.IGNORECASE,
)


def joined(sentences: Sequence[str]) -> list[str]:
    """Sentences in order, contrasts joined to the sentence that they answer.

    "The guide says 1932. The study, however, says 1936." is one claim with two views, as it would
    be with "while".
    """
    claims: list[str] = []
    for sentence in sentences:
        if claims and _CONTRAST.match(sentence):
            claims[-1] = f"{claims[-1]} {sentence}"
        else:
            claims.append(sentence)
    return claims


def answered(sentences: Sequence[str], question: str | None) -> list[str]:
    """Sentences, the first made a statement if it is a bare answer: "Yes.", "In 1932.", "Rome".

    An answer other than yes and no must be the only sentence, as it may be a heading elsewhere.
    Without a question a bare answer says nothing and is left out.
    """
    if not sentences:
        return []
    first, *rest = sentences
    polarity = _YES_NO.fullmatch(first)
    if not polarity and (rest or not _is_bare(first)):
        return [first, *rest]
    if not question:
        return rest
    if polarity:
        return [declarative(question, "yes" if polarity["yes"] else "no"), *rest]
    start, *more = first.rstrip(".!").split(" ", 1)
    answer = " ".join([start.lower() if more and start.lower() in _LOWERED else start, *more])
    claim = declarative(question, answer)
    return [claim[:1].upper() + claim[1:]]


def _is_bare(sentence: str) -> bool:
    """Whether a text is a name, or a number with only names and small words before it."""
    words = sentence.rstrip(".!").split()
    if not 0 < len(words) <= MOST_BARE or words[0] in _PRONOUNS or re.search("[|=]", sentence):
        return False  # long, short for another sentence, or a row of a table
    if any(finite(word, before) or is_verb(word) for before, word in pairwise(words)):
        return False
    place = next((n for n, word in enumerate(words) if _AMOUNT.fullmatch(word)), None)
    if place is None:
        return _is_name(sentence)
    return all(word.lower() in FUNCTION_WORDS or word[:1].isupper() for word in words[:place])


def standing(sentences: Sequence[str], question: str | None = None) -> list[str]:
    """Sentences in order, with the subject in place of an initial pronoun.

    The subject comes from the sentence before, or the question. It must agree with the pronoun and
    be the topic of the text: the question names it, or the sentence says what it is.
    """
    asked = content_words(question or "")
    subject = _asked_about(question) if question else None
    resolved = []
    for sentence in sentences:
        pronoun = _PRONOUN.match(sentence)
        if pronoun and subject and _agrees(subject, pronoun[1]) and not _EXPLETIVE.match(sentence):
            resolved.append(_named(subject, pronoun[1]) + sentence[pronoun.end() - 1 :])
            continue
        resolved.append(sentence)
        if not pronoun and len(sentence.split()) > 1:  # "No." has no subject of its own
            subject = _subject(sentence, asked)
    return resolved


def _subject(sentence: str, asked: frozenset[str]) -> str | None:
    """The subject that a sentence begins with; None if unsure."""
    adverbial = _ADVERBIAL.match(sentence)
    words = sentence[adverbial.end() if adverbial else 0 :].split()
    for place in range(1, min(len(words), MOST_WORDS + 1)):
        if finite(words[place], words[place - 1]):
            subject = " ".join(words[:place])
            about = words[place] in _BE or content_words(subject) & asked
            return subject if about and _is_subject(subject) else None
    return None


def _is_subject(text: str) -> bool:
    """Whether a text can be a subject: a name, or an article and a noun."""
    first, last = text.split(maxsplit=1)[0], text.rsplit(maxsplit=1)[-1]
    if re.search(r"[,;:()]", text) or last.lower() in {"that", "which", "who", "not", "also"}:
        return False
    return first in {"The", "A", "An", "the", "a", "an"} or _is_name(text)


def _is_name(text: str) -> bool:
    words = [word for word in text.split() if word.lower() not in {"of", "the", "and", "de", "von"}]
    return text[:1].isupper() and len(words) > 0 and all(word[:1].isupper() for word in words)


def _asked_about(question: str) -> str | None:
    """The subject of a question: "the bridge" in "When did the bridge open?"."""
    form = _QUESTION.fullmatch(" ".join(question.split()))
    if not form:
        return None
    if form[1].lower() in _BE:
        subject, predicate = be_split(form[2])
        return subject if predicate and _is_subject(subject) else None
    parts = verb_split(form[2])
    return parts[0] if parts and _is_subject(parts[0]) else None


def _agrees(subject: str, pronoun: str) -> bool:
    """Whether a pronoun agrees with a subject in form."""
    head = subject.split(" of ", maxsplit=1)[0].rsplit(maxsplit=1)[-1].lower()
    irregular = head in {"people", "children", "men", "women"}
    plural = " and " in subject or irregular or bool(re.search(r"[^suio]s$", head))
    if pronoun in {"They", "Their"}:
        return plural
    if pronoun in {"He", "His", "She", "Her"}:
        return not plural and _is_name(subject) and not subject.lower().startswith("the ")
    return not plural


def _named(subject: str, pronoun: str) -> str:
    """The subject as the start of a sentence: "The bridge", or "The bridge's" for "Its"."""
    start = subject[:1].upper() + subject[1:]
    if pronoun in {"It", "He", "She", "They"}:
        return start
    return f"{start}'" if start.endswith("s") else f"{start}'s"
