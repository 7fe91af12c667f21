"""The sort step by the language model that writes (ConRAG, section 2, sort).

In the paper one reply has the evidence table, the stance and the answer, in that order. Here the
table is a reply of its own, which the answer is then asked for with: what is wrong with one of the
two does not lose the other, and a sentence is checked against a table that was read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel

from pipelines.conrag.answer import Evidence, numbered
from pipelines.conrag.generator import Generator
from pipelines.conrag.policies import unmarked
from pipelines.evidence.judgement import Relation
from serving.schemas import told

Sort = Literal["tags", "model"]
"""Whether the evidence is sorted by its tags, or by the model that writes from it."""

CHARACTERS = 240
"""Where a server that holds replies to their schema ends a reason."""

TOKENS_OF_A_PASSAGE = 96
"""Room in the reply for a passage: its number, and why it is in its list."""


class SortedPassage(BaseModel):
    """One passage of a list; a number that is no passage's is passed over."""

    number: int
    reason: Annotated[str, told(maxLength=CHARACTERS)]


class SortReply(BaseModel):
    """The JSON reply: the three lists of the evidence table."""

    support: list[SortedPassage]
    refute: list[SortedPassage]
    irrelevant: list[SortedPassage]


@dataclass(frozen=True)
class Sorting:
    """The evidence as it was sorted.

    Attributes:
        table: Numbered anew; as it was where the reply could not be read.
        cut: Whether the reply breaks off, or a reason is as long as a server lets it be.
        problem: Why it could not be read, in one line; `raw` is the reply.
    """

    table: tuple[Evidence, ...]
    cut: bool = False
    problem: str | None = None
    raw: str | None = None


async def sort_evidence(
    query: str, table: Sequence[Evidence], claims: Sequence[str], generator: Generator
) -> Sorting:
    """Have the model put every passage of a packet into one of the three lists, and say why.

    It is told the tags and clusters, as in the paper. The claims are those of a question's first
    answer; a claim has none. Errors are those of `Generator.ask`.
    """
    reply = await generator.ask(
        "sort",
        SortReply,
        TOKENS_OF_A_PASSAGE * (len(table) + 1),
        query=query,
        claims=list(claims),
        evidence=shown(table),
    )
    if reply.value is None:
        return Sorting(tuple(table), problem=f"sort: {reply.problem}", raw=reply.raw)
    made = sorted_table(table, reply.value)
    if all(each.reason is None for each in made):
        return Sorting(tuple(table), problem="sort: the reply sorts no passage", raw=reply.raw)
    ended = any(len(each.reason) == CHARACTERS for _, each in _placed(reply.value))
    return Sorting(made, reply.cut or ended)


def sorted_table(table: Sequence[Evidence], reply: SortReply) -> tuple[Evidence, ...]:
    """The table by the lists of a reply, numbered anew.

    A passage that is in no list, or in more than one, stays where its tag puts it, without a
    reason. The sentence that decided a tag is left out where the model has another relation.
    """
    places: dict[int, list[tuple[Relation, str]]] = {}
    for relation, each in _placed(reply):
        places.setdefault(each.number, []).append((relation, unmarked(each.reason)))

    def placed(row: Evidence) -> Evidence:
        found = places.get(row.number, [])
        if len({relation for relation, _ in found}) != 1:
            return row.model_copy(update={"tag": row.relation})
        relation, reason = found[0]
        kept = row.rationale if relation is row.relation else None
        return row.model_copy(
            update={"tag": row.relation, "relation": relation, "rationale": kept, "reason": reason}
        )

    return numbered(map(placed, table))


def _placed(reply: SortReply) -> Iterator[tuple[Relation, SortedPassage]]:
    yield from ((Relation.SUPPORTS, each) for each in reply.support)
    yield from ((Relation.CONTRADICTS, each) for each in reply.refute)
    yield from ((Relation.IRRELEVANT, each) for each in reply.irrelevant)


def shown(table: Sequence[Evidence]) -> list[dict[str, Any]]:
    """The evidence as prompts have it."""
    return [
        {
            "number": each.number,
            "relation": each.relation.value,
            "cluster": each.cluster,
            "text": each.passage.as_read(),
        }
        for each in table
    ]
