"""The table of what failed, could not be read, or was not seen whole: one for all papers."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from pipelines.judge.judgement import Judgement, Relation, Truncation
from pipelines.report.table import Column, Table, of_place
from pipelines.report.texts import one_line

REASON_SHOWN: Final = 400
"""Characters of a reason."""

REPLY_SHOWN: Final = 200
"""Characters of a reply that could not be read."""

Place = TypeVar("Place")
Place_co = TypeVar("Place_co", covariant=True)


@dataclass(frozen=True)
class Failure(Generic[Place_co]):
    """What has no value ("failed", "unreadable label"), where and why.

    The place (`at`) is the example, and what the columns of a paper say beside it; `reply` is the
    beginning of what a model wrote instead.
    """

    at: Place_co
    what: str
    reason: str
    reply: str | None = None


WHAT: Final = Column[Failure[Any]]("what", "What")
REASON: Final = Column[Failure[Any]]("reason", "Reason")
DETAIL: Final = Column[Failure[Any]]("detail", "Detail", lambda failure: failure.reason)
REPLY: Final = Column[Failure[Any]]("reply", "Beginning of the reply")


def failed(at: Place, what: str, reason: str | None, reply: str | None = None) -> Failure[Place]:
    """A failure whose reason and reply are cut to a line each."""
    cut = one_line(reply or "", REPLY_SHOWN) or None
    return Failure(at, what, one_line(reason or "", REASON_SHOWN), cut)


def invalid(at: Place, judgements: Iterable[Judgement]) -> Iterator[Failure[Place]]:
    """Judgements that are none, each with its reason or reply."""
    for judgement in judgements:
        if judgement.relation is Relation.INVALID:
            where = f"document {judgement.document} on: {judgement.claim}"
            why = f"{judgement.refusal} ({where})" if judgement.refusal else where
            yield failed(at, "invalid judgement", why, judgement.raw)


def truncations(at: Place, cuts: Iterable[Truncation]) -> Iterator[Failure[Place]]:
    """Texts of which a model saw only the beginning."""
    for cut in cuts:
        seen = f"{cut.text}: the first {cut.kept:,} of {cut.tokens:,} tokens were seen"
        yield Failure(at, "truncation", seen)


def failures(
    found: Iterable[Failure[Place]],
    *,
    name: str,
    places: Sequence[Column[Place]],
    said: Sequence[Column[Failure[Place]]] = (WHAT, DETAIL),
    title: str = "Failures and truncations",
    caption: str = "",
    notes: Sequence[str] = (),
    most: int | None = None,
) -> Table:
    """What has no value, row by row.

    `places` are the columns that say where; those that say what and why (`said`) come after them.
    Rows are at most `most`, without which all are shown.
    """
    every = list(found)
    more = 0 if most is None else len(every) - most
    return Table.of(
        every[:most],
        name=name,
        title=title,
        caption=caption,
        columns=[*map(of_place, places), *said],
        notes=(*notes, *([f"{more:,} more stand in the results."] if more > 0 else [])),
    )
