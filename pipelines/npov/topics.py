"""Topics with arguments, and which are for training, development, test (NPOV, appendix A)."""

import difflib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import nlargest
from pathlib import Path
from random import Random
from typing import Literal

from pipelines.data.procon import Topic
from pipelines.errors import InputError
from pipelines.npov.example import Perspectives
from pipelines.npov.rouge import stems
from pipelines.text.words import words

Split = Literal["train", "dev", "test"]

_TOPICS: Mapping[Split, str] = {
    "train": """Animal Dissection; Concealed Handguns; Cuba Embargo; Filibuster; Free College;
        GMOs; Net Neutrality; Obesity; Vaping E-Cigarettes""",
    "dev": """Binge-Watching; Cancel Culture; Churches and Taxes; College Education; Corporal
        Punishment; Daylight Saving Time; Dress Codes; Electoral College; Employer Vaccine Mandates;
        Fighting in Hockey; Golf; Homework; Kneeling during National Anthem; Marijuana (CBD) for
        Pets; Olympics; Penny; Pit Bull Bans; Pokémon; School Vouchers; Space Colonization;
        Standardized Tests; Student Loan Debt; Tablets vs. Textbooks; Teacher Tenure; Uber & Lyft;
        US Supreme Court Packing; Video Games and Violence; Zoos""",
    "test": """Abortion; American Socialism; Animal Testing; Artificial Intelligence; Banned Books;
        Bottled Water Ban; Cell Phone Radiation; Climate Change; Corporate Tax Rate; DACA &
        Dreamers; DC and Puerto Rico Statehood; Defund the Police; Drone Strikes Overseas; Fracking;
        Gold Standard; Gun Control; Historic Statue Removal; Mandatory National Service; Minimum
        Wage; OTC Birth Control; Paying College Athletes; Police Body Cameras; Prescription Drug
        Costs; Private Prisons; Recreational Marijuana Legalization; Reparations for Slavery; Right
        to Health Care; Sanctuary Cities; Saturday Halloween; School Uniforms; Social Media; Social
        Security Privatization; Universal Basic Income; Vaccines for Kids; Vegetarianism""",
}

_SAID_OTHERWISE = """
    Concealed guns: Concealed Handguns; Corporate tax: Corporate Tax Rate;
    Drones: Drone Strikes Overseas; Healthcare: Right to Health Care;
    Marijuana: Recreational Marijuana Legalization; Social networking: Social Media;
    Social security: Social Security Privatization; Vegetarian: Vegetarianism;
    Bottled water should be banned: Bottled Water Ban;
    Corporal punishment be used in K-12 schools: Corporal Punishment;
    Fighting should be allowed in hockey: Fighting in Hockey; Homework is beneficial: Homework;
    Net neutrality should be restored: Net Neutrality;
    Parents or other adults should be able to ban books from schools and libraries: Banned Books;
    Refusing to stand for the National Anthem is an appropriate form of protest:
        Kneeling during National Anthem;
    Sanctuary cities are beneficial: Sanctuary Cities;
    School vouchers should be encouraged: School Vouchers;
    Student loan debt should be easier to discharge in bankruptcy: Student Loan Debt;
    The penny should stay in circulation: Penny;
    The United States should use the electoral college in presidential elections:
        Electoral College;
    We should support universal basic income: Universal Basic Income
"""
"""What scrapes of other years call these topics, by address or by title -> table 4's name."""


def split_of(topic: str) -> Split | None:
    """Where a topic belongs; None of a topic that table 4 has not.

    The name may be table 4's or that of a scrape of the site; capitals, blanks and signs do not
    matter.
    """
    return _SPLITS.get(topic_key(topic))


def topic_key(topic: str) -> str:
    """The same of all names of a topic: table 4's, and those of scrapes of the site."""
    plain = _plain(topic)
    return _SAME.get(plain, plain)


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name.lower())


_SPLITS = {_plain(name): split for split, names in _TOPICS.items() for name in names.split(";")}
_PAIRS = (pair.split(":") for pair in _SAID_OTHERWISE.split(";"))
_SAME = {_plain(other): _plain(name) for other, name in _PAIRS}


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
