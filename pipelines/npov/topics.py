"""Topics with arguments, and which are for training, development, test (NPOV, appendix A)."""

import difflib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
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

_TABLE_4: Mapping[Split, str] = {
    "train": """Animal Dissection; Concealed Handguns; Cuba Embargo; Filibuster; Free College;
        GMOs (Genetically Modified Organisms); Net Neutrality; Obesity; Vaping E-Cigarettes""",
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

_VARIANTS = """
    Concealed Guns: Concealed Handguns; Cuba: Cuba Embargo; Tuition-Free College: Free College;
    Genetically Modified Organisms: GMOs (Genetically Modified Organisms);
    Genetically Modified Food: GMOs (Genetically Modified Organisms);
    Genetically Modified Crops: GMOs (Genetically Modified Organisms);
    Vaping: Vaping E-Cigarettes; E-Cigarettes: Vaping E-Cigarettes;
    Refusing to Stand for the National Anthem: Kneeling during National Anthem;
    Kneeling for the Anthem: Kneeling during National Anthem;
    CBD for Pets: Marijuana (CBD) for Pets; Pit Bulls: Pit Bull Bans;
    Space Colonisation: Space Colonization; Standardised Tests: Standardized Tests;
    Student Debt: Student Loan Debt; Tablets and Textbooks: Tablets vs. Textbooks;
    Supreme Court Packing: US Supreme Court Packing; Court Packing: US Supreme Court Packing;
    Videogames: Video Games and Violence; Violent Video Games: Video Games and Violence;
    Socialism: American Socialism; Socialism in America: American Socialism;
    AI: Artificial Intelligence; Cellphones: Cell Phone Radiation;
    Corporate Tax: Corporate Tax Rate; DACA: DACA & Dreamers; Dreamers: DACA & Dreamers;
    DC Statehood: DC and Puerto Rico Statehood; Puerto Rico Statehood: DC and Puerto Rico Statehood;
    Drones: Drone Strikes Overseas; Drone Strikes: Drone Strikes Overseas;
    Hydraulic Fracturing: Fracking; Historic Statues: Historic Statue Removal;
    Confederate Statues: Historic Statue Removal;
    Compulsory National Service: Mandatory National Service;
    Over-the-Counter Birth Control: OTC Birth Control;
    Paid College Athletes: Paying College Athletes; Body Cameras: Police Body Cameras;
    Prescription Drug Prices: Prescription Drug Costs;
    Marijuana: Recreational Marijuana Legalization;
    Recreational Marijuana: Recreational Marijuana Legalization;
    Marijuana Legalization: Recreational Marijuana Legalization;
    Reparations: Reparations for Slavery; Healthcare: Right to Health Care;
    Right to Healthcare: Right to Health Care; Halloween: Saturday Halloween;
    Social Networking: Social Media; Socialsecurity: Social Security Privatization;
    Basic Income: Universal Basic Income; UBI: Universal Basic Income;
    Vaccines for Children: Vaccines for Kids; Vegetarian: Vegetarianism
"""
"""What people and scrapes of other years call these topics -> Table 4's name.

Those of one word must be the whole name, so "Videogames" has no blank.
"""


def _names(text: str) -> list[str]:
    return [" ".join(name.split()) for name in text.split(";")]


TABLE_4: Mapping[str, Split] = {
    name: split for split, names in _TABLE_4.items() for name in _names(names)
}
"""Topics of the paper and their splits (NPOV, Table 4)."""

_CALLED: dict[str, str] = {name: name for name in TABLE_4} | dict(
    pair.split(": ") for pair in _names(_VARIANTS)
)


def table_topic(name: str) -> str | None:
    """The topic of Table 4 that a name or title means; None outside the table.

    A title means a topic if it has all words of its name or of a variant: "Should zoos exist?" is
    Zoos. Endings, order, function words, case and signs make no difference. So a narrower debate
    counts as the topic that it is part of, and does not take its arguments to another split. Of
    several topics the one with the most words counts. A variant of one word ("Drones") must be the
    whole name.
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
    """A topic's split in Table 4; outside the table by a hash of its name, in the same shares."""
    name = table_topic(topic)
    if name is None:
        number = int.from_bytes(sha256(_letters(topic).encode()).digest())
        name = list(TABLE_4)[number % len(TABLE_4)]
    return TABLE_4[name]


def outside_table(topics: Sequence[Topic]) -> list[str]:
    """A remark that says where topics outside Table 4 belong; empty if there are none."""
    names: dict[Split, list[str]] = {"train": [], "dev": [], "test": []}
    for topic in topics:
        if table_topic(topic.topic) is None:
            names[split_of(topic.topic)].append(f"'{topic.topic}'")
    places = [
        f"{split} {len(some):,}: {', '.join(some[:NAMED])}" for split, some in names.items() if some
    ]
    if not places:
        return []
    count = sum(map(len, names.values()))
    return [
        f"{count:,} of {len(topics):,} topics are not in the paper's Table 4; a hash of the name "
        f"chose their split ({'; '.join(places)})"
    ]


def topic_key(topic: str) -> str:
    """The same for all names of a topic."""
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
    """Stems of names and of variants, longest first; what is in parentheses is left out."""
    found = []
    for called, topic in _CALLED.items():
        wanted = _stems(re.sub(r"\(.*?\)", "", called))
        if len(wanted) > 1 or called == topic:
            found.append((wanted, topic))
    return sorted(found, key=lambda pair: -len(pair[0]))


SAMPLE_TOPICS = Path(__file__).parent / "samples" / "topics.jsonl"

NAMED = 3
"""Topics that a message names."""


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

    return [f"'{each.topic}'" for each in nlargest(NAMED, topics, key=likeness)]


def in_words(text: str) -> str:
    """A text's words alone: case, punctuation and white space make no difference."""
    return " ".join(words(text))
