"""Queries of other data sets, with the type that follows from how these were made.

CONFLICTS has few labelled queries. RAMDocs and WikiContradict name no types, but say which answers
are right and which documents contradict each other. Only their training halves are read.
"""

from collections.abc import Sequence
from pathlib import Path

from pipelines.conflicts.question import Query, Source
from pipelines.conflicts.taxonomy import ConflictType
from pipelines.data import ramdocs, wikicontradict
from pipelines.data.ramdocs import RamQuestion
from pipelines.data.released import half


def from_ramdocs(path: Path) -> list[Query]:
    """RAMDocs' training half: complementary, misinformation, or no conflict; see `ramdocs_type`.

    Raises:
        InputError: The file cannot be read, or is of another format.
    """
    return [
        _query("ramdocs", number, row.question, [each.text for each in row.documents], found)
        for number, row in enumerate(ramdocs.read(path), start=1)
        if half(row.question) == "train" and (found := ramdocs_type(row)) is not None
    ]


def ramdocs_type(row: RamQuestion) -> ConflictType | None:
    """What the documents of a question are to each other.

    Several right answers are of several entities of one name, which is complementary; a document
    whose answer was exchanged is misinformation. None where both hold.
    """
    ambiguous = len({each.answer for each in row.documents if each.type == "correct"}) > 1
    false = any(each.type == "misinfo" for each in row.documents)
    if ambiguous and false:
        return None
    if ambiguous:
        return ConflictType.COMPLEMENTARY
    return ConflictType.MISINFORMATION if false else ConflictType.NO_CONFLICT


def from_wikicontradict(path: Path) -> list[Query]:
    """WikiContradict's training half: two passages of one standing that cannot both be right.

    Its right answer says both, as an answer to opinions and research outcomes is to do; so that is
    the type. Which passage is the newer, or false, the data do not say.

    Raises:
        InputError: The file cannot be read, or is of another format.
    """
    return [
        _query("wikicontradict", number, row.question, row.passages, ConflictType.OPINIONS)
        for number, row in enumerate(wikicontradict.read(path), start=1)
        if row.differ and half(row.question) == "train"
    ]


def _query(origin: str, number: int, text: str, texts: Sequence[str], of: ConflictType) -> Query:
    return Query(
        id=f"{origin}/{number}",
        query=text,
        sources=tuple(Source(text=each) for each in texts),
        conflict_type=of,
        origin=origin,
    )
