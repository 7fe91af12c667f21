"""Misinformation by answer swap: a wrong answer of the same kind in place of the right one.

Section 3 takes a retrieved document and replaces "the correct answer with a misleading or incorrect
entity", after Longpre et al. (2021), whose substitutes have the type of the answer. The types here
are read off the answer's form and the question's words, which needs no tagger of names: a day for
a day, "10,000 people" for "3,559 people", a person for a person where both questions ask who.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from pipelines.data.ambigdocs import AmbiguousQuestion
from pipelines.madam_rag.constructions import says
from pipelines.metrics.short_answers import canonical
from pipelines.supervision.questions import form
from pipelines.text.days import ISO_DAY, MONTHS
from pipelines.text.substitution import exchanged, has_words
from pipelines.text.words import FUNCTION_WORDS
from salience.words import word_pattern

NAME, WORDS = "name", "words"
"""Shapes of answers without a number."""

_MONTH = re.compile(rf"(?:{'|'.join(MONTHS)}) [0-9]{{4}}")
_YEAR = re.compile(r"(?:1[0-9]|20)[0-9]{2}")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_WRITTEN = re.compile(r"[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?")
_TELLING = frozenset({"who", "whose", "whom", "where"})
"""Question words that tell what kind of name is asked for."""


def shape(answer: str) -> str:
    """The form of an answer, the same for answers that can stand in for each other.

    "day", "month" (with its year) and "year"; else with a number the canonical form with "#" for
    each number, "# people"; else "name" where every word but function words has a capital, or
    "words".
    """
    known = canonical(answer)
    if re.fullmatch(ISO_DAY, known):
        return "day"
    if _MONTH.fullmatch(known):
        return "month"
    if _YEAR.fullmatch(answer.strip()):  # as written: 1,500 is a number
        return "year"
    if _NUMBER.search(known):
        return _NUMBER.sub("#", known)
    words = [word for word in word_pattern().findall(answer) if word.lower() not in FUNCTION_WORDS]
    return NAME if words and all(word[0].isupper() for word in words) else WORDS


class WrongAnswers:
    """The answers of all questions, as wrong answers for each other."""

    def __init__(self, questions: Iterable[AmbiguousQuestion]) -> None:
        self._by: dict[tuple[str, ...], dict[str, None]] = defaultdict(dict)
        for question in questions:
            for each in question.documents:
                for kind in _kinds(question, each.answer):
                    self._by[kind][each.answer] = None

    def of_kind(self, question: AmbiguousQuestion, answer: str) -> Iterator[Sequence[str]]:
        """Answers of the kind of one, in groups, the nearest kind first."""
        for kind in _kinds(question, answer):
            yield [*self._by.get(kind, ())]


def _kinds(question: AmbiguousQuestion, answer: str) -> Iterator[tuple[str, ...]]:
    """What an answer is, the nearest first.

    The answer to a question that differs in the ambiguous name alone ("What sport is X associated
    with?"). Then with a number or a capital, to one of the same form ("What sport is ..."), and of
    the same shape to any question, if it has a number, or to one with the same "who" or "where".
    """
    asked = question.question.casefold()
    own = shape(answer)
    numeric = own not in {NAME, WORDS}
    name = question.ambiguous_entity.strip().casefold()
    if name and name in asked:
        yield "template", asked.replace(name, "\0"), own if numeric else ""
    if own != WORDS:
        yield "form", form(asked), own
    first = asked.split()[0]
    if numeric or (own == NAME and first in _TELLING):
        yield "shape", "" if numeric else first, own


def swapped(text: str, right: str, wrong: str, answers: Sequence[str]) -> str | None:
    """A document that gives a wrong answer wherever it gave the right one.

    The right answer must stand in it word for word. Where it is a long number with a unit ("3,559
    people") the number alone is replaced as well. None of the question's answers may be left, in
    any spelling.

    Args:
        text: The document.
        right: The answer that it gives.
        wrong: An answer of the same kind that it does not give.
        answers: All right answers of the question.

    Returns:
        The new document; None where the answer does not stand in it, or a right one would stay.
    """
    if not has_words(text, right):
        return None
    made = exchanged(text, right, wrong)
    old, new = (_WRITTEN.findall(each) for each in (right, wrong))
    if "#" in shape(right) and len(old) == len(new) == 1 and len(re.sub("[.,]", "", old[0])) > 2:
        made = exchanged(made, old[0], new[0])
    return None if any(says(made, each) for each in answers) else made
