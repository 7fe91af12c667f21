"""Where the words of a question divide: subject, adverbs, verb or predicate, and what is left."""

import re

from pipelines.text.verbs import is_participle, is_verb

PREPOSITIONS = "about|after|against|as|at|between|by|for|from|in|into|of|on|over|through|to|with"
_ADVERBS = {
    "actually", "also", "always", "currently", "ever", "finally", "first", "formally", "generally",
    "initially", "last", "mainly", "mostly", "never", "normally", "officially", "often",
    "originally", "primarily", "really", "still", "truly", "typically", "usually",
}  # fmt: skip
_BEFORE_ARTICLES = {
    "the", "a", "an", "and", "or", "but", "than", "that", "like", "which", "who", "more", "less",
    "be", "is", "are", "was", "were", "under", "near", "without", "within", "during",
}  # fmt: skip
_ADJECTIVES = {
    "able", "accurate", "addictive", "bad", "beneficial", "better", "cheaper", "compatible",
    "dangerous", "effective", "essential", "ethical", "fair", "false", "good", "harmful",
    "healthier", "healthy", "helpful", "illegal", "important", "inferior", "legal", "less",
    "likely", "more", "necessary", "possible", "real", "reliable", "responsible", "safe",
    "safer", "similar", "superior", "sustainable", "true", "unhealthy", "useful", "visible",
    "worse", "worth",
}  # fmt: skip
_ARTICLES = {"the", "a", "an"}


def _masked(text: str) -> list[str]:
    """Words of a text; words within quotation marks are in capitals, so that none is a verb."""
    quoted = re.sub(r'"[^"]*"|“[^”]*”', lambda found: found[0].upper(), text)
    return quoted.split(" ")


def _leads(word: str) -> bool:
    """Whether the next word is a noun or describes one: "the play", "a ban", "in close contact"."""
    return word.lower() in _ARTICLES or bool(re.fullmatch(PREPOSITIONS, word.lower()))


def _before_adverbs(words: list[str], place: int) -> int:
    """Where the adverbs before a place begin."""
    while place > 1 and words[place - 1] in _ADVERBS:
        place -= 1
    return place


def _another_verb(masked: list[str], start: int) -> bool:
    """Whether a base verb comes from a place on; "to go", "and go", "the play" and "can go" do not.

    It may be the verb that "did" belongs to.
    """
    told = {
        "to",
        "and",
        "or",
        "not",
        "can",
        "could",
        "will",
        "would",
        "may",
        "might",
        "must",
        "should",
    }
    return any(
        is_verb(masked[place])
        and not _leads(masked[place - 1])
        and masked[place - 1].lower() not in told
        for place in range(start, len(masked))
    )


def verb_split(rest: str) -> tuple[str, str, str, str] | None:
    """Subject, adverbs, base verb and tail of what follows "did"; None without a known verb.

    None, too, where a second word may be the verb: "the last name Keith come from".
    """
    words, masked = rest.split(" "), _masked(rest)
    for place in range(1, len(masked)):
        if is_verb(masked[place]) and not _leads(masked[place - 1]):
            if _another_verb(masked, place + 1):
                return None
            start = _before_adverbs(masked, place)
            subject, adverbs = " ".join(words[:start]), " ".join(words[start:place])
            return subject, adverbs, words[place], " ".join(words[place + 1 :])
    return None


def be_split(rest: str) -> tuple[str, str]:
    """Subject and predicate of what follows "was"; an empty predicate where none is seen.

    The predicate starts at a participle ("built", with adverbs before it), at a stranded
    description ("a station on"), or at an article after a word that does not lead to one
    ("Ann Li the queen", but not "Battle of the Bulge").
    """
    words, masked = rest.split(" "), _masked(rest)
    for n in range(1, len(words)):
        if is_participle(masked[n]) and not _leads(masked[n - 1]):
            start = _before_adverbs(masked, n)
            return " ".join(words[:start]), " ".join(words[start:])
        leads = masked[n - 1].lower() in _BEFORE_ARTICLES or re.fullmatch(
            PREPOSITIONS, masked[n - 1].lower()
        )
        if masked[n] in _ARTICLES and not leads:
            return " ".join(words[:n]), " ".join(words[n:])
    return rest, ""


def adjective_split(rest: str) -> tuple[str, str]:
    """Subject and predicate where the predicate is an adjective; a pair of empty texts if unsure.

    The adjective is one that is known, or the last word where no preposition stands before it:
    then the words before can only be the subject.
    """
    words, masked = rest.split(" "), _masked(rest)
    for n in range(1, len(words)):
        if masked[n] in _ADJECTIVES and not _leads(masked[n - 1]):
            return " ".join(words[:n]), " ".join(words[n:])
    simple = not any(re.fullmatch(PREPOSITIONS, word.lower()) for word in masked)
    if simple and len(words) > 1 and masked[-1].islower():
        return " ".join(words[:-1]), words[-1]
    return "", ""


def stranded(rest: str) -> tuple[str, str] | None:
    """Subject and predicate of a text that ends in a preposition: "X", "associated with"."""
    found = re.fullmatch(rf"(.+?) ((?:(?:an?|the) )?\S+ (?:{PREPOSITIONS}))", rest)
    return (found[1], found[2]) if found else None
