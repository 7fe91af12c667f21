"""Citation policies: what a sentence must cite to count as cited (ConRAG, section 2, cite)."""

import re
from collections.abc import Sequence
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, Field

from pipelines.conrag.answer import SIDE, AnswerSentence, Evidence, has_sides
from pipelines.conrag.packet import PANEL
from pipelines.conrag.tagged import SIDES
from pipelines.option import Option
from pipelines.retrieval.chunks import document_of
from pipelines.text.citations import cut_out, cuts

_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?")
_BRACKETS = str.maketrans("[【［]】］", "((()))")


class CitationPolicy(BaseModel, frozen=True, extra="forbid"):
    """What is asked of every sentence that says something of the evidence.

    The paper's protocol asks for no more than a citation; it names both rules as adaptations
    (ConRAG, section 2, citation binding). One source asks for no more than a citation.
    """

    numbers: Annotated[
        Literal["cited", "free"],
        Option(
            "Whether every number of a sentence must stand in a passage that it cites (`cited`), "
            "or need not (`free`).",
            panel=PANEL,
        ),
    ] = "cited"
    sources: Annotated[
        int,
        Field(ge=1),
        Option(
            "Independent sources (sites, or documents) that a sentence must cite to count as "
            "cited.",
            panel=PANEL,
        ),
    ] = 1


def problems(
    sentence: AnswerSentence, table: Sequence[Evidence], policy: CitationPolicy
) -> tuple[str, ...]:
    """What is wrong with a sentence's citations; nothing, where it may count as cited.

    Every sentence cites passages of the packet that take a side, and no others, unless none does.
    One that speaks of a side cites that side alone; one that speaks of the disagreement cites both.
    A sentence of no evidence needs none, and one without words is none. The policy may ask for
    more.
    """
    if not sentence.text:
        return ("says nothing",)
    rows = {each.number: each for each in table}
    unknown = [number for number in sentence.cites if number not in rows]
    if unknown:
        return (f"cites [{unknown[0]}], which is not in the evidence",)
    cited = [rows[number] for number in sentence.cites]
    if not cited:
        return () if sentence.about == "none" else ("cites nothing",)
    found = []
    idle = [each.number for each in cited if each.relation not in SIDES]
    if idle and has_sides(table):
        found.append(f"cites [{idle[0]}], which takes no side")
    sides = {each.relation for each in cited} & set(SIDES)
    if sentence.about == "conflict" and len(sides) < len(SIDES):
        found.append("speaks of the disagreement and cites one side alone")
    wanted = SIDE.get(sentence.about)
    if wanted and sides - {wanted}:
        found.append("cites the other side")
    if policy.numbers == "cited":
        absent = _numbers(sentence.text) - _numbers(" ".join(e.passage.as_read() for e in cited))
        found += [f"cites no passage with the number {number}" for number in sorted(absent)]
    independent = {source(each) for each in cited}
    if len(independent) < policy.sources:
        found.append(f"cites {len(independent)} sources, {policy.sources} are asked for")
    return tuple(found)


def unmarked(text: str) -> str:
    """A text in one line, without citations: "[3]", "[1, 2]", "[Source 1]".

    What models and documents write must not pass for a citation that was checked.
    """
    line = " ".join(text.split())
    for _ in range(3):  # "[1[2]]" leaves one
        line = cut_out(line, cuts(line, numbered=False))[0]
    return (line.translate(_BRACKETS) if any(cuts(line)) else line).strip()


def source(evidence: Evidence) -> str:
    """Where a passage comes from: its site where it has a URL, else the document it is of."""
    passage = evidence.passage
    try:
        site = urlsplit(passage.url).hostname if passage.url else None
    except ValueError:  # no URL, whatever it calls itself
        site = None
    return site or document_of(passage.id)


def _numbers(text: str) -> set[str]:
    return {match.replace(",", "") for match in _NUMBER.findall(text)}
