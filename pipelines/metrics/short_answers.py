"""Short answers in a form in which they compare: names, numbers and dates."""

import re
import string
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from pipelines.text.days import ISO_DAY, with_iso_days
from pipelines.text.refusals import is_unknown

_THOUSANDS = re.compile(
    "(?<![0-9.,])[1-9][0-9]{0,2}([,'\u2019\u00a0\u2009\u202f])[0-9]{3}(?:\\1[0-9]{3})*(?![0-9])"
)
_APOSTROPHES = str.maketrans(dict.fromkeys("\u2018\u2019\u02bc\u2032\u00b4`", "'"))
_POWER = re.compile("([x×*·] ?10)(?=[⁰¹²³⁴-⁹])")
_RAISED = re.compile("(?<=[0-9])(?=[¹²³⁰-₉¼-¾⅐-⅞])")  # a footnote's mark is no digit of a number
_ACCENTS = re.compile("[\u0300-\u036f]+")
_SIGNS = {"%": "percent", "$": "dollars", "£": "pounds", "€": "euros", "¥": "yen"}

_ARTICLES = {"a", "an", "the"}
_LETTERED = (
    "the|vitamin|hepatitis|influenza|h(?:a)?emophilia|factor|serie|series|group|type|class|plan|"
    "division|section|category|grade|level|league|team|model|part|side|exhibit|appendix|schedule"
)
"""Words behind which "a" is a letter, whatever follows."""
_CLOSED = (
    "and|or|in|of|is|was|are|were|has|had|as|for|on|at|to|from|by|with|not|than|the|vs|which|who|"
    "that|but|major|minor|flat|sharp|positive|negative"
)
"""Words before which no article stands, or where "a" is a key or a blood group."""
_LETTER = re.compile(
    rf"(?P<before>\b(?i:{_LETTERED})[ -])[Aa]\.?(?![\w'&+#]|\.\w|-(?!\w))"  # the A-Team
    r"|(?<=\w-)[Aa]\.?(?![\w'&+#-]|\.\w)"  # Division I-A
    r"|(?<![\w.'&-])[Aa](?:\.(?!\w)|(?=\s*(?:[,;:!?()\[\]{}/*]|-\w)|\s+-"
    rf"|\s+(?i:{_CLOSED})\b))"
    r"|(?<=\w )A(?= [a-z0-9])"  # vitamins A and A1
)

_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
_IDLE_ZEROS = re.compile(r"(?<!\S)(-?[0-9]+)(?:(\.[0-9]*[1-9])|\.)0*(?!\S)")
_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_SCALED = re.compile(rf"(?<!\S)({_NUMBER})((?: (?:{'|'.join(_SCALES)}))+)(?!\S)")
_SHORT_SCALES = {"k": "thousand", "m": "million", "mn": "million", "b": "billion", "bn": "billion"}
_SHORT = re.compile(
    r"(?<!\w)(?<![0-9][.,])(?P<sign>[$£€¥] ?)?(?P<number>[0-9]+(?:\.[0-9]+)?)"
    r"(?P<scale> ?(?i:[bm]n)|[kKMBmb])(?!\w)"
)
_TIMES_TEN = re.compile(
    rf"(?<![\w^])(?<![0-9][.,])(?:({_NUMBER}) ?[x×*·] ?)?10\^([0-9]{{1,2}})(?![\w^]|\.[0-9])"
)
_FEET = re.compile(
    r"(?<![\w.,'])([1-9])[ -]?(?:'|ft\.?|feet|foot)[ -]?(1[01]|[0-9])"
    r"(?: ?(?:\"|''|in\.?(?!\w)|inch(?:es)?))?(?![\w'])"
)
_PRICE = re.compile(rf"(?<!\S)([$£€¥]) ({_NUMBER})(?!\S)")
_MARKS = re.compile(
    rf"(?P<kept>{ISO_DAY}|(?<![^\s(])-(?=[0-9])|(?<=[0-9])[.^](?=[0-9])|(?<=(?<!\S)a)\.(?!\S)"
    # C++, C#, A+, A-
    r"|(?<=[^\W\d_])(?:#|\++(?![^\W\d_+]))|[%$]"
    r"|(?:(?<=(?<![^\s(])[a-fo])|(?<=(?<![^\s(])ab))-(?=\.?(?:[\s),;:/]|$)))"
    r"|(?P<parting>[-+/,;:()\[\]{}°]|(?<=[^\W\d_])\.(?=[0-9])|(?<=[0-9])\.(?=[^\W\d_])"
    r"|(?<=[0-9])'(?=[0-9]))"
    rf"|[{re.escape(string.punctuation)}]"
)


@lru_cache(maxsize=65_536)  # the same few answers are compared many times
def canonical(text: str) -> str:
    """An answer in a form that is the same for its usual spellings.

    It is in lower case and NFKC, without accents, its words parted by single spaces. Points and
    apostrophes join what they stand between ("U.S." is "us"); dashes, slashes, commas, colons and
    brackets part it ("Punjabi-language" is "punjabi language"); other marks fall. Beyond that:

    - "Sao Paulo" and "São Paulo" are one: accents tell spellings of one name apart far oftener than
      two things. Letters of their own (ø, ł) stay.
    - Articles fall before a word. The letter A stays, as "a.": at the end, before a mark or a word
      such as "and", behind a word that goes with letters ("vitamin A deficiency"), and as a capital
      within words in lower case. So do "+" and "#" behind a letter ("C++"), and "-" behind a grade
      or blood group.
    - Numbers keep their value: "3,559" is "3559" (commas, apostrophes, thin and no-break spaces),
      "64.40" is "64.4", "1.2 million", "1.2M" and "1.2 x 10^6" are "1200000", a minus stays.
      "15,190" is one number, never a list of two. "5m" may be metres: it is millions of a currency
      alone. A height of 5'11" or 5 feet 11 inches is "5ft11in".
    - A day with month and year is one word, "1905-07-15" (`with_iso_days`).
    - "%" and "per cent" are "percent"; signs of currency are words behind the amount, "$31,250" is
      "31250 dollars".
    - Number words, ordinals and units are words like others: "two" is not "2".

    Applied to a form, the function changes nothing. The form is empty where nothing is left.
    """
    form = _normalised(text)
    return form if form == text else canonical(form)  # a mark that fell may have parted a date


def _normalised(text: str) -> str:
    text = _THOUSANDS.sub(lambda found: re.sub("[^0-9]", "", found[0]), text)
    text = re.sub(r"(?<![\w.])\.(?=[0-9])", "0.", _plain(text))  # .5
    text = _SHORT.sub(_spelled, text)
    text = _LETTER.sub(lambda found: f"{found['before'] or ' '}a. ", text).lower()
    text = _FEET.sub(r"\1ft\2in", with_iso_days(text))
    text = _TIMES_TEN.sub(lambda found: _multiplied(found[1] or "1", int(found[2])), text)
    text = re.sub("[%$£€¥]", r" \g<0> ", text)
    text = _MARKS.sub(lambda found: found["kept"] or " " * (found["parting"] is not None), text)
    words = text.split()
    words = [word for word in words[:-1] if word not in _ARTICLES] + words[-1:]
    text = re.sub(r"(?<!\S)a$", "a.", " ".join(words))
    text = _IDLE_ZEROS.sub(r"\1\2", text)
    text = _SCALED.sub(
        lambda found: _multiplied(found[1], sum(_SCALES[scale] for scale in found[2].split())), text
    )
    text = re.sub(r"(?<!\S)per cent(?!\S)", "percent", _PRICE.sub(r"\2 \1", text))
    return re.sub("[%$£€¥]", lambda found: _SIGNS[found[0]], text)


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
    """Text in NFKC, without accents, its punctuation that of ASCII."""
    text = _RAISED.sub(" ", _POWER.sub(r"\1^", text))
    text = unicodedata.normalize("NFKD", text.translate(_APOSTROPHES))  # else ´ is a space
    text = _ACCENTS.sub("", text.translate(_APOSTROPHES))  # now that of ŉ is a character
    return "".join(map(_mark, unicodedata.normalize("NFKC", text)))


def _mark(character: str) -> str:
    """A mark in ASCII: "-" for a dash, nothing for a quote or a soft hyphen, else a space."""
    kind = unicodedata.category(character)
    if kind == "Pd" or character == "\u2212":
        return "-"
    if character.isascii() or not (kind == "Cf" or kind.startswith("P")):
        return character
    return "" if kind in {"Pi", "Pf", "Cf"} or character in "„‚" else " "


def _spelled(found: re.Match[str]) -> str:
    """A number with its scale as a word; "5m" and "5b" only of a currency."""
    scale = found["scale"].strip()
    if scale in {"m", "b"} and not found["sign"]:
        return found[0]
    return f"{found['sign'] or ''}{found['number']} {_SHORT_SCALES[scale.lower()]}"


def _multiplied(number: str, zeros: int) -> str:
    """A number times a power of ten in digits: the point moves, nothing is rounded."""
    whole, _, part = number.removeprefix("-").partition(".")
    part = part.ljust(zeros, "0")
    value = (whole + part[:zeros]).lstrip("0") or "0"
    rest = part[zeros:].rstrip("0")
    return ("-" if number.startswith("-") else "") + value + (f".{rest}" if rest else "")
