"""Canonical forms of short answers, and strict match (MADAM-RAG, sections 5.1, 6.1).

An output is correct if and only if it includes all gold answers and no wrong one. The paper does
not define when an output includes an answer. Here, a given answer *names* a gold or a wrong answer
under these rules:

- The words of a name, in canonical form, appear consecutively in the given answer: "in Boston,
  Massachusetts" names "Boston". Only whole words match: "1911" does not name "19".
- A hedge before a number is ignored on both sides: "about 50,000" equals "50,000".
- A bare number names that number with one or two unit words: "3,559" names "3,559 people". "3,559
  metres" does not, nor does a sentence that contains the number.
- A day names its month with the year, and its year: "September 19, 1902" names "1902", because
  RAMDocs' documents give the day where the gold answer is the year. It does not name "19", nor
  does the year name the day.
- The longest name wins: if a wrong name lies within a gold one (wrong "football", gold "American
  football"), only the gold one is named there, and vice versa. Gold names do not hide each other,
  nor do wrong ones. If a gold and a wrong answer have the same form, the gold one is named.

Refusals such as "unknown" are not answers and name nothing (`pipelines.text.refusals`).
"""

import re
import string
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pipelines.metrics.alce import named_answers
from pipelines.text.days import ISO_DAY, MONTHS, with_iso_days
from pipelines.text.refusals import is_unknown

_THOUSANDS = re.compile(
    "(?<![0-9.,])[1-9][0-9]{0,2}([,'\u2019\u00a0\u2009\u202f])[0-9]{3}(?:\\1[0-9]{3})*(?![0-9])"
)
_APOSTROPHES = str.maketrans(dict.fromkeys("\u2018\u2019\u02bc\u2032\u00b4`", "'"))
_POWER = re.compile("([x×*·] ?10)(?=[⁰¹²³⁴-⁹])")
_RAISED = re.compile("(?<=[0-9])(?=[¹²³⁰-₉¼-¾⅐-⅞])")  # a footnote mark is not a digit of a number
_ACCENTS = re.compile("[\u0300-\u036f]+")
_SIGNS = {"%": "percent", "$": "dollars", "£": "pounds", "€": "euros", "¥": "yen"}

_ARTICLES = {"a", "an", "the"}
_LETTERED = (
    "the|vitamin|hepatitis|influenza|h(?:a)?emophilia|factor|serie|series|group|type|class|plan|"
    "division|section|category|grade|level|league|team|model|part|side|exhibit|appendix|schedule"
)
"""Words after which "a" is a letter, whatever follows."""
_CLOSED = (
    "and|or|in|of|is|was|are|were|has|had|as|for|on|at|to|from|by|with|not|than|the|vs|which|who|"
    "that|but|major|minor|flat|sharp|positive|negative"
)
"""Words before which "a" is not an article but a letter, key or blood group."""
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
    """The canonical form of an answer: the same for all its usual spellings.

    The form is lower-case NFKC without accents, with words separated by single spaces. Periods and
    apostrophes join their neighbours ("U.S." is "us"); dashes, slashes, commas, colons and brackets
    separate them ("Punjabi-language" is "punjabi language"); other marks are removed. In addition:

    - "Sao Paulo" and "São Paulo" are equal: accents mark spelling variants of one name far more
      often than different names. Separate letters (ø, ł) stay.
    - Articles before a word are removed. The letter A stays, as "a.": at the end, before a mark or
      a word such as "and", after a word that takes a letter ("vitamin A deficiency"), and as a
      capital among lower-case words. "+" and "#" after a letter stay too ("C++"), and so does "-"
      after a grade or blood group.
    - Numbers keep their value: "3,559" is "3559" (commas, apostrophes, thin and no-break spaces),
      "64.40" is "64.4", "1.2 million", "1.2M" and "1.2 x 10^6" are "1200000", and a minus sign
      stays. "15,190" is one number, never a list of two. "5m" may be metres, so it means millions
      only with a currency. A height of 5'11" or 5 feet 11 inches is "5ft11in".
    - A day with month and year is one word, "1905-07-15" (`with_iso_days`).
    - "%" and "per cent" are "percent"; a currency sign becomes a word after the amount, so
      "$31,250" is "31250 dollars".
    - Number words, ordinals and units are ordinary words: "two" is not "2".

    The function is idempotent. The form is empty if no words remain.
    """
    form = _normalised(text)
    return form if form == text else canonical(form)  # removing a mark may have exposed a date


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
    """The answers without duplicates, in the order and spelling of their first mention.

    Answers with the same canonical form are duplicates; answers with an empty form are dropped.
    """
    first: dict[str, str] = {}
    for answer in answers:
        if form := canonical(answer):
            first.setdefault(form, answer)
    return tuple(first.values())


def known(answers: Iterable[str]) -> tuple[str, ...]:
    """The distinct answers, without refusals such as "unknown"."""
    return distinct(answer.strip() for answer in answers if not is_unknown(answer))


def _plain(text: str) -> str:
    """Text in NFKC, without accents, with ASCII punctuation."""
    text = _RAISED.sub(" ", _POWER.sub(r"\1^", text))
    text = unicodedata.normalize("NFKD", text.translate(_APOSTROPHES))  # otherwise ´ is a space
    text = _ACCENTS.sub("", text.translate(_APOSTROPHES))  # now the apostrophe of ŉ is a character
    return "".join(map(_mark, unicodedata.normalize("NFKC", text)))


def _mark(character: str) -> str:
    """A mark in ASCII: "-" for a dash, nothing for a quote or a soft hyphen, otherwise a space."""
    kind = unicodedata.category(character)
    if kind == "Pd" or character == "\u2212":
        return "-"
    if character.isascii() or not (kind == "Cf" or kind.startswith("P")):
        return character
    return "" if kind in {"Pi", "Pf", "Cf"} or character in "„‚" else " "


def _spelled(found: re.Match[str]) -> str:
    """A number with its scale as a word; "5m" and "5b" only with a currency."""
    scale = found["scale"].strip()
    if scale in {"m", "b"} and not found["sign"]:
        return found[0]
    return f"{found['sign'] or ''}{found['number']} {_SHORT_SCALES[scale.lower()]}"


def _multiplied(number: str, zeros: int) -> str:
    """A number times a power of ten, as digits: the point moves, nothing is rounded."""
    whole, _, part = number.removeprefix("-").partition(".")
    part = part.ljust(zeros, "0")
    value = (whole + part[:zeros]).lstrip("0") or "0"
    rest = part[zeros:].rstrip("0")
    return ("-" if number.startswith("-") else "") + value + (f".{rest}" if rest else "")


Words = tuple[str, ...]

_HEDGES = frozenset({
    "about", "approximately", "approx", "around", "roughly", "nearly", "almost", "over", "circa",
    "ca", "c", "some", "estimated",
})  # fmt: skip
_WHOLE_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_MOST_UNIT_WORDS = 2  # square miles


@dataclass(frozen=True)
class Found:
    """Per given answer, the indices of the gold and the wrong answers it names."""

    gold: tuple[frozenset[int], ...]
    wrong: tuple[frozenset[int], ...]


def found(given: Sequence[str], gold: Sequence[Sequence[str]], wrong: Sequence[str] = ()) -> Found:
    """Which gold and wrong answers the given answers name, by the rules above.

    A given answer that is a sentence may name several. Gold answers are lists of names; a name with
    an empty canonical form is never named.
    """
    names = [
        *((False, index, _words(name)) for index, names in enumerate(gold) for name in names),
        *((True, index, _words(name)) for index, name in enumerate(wrong)),
    ]
    named = [() if is_unknown(answer) else _named(_words(answer), names) for answer in given]
    right, false = (
        tuple(frozenset(n for is_wrong, n in hits if is_wrong == kind) for hits in named)
        for kind in (False, True)
    )
    return Found(right, false)


def same_answer(one: str, other: str) -> bool:
    """Whether either answer names the other."""
    return any(found([one], [[other]]).gold) or any(found([other], [[one]]).gold)


def strict_match(
    given: Sequence[str],
    gold: Sequence[Sequence[str]],
    wrong: Sequence[str] = (),
    *,
    one_answer: bool = False,
    substrings: bool = False,
) -> bool:
    """Whether the answers include all gold answers and no wrong one (section 5.1).

    Without gold answers, an empty list is correct and any answer is wrong.

    Args:
        given: Answers.
        gold: The names of each gold answer; one of them is enough.
        wrong: Answers that only misinformation supports. Other answers that are not gold do no
            harm.
        one_answer: Whether every answer that is not gold is wrong, even if it is not listed, as in
            FaithEval, whose questions have one correct answer. Each given answer must then name a
            gold one.
        substrings: Match names as the field's scripts do, as substrings of the concatenated
            normalised answers, without any of the rules above: "1911" then names "19", "3,559" does
            not name "3,559 people", and "American football" names a wrong "football".
    """
    answers = [answer for answer in given if not is_unknown(answer)]
    if not gold:
        return not answers
    if substrings:
        joined = "; ".join(answers)
        return (
            all(named_answers(gold, joined, substrings=True))
            and not any(named_answers([[name] for name in wrong], joined, substrings=True))
            and (
                not one_answer
                or all(any(named_answers(gold, answer, substrings=True)) for answer in answers)
            )
        )
    names = found(answers, gold, wrong)
    return (
        len(frozenset().union(*names.gold)) == len(gold)
        and not any(names.wrong)
        and (not one_answer or all(names.gold))
    )


def precision(
    given: Sequence[str], gold: Sequence[Sequence[str]], wrong: Sequence[str] = ()
) -> float | None:
    """Share of the given answers that are correct: that name a gold answer and no wrong one.

    Answers with the same form count once; refusals such as "unknown" do not count. An answer that
    names several gold answers is one correct answer: precision counts given answers, recall counts
    gold ones. The value lies in [0, 1]; None without answers.
    """
    answers = list({_words(answer): answer for answer in given if not is_unknown(answer)}.values())
    if not answers:
        return None
    names = found(answers, gold, wrong)
    right = [bool(true) and not false for true, false in zip(names.gold, names.wrong, strict=True)]
    return sum(right) / len(right)


def recall(given: Sequence[str], gold: Sequence[Sequence[str]], wrong: Sequence[str] = ()) -> float:
    """Share of the gold answers that a given answer names.

    Gold answers whose names have the same forms count once, because two entities may share an
    answer. The value lies in [0, 1]; it is 1 without gold answers.
    """
    if not gold:
        return 1.0
    named = frozenset().union(*found(given, gold, wrong).gold)
    forms = [frozenset(map(_words, names)) for names in gold]
    return len({forms[index] for index in named}) / len(set(forms))


def answer_f1(
    given: Sequence[str], gold: Sequence[Sequence[str]], wrong: Sequence[str] = ()
) -> float:
    """Harmonic mean of the precision and recall of one question (section 6.1).

    The value lies in [0, 1]; it is 0 if both are 0. Without answers, precision counts as 0.
    """
    right, covered = precision(given, gold, wrong) or 0.0, recall(given, gold, wrong)
    return 2 * right * covered / (right + covered) if right + covered else 0.0


def _words(text: str) -> Words:
    """The words of the canonical form, without hedges before numbers, with a day as three words."""
    backwards: list[str] = []
    for word in reversed(canonical(text).split()):
        if not (word in _HEDGES and backwards and _WHOLE_NUMBER.match(backwards[-1])):
            backwards.append(word)
    return tuple(part for word in reversed(backwards) for part in _parts(word))


def _parts(word: str) -> Words:
    """A day's number, month and year; any other word unchanged."""
    if not re.fullmatch(ISO_DAY, word):
        return (word,)
    year, month, day = word.split("-")
    return f"day:{day}", MONTHS[int(month) - 1], year  # only a day has a colon: 19 is a number


def _named(answer: Words, names: Sequence[tuple[bool, int, Words]]) -> list[tuple[bool, int]]:
    """What an answer names: for each name, whether it is wrong, and its index as in `names`."""
    places = [
        (start, end, is_wrong, index)
        for is_wrong, index, name in names
        for start, end in _places(name, answer)
    ]
    # Longest first, gold before wrong on ties: whatever can hide a place is matched before it.
    places.sort(key=lambda place: (place[0] - place[1], place[2]))
    kept: list[tuple[int, int, bool, int]] = []
    for start, end, is_wrong, index in places:
        if not any(s <= start and end <= e for s, e, other, _ in kept if other != is_wrong):
            kept.append((start, end, is_wrong, index))
    return [(is_wrong, index) for _, _, is_wrong, index in kept]


def _places(name: Words, answer: Words) -> Iterator[tuple[int, int]]:
    """Where a name occurs in an answer, as (first word, word after the last)."""
    if not name:
        return
    for start in range(len(answer) - len(name) + 1):
        if answer[start : start + len(name)] == name:
            yield start, start + len(name)
    if len(answer) == 1 and answer[0] == name[0] and _is_quantity(name):
        yield 0, 1


def _is_quantity(name: Words) -> bool:
    """Whether a name is a number with its unit: "3559 people", but not "4 july" or "1893 1896"."""
    number, *unit = name
    return (
        _WHOLE_NUMBER.fullmatch(number) is not None
        and 1 <= len(unit) <= _MOST_UNIT_WORDS
        and not any(word in MONTHS or re.search("[0-9]", word) for word in unit)
    )
