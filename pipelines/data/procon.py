"""Reads topics with arguments for and against, as ProCon.org has them.

Two formats, told apart by their fields. Scrapes of procon.org (one of them is in the PERSPECTRUM
repository, `procon.json`): one list of objects with `claim_title`, `url`, `perspectives_for` and
`perspectives_against`, each with a `perspective_title`. A user's lines have `topic`, `question`,
`pro` and `con` (lists of arguments), and optionally `sources`. A scrape's titles are the arguments,
as in the paper (NPOV, appendix A); explanations are not read.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel

from pipelines.data.records import NonEmpty, Text
from pipelines.data.released import Entry, cleaned, entries, record
from pipelines.errors import InputError
from pipelines.text.words import FUNCTION_WORDS

NAME = "ProCon"

LEAST_WORDS = 3
"""Titles of fewer words are headings ("Character:"), not arguments."""


def _once(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """Arguments without repetitions, ignoring white space and case."""
    distinct: dict[str, str] = {}
    for argument in arguments:
        distinct.setdefault(" ".join(argument.split()).lower(), argument)
    return tuple(distinct.values())


Arguments = Annotated[NonEmpty[Text], AfterValidator(_once)]


class Topic(BaseModel, frozen=True, extra="forbid"):
    """A controversial topic, with a name unique in its file and a user's question.

    `sources` names works behind the arguments for readers to check; no model sees them.
    """

    topic: Text
    question: Text
    pro: Arguments
    con: Arguments
    sources: tuple[Text, ...] = ()


class _Perspective(BaseModel):
    perspective_title: str


class _Scraped(BaseModel):
    claim_title: Text
    url: str = ""
    perspectives_for: tuple[_Perspective, ...]
    perspectives_against: tuple[_Perspective, ...]


def read(path: Path) -> list[Topic]:
    """The topics of a file, in its order; scraped ones without an argument for a side are left out.

    Raises as `read_records`, also for a repeated topic, or if no topic has arguments on both sides.
    """
    topics = [topic for entry in entries(path) if (topic := _topic(entry)) is not None]
    if not topics:
        raise InputError(f"{path} has no topic with arguments on both sides; name another file")
    seen: set[str] = set()
    for topic in topics:
        if topic.topic in seen:
            raise InputError(f"{path}: the topic '{topic.topic}' appears twice; keep one of them")
        seen.add(topic.topic)
    return topics


def _topic(entry: Entry) -> Topic | None:
    given = entry.value if isinstance(entry.value, dict) else {}
    if "claim_title" not in given:
        return record(entry, Topic, NAME)
    scraped = record(entry, _Scraped, NAME)
    pro, con = _arguments(scraped.perspectives_for), _arguments(scraped.perspectives_against)
    if not pro or not con:
        return None
    title = " ".join(scraped.claim_title.split()).rstrip(".")
    host = urlsplit(scraped.url).hostname or ""
    name = host.removesuffix(".procon.org") if host.endswith(".procon.org") else ""
    named = name and name != "www"
    return Topic(
        topic=name.replace("-", " ") if named else title, question=as_question(title), pro=pro,
        con=con,
    )  # fmt: skip


def _arguments(perspectives: Sequence[_Perspective]) -> tuple[str, ...]:
    titles = cleaned(
        " ".join(perspective.perspective_title.split()) for perspective in perspectives
    )
    return tuple(
        title for title in titles if len(title.split()) >= LEAST_WORDS and not title.endswith(":")
    )


def as_question(title: str) -> str:
    """A title that is a claim, as a question: "Golf is a sport" becomes "Is golf a sport?".

    If its verb is not clear, the title is quoted: 'Is it true that "..."?'.
    """
    match = re.fullmatch(
        r"((?:(?!\b(?:is|are|should|does|do|was|can)\b).)+?) (is|are|should|was|can) (.+)", title
    )
    if match is None or re.search(r"\b(?:that|which|who|aka|use of)\b", match[1]):
        return f"Is it true that “{title}”?"
    subject, verb, rest = match.groups()
    first, _, others = subject.partition(" ")
    # A name keeps its capital; "the", "people" and the like do not.
    named = (others[:1].isupper() or first.isupper()) and first.lower() not in FUNCTION_WORDS
    lowered = first if named else first.lower()
    return f"{verb.capitalize()} {' '.join(filter(None, [lowered, others]))} {rest}?"
