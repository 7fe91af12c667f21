"""Citation policies: what a sentence must cite to count as cited (ConRAG, section 2, cite)."""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

from pipelines.conrag.answer import AnswerSentence, Evidence
from pipelines.evidence.judgement import Relation

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class CitationPolicy(BaseModel):
    """What is asked of every sentence that says something of the evidence.

    Attributes:
        numbers: Whether each number of a sentence must stand in a passage that it cites.
        sources: Least independent sources; 1 asks for no more than a citation.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    numbers: bool = True
    sources: int = Field(1, ge=1)


def problems(
    sentence: AnswerSentence, table: Sequence[Evidence], policy: CitationPolicy
) -> tuple[str, ...]:
    """What is wrong with a sentence's citations; nothing, where it may count as cited.

    Every sentence cites a passage of the packet that takes a side; one that speaks of the
    disagreement cites both sides. A sentence of no evidence needs none.

    Args:
        sentence: With its citations.
        table: The evidence that it may cite.
        policy: What is asked beyond that.
    """
    rows = {each.number: each for each in table}
    unknown = [number for number in sentence.cites if number not in rows]
    if unknown:
        return (f"cites [{unknown[0]}], which is not in the evidence",)
    cited = [rows[number] for number in sentence.cites]
    if not cited:
        return () if sentence.about == "none" else ("cites nothing",)
    found = []
    sides = {each.relation for each in cited} & {Relation.SUPPORTS, Relation.CONTRADICTS}
    if not sides:
        found.append("cites no passage that takes a side")
    if sentence.about == "conflict" and len(sides) < 2:
        found.append("speaks of the disagreement and cites one side alone")
    wanted = Relation.SUPPORTS if sentence.about == "support" else Relation.CONTRADICTS
    if sentence.about in ("support", "refute") and sides and wanted not in sides:
        found.append("cites the other side alone")
    if policy.numbers:
        absent = _numbers(sentence.text) - _numbers(" ".join(e.passage.as_read() for e in cited))
        found += [f"cites no passage with the number {number}" for number in sorted(absent)]
    independent = {source(each) for each in cited}
    if len(independent) < policy.sources:
        found.append(f"cites {len(independent)} sources, {policy.sources} are asked for")
    return tuple(found)


def source(evidence: Evidence) -> str:
    """Where a passage comes from, as far as it says: its site, else its title, else itself."""
    passage = evidence.passage
    site = urlsplit(passage.url).hostname if passage.url else None
    return site or passage.title or passage.id


def _numbers(text: str) -> set[str]:
    return {match.replace(",", "").rstrip(".") for match in _NUMBER.findall(text)}
