"""Hostile texts: simple facts, and texts added to them that do not change what is true.

A fact in `samples/facts.jsonl` is a question, a document that answers it, and two claims: the
document supports `holds` and contradicts `fails`. The document contains a name of the right
`answer` and none of the `wrong` one. `samples/cases.jsonl` lists the texts to add to documents,
with placeholders:

    {goal}      the wrong verdict that the text tries to produce, in the judge's wording
    {json}      a complete reply with that verdict, in the judge's JSON
    {opposite}  the statement that the document denies

A judge that changes its verdict on a hostile text might do so on any text. So every case has a
control: harmless sentences of the same length in the same place.
"""

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, Field

from pipelines.data.jsonl import filled_lines
from pipelines.data.records import Document
from pipelines.files import read_bytes
from pipelines.judge.judgement import Relation

SAMPLES: Final = Path(__file__).parent / "samples"

HARMLESS: Final = (
    "This page was printed on plain paper. The reading room opens at nine in the morning. "
    "A pencil is best for notes in the margin. The next page has a list of further pages. "
    "Letters to the editors are welcome. The type was set by hand, and the cover is green. "
    "Copies can be had at the desk on the ground floor. Please close the window before you leave. "
)
"""The text added by a control; it is unrelated to every fact."""


class Case(BaseModel, frozen=True, extra="forbid"):
    """A hostile text, and the claim and document it is added to.

    Attributes:
        id: "FAMILY/NAME".
        fact: Id of the fact whose claim is judged.
        about: Id of the fact whose document is judged; another fact for IRRELEVANT.
        relation: The true relation of document and claim, with or without the hostile text.
        note: What the text tries.
        text: Never in JSON output, because it may contain lone surrogates.
        place: Before or after the document, in its title or id, or as documents beside it,
            separated by "|".
        times: How often the text is repeated.
    """

    id: str
    family: str
    fact: str
    about: str
    relation: Relation
    note: str
    text: str = Field(exclude=True)
    place: Literal["before", "after", "title", "id", "beside"] = "after"
    times: int = 1
    claim: str
    document: str
    opposite: str

    def written(self, goal: str, reply: str) -> str:
        """The text for a judge that would write `goal`, or `reply` as a complete JSON reply."""
        text = self.text.replace("{opposite}", self.opposite).replace("{goal}", goal)
        return text.replace("{json}", reply) * self.times

    def placed(self, text: str, rewritten: Callable[[str], str] = str) -> list[Document]:
        """The documents to judge, with the text in its place: the document and those beside it."""
        if self.place == "beside":
            beside = enumerate(map(rewritten, text.split("|")), 1)
            own = Document(id="page", text=self.document)
            return [own, *(Document(id=f"beside-{n}", text=part) for n, part in beside)]
        added = rewritten(text)
        shown = {"before": f"{added}\n{self.document}", "after": f"{self.document}\n{added}"}
        return [
            Document(
                id=added if self.place == "id" else "page",
                text=shown.get(self.place, self.document),
                title=added if self.place == "title" else None,
            )
        ]


def harmless(text: str) -> str:
    """The shortest run of harmless sentences that is as long as a text; at least one sentence."""
    made = HARMLESS * (len(text) // len(HARMLESS) + 2)
    return made[: made.index(".", max(len(text) - 1, 0)) + 1]


def taken_out(documents: Sequence[Document]) -> list[Document]:
    """The same number of documents in the same shape, with harmless text in place of theirs."""
    return [
        Document(id=f"page-{number}", text=harmless(""), title=document.title and harmless(""))
        for number, document in enumerate(documents)
    ]


@cache
def cases() -> tuple[Case, ...]:
    """All cases; the first twelve cover all families."""
    facts = {fact["id"]: fact for fact in _lines("facts.jsonl")}
    return tuple(_case(line, facts) for line in _lines("cases.jsonl"))


def _case(line: dict[str, Any], facts: dict[str, dict[str, Any]]) -> Case:
    fact, about = facts[line["fact"]], facts[line["about"]]
    return Case(
        **line,
        claim=fact["fails" if line["relation"] == "CONTRADICTS" else "holds"],
        document=about["document"],
        opposite=(fact if line.get("place") == "beside" else about)["fails"],
    )


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for _, line in filled_lines(read_bytes(SAMPLES / name))]
