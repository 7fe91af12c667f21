"""Short answers in a form in which they compare: names, numbers and dates."""

import re
import unicodedata
from collections.abc import Iterable
from datetime import date
from functools import lru_cache

from pipelines.metrics.answer_recall import normalised

# Signs that `normalised` would drop stand as characters of private use while it works.
_POINT, _DASH, _DOLLAR = "\ue000", "\ue001", "\ue002"
_STAND_INS = re.compile(f"[{_POINT}-{_DOLLAR}]")

_THOUSANDS = re.compile(
    "(?<![0-9.,])[1-9][0-9]{0,2}([,\u00a0\u2009\u202f])[0-9]{3}(?:\\1[0-9]{3})*(?![0-9])"
)
_APOSTROPHES = str.maketrans(dict.fromkeys("\u2018\u2019\u02bc\u2032\u00b4`", "'"))
_RAISED = re.compile("(?<=[0-9])(?=[¹²³⁰-₉¼-¾⅐-⅞])")  # a footnote's mark is no digit of a number
_ACCENTS = re.compile("[\u0300-\u036f]+")
_ISO = re.compile(r"(?<![\w-])([0-9]{4})-([0-9]{2})-([0-9]{2})(?![\w-])")
_MINUS = re.compile(r"(?<![^\s(])-(?=[0-9])")
_PARTING = re.compile(r"[-/,;:()\[\]{}°]|(?<=[^\W\d_])\.(?=[0-9])|(?<=[0-9])\.(?=[^\W\d_])")
_DECIMAL_POINT = re.compile(r"(?<=[0-9])\.(?=[0-9])")
_CURRENCIES = {_DOLLAR: "dollars", "£": "pounds", "€": "euros", "¥": "yen"}

_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_SCALED = re.compile(rf"(?<!\S)({_NUMBER})((?: (?:{'|'.join(_SCALES)}))+)(?!\S)")
_PRICE = re.compile(rf"(?<!\S)([{''.join(_CURRENCIES)}]) ({_NUMBER})(?!\S)")

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
MONTH_NUMBERS = (
    {name: number for number, name in enumerate(MONTHS, 1)}
    | {name[:3]: number for number, name in enumerate(MONTHS, 1)}
    | {"sept": 9}
)
"""Names of months and their usual short forms, in lower case -> 1 to 12."""
_MONTH = rf"(?P<month>{'|'.join(MONTH_NUMBERS)})"
_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?:of )?(?P<year>[0-9]{4})"
_DAY_FIRST = re.compile(rf"(?<!\S){_DAY} (?:of )?{_MONTH} {_YEAR}(?!\S)")
_MONTH_FIRST = re.compile(rf"(?<!\S){_MONTH} {_DAY} {_YEAR}(?!\S)")

_UNKNOWN = frozenset({
    "", "unknown", "none", "null", "nil", "not stated", "not mentioned", "not specified",
    "not provided", "not given", "not known", "not available", "not applicable", "not found",
    "not clear", "unclear", "undetermined", "unspecified", "unanswerable", "no answer",
    "no answer found", "no answer given", "no correct answer", "no correct answers",
    "no information", "no information available", "no information provided", "no information given",
    "no relevant information", "none provided", "none given", "not enough information",
    "insufficient information",
    "i dont know", "i do not know", "dont know", "do not know", "i am not sure", "im not sure",
    "cannot answer", "cannot be answered", "cannot be determined", "cannot determine",
    "answer is unknown",
})  # fmt: skip
"""What says that there is no answer, in canonical form."""
_IT_IS = re.compile(r"^(?:(?:it|answer|(?:this )?information) (?:is |was )?|there is )(?=\w)")
_SORRY = re.compile(r"^(?:(?:im|i am) )?sorry (?:but )?")
_ADVERB = re.compile(r"\b(?:explicitly|directly|specifically|clearly|currently) ")
_TEXTS = r"(?:documents?|texts?|passages?|contexts?|sources?|information)"
_SAYS_NOTHING = re.compile(
    rf"(?:this |given |provided )?{_TEXTS} (?:provided )?(?:(?:do|does|did) not|doesnt|dont|didnt) "
    r"(?:provide|state|mention|specify|contain|say|give|include|answer|indicate)"
    r"(?: (?:this|that|it|any|such|enough|relevant|requested|specific|answer|answers|information|"
    r"details?|question|to|of|about))*"
)
_MATTER = r"(?:answer|information|details?|date|year|day|time|name|number|figure|location|place)"
_LACKING = re.compile(
    rf"{_SAYS_NOTHING.pattern}.*"
    # The document gives no information about the date. No information on this.
    rf"|(?:(?:this |given |provided )?{_TEXTS} (?:provides?|gives?|contains?|has|have|includes?) )?"
    r"no (?:relevant |specific |such )?(?:information|mention)(?: (?:about|on|of|regarding) .+)?"
    # The exact date is not specified. No name is given. Year not provided.
    r"|(?:\w+ ){1,4}(?:is|was|are|were) not (?:stated|mentioned|specified|indicated)"
    rf"|(?:no (?:(?:exact|specific) )?{_MATTER}(?: (?:is|was|are|were))?"
    rf"|(?:(?:exact|specific) )?{_MATTER} (?:(?:is|was|are|were) )?not) "
    r"(?:stated|mentioned|specified|indicated|provided|given)"
    r"|(?:i )?(?:cannot|can not|cant|(?:am )?unable to) (?:answer|determine|say|tell)"
    r"(?: (?:this|that|it|question|answer))*"
)
_NAMED = re.compile(r"(?<=.)(?!(?<=\s)I\b)[^\W_a-z]", re.DOTALL)
"""A capital or a digit behind the first character: a name or a number, if there is any."""
_LOOKED_IN = re.compile(
    r" (?:in|by|from|on|based on|according to) (?:this |given |provided |any )?"
    rf"{_TEXTS}(?: provided| given)?$"
)
_NOT_APPLICABLE = re.compile(r"\W*n\s*[/.]\s*a\W*", re.IGNORECASE)


@lru_cache(maxsize=65_536)  # the same few answers are compared many times
def canonical(text: str) -> str:
    """An answer in a form that is the same for its usual spellings.

    Letters and marks are as in `normalised`: lower case, no punctuation, no articles, single
    spaces. Points and apostrophes join what they stand between ("U.S." is "us"); dashes, slashes,
    commas, colons and brackets part it ("Punjabi-language" is "punjabi language"). Beyond that:

    - Characters are in Unicode's form NFKC. Accents fall away: "Sao Paulo" and "São Paulo"
      are spellings of one name far oftener than names of two things. Letters of their own (ø, ł)
      stay.
    - Numbers keep their value: "3,559" is "3559" (commas, thin and no-break spaces), "64.40" is
      "64.4", "1.2 million" is "1200000", a minus stays. "15,190" is one number, never a list
      of two.
    - A date of day, month and year is one word: "July 15, 1905", "15th of July 1905", "15 Jul
      1905" and "1905-07-15" are "1905-07-15". An order that countries read
      differently (7/15/1905) makes no date.
    - "%" and "per cent" are "percent"; signs of currency are words behind the amount, "$31,250" is
      "31250 dollars".
    - Number words, ordinals and units are words like others: "two" is not "2".

    Applied to a form, the function changes nothing. The form is empty where nothing is left.
    """
    text = _THOUSANDS.sub(lambda found: re.sub("[^0-9]", "", found[0]), _STAND_INS.sub("", text))
    text = _plain(text)
    text = re.sub(r"(?<![\w.])\.(?=[0-9])", "0.", text)  # .5
    text = _MINUS.sub(_DASH, _ISO.sub(rf"\1{_DASH}\2{_DASH}\3", text))
    text = _DECIMAL_POINT.sub(_POINT, _PARTING.sub(" ", text))
    text = text.replace("%", " percent ").replace("$", _DOLLAR)
    for sign in _CURRENCIES:
        text = text.replace(sign, f" {sign} ")
    words = [_restored(word) for word in normalised(text).split()]
    text = " ".join(" ".join(words).split())
    text = re.sub(r"(?<!\S)per cent(?!\S)", "percent", _SCALED.sub(_multiplied, text))
    text = _PRICE.sub(r"\2 \1", text)
    for sign, word in _CURRENCIES.items():
        text = text.replace(sign, word)
    return _MONTH_FIRST.sub(_as_iso, _DAY_FIRST.sub(_as_iso, text))


def is_unknown(text: str) -> bool:
    """Whether an answer says that there is none: "unknown", "N/A", "not stated", "".

    It is compared with a closed list, whole and in canonical form. "It is" may stand before it,
    "explicitly" within, and behind it a second phrase of the list or where the answer was looked
    for ("not mentioned in the document"). "The document does not provide this information" says so,
    too, and so do "... does not say when it was built" and "the exact date is not given"; what
    names anything ("... does not mention Boston") is an answer. "The Unknown Soldier" and "none of
    the above" are answers. A question whose right answer is the band None is beyond it.
    """
    form = _SORRY.sub("", _ADVERB.sub("", canonical(text)))
    if _SAYS_NOTHING.fullmatch(form):
        return True
    whole, form = form, _LOOKED_IN.sub("", _IT_IS.sub("", form))
    unnamed = not _NAMED.search(text.strip())
    if unnamed and (_LACKING.fullmatch(whole) or _LACKING.fullmatch(form)):
        return True
    first, _, second = form.partition(" ")
    # The form of "N/A" is "n", since "a" is an article; and "Na" is sodium.
    return (
        form in _UNKNOWN
        or (first in _UNKNOWN and (second in _UNKNOWN or bool(_SAYS_NOTHING.fullmatch(second))))
        or bool(_NOT_APPLICABLE.fullmatch(text))
    )


def distinct(answers: Iterable[str]) -> tuple[str, ...]:
    """Each answer once, in the order and spelling of its first mention.

    Answers of one canonical form are one; those of an empty form are left out.
    """
    first: dict[str, str] = {}
    for answer in answers:
        if form := canonical(answer):
            first.setdefault(form, answer)
    return tuple(first.values())


def known(answers: Iterable[str]) -> tuple[str, ...]:
    """The answers that are some, each once: "unknown" says that there is none."""
    return distinct(answer.strip() for answer in answers if not is_unknown(answer))


def _plain(text: str) -> str:
    """Text in lower case and NFKC, without accents, its punctuation that of ASCII."""
    text = _RAISED.sub(" ", text)
    text = unicodedata.normalize("NFKD", text.translate(_APOSTROPHES))  # else ´ is a space
    text = _ACCENTS.sub("", text.translate(_APOSTROPHES)).lower()  # now that of ŉ is a character
    return "".join(map(_mark, unicodedata.normalize("NFKC", text)))


def _mark(character: str) -> str:
    """A mark of punctuation in ASCII: "-" for a dash, nothing for a quote, else a space."""
    kind = unicodedata.category(character)
    if kind == "Pd" or character == "\u2212":
        return "-"
    if character.isascii() or not kind.startswith("P"):
        return character
    return "" if kind in {"Pi", "Pf"} or character in "„‚" else " "


def _restored(word: str) -> str:
    """A word with its points and dashes again; dashes only in numbers and days of the calendar."""
    word = word.replace(_POINT, ".")
    if re.fullmatch(r"[0-9]+\.[0-9]+", word.removeprefix(_DASH)):
        word = word.rstrip("0").rstrip(".")
    dashed = word.replace(_DASH, "-")
    if re.fullmatch(_NUMBER, dashed) or (_ISO.fullmatch(dashed) and _day(*dashed.split("-"))):
        return dashed
    return word.replace(_DASH, " ")


def _multiplied(found: re.Match[str]) -> str:
    """A number with its scale in digits, exactly: the point moves, nothing is rounded."""
    zeros = sum(_SCALES[scale] for scale in found[2].split())
    whole, _, part = found[1].removeprefix("-").partition(".")
    part = part.ljust(zeros, "0")
    value = (whole + part[:zeros]).lstrip("0") or "0"
    rest = part[zeros:].rstrip("0")
    return ("-" if found[1].startswith("-") else "") + value + (f".{rest}" if rest else "")


def _as_iso(found: re.Match[str]) -> str:
    """A day of the calendar as 1905-07-15; what is none ("31 June 1905") stays as it is."""
    day = _day(found["year"], MONTH_NUMBERS[found["month"]], found["day"])
    return day.isoformat() if day else found[0]


def _day(year: str, month: str | int, day: str) -> date | None:
    """The day of the calendar; None where there is no such day."""
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None
