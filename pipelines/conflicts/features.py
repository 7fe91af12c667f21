"""Numbers that the type of a conflict is told from, in groups that can be left out."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import log1p
from typing import Final, Literal

from pipelines.conflicts.dates import dates_in, spread_years, written
from pipelines.conflicts.question import Query
from pipelines.conflicts.structure import Structure, mean_probability
from pipelines.evidence.judgement import Relation
from pipelines.text.question_form import question_form
from pipelines.text.words import content_words

Group = Literal["question", "stances", "relations", "answers", "dates", "wording", "collection"]

_FEATURES: Final[dict[Group, dict[str, str]]] = {
    # The form of the question.
    "question": {
        "yes_no": "a question of yes or no",
        "quantity": "a question of how many",
        "time": "a question of when",
        "person": "a question of who",
        "place": "a question of where",
        "recent": "words that ask for the latest",
        "superlative": "a superlative",
        "length": "length of the question",
    },
    # How sources stand to a question of yes or no.
    "stances": {
        "kappa": "conflict score of the sources",
        "refuting": "sources against the statement",
        "indifferent": "sources that say nothing of it",
    },
    # How their answers stand to each other.
    "relations": {
        "agreeing": "answers that support each other",
        "contradicting": "answers that contradict each other",
        "answering": "sources that answer at all",
    },
    # Whether answers name the same.
    "answers": {
        "commonest": "how many answers name the same",
        "runner_up": "how many name the second",
    },
    # When sources were written, and of when they speak.
    "dates": {
        "spread": "years between the sources",
        "years": "years named in the sources",
        "recent_years": "how many of them are recent",
        "as_of": "phrases like 'as of'",
    },
    "wording": {
        "hedges": "words of doubt and debate",
        "conditions": "words like 'depends' and 'varies'",
    },
    # How the question is spelt, and what was kept of its sources.
    "collection": {
        "capitals": "a capital in the question",
        "question_mark": "a question mark",
        "dated": "sources with a date",
        "sources": "how many sources there are",
    },
}

GROUPS: Final[dict[Group, tuple[str, ...]]] = {
    group: tuple(meanings) for group, meanings in _FEATURES.items()
}
"""Group -> its features."""

MEANING: Final[dict[str, str]] = {
    name: meaning for meanings in _FEATURES.values() for name, meaning in meanings.items()
}
"""Feature -> what it is, in words."""

LEARNT: Final[tuple[Group, ...]] = tuple(group for group in GROUPS if group != "collection")
"""What a classifier learns from unless told otherwise.

In CONFLICTS the group "collection" tells from which collection a question was taken, and types go
with collections (appendix A). That says nothing of other questions. It is there to measure how far
one gets so.
"""

RECENT_YEARS = 3
"""A year is recent that lies at most so far before that of the newest source."""

_AS_OF = re.compile(r"\b(?:as of|so far|to date|currently|(?:last )?updated|now)\b", re.IGNORECASE)
_HEDGES = re.compile(
    r"\b(?:however|although|but|others?|some|debat\w+|controvers\w+|disagree\w*|argu\w+|"
    r"stud(?:y|ies)|evidence|research\w*|(?-i:may)|might|could|claim\w*|opinions?|believe\w*)\b",
    re.IGNORECASE,
)
_CONDITIONS = re.compile(
    r"\b(?:depend(?:s|ing|ed)?|var(?:y|ies|ied|ying|iable)|differ(?:s|ent|ently|ence|ences)?|"
    r"each|either|respectively|usually|typically|generally|types?|kinds?)\b",
    re.IGNORECASE,
)
_VALUE = re.compile(r"\d[\d,.]*\d|\d|(?<![.!?] )(?<!^)\b[A-Z]\w+")


Features = Mapping[str, float | None]
"""Feature -> a finite number; None where the sources do not say. What is not known has no part in a
prediction: it is taken for the mean of the training data."""


def features(query: Query, found: Structure) -> dict[str, float | None]:
    """The features of a query, all groups, in the order of `MEANING`."""
    commonest, runner_up = _shared_values(query.query, found.answers)
    return {
        **{name: float(value) for name, value in asdict(question_form(query.query)).items()},
        "kappa": found.kappa if found.stances else None,
        "refuting": mean_probability(found.stances, Relation.CONTRADICTS),
        "indifferent": mean_probability(found.stances, Relation.IRRELEVANT),
        "agreeing": mean_probability(found.relations, Relation.SUPPORTS),
        "contradicting": mean_probability(found.relations, Relation.CONTRADICTS),
        "answering": sum(each is not None for each in found.answers) / len(found.answers),
        "commonest": commonest,
        "runner_up": runner_up,
        **_dates(query),
        "hedges": _rate(_HEDGES, query),
        "conditions": _rate(_CONDITIONS, query),
        "capitals": float(query.query != query.query.lower()),
        "question_mark": float("?" in query.query),
        "dated": sum(written(source) is not None for source in query.sources) / len(query.sources),
        "sources": log1p(len(query.sources)),
    }


def _shared_values(query: str, answers: Sequence[str | None]) -> tuple[float, float]:
    """Shares of the sources whose answers name the commonest number or name, and the second one.

    What the question itself names is no answer to it.
    """
    asked = content_words(query)
    counts = Counter(
        value
        for answer in answers
        for value in {
            each.lower().replace(",", "").rstrip(".") for each in _VALUE.findall(answer or "")
        }
        - asked
    )
    first, second = (*sorted(counts.values(), reverse=True), 0, 0)[:2]
    return first / len(answers), second / len(answers)


def _dates(query: Query) -> dict[str, float | None]:
    own = [date for source in query.sources if (date := written(source))]
    named = [date.year for source in query.sources for date in dates_in(source.text)]
    newest = max((date.year for date in own), default=0)
    past = [year for year in named if year <= newest]
    recent = sum(newest - RECENT_YEARS <= year for year in past)
    spread = spread_years(own)
    return {
        "spread": None if spread is None else log1p(spread),
        "years": log1p(len(named) / len(query.sources)),
        "recent_years": recent / len(past) if past else None,
        "as_of": _rate(_AS_OF, query),
    }


def _rate(pattern: re.Pattern[str], query: Query) -> float:
    """Matches for every hundred words of the sources."""
    words = sum(len(source.text.split()) for source in query.sources)
    return 100 * sum(len(pattern.findall(source.text)) for source in query.sources) / words
