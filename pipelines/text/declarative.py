"""Rules that turn a question and its answer into one statement.

ConflictBench's claims are made from questions and answers (ConflictScore, appendix A). Rules give
the same claim every time and need no model. They cover the question forms of RAMDocs and similar
sets, and quote everything else: `The answer to "Q" is A.`
"""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

from pipelines.text.days import MONTH

_LISTS: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_PAST = dict.fromkeys(_LISTS["regular"].split(), "") | dict(
    pair.split() for pair in _LISTS["irregular"].split(",")
)
_IRREGULAR = frozenset(_PAST.values()) - {""}
_WORDS = {name: frozenset(words.split()) for name, words in _LISTS.items()}


def is_verb(word: str) -> bool:
    """Whether a word is the base form of a known verb."""
    return word in _PAST


def is_past(word: str) -> bool:
    """Whether a word is an irregular past: "came", "rose"."""
    return word in _IRREGULAR


def past(verb: str) -> str:
    """The simple past of a base form: "play" -> "played", "begin" -> "began"."""
    if irregular := _PAST.get(verb):
        return irregular
    if verb.endswith("e"):
        return f"{verb}d"
    if re.search(r"[^aeiou]y$", verb):
        return f"{verb[:-1]}ied"
    return f"{verb}{verb[-1]}ed" if verb in _WORDS["doubled"] else f"{verb}ed"


def third_person(verb: str) -> str:
    """The third person singular of a base form: "play" -> "plays", "carry" -> "carries"."""
    if verb in {"have", "do", "go"}:
        return {"have": "has", "do": "does", "go": "goes"}[verb]
    if re.search(r"[^aeiou]y$", verb):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if re.search(r"(s|x|z|ch|sh)$", verb) else f"{verb}s"


def is_participle(word: str) -> bool:
    """Whether a word in lower case looks like a past participle: "built", "established"."""
    if word in _WORDS["participles"]:
        return True
    regular = len(word) > 3 and word.endswith("ed") and word.islower()
    return regular and word not in _WORDS["no_participles"]


PREPOSITIONS = "about|after|against|as|at|between|by|for|from|in|into|of|on|over|through|to|with"
_ARTICLES = {"the", "a", "an"}


def _masked(text: str) -> list[str]:
    """Words of a text; quoted words are in capitals, so that none looks like a verb."""
    quoted = re.sub(r'"[^"]*"|“[^”]*”', lambda found: found[0].upper(), text)
    return quoted.split(" ")


def _leads(word: str) -> bool:
    """Whether the word after this one is, or describes, a noun: "the play", "in close contact"."""
    return word.lower() in _ARTICLES or bool(re.fullmatch(PREPOSITIONS, word.lower()))


def _before_adverbs(words: list[str], place: int) -> int:
    """Start of the adverbs before a place."""
    while place > 1 and words[place - 1] in _WORDS["adverbs"]:
        place -= 1
    return place


def _another_verb(masked: list[str], start: int) -> bool:
    """Whether a base verb follows; "to go", "and go", "the play" and "can go" do not count.

    It may be the verb of "did".
    """
    return any(
        is_verb(masked[place])
        and not _leads(masked[place - 1])
        and masked[place - 1].lower() not in _WORDS["leads_to_verb"]
        for place in range(start, len(masked))
    )


def verb_split(rest: str) -> tuple[str, str, str, str] | None:
    """Subject, adverbs, base verb and tail after "did"; None without a known verb.

    Also None if a second word may be the verb: "the last name Keith come from".
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
    """Subject and predicate after "was"; the predicate is empty if not recognised.

    The predicate starts at a participle ("built", with adverbs before it), at a stranded
    description ("a station on"), or at an article that the word before does not need ("Ann Li the
    queen", but not "Battle of the Bulge").
    """
    words, masked = rest.split(" "), _masked(rest)
    for n in range(1, len(words)):
        if is_participle(masked[n]) and not _leads(masked[n - 1]):
            start = _before_adverbs(masked, n)
            return " ".join(words[:start]), " ".join(words[start:])
        leads = masked[n - 1].lower() in _WORDS["before_articles"] or re.fullmatch(
            PREPOSITIONS, masked[n - 1].lower()
        )
        if masked[n] in _ARTICLES and not leads:
            return " ".join(words[:n]), " ".join(words[n:])
    return rest, ""


def adjective_split(rest: str) -> tuple[str, str]:
    """Subject and adjective as predicate; two empty texts if unsure.

    The adjective is a known one, or the last word if no preposition comes before it: then the words
    before it can only be the subject.
    """
    words, masked = rest.split(" "), _masked(rest)
    for n in range(1, len(words)):
        if masked[n] in _WORDS["adjectives"] and not _leads(masked[n - 1]):
            return " ".join(words[:n]), " ".join(words[n:])
    simple = not any(re.fullmatch(PREPOSITIONS, word.lower()) for word in masked)
    if simple and len(words) > 1 and masked[-1].islower():
        return " ".join(words[:-1]), words[-1]
    return "", ""


def stranded(rest: str) -> tuple[str, str] | None:
    """Subject and predicate of a text that ends in a preposition: "X", "associated with"."""
    found = re.fullmatch(rf"(.+?) ((?:(?:an?|the) )?\S+ (?:{PREPOSITIONS}))", rest)
    return (found[1], found[2]) if found else None


Rule = Callable[[re.Match[str], str], str | None]
"""Takes a question of the rule's form and an answer; gives the statement without its full stop, or
None where the rule does not apply."""

_BE = "is|are|was|were"
_DO = "did|does|do"
_MODAL = "can|could|will|would|should|must|may|might|has|have|had"
_CLASSES = ("type", "kind", "sort", "form")
_MONTHS = rf"{MONTH}|Jan\.?|Feb\.?|Mar\.?|Apr\.?|Jun\.?|Jul\.?|Aug\.?|Sept?\.?|Oct\.?|Nov\.?|Dec\.?"
_DAY = re.compile(
    rf"\b(?:(?:{_MONTHS})\s+\d{{1,2}}(?:(?:st|nd|rd|th)\b|\b(?!\s*\d))"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{_MONTHS})\b|\d{{4}}-\d\d-\d\d|\w+day\b)"
)
_IN_TIME = re.compile(
    rf"\d|\b(?:{_MONTHS}|spring|summer|autumn|fall|winter|century)\b", re.IGNORECASE
)
_NO_TIME = re.compile(
    r"(?!(?:the|a|early|mid|late|about|around|approximately|roughly|every|each|first|last|next|"
    r"spring|summer|autumn|fall|winter)\b)[a-z]{3,} "
)
"""An answer that begins in lower case is seldom a time: "begins at sundown on ..."."""
_AS_IT_IS = re.compile(
    r"(?:in|on|at|by|near|between|during|before|after|around|since|from|until|throughout|within|"
    r"outside|inside|off|along|under|over|across|behind|circa|c\.|today|now|never)\b",
    re.IGNORECASE,
)

SENTENCE_WORDS = 5
"""Fewest words of a sentence as answer; "Washington, D.C." is not one."""

YES = frozenset({"yes", "true"})
NO = frozenset({"no", "false"})


def declarative(question: str, answer: str) -> str:
    """One statement from a question and its answer.

    "When was the Dallas County Courthouse built?" and "1902" make "The Dallas County Courthouse was
    built in 1902." A yes/no question becomes its statement or the denial; a negative one ("Did X
    not lose?") is quoted, since its "no" is ambiguous.

    The statement has the answer as given, stripped, unless it is yes or no. If no rule covers the
    question, the statement quotes it.

    Raises:
        ValueError: The question or the answer is empty.
    """
    question, answer = " ".join(question.split()), answer.strip()
    if not question or not answer:
        raise ValueError("a claim needs a question and an answer")
    asked = question.rstrip("? ")
    polarity = answer.lower().rstrip(".!")
    if polarity in YES | NO:  # the rules would put "yes" where a name belongs
        statement = _yes_or_no(asked, polarity in YES)
        return _sentence(statement) if statement else _quoted(question, answer)
    for form, rule in _RULES:
        found = re.fullmatch(form, asked, re.IGNORECASE)
        statement = rule(found, answer) if found else None
        if statement is not None and answer in statement and not _broken(statement, answer):
            return _sentence(statement)
    return _quoted(question, answer)


def as_claim(question: str, answer: str) -> str:
    """Question and answer as one statement; a full sentence as answer is kept alone.

    "When was the dam built?" with "1902" is "The dam was built in 1902."; with "It was built in
    1902." it is just that.
    """
    sentence = answer.endswith(".") and len(answer.split()) >= SENTENCE_WORDS
    return answer if sentence else declarative(question, answer)


def affirmed(question: str) -> str | None:
    """A yes/no question as a statement.

    "Is Pluto a planet?" becomes "Pluto is a planet." If no rule covers it, it is quoted:
    `The answer to "..." is yes.` None for other questions and negative ones.
    """
    asked = " ".join(question.split()).rstrip("? ")
    if not re.match(rf"(?:{_BE}|{_DO}|{_MODAL})\s(?!.*\b(?:not|never)\b)", asked, re.IGNORECASE):
        return None
    statement = _yes_or_no(asked, yes=True)
    return _sentence(statement) if statement else _quoted(f"{asked}?", "yes")


def time_phrase(answer: str) -> str | None:
    """An answer to "when" with its preposition: "in 1902", "on 2 July 1829", "in the 1960s".

    None if the rules do not know it as a time: "two days after the siege".
    """
    if _AS_IT_IS.match(answer):
        return answer
    if _NO_TIME.match(answer):
        return None
    if _DAY.search(answer):
        return f"on {answer}"
    return f"in {answer}" if _IN_TIME.search(answer) else None


def place_phrase(answer: str) -> str:
    """An answer to "where" with its preposition: "in Boston", but "near Boston"."""
    return answer if _AS_IT_IS.match(answer) else f"in {answer}"


def _quoted(question: str, answer: str) -> str:
    return _sentence(f'The answer to "{question}" is {answer}')


def _broken(statement: str, answer: str) -> bool:
    """Whether an answer with a full stop lands inside the statement: "3 firms. firms have"."""
    return answer.endswith((".", "!", "?")) and bool(
        re.search(rf"{re.escape(answer)} [a-z]", statement)
    )


def _sentence(statement: str) -> str:
    return statement if statement.endswith((".", "!", "?")) else f"{statement}."


def _capital(text: str) -> str:
    """The text starting in upper case, unless its first word has capitals ("iPhone")."""
    first = text.split(" ", 1)[0]
    return text[:1].upper() + text[1:] if first == first.lower() else text


def _clause(*parts: str) -> str:
    """The non-empty parts as one clause."""
    return _capital(" ".join(filter(None, parts)))


def _subject_question(found: re.Match[str], answer: str) -> str | None:
    """Who won the cup -> A won the cup."""
    verb, rest = found.groups()
    if re.fullmatch(f"{_BE}|{_DO}|{_MODAL}|whose", verb, re.IGNORECASE):
        return None
    return f"{answer} {verb} {rest}" if verb in _WORDS["finite"] or is_participle(verb) else None


def _in_place(found: re.Match[str], answer: str) -> str | None:
    """X is operated by which railway -> X is operated by A."""
    before, noun, after = found.groups()
    if re.fullmatch(PREPOSITIONS, before, re.IGNORECASE):
        return None
    if noun.lower() in {"year", "date", "month"} and re.search(r" (?:in|on)$", before):
        phrase = time_phrase(answer)
        return _capital(f"{before[:-3]} {phrase}{after}") if phrase else None
    return _capital(f"{before} {_named(noun, answer, only_classes=True)}{after}")


def _preposition_first(found: re.Match[str], answer: str) -> str | None:
    """In which city did X practise law -> X practised law in A."""
    preposition, noun, verb, rest = found.groups()
    if noun.lower() in {"year", "date", "month", "decade", "century"}:
        phrase = time_phrase(answer)
    else:
        phrase = f"{preposition.lower()} {_named(noun, answer, only_classes=True)}"
    return _adjunct(verb, rest, phrase)


def _when_where(found: re.Match[str], answer: str) -> str | None:
    """When was X built -> X was built in A; where does X live -> X lives in A."""
    word, verb, rest = found.groups()
    if re.match(r"the (?:first|last|next) time\b", rest, re.IGNORECASE):
        return None
    if word.lower() != "where":
        return _adjunct(verb, rest, time_phrase(answer))
    if ending := re.fullmatch(r"(.+) (from)", rest):
        return _adjunct(verb, ending[1], f"from {answer}")
    if re.search(r"\bfrom\b", rest):  # "Where does the oxygen come from today?"
        return None
    return _adjunct(verb, rest, place_phrase(answer))


def _adjunct(verb: str, rest: str, phrase: str | None) -> str | None:
    """A statement that ends in a phrase of time or place."""
    if phrase is None:
        return None
    if verb.lower() not in _DO.split("|"):
        subject, predicate = be_split(rest)
        return _clause(subject, verb.lower(), predicate, phrase)
    if parts := _done(rest, verb):
        return _clause(*parts, phrase)
    return None


def _done(rest: str, auxiliary: str) -> tuple[str, str, str, str] | None:
    """Subject, adverbs, verb and tail of what follows "did", with the verb in the past."""
    parts = verb_split(rest)
    if parts is None:
        return None
    subject, adverbs, base, tail = parts
    forms = {"do": base, "did": past(base), "does": third_person(base)}
    return subject, adverbs, forms[auxiliary.lower()], tail


def _noun_did(found: re.Match[str], answer: str) -> str | None:
    """What sport did X play -> X played the sport A; who did X marry -> X married A."""
    parts = _done(found[3], found[2])
    if parts is None:
        return None
    *clause, tail = parts
    # The answer follows a preposition that has lost its object: "play in", "play in during X".
    preposition, _, after = tail.partition(" ")
    if not re.fullmatch(PREPOSITIONS, preposition) or not re.match(
        rf"$|during\b|(?:{PREPOSITIONS})\b", after
    ):
        preposition, after = "", tail
    return _clause(*clause, preposition, _named(found[1], answer), after)


def _noun_is(found: re.Match[str], answer: str) -> str | None:
    """What sport is X associated with -> X is associated with the sport A."""
    noun, verb, rest = found.groups()
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


def _is(found: re.Match[str], answer: str) -> str | None:
    """Who is the artist of X -> The artist of X is A; what is X known for -> X is known for A."""
    verb, rest = found.groups()
    if re.search(rf" (?:{_BE})$", rest) and not re.match(rf"the (?:{'|'.join(_CLASSES)}) of", rest):
        return None
    if kind := re.fullmatch(rf"the ({'|'.join(_CLASSES)}) of (\w+) (.+) (?:{_BE})", rest):
        return _capital(f"{kind[3]} {verb} the {kind[1]} of {kind[2]} {answer}")
    if ending := stranded(rest):
        return _capital(f"{ending[0]} {verb} {ending[1]} {answer}")
    return _capital(f"{rest} {verb} {answer}")


def _how_many(found: re.Match[str], answer: str) -> str | None:
    """How many people live in X -> A people live in X; how many Y does X have -> X has A Y."""
    noun, auxiliary, rest = found.groups()
    # "How many times" needs another word order, and "how many did he win" has no noun.
    if noun.lower() == "times" or re.fullmatch(_DO, noun, re.IGNORECASE):
        return None
    thing = answer if noun.lower() in answer.lower() else f"{answer} {noun}"
    if not auxiliary:
        return f"{thing} {rest}" if _has_verb(rest) else None
    if parts := _done(rest, auxiliary):
        *clause, tail = parts
        return _clause(*clause, thing, tail)
    return None


def _how_many_there(found: re.Match[str], answer: str) -> str:
    """How many seasons of X are there in Y -> There are A seasons of X in Y."""
    noun, verb, rest = found.groups()
    thing = answer if noun.split()[0].lower() in answer.lower() else f"{answer} {noun}"
    return f"There {verb.lower()} {thing}{rest}"


def _has_verb(rest: str) -> bool:
    """Whether a known verb follows "how many people"."""
    words = rest.lower().split()
    return any(is_verb(word) or is_participle(word) for word in words) or bool(
        re.search(rf"\b(?:{_BE}|{_MODAL})\b", rest, re.IGNORECASE)
    )


def _how(found: re.Match[str], answer: str) -> str:
    """How long is X -> X is A long."""
    adjective, verb, rest = found.groups()
    ending = "" if adjective.lower() in {"large", "big"} else f" {adjective.lower()}"
    return _capital(f"{rest} {verb} {answer}{ending}")


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
    if verb in _DO.split("|") and yes:
        parts = _done(rest, verb)
        return _clause(*parts) if parts else None
    plain = verb_split(rest)
    if plain is None:
        return None
    subject, *clause = plain
    before = ["cannot"] if verb == "can" and not yes else [verb, denial]
    return _clause(subject, *before, *clause)


def _named(noun: str, answer: str, *, only_classes: bool = False) -> str:
    """Noun and answer: "the sport Golf"; without the noun if the answer has it."""
    general = noun.split(" ", 1)[0].lower() in _CLASSES
    if not noun or noun.lower() in answer.lower() or (only_classes and not general):
        return answer
    return f"the {noun} {answer}"


_RULES: tuple[tuple[str, Rule], ...] = (
    (r"how many (.+?) (are|were) there((?: .+)?)", _how_many_there),
    (rf"how many ([\w' ]+?) ({_DO}) (.+)", _how_many),
    (r"how many (\w+)()? (.+)", _how_many),
    (rf"how (long|tall|high|old|deep|wide|large|big|far) ({_BE}) (.+)", _how),
    (rf"({PREPOSITIONS}) (?:which|what|whom) ?(.*?) ({_BE}|{_DO}) (.+)", _preposition_first),
    (rf"(when|where|what year|which year|in what year|what date) ({_BE}|{_DO}) (.+)", _when_where),
    (rf"(.+?) (?:which|what) (.+?)((?: (?:{_BE}|{_DO}|{_MODAL}) .+)?)", _in_place),
    (rf"(?:who|what|which) ({_BE}) (.+)", _is),
    (rf"(?:what|which|who|whom) ?(.*?) ?\b({_DO}) (.+)", _noun_did),
    (rf"(?:what|which) (.+?) ({_BE}) (.+)", _noun_is),
    (r"(?:who|what|which \w+) (\w+) (.+)", _subject_question),
)
"""Question forms, without the question mark, and their rules."""
