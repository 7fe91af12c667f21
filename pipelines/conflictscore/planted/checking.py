"""Whether plants took: a tagger reads the claim beside the passage and beside the changed copy."""

from collections.abc import Sequence
from typing import NamedTuple, get_args

from pipelines.conflictscore.planted.planting import ControlName, Pair
from pipelines.evidence.judgement import Relation
from pipelines.evidence.labeller import Labeller, readable
from pipelines.report.table import Column, Table


class Checked(NamedTuple):
    """A pair, and whether the tagger sees its conflict."""

    pair: Pair
    took: bool


async def check(pair: Pair, labeller: Labeller) -> Checked:
    """Whether a labeller sees that the passage supports the claim and the copy contradicts it.

    It does not see what it cannot read: a claim that is too long for the tagger.
    """
    copy = pair.copy.model_copy(update={"id": "changed"})
    original = pair.original.model_copy(update={"id": "original"})
    judged = await readable(labeller, [pair.claim], [original, copy])
    relations = [each.relation for each in judged]
    return Checked(pair, relations == [Relation.SUPPORTS, Relation.CONTRADICTS])


def counts(every: Sequence[Checked], *, keep: bool) -> Table:
    """Pairs by kind: made, seen by the tagger or not, and what stands beside those taken.

    Those that it does not see are taken, too, if they are to be kept (`keep`).
    """
    kinds = dict.fromkeys(each.pair.kind for each in every)
    rows: list[tuple[str, list[Checked]]] = [
        (kind, [each for each in every if each.pair.kind == kind]) for kind in kinds
    ]
    if len(rows) > 1:
        rows.append(("all", list(every)))

    def beside(name: ControlName) -> Column[tuple[str, list[Checked]]]:
        def number(row: tuple[str, list[Checked]]) -> int:
            return sum((e.took or keep) and e.pair.control.name == name for e in row[1])

        return Column(name, name.capitalize(), number)

    return Table.of(
        rows,
        name="planted",
        title="Planted conflicts, and what stands beside them in examples without",
        columns=[
            Column("kind", "Kind", lambda row: row[0]),
            Column("made", "Made", lambda row: len(row[1])),
            Column("by_model", "By model", lambda row: sum(bool(e.pair.written) for e in row[1])),
            Column("took", "Seen", lambda row: sum(e.took for e in row[1])),
            Column(
                "unseen",
                "Kept unseen" if keep else "Left out",
                lambda row: sum(not e.took for e in row[1]),
            ),
            *map(beside, get_args(ControlName)),
        ],
    )
