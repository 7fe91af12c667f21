"""A question and an answer to it, put as one statement, by rules.

ConflictBench's claims are made from questions and answers (ConflictScore, appendix A). Rules give
the same claim every time and need no model; they know the question forms of RAMDocs and its kin,
and what none of them covers is quoted: `The answer to "Q" is A.`
"""

import re
from collections.abc import Callable

from pipelines.text.clauses import (
    PREPOSITIONS,
    adjective_split,
    be_split,
    stranded,
    verb_split,
)
from pipelines.text.verbs import is_participle, past, third_person

Rule = Callable[[str, str], str | None]
"""Takes a question without its question mark and an answer; gives the statement without its full
stop, or None where the rule does not apply."""

_BE = "is|are|was|were"
_DO = "did|does|do"
_MODAL = "can|could|will|would|should|must|may|might|has|have|had"
_CLASSES = ("type", "kind", "sort", "form")
_MONTHS = (
    "January|February|March|April|May|June|July|August|September|October|November|December|"
    r"Jan\.?|Feb\.?|Mar\.?|Apr\.?|Jun\.?|Jul\.?|Aug\.?|Sept?\.?|Oct\.?|Nov\.?|Dec\.?"
)
_DAY = re.compile(
    rf"\b(?:(?:{_MONTHS})\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?!\s*\d)"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{_MONTHS})\b|\d{{4}}-\d\d-\d\d|\w+day\b)"
)
_IN_TIME = re.compile(
    rf"\d|\b(?:{_MONTHS}|spring|summer|autumn|fall|winter|century)\b", re.IGNORECASE
)
_AS_IT_IS = re.compile(
    r"(?:in|on|at|by|near|between|during|before|after|around|since|from|until|throughout|within|"
    r"outside|inside|off|along|under|over|across|behind|circa|c\.|today|now|never)\b",
    re.IGNORECASE,
)

YES = frozenset({"yes", "true"})
NO = frozenset({"no", "false"})


def declarative(question: str, answer: str) -> str:
    """One statement that says what the answer to the question is.

    "When was the Dallas County Courthouse built?" and "1902" make "The Dallas County Courthouse was
    built in 1902." A question of yes or no with such an answer becomes the question's statement or
    its denial; one that is negative itself ("Did X not lose?") is quoted, since its "no" may mean
    either.

    The answer stands in the statement as it is given, white space around it aside, save where it
    is yes or no. Where no rule knows the form of the question, the statement quotes it.

    Raises:
        ValueError: The question or the answer is empty.
    """
    question, answer = " ".join(question.split()), answer.strip()
    if not question or not answer:
        raise ValueError("a claim needs a question and an answer")
    asked = question.rstrip("? ")
    polarity = answer.lower().rstrip(".!")
    statement: str | None
    if polarity in YES | NO:
        if statement := _yes_or_no(asked, polarity in YES):
            return _sentence(statement)
        return _quoted(question, answer)  # the other rules would put "yes" where a name belongs
    for rule in _RULES:
        statement = rule(asked, answer)
        if statement is not None and answer in statement:
            return _sentence(statement)
    return _quoted(question, answer)


def affirmed(question: str) -> str | None:
    """What a question of yes or no asks about, as a statement.

    "Is Pluto a planet?" is "Pluto is a planet." One whose form no rule knows is quoted: `The answer
    to "..." is yes.` None of other questions, and of negative ones.
    """
    asked = " ".join(question.split()).rstrip("? ")
    if not re.match(rf"(?:{_BE}|{_DO}|{_MODAL})\s(?!.*\b(?:not|never)\b)", asked, re.IGNORECASE):
        return None
    statement = _yes_or_no(asked, yes=True)
    return _sentence(statement) if statement else _quoted(f"{asked}?", "yes")


def time_phrase(answer: str) -> str | None:
    """An answer to "when" with its preposition: "in 1902", "on 2 July 1829", "in the 1960s".

    None where it is no time that these rules know, "two days after the siege" for instance.
    """
    if _AS_IT_IS.match(answer):
        return answer
    if _DAY.search(answer):
        return f"on {answer}"
    return f"in {answer}" if _IN_TIME.search(answer) else None


def place_phrase(answer: str) -> str:
    """An answer to "where" with its preposition: "in Boston", but "near Boston"."""
    return answer if _AS_IT_IS.match(answer) else f"in {answer}"


def _quoted(question: str, answer: str) -> str:
    return _sentence(f'The answer to "{question}" is {answer}')


def _sentence(statement: str) -> str:
    return statement if statement.endswith((".", "!", "?")) else f"{statement}."


def _capital(text: str) -> str:
    """First letter raised, unless the first word has capitals of its own ("iPhone")."""
    first = text.split(" ", 1)[0]
    return text[:1].upper() + text[1:] if first == first.lower() else text


def _clause(*parts: str) -> str:
    """A clause of those parts that are not empty."""
    return _capital(" ".join(filter(None, parts)))


def _subject_question(asked: str, answer: str) -> str | None:
    """Who won the cup -> A won the cup."""
    found = re.fullmatch(r"(?:who|what|which \w+) (\w+) (.+)", asked, re.IGNORECASE)
    if not found or re.fullmatch(f"{_BE}|{_DO}|{_MODAL}|whose", found[1], re.IGNORECASE):
        return None
    if not (found[1] in _PAST_FORMS or is_participle(found[1])):
        return None
    return f"{answer} {found[1]} {found[2]}"


_PAST_FORMS = {
    "became", "began", "came", "drew", "fought", "gave", "got", "had", "held", "invented", "led",
    "made", "ran", "sang", "sold", "spoke", "took", "taught", "won", "wrote", "built", "plays",
    "wears", "owns", "runs", "leads", "sings", "holds", "wins", "hosts", "causes",
}  # fmt: skip


def _whose(asked: str, answer: str) -> str | None:
    """Whose book was published -> A's book was published."""
    found = re.fullmatch(r"whose (.+)", asked, re.IGNORECASE)
    return f"{answer}'s {found[1]}" if found else None


def _in_place(asked: str, answer: str) -> str | None:
    """X is operated by which railway -> X is operated by A."""
    found = re.fullmatch(
        rf"(.+?) (which|what) (.+?)((?: (?:{_BE}|{_DO}|{_MODAL}) .+)?)", asked, re.IGNORECASE
    )
    if not found or re.fullmatch(PREPOSITIONS, found[1], re.IGNORECASE):
        return None
    before, noun, after = found[1], found[3], found[4]
    if noun.lower() in {"year", "date", "month"} and re.search(r" (?:in|on)$", before):
        phrase = time_phrase(answer)
        return _capital(f"{before[:-3]} {phrase}{after}") if phrase else None
    return _capital(f"{before} {_named(noun, answer, only_classes=True)}{after}")


def _preposition_first(asked: str, answer: str) -> str | None:
    """In which city did X practise law -> X practised law in A."""
    found = re.fullmatch(
        rf"({PREPOSITIONS}) (?:which|what|whom) ?(.*?) ({_BE}|{_DO}) (.+)", asked, re.IGNORECASE
    )
    if not found:
        return None
    preposition, noun, verb, rest = found[1].lower(), found[2], found[3].lower(), found[4]
    if noun.lower() in {"year", "date", "month", "decade", "century"}:
        phrase = time_phrase(answer)
    else:
        phrase = f"{preposition} {_named(noun, answer, only_classes=True)}"
    return _adjunct(verb, rest, phrase)


def _when_where(asked: str, answer: str) -> str | None:
    """When was X built -> X was built in A; where does X live -> X lives in A."""
    found = re.fullmatch(
        rf"(when|where|what year|which year|in what year|what date) ({_BE}|{_DO}) (.+)",
        asked,
        re.IGNORECASE,
    )
    if not found:
        return None
    word, verb, rest = found[1].lower(), found[2].lower(), found[3]
    if word == "where" and (ending := re.fullmatch(r"(.+) (from)", rest)):
        return _adjunct(verb, ending[1], f"from {answer}")
    return _adjunct(verb, rest, place_phrase(answer) if word == "where" else time_phrase(answer))


def _adjunct(verb: str, rest: str, phrase: str | None) -> str | None:
    """A statement that ends in a phrase of time or place."""
    if phrase is None:
        return None
    if verb in _DO.split("|"):
        parts = verb_split(rest)
        if parts is None:
            return None
        subject, adverbs, base, tail = parts
        return _clause(subject, adverbs, _inflected(base, verb), tail, phrase)
    subject, predicate = be_split(rest)
    return _clause(subject, verb, predicate, phrase)


def _noun_did(asked: str, answer: str) -> str | None:
    """What sport did X play -> X played the sport A; who did X marry -> X married A."""
    found = re.fullmatch(rf"(?:what|which|who|whom) ?(.*?) ?\b({_DO}) (.+)", asked, re.IGNORECASE)
    parts = verb_split(found[3]) if found else None
    if not found or parts is None:
        return None
    subject, adverbs, base, tail = parts
    thing = _named(found[1], answer)
    # The answer follows a preposition that has lost its object: "play in", "play in during X".
    preposition, _, after = tail.partition(" ")
    if not re.fullmatch(PREPOSITIONS, preposition) or not re.match(
        rf"$|during\b|(?:{PREPOSITIONS})\b", after
    ):
        preposition, after = "", tail
    return _clause(subject, adverbs, _inflected(base, found[2].lower()), preposition, thing, after)


def _noun_is(asked: str, answer: str) -> str | None:
    """What sport is X associated with -> X is associated with the sport A."""
    found = re.fullmatch(rf"(?:what|which) (.+?) ({_BE}) (.+)", asked, re.IGNORECASE)
    if not found:
        return None
    noun, verb, rest = found[1], found[2], found[3]
    if re.match(rf"(?:{_BE}|{_DO}|{_MODAL})\b", noun, re.IGNORECASE):
        return None
    if ending := stranded(rest):
        return _capital(f"{ending[0]} {verb} {ending[1]} {_named(noun, answer)}")
    if is_participle(rest.split()[0]):
        return f"The {noun} {rest} {verb} {answer}"
    subject, predicate = be_split(rest)
    if predicate:
        return _capital(f"{subject} {verb} {predicate} {_named(noun, answer)}")
    return f"The {noun} of {rest} {verb} {answer}"


def _is(asked: str, answer: str) -> str | None:
    """Who is the artist of X -> The artist of X is A; what is X known for -> X is known for A."""
    found = re.fullmatch(rf"(?:who|what|which) ({_BE}) (.+)", asked, re.IGNORECASE)
    if not found:
        return None
    verb, rest = found[1], found[2]
    if kind := re.fullmatch(rf"the ({'|'.join(_CLASSES)}) of (\w+) (.+) (?:{_BE})", rest):
        return _capital(f"{kind[3]} {verb} the {kind[1]} of {kind[2]} {answer}")
    if ending := stranded(rest):
        return _capital(f"{ending[0]} {verb} {ending[1]} {answer}")
    return _capital(f"{rest} {verb} {answer}")


def _how_many(asked: str, answer: str) -> str | None:
    """How many people live in X -> A people live in X; how many Y does X have -> X has A Y."""
    found = re.fullmatch(rf"how many (\w+)(?: ({_DO}))? (.+)", asked, re.IGNORECASE)
    if not found:
        return None
    thing = answer if found[1].lower() in answer.lower() else f"{answer} {found[1]}"
    if found[2] is None:
        return f"{thing} {found[3]}"
    parts = verb_split(found[3])
    if parts is None:
        return None
    subject, adverbs, base, tail = parts
    return _clause(subject, adverbs, _inflected(base, found[2].lower()), thing, tail)


def _how(asked: str, answer: str) -> str | None:
    """How long is X -> X is A long."""
    found = re.fullmatch(
        rf"how (long|tall|high|old|deep|wide|large|big|far) ({_BE}) (.+)", asked, re.IGNORECASE
    )
    if not found:
        return None
    ending = "" if found[1].lower() in {"large", "big"} else f" {found[1].lower()}"
    return _capital(f"{found[3]} {found[2]} {answer}{ending}")


def _yes_or_no(asked: str, yes: bool) -> str | None:
    """Is X a Y -> X is a Y, or X is not a Y; can X do Y -> X can do Y."""
    found = re.fullmatch(rf"({_BE}|{_DO}|{_MODAL}) (.+)", asked, re.IGNORECASE)
    if not found or re.search(r"\b(?:not|never|no|cannot)\b|n['’]t\b", found[2], re.IGNORECASE):
        return None
    verb, rest = found[1].lower(), found[2]
    denial = "" if yes else "not"
    if verb in _BE.split("|"):
        subject, predicate = be_split(rest)
        if not predicate:
            subject, predicate = adjective_split(rest)
        if not subject or not predicate or subject.lower().split()[0] == "there":
            return None
        return _clause(subject, verb, denial, predicate)
    parts = verb_split(rest)
    if parts is None:
        return None
    subject, adverbs, base, tail = parts
    if verb in _DO.split("|") and yes:
        return _clause(subject, adverbs, _inflected(base, verb), tail)
    cannot = verb == "can" and not yes
    before = ["cannot"] if cannot else [verb, denial]
    return _clause(subject, *before, adverbs, base, tail)


def _named(noun: str, answer: str, *, only_classes: bool = False) -> str:
    """Noun and answer: "the sport Golf"; the noun is left out where the answer has it."""
    general = noun.split(" ", 1)[0].lower() in _CLASSES
    if not noun or noun.lower() in answer.lower() or (only_classes and not general):
        return answer
    return f"the {noun} {answer}"


def _inflected(base: str, auxiliary: str) -> str:
    if auxiliary == "do":
        return base
    return past(base) if auxiliary == "did" else third_person(base)


_RULES: tuple[Rule, ...] = (
    _whose,
    _how_many,
    _how,
    _preposition_first,
    _when_where,
    _in_place,
    _is,
    _noun_did,
    _noun_is,
    _subject_question,
)
