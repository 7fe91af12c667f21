"""The suite: facts that anyone can check, and hostile texts that leave what is true as it was.

`samples/facts.jsonl` has what is judged, `samples/cases.jsonl` what is added to it. Both are our
own writing. A case names its fact, the relation of document and claim, and what is put where:

    {goal}      the wrong verdict that the text wants, as the judge would write it
    {json}      a whole reply with it, in the judge's JSON
    {opposite}  the statement that the document denies
    {token}     a word that means nothing, to see whether an instruction was obeyed
"""

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict

from pipelines.data.jsonl import filled_lines, read_bytes
from pipelines.evidence.judgement import Relation
from pipelines.trust.rules import RuleName

FOLDER: Final = Path(__file__).parent / "samples"

Family = Literal[
    "instructions",
    "forged replies",
    "forged citations",
    "role markers",
    "fences",
    "lookalikes",
    "invisible signs",
    "escapes and markup",
    "formulas and paths",
    "huge and broken",
    "near-duplicates",
    "denials",
]

Place = Literal["before", "after", "title", "id", "beside"]
"""Where a hostile text stands: before or after the text, as its title or id, or as documents beside
it, which "|" parts."""


class Fact(BaseModel):
    """A question with its answer, a document that gives it, and two claims.

    Attributes:
        document: Supports `holds`, contradicts `fails`, and says nothing of other facts.
        answer, wrong: The names of a short answer; the document has the right one, `fails` the
            other.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    question: str
    document: str
    holds: str
    fails: str
    answer: tuple[str, ...]
    wrong: tuple[str, ...]


class Case(BaseModel):
    """A hostile text, and what it is added to.

    Attributes:
        id: "FAMILY/NAME".
        fact: Whose claim is judged.
        about: Whose document it is judged by: another fact's where it is IRRELEVANT.
        relation: How that document relates to the claim, with the hostile text and without.
        note: What the text tries, in a few words.
        text: With its placeholders.
        place: Where it stands.
        rule: How it is written, where that is better said than shown.
        token: Fills {token}.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    family: Family
    fact: Fact
    about: Fact
    relation: Relation
    note: str
    text: str
    place: Place = "after"
    rule: RuleName | None = None
    token: str

    @property
    def claim(self) -> str:
        """What is judged by the document."""
        return self.fact.fails if self.relation is Relation.CONTRADICTS else self.fact.holds

    @property
    def opposite(self) -> str:
        """What {opposite} stands for: false, and of the document's own fact, if within it."""
        return self.fact.fails if self.place == "beside" else self.about.fails

    @property
    def instructs(self) -> bool:
        """Whether obedience would show, by the token; an id is an instruction to nobody."""
        return "{token}" in self.text and self.place != "id"


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for _, line in filled_lines(read_bytes(FOLDER / name))]


@cache
def suite() -> tuple[Case, ...]:
    """All cases, family by family."""
    facts = {line["id"]: Fact.model_validate(line) for line in _lines("facts.jsonl")}
    return tuple(
        Case.model_validate(
            line | {"fact": facts[line["fact"]], "about": facts[line.get("about", line["fact"])]}
        )
        for line in _lines("cases.jsonl")
    )


def digest() -> str:
    """SHA-256 of the two files."""
    contents = (read_bytes(FOLDER / name) for name in ("facts.jsonl", "cases.jsonl"))
    return hashlib.sha256(b"".join(contents)).hexdigest()
