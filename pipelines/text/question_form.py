"""What the form of a question tells: whether it asks for yes or no, a number, the latest."""

import re
from dataclasses import dataclass
from math import log

from pipelines.text.declarative import affirmed
from pipelines.text.words import words

_QUANTITY = re.compile(r"\bhow (?:many|much|old|long|tall|high|big|far)\b|\b(?:cost|number) of\b")
_TIME = re.compile(r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|time)\b")
_PERSON = re.compile(r"\bwho(?:m|se)?\b")
_PLACE = re.compile(r"\bwhere\b|\b(?:what|which) (?:city|country|state|town|place)\b")
_RECENT = re.compile(
    r"\b(?:latest|current|currently|(?:most )?recent(?:ly)?|newest|upcoming|next|now|today|"
    r"so far|nowadays|(?:this|last) (?:year|month|week|season))\b|\bthis year's\b"
)
_SUPERLATIVE = re.compile(r"\b(?:most|least|best|worst|first|last|\w{3,}est)\b")
_NO_SUPERLATIVES = frozenset(
    """
    arrest attest behest bequest budapest chest conquest contest crest detest digest everest forest
    guest harvest honest ingest inquest interest invest manifest midwest modest northwest priest
    protest quest request southwest suggest tempest unrest
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list
)


@dataclass(frozen=True)
class QuestionForm:
    """What a question asks for, and how it is put.

    Attributes:
        person: For a person, or whoever does something.
        recent: Its words say that the answer changes: "latest", "current", "this year".
        superlative: It asks for the most of something.
        length: Natural logarithm of 1 + its words, function words aside. Short questions leave
            more open.
    """

    yes_no: bool
    quantity: bool
    time: bool
    person: bool
    place: bool
    recent: bool
    superlative: bool
    length: float


def question_form(query: str) -> QuestionForm:
    """Read the form off the words; letter case and the question mark have no part in it."""
    asked = query.lower()
    yes_no = affirmed(query) is not None
    return QuestionForm(
        yes_no=yes_no,
        quantity=not yes_no and bool(_QUANTITY.search(asked)),
        time=not yes_no and bool(_TIME.search(asked)),
        person=not yes_no and bool(_PERSON.search(asked)),
        place=not yes_no and bool(_PLACE.search(asked)),
        recent=bool(_RECENT.search(asked)),
        superlative=not _NO_SUPERLATIVES.issuperset(_SUPERLATIVE.findall(asked)),
        length=log(1 + len(words(query))),
    )
