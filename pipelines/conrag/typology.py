"""What a conflict is about (ConRAG, section 2, conflict typology), by rules over two sentences.

The paper names five forms and no way to tell them. Here the surest sentence against a claim is held
beside the claim and the surest sentence for it, by dates, numbers, denials and names. Only what the
claim itself says can be in conflict: two sources of which each adds a year of its own do not
disagree about it. Nor is what both sentences have.

The word lists were written down before anything was counted by them. Rules see words and not
meaning, and go by what the tagger takes for a conflict.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal
from math import prod
from typing import Final, Literal

from nli.windows import sentences
from pipelines.text.words import FUNCTION_WORDS, content_words

Kind = Literal["temporal", "numeric", "negation", "entity", "implicit"]

KINDS: Final[tuple[Kind, ...]] = ("temporal", "numeric", "negation", "entity", "implicit")
"""In order of precedence: the first kind that holds is the conflict's. Names come last, as almost
any two sentences differ in them."""


def _list(words: str) -> list[str]:
    return words.split()


_MONTHS = _list(
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec"
)
_WEEKDAYS = _list("monday tuesday wednesday thursday friday saturday sunday")
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DAY = rf"\d{{1,2}}(?:st|nd|rd|th)?\s+(?:{_MONTH})\b|\b(?:{_MONTH})\.?\s+\d{{1,2}}(?:st|nd|rd|th)?"
_DATE = re.compile(
    rf"\b(?:{_DAY})\b"
    r"|\b(?:\d{1,2}(?:st|nd|rd|th)|(?:twenty-)?[a-z]+(?:st|nd|rd|th))[\s-]+centur(?:y|ies)\b"
    r"|(?<![\d,.$£€])\b(?:1\d{3}|20\d{2})(?:s|(?![\d%])\b(?!,\d|\.\d|\s*(?:%|percent|per cent)))",
    re.IGNORECASE,
)
_PRESENT = frozenset(_list("current currently now nowadays presently still today"))
_PAST = frozenset(_list("former formerly once originally past previous previously then"))

_UNITS = _list(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_TENS = _list("twenty thirty forty fifty sixty seventy eighty ninety")
_NAMED = {name: number for number, name in enumerate(_UNITS)} | {
    name: 10 * number for number, name in enumerate(_TENS, 2)
}
_NAMED |= {f"{ten}-{unit}": _NAMED[ten] + _NAMED[unit] for ten in _TENS for unit in _UNITS[1:10]}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9, "dozen": 12}
_ORDINALS = dict(
    zip(
        _list(
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
            "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth "
            "twenty-first"
        ),
        _list("1st 2nd 3rd " + " ".join(f"{n}th" for n in range(4, 21)) + " 21st"),
        strict=True,
    )
)
_WORDS = "|".join(sorted({*_NAMED, *_SCALES, *_ORDINALS}, key=len, reverse=True))
_NUMBER = re.compile(
    r"(?:(?P<digits>(?:(?<![\w,.)])[-−])?\d[\d,]*(?:\.\d+)?)(?P<ordinal>(?:st|nd|rd|th)\b)?"
    rf"|\b(?P<word>{_WORDS})\b)(?P<scales>(?:[\s-]+(?:{'|'.join(_SCALES)})\b)*)"
)
"""A number in a text in lower case."""

_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|cannot|without|(?:\w+n['’]t)|unable|"
    r"den(?:y|ies|ied)|refus(?:e[sd]?|ing)|reject(?:s|ed)?|fail(?:s|ed)? to|lack(?:s|ed|ing)|"
    r"false(?:ly)?|untrue|incorrect(?:ly)?)\b",
    re.IGNORECASE,
)

_WORD = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")
_STOPS = frozenset('.!?:;"“”()[]')


@dataclass(frozen=True)
class Difference:
    """One way in which sentences differ: what the claim says, and what is said against it.

    Dates, numbers and words that deny, in lower case; numbers in digits.
    """

    kind: Kind
    claimed: tuple[str, ...] = ()
    against: tuple[str, ...] = ()


def differences(claim: str, supporting: str, refuting: str) -> tuple[Difference, ...]:
    """The ways in which what is said for and against a claim differs, in the order of `KINDS`.

    Where no rule holds, the conflict is implicit: the paper's fifth form, a condition or an
    exception, or what rules over words do not see.
    """
    rules = (temporal, numeric, negation, entity)
    found = (rule(claim, supporting, refuting) for rule in rules)
    return tuple(each for each in found if each is not None) or (Difference("implicit"),)


def telling_sentence(claim: str, text: str, rationale: str | None) -> str:
    """The sentence of a passage that decided, or else the one with most words of the claim."""
    parts = [text[slice(*span)] for span in sentences(text)]
    wanted = content_words(claim)
    return rationale or max(parts, key=lambda part: len(wanted & content_words(part)), default=text)


def told(claim: str, title: str | None, text: str, rationale: str | None) -> str:
    """What a passage has to say of a claim: its title and its `telling_sentence`."""
    return ". ".join(filter(None, (title, telling_sentence(claim, text, rationale))))


def temporal(claim: str, supporting: str, refuting: str) -> Difference | None:
    """Temporal drift: another date is given, or one side speaks of now and the other of then.

    Dates are years from 1000 to 2099, decades, centuries, and days of a month. Of now and then
    speak words like "currently" and "formerly"; what supports the claim speaks for it here.
    """
    if found := _otherwise("temporal", *map(_dates, (claim, supporting, refuting))):
        return found
    ours, theirs = _plain_words(f"{claim} {supporting}"), _plain_words(refuting)
    for here, there in ((_PRESENT, _PAST), (_PAST, _PRESENT)):
        if ours & here and theirs & there and not (ours & there or theirs & here):
            return Difference("temporal", _sorted(ours & here), _sorted(theirs & there))
    return None


def numeric(claim: str, supporting: str, refuting: str) -> Difference | None:
    """Numeric mismatch: another number is given; dates do not count.

    "1,200" is 1200, "two million" 2000000, "324m" 324, "sixth" 6th and no 6. "One" is no number:
    it is mostly a pronoun. Units are not read.
    """
    return _otherwise("numeric", *map(_numbers, (claim, supporting, refuting)))


def negation(claim: str, supporting: str, refuting: str) -> Difference | None:
    """Explicit negation: what is against the claim has a word that denies, and the claim has none.

    Or the other way round. What supports the claim is then on its side, or says nothing of it.
    """
    ours, beside, theirs = map(_denials, (claim, supporting, refuting))
    if bool(ours) == bool(theirs) or (beside and theirs):
        return None
    return Difference("negation", _sorted(ours), _sorted(theirs))


def entity(claim: str, supporting: str, refuting: str) -> Difference | None:
    """Entity substitution: a name of the claim is missing, and there is another one.

    A name is a run of capitalised words, and missing where no word of it is there. One word at the
    beginning of a sentence is none, for its capital says nothing; nor are months and days.
    """
    ours, theirs = _plain_words(refuting), _plain_words(f"{claim} {supporting}")
    missing = {name for name in _names(claim) if ours.isdisjoint(name.split())}
    others = {name for name in _names(refuting) if theirs.isdisjoint(name.split())}
    return Difference("entity", _sorted(missing), _sorted(others)) if missing and others else None


def _otherwise(
    kind: Kind, claimed: frozenset[str], beside: frozenset[str], against: frozenset[str]
) -> Difference | None:
    """What the claim has and the other side has not, where that has something else instead."""
    missing, others = claimed - against, against - claimed - beside
    return Difference(kind, _sorted(missing), _sorted(others)) if missing and others else None


def _dates(text: str) -> frozenset[str]:
    return frozenset(map(_date, _DATE.findall(text)))


def _date(written: str) -> str:
    """One name for a date, however it is written: "May 4th" is "4 may", "twelfth century" 12th."""
    parts = written.lower().replace("-century", " century").replace("centuries", "century").split()
    if parts[-1] == "century":
        return f"{_ORDINALS.get(parts[0], parts[0])} century"
    return " ".join(
        sorted(re.sub(r"(?<=\d)(?:st|nd|rd|th)$", "", part.rstrip(".")) for part in parts)
    )


def _numbers(text: str) -> frozenset[str]:
    undated = _DATE.sub("_", text).lower()  # no space, behind which a dash would be a minus
    return frozenset(number for each in _NUMBER.finditer(undated) if (number := _number(each)))


def _number(found: re.Match[str]) -> str | None:
    """In digits: "1,200" is 1200, "twenty-five" 25, "2.5 million" 2500000, "sixth" 6th."""
    word, scales = found["word"], re.findall(r"\w+", found["scales"])
    if word in _ORDINALS:
        return _ORDINALS[word]
    if word == "one" and not scales:
        return None
    if word:
        value = Decimal((_NAMED | _SCALES)[word])
    else:
        value = Decimal(found["digits"].replace(",", "").replace("−", "-"))
    value *= prod(_SCALES[scale] for scale in scales)
    return f"{value.normalize():f}{found['ordinal'] or ''}"


def _denials(text: str) -> frozenset[str]:
    return frozenset(found.lower() for found in _NEGATION.findall(text))


def _plain_words(text: str) -> frozenset[str]:
    return frozenset(map(_plain, _WORD.findall(text)))


def _plain(word: str) -> str:
    return word.lower().removesuffix("'s").removesuffix("’s")


def _names(text: str) -> frozenset[str]:
    """Runs of capitalised words, in lower case, without function words at their ends."""
    found: set[str] = set()
    run: list[str] = []
    opening, begins = True, True

    def close() -> None:
        name = " ".join(run)
        if len(name) > 1 and not (opening and len(run) == 1):
            found.add(name)
        run.clear()

    for word in [*_WORD.findall(text), "."]:
        named = word[0].isupper() and word.lower() not in {*FUNCTION_WORDS, *_MONTHS, *_WEEKDAYS}
        if named:
            if not run:
                opening = begins
            run.append(_plain(word))
        else:
            close()
        begins = word in _STOPS
    return frozenset(found)


def _sorted(found: Collection[str]) -> tuple[str, ...]:
    return tuple(sorted(found))
