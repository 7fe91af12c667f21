"""A knowledge base of curated arguments, and what it holds on a query: found the same every time.

The paper takes retrieval as given (NPOV, section 2.1): topics of ProCon.org whose leading questions
are the queries, and arguments drawn from both sides.
"""

import difflib
from collections import Counter
from collections.abc import Sequence
from heapq import nlargest
from pathlib import Path
from random import Random

from pipelines.data.procon import Topic
from pipelines.errors import InputError
from pipelines.npov.example import Perspectives
from pipelines.npov.rouge import stems
from pipelines.text.words import words

SAMPLE_TOPICS = Path(__file__).parent / "samples" / "topics.jsonl"

NEAREST = 3
"""Topics that are named where none matches."""


def retrieve(
    topics: Sequence[Topic], query: str, *, per_side: int, seed: int | None = None
) -> Perspectives:
    """The perspectives on a query (NPOV, sections 2.1 and 2.2), with so many arguments per side.

    A seed draws them; without it they are the first ones. What is drawn of a topic does not depend
    on the other topics.

    Raises:
        InputError: No topic fits, or it has too few arguments.
    """
    topic = topic_of(topics, query)
    most = min(len(topic.pro), len(topic.con))
    if not 1 <= per_side <= most:
        raise InputError(
            f"the topic '{topic.topic}' has {len(topic.pro)} arguments for and "
            f"{len(topic.con)} against; of each side {per_side} cannot be taken, but 1 to {most}"
        )
    pro, con = topic.pro[:per_side], topic.con[:per_side]
    if seed is not None:
        draw = Random(f"{seed} {topic.topic}")  # noqa: S311 - nothing is kept secret
        pro = tuple(draw.sample(topic.pro, per_side))
        con = tuple(draw.sample(topic.con, per_side))
    return Perspectives(question=topic.question, topic=topic.topic, pro=pro, con=con)


def topic_of(topics: Sequence[Topic], query: str) -> Topic:
    """The topic with this question; else the one whose question and name share most of its stems.

    Of several that share as many, the one whose shared stems are in the fewest topics: "gun" says
    more than "legal". Of equals still the first. Case, punctuation and white space make no
    difference to a question.

    Raises:
        InputError: No topic shares a content word with the query.
    """
    asked = in_words(query)
    for topic in topics:
        if asked and in_words(topic.question) == asked:
            return topic
    wanted = set(stems(query))
    shared = [wanted & set(stems(f"{each.question} {each.topic}")) for each in topics]
    topics_with = Counter(stem for own in shared for stem in own)
    scores = [(len(own), sum(1 / topics_with[stem] for stem in sorted(own))) for own in shared]
    best = max(scores)
    if best[0] == 0:
        raise InputError(
            f"no topic shares a content word with '{query}'; the nearest are "
            f"{', '.join(_nearest(topics, query))}; ask one of their questions, or name another "
            "file of topics"
        )
    return topics[scores.index(best)]


def _nearest(topics: Sequence[Topic], query: str) -> list[str]:
    """Names of the topics whose questions are written most alike, quoted."""

    def likeness(topic: Topic) -> float:
        return difflib.SequenceMatcher(None, in_words(topic.question), in_words(query)).ratio()

    return [f"'{each.topic}'" for each in nlargest(NEAREST, topics, key=likeness)]


def in_words(text: str) -> str:
    """A text's words alone: case, punctuation and white space make no difference."""
    return " ".join(words(text))
