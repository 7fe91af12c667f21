"""Step 1 of the study: topics for training, development and test (NPOV, 2.2, appendix A)."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Literal

from pydantic import BaseModel

from pipelines.data import procon
from pipelines.data.procon import Topic
from pipelines.errors import InputError
from pipelines.npov.example import AnnotatedExample, Perspectives
from pipelines.npov.settings import SAMPLES
from pipelines.text.words import stems, words

Split = Literal["train", "dev", "test"]

NAMED = 3
"""Most topics that a message names."""

_KNOWN: Mapping[Split, Mapping[str, Sequence[str]]] = json.loads(
    (SAMPLES / "table_4.json").read_text("utf-8")
)
"""The topics of each split, with their names as used by people and in scrapes of other years.

A one-word variant must be the whole name, so "Socialsecurity" is written without a space.
"""

TABLE_4: Mapping[str, Split] = {name: split for split, names in _KNOWN.items() for name in names}
"""Topics of the paper and their splits (NPOV, Table 4)."""

_CALLED: Mapping[str, str] = {name: name for name in TABLE_4} | {
    variant: name
    for names in _KNOWN.values()
    for name, variants in names.items()
    for variant in variants
}


def table_topic(name: str) -> str | None:
    """The topic of Table 4 that a name or title refers to; None outside the table.

    A title refers to a topic if it has all words of the topic's name or of a variant: "Should zoos
    exist?" is Zoos. Endings, order, function words, case and punctuation are ignored. A narrower
    debate thus counts as the topic it belongs to, which keeps their arguments in one split. If
    several topics match, the one with the most words wins. A one-word variant ("Drones") must be
    the whole name.
    """
    whole = _by_letters().get(_letters(name))
    if whole is not None:
        return whole
    given = _stems(name)
    for wanted, topic in _by_words():
        if wanted <= given:
            return topic
    return None


def split_of(topic: str) -> Split:
    """A topic's split in Table 4, or one chosen by a hash of its name, in the same shares."""
    name = table_topic(topic)
    if name is None:
        number = int.from_bytes(sha256(_letters(topic).encode()).digest())
        name = list(TABLE_4)[number % len(TABLE_4)]
    return TABLE_4[name]


def topics_by_split(data: Path) -> dict[Split, list[Topic]]:
    """The topics of a file, split as in Table 4; InputError if a split has none."""
    topics: dict[Split, list[Topic]] = {"train": [], "dev": [], "test": []}
    for topic in procon.read(data):
        topics[split_of(topic.topic)].append(topic)
    for split, split_topics in topics.items():
        if not split_topics:
            raise InputError(f"{data} has no topic of the {split} split; add one")
    return topics


def counts(topics: Mapping[Split, Sequence[Topic]]) -> str:
    """Number of topics in each split, in words."""
    return ", ".join(f"{len(split_topics):,} {split}" for split, split_topics in topics.items())


def outside_table(topics: Sequence[Topic]) -> list[str]:
    """A remark on the split of topics outside Table 4; empty without such topics."""
    names: dict[Split, list[str]] = {"train": [], "dev": [], "test": []}
    for topic in topics:
        if table_topic(topic.topic) is None:
            names[split_of(topic.topic)].append(f"'{topic.topic}'")
    places = [
        f"{split} {len(outside):,}: {', '.join(outside[:NAMED])}"
        for split, outside in names.items()
        if outside
    ]
    if not places:
        return []
    count = sum(map(len, names.values()))
    return [
        f"{count:,} of {len(topics):,} topics are not in the paper's Table 4; a hash of the name "
        f"chose their split ({'; '.join(places)})"
    ]


class Subject(BaseModel, frozen=True):
    """A controversial topic: the user's question, and its name if known."""

    question: str
    topic: str | None = None

    @property
    def keys(self) -> set[str]:
        """Keys unique to the topic: its question, and one form of its name for all variants."""
        keys = {f"question {in_words(self.question)}"}
        return keys if self.topic is None else keys | {f"topic {topic_key(self.topic)}"}


def by_topic(
    annotated: Sequence[AnnotatedExample], topics: Sequence[Topic]
) -> dict[str, list[AnnotatedExample]]:
    """Annotated responses by their topics, found by name or question.

    Raises:
        InputError: A response matches no topic, so it is unknown whether it may be used for
            training, and which arguments it leaves unused.
    """
    names = {
        key: topic.topic
        for topic in topics
        for key in Subject(question=topic.question, topic=topic.topic).keys
    }
    responses: dict[str, list[AnnotatedExample]] = {}
    for response in annotated:
        subject = Subject(question=response.example.question, topic=response.example.topic)
        name = next((names[key] for key in sorted(subject.keys) if key in names), None)
        if name is None:
            raise InputError(
                f"the annotated response '{response.id}' matches no topic in --data: its question "
                f"is '{response.example.question}'; add the topic, or leave the response out"
            )
        responses.setdefault(name, []).append(response)
    return responses


def topic_key(topic: str) -> str:
    """A key that is equal for all names of a topic."""
    return table_topic(topic) or _letters(topic)


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name.lower())


def _stems(name: str) -> frozenset[str]:
    """Stems of a name's content words; Pokémon may have lost its accent."""
    return frozenset(stems(name.replace("é", "e")))


@cache
def _by_letters() -> Mapping[str, str]:
    return {_letters(called): topic for called, topic in _CALLED.items()}


@cache
def _by_words() -> list[tuple[frozenset[str], str]]:
    """Stems of names and of variants, longest first; text in parentheses is left out."""
    pairs = []
    for called, topic in _CALLED.items():
        wanted = _stems(re.sub(r"\(.*?\)", "", called))
        if len(wanted) > 1 or called == topic:
            pairs.append((wanted, topic))
    return sorted(pairs, key=lambda pair: -len(pair[0]))


def retrieve(
    topics: Sequence[Topic], query: str, *, per_side: int, seed: int | None = None
) -> Perspectives:
    """The perspectives on a query (NPOV, sections 2.1 and 2.2), with `per_side` arguments per side.

    With a seed they are drawn at random; without one, the first are taken. The draw for a topic
    does not depend on the other topics.

    Raises:
        InputError: No topic fits, or it has too few arguments.
    """
    topic = topic_of(topics, query)
    most = min(len(topic.pro), len(topic.con))
    if not 1 <= per_side <= most:
        raise InputError(
            f"the topic '{topic.topic}' has {len(topic.pro)} arguments for and "
            f"{len(topic.con)} against; take 1 to {most} of each side, not {per_side}"
        )
    draw = None if seed is None else Random(f"{seed} {topic.topic}")  # noqa: S311 - no secret
    pro, con = (
        tuple(draw.sample(arguments, per_side)) if draw else arguments[:per_side]
        for arguments in (topic.pro, topic.con)
    )
    return Perspectives(question=topic.question, topic=topic.topic, pro=pro, con=con)


def topic_of(topics: Sequence[Topic], query: str) -> Topic:
    """The topic with this question, or the one whose question and name share most stems with it.

    Ties go to the topic whose shared stems are rarest among topics ("gun" says more than "legal"),
    then to the first. Case, punctuation and white space of a question are ignored.

    Raises:
        InputError: No topic shares a content word with the query.
    """
    asked = in_words(query)
    for topic in topics:
        if asked and in_words(topic.question) == asked:
            return topic
    wanted = set(stems(query))
    shared = [
        wanted & set(stems(f"{candidate.question} {candidate.topic}")) for candidate in topics
    ]
    topics_with = Counter(stem for common in shared for stem in common)
    scores = [
        (len(common), sum(1 / topics_with[stem] for stem in sorted(common))) for common in shared
    ]
    best = max(scores)
    if best[0] == 0:
        raise InputError(
            f"no topic shares a content word with '{query}'; the nearest are "
            f"{', '.join(_nearest(topics, query))}; ask one of their questions, or name another "
            "file of topics"
        )
    return topics[scores.index(best)]


def _nearest(topics: Sequence[Topic], query: str) -> list[str]:
    """Names of the topics with the most similarly written questions, quoted."""
    names = {in_words(topic.question): topic.topic for topic in topics}
    near = get_close_matches(in_words(query), names, n=NAMED, cutoff=0)
    return [f"'{names[question]}'" for question in near]


def in_words(text: str) -> str:
    """A text's words alone, ignoring case, punctuation and white space."""
    return " ".join(words(text))
