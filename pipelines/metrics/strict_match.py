"""Strict exact match of answers, with precision, recall and F1 (MADAM-RAG, sections 5.1 and 6.1).

An output is right if and only if it includes all gold answers and no wrong one. The paper does not
say when an output includes an answer; here a given answer *names* a gold or a wrong one when

- its words, in canonical form, have those of a name in a row: "in Boston, Massachusetts" names
  "Boston". Words are whole: "1911" does not name "19".
- A hedge before a number is nothing, in either: "about 50,000" and "50,000" are one.
- A number alone names that number with one or two words of unit: "3,559" names "3,559 people";
  "3,559 metres" does not, nor does a sentence with the number in it.
- A day names its month with the year, and its year: "September 19, 1902" names "1902", as the
  documents of RAMDocs have the day where the gold answer is the year. It does not name "19", nor
  does the year name the day.
- The longest name has its place: where a wrong answer's name lies within that of a gold one (wrong
  "football", gold "American football"), only the gold one is named there, and the other way round.
  Gold names do not hide each other, nor do wrong ones. Where a gold and a wrong answer have the
  same form, the gold one is named.

Answers such as "unknown" are no answers and name nothing (`pipelines.text.refusals`).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipelines.metrics.answer_recall import named_answers
from pipelines.metrics.short_answers import canonical
from pipelines.text.days import ISO_DAY, MONTHS
from pipelines.text.refusals import is_unknown

Words = tuple[str, ...]

_HEDGES = frozenset({
    "about", "approximately", "approx", "around", "roughly", "nearly", "almost", "over", "circa",
    "ca", "c", "some", "estimated",
})  # fmt: skip
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_MOST_UNIT_WORDS = 2  # square miles


@dataclass(frozen=True)
class Found:
    """For each given answer, the indices of the gold and of the wrong answers that it names."""

    gold: tuple[frozenset[int], ...]
    wrong: tuple[frozenset[int], ...]


def found(given: Sequence[str], gold: Sequence[Sequence[str]], wrong: Sequence[str] = ()) -> Found:
    """Which gold answers and which wrong ones the given answers name, by the rules above.

    A given answer that is a sentence may name several. Gold answers are lists of names; one of
    which nothing is left in canonical form is never named.
    """
    names = [
        *((False, index, _words(name)) for index, names in enumerate(gold) for name in names),
        *((True, index, _words(name)) for index, name in enumerate(wrong)),
    ]
    named = [() if is_unknown(each) else _named(_words(each), names) for each in given]
    right, false = (
        tuple(frozenset(n for is_wrong, n in each if is_wrong == kind) for each in named)
        for kind in (False, True)
    )
    return Found(right, false)


def same_answer(one: str, other: str) -> bool:
    """Whether one of two answers names the other."""
    return any(found([one], [[other]]).gold) or any(found([other], [[one]]).gold)


def strict_match(
    given: Sequence[str],
    gold: Sequence[Sequence[str]],
    wrong: Sequence[str] = (),
    *,
    one_answer: bool = False,
    substrings: bool = False,
) -> bool:
    """Whether the answers include all gold ones and no wrong one (section 5.1).

    Without a gold answer, giving none is right and giving any is not.

    Args:
        given: Answers.
        gold: The names of each right answer; one of them is enough.
        wrong: Answers that only misinformation supports. Others that are not gold do no harm.
        one_answer: Whether every answer that is not gold is wrong, though not listed: so in
            FaithEval, whose questions have one right answer. Each given one must then name a gold
            one.
        substrings: Names are looked for as the field's scripts do, as substrings of the normalised
            answers put together, without any of the rules above: "1911" then names "19", "3,559"
            does not name "3,559 people", and "American football" names a wrong "football".
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
                or all(any(named_answers(gold, each, substrings=True)) for each in answers)
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
    """Share of the given answers that are right: that name a gold answer and no wrong one.

    Answers of one form count once, those such as "unknown" not at all. One that names several gold
    answers is one right answer: precision counts what was said, recall what was to be said. It is a
    value in [0, 1], None without an answer.
    """
    answers = list({_words(answer): answer for answer in given if not is_unknown(answer)}.values())
    if not answers:
        return None
    names = found(answers, gold, wrong)
    right = [bool(true) and not false for true, false in zip(names.gold, names.wrong, strict=True)]
    return sum(right) / len(right)


def recall(given: Sequence[str], gold: Sequence[Sequence[str]], wrong: Sequence[str] = ()) -> float:
    """Share of the gold answers that a given one names.

    Gold answers whose names have the same forms count once: two entities may share an answer.
    Recall, in [0, 1], is 1 without a gold answer, since none is missing.
    """
    if not gold:
        return 1.0
    named = frozenset().union(*found(given, gold, wrong).gold)
    forms = [frozenset(map(_words, names)) for names in gold]
    return len({forms[index] for index in named}) / len(set(forms))


def answer_f1(
    given: Sequence[str], gold: Sequence[Sequence[str]], wrong: Sequence[str] = ()
) -> float:
    """Harmonic mean of precision and recall of one question (section 6.1).

    It lies in [0, 1], and is 0 where both are 0. Without an answer precision enters as 0.
    """
    right, covered = precision(given, gold, wrong) or 0.0, recall(given, gold, wrong)
    return 2 * right * covered / (right + covered) if right + covered else 0.0


def _words(text: str) -> Words:
    """The words of the canonical form, without hedges before numbers, days in three words each."""
    backwards: list[str] = []
    for word in reversed(canonical(text).split()):
        if not (word in _HEDGES and backwards and _NUMBER.match(backwards[-1])):
            backwards.append(word)
    return tuple(part for word in reversed(backwards) for part in _parts(word))


def _parts(word: str) -> Words:
    """A day's number, month and year; another word as it is."""
    if not re.fullmatch(ISO_DAY, word):
        return (word,)
    year, month, day = word.split("-")
    return f"day:{day}", MONTHS[int(month) - 1], year  # no other word has a colon: 19 is a number


def _named(answer: Words, names: Sequence[tuple[bool, int, Words]]) -> list[tuple[bool, int]]:
    """What an answer names: whether it is wrong, and which it is, as in `names`."""
    places = [
        (start, end, is_wrong, index)
        for is_wrong, index, name in names
        for start, end in _places(name, answer)
    ]
    # The longest first, and of equals the gold ones: each place has then met all that may hide it.
    places.sort(key=lambda place: (place[0] - place[1], place[2]))
    kept: list[tuple[int, int, bool, int]] = []
    for start, end, is_wrong, index in places:
        if not any(s <= start and end <= e for s, e, other, _ in kept if other != is_wrong):
            kept.append((start, end, is_wrong, index))
    return [(is_wrong, index) for _, _, is_wrong, index in kept]


def _places(name: Words, answer: Words) -> Iterator[tuple[int, int]]:
    """Where an answer has a name, as (first word, word after the last)."""
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
        _NUMBER.fullmatch(number) is not None
        and 1 <= len(unit) <= _MOST_UNIT_WORDS
        and not any(word in MONTHS or re.search("[0-9]", word) for word in unit)
    )
