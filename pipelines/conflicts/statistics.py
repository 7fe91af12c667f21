"""What a file of CONFLICTS holds, beside what the paper counts (Tables 2 and 7, sections 3 and 4).

The release's spelling of a question's origin is not documented, so origins are compared by what
their names contain. A file may be a part of the release; so each count stands with the number of
queries that it is among, the paper's too.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pipelines.conflicts.question import Query
from pipelines.conflicts.taxonomy import ANSWERABLE, TAXONOMY, ConflictType

QUERIES = 458
"""Queries of the release."""

BY_TYPE: dict[ConflictType, int] = {
    ConflictType.NO_CONFLICT: 161,
    ConflictType.COMPLEMENTARY: 115,
    ConflictType.OPINIONS: 115,
    ConflictType.OUTDATED: 62,
    ConflictType.MISINFORMATION: 5,
}
"""Table 2."""

BY_ORIGIN = {
    "ConflictingQA": 162,
    "SituatedQA Geo": 105,
    "SituatedQA Temp": 41,
    "FreshQA": 95,
    "QACC": 55,
}
"""Table 7."""

RESULTS_PER_QUERY = 9.2
"""Section 3."""

NOT_STATED = "not stated"
"""The origin of queries whose file does not state it."""


@dataclass(frozen=True)
class Statistic:
    """A count or a mean.

    Attributes:
        group: "type" (Table 2), "origin" (Table 7) or "all" (what is said of all queries).
        value: The count, or the mean; None where the file cannot say.
        of: Queries that it is a count among; None of a mean, and of a count of other things.
        paper: The paper's figure; None where it gives none.
        paper_of: Queries that the paper's count is among; None as `of`, or without a figure.
    """

    group: Literal["type", "origin", "all"]
    name: str
    value: int | float | None
    of: int | None
    paper: int | float | None
    paper_of: int | None

    @property
    def share(self) -> float | None:
        """The count as a share of the queries, in [0, 1]; None where it is none."""
        return self.value / self.of if self.value is not None and self.of else None

    @property
    def paper_share(self) -> float | None:
        """The paper's count as a share of its queries, in [0, 1]; None where it is none."""
        return self.paper / self.paper_of if self.paper is not None and self.paper_of else None


def statistics(queries: Sequence[Query], passed_over: int = 0) -> tuple[Statistic, ...]:
    """The counts by type, those by origin, and what is said of all queries, in this order.

    Search results that have no text (`passed_over`) are no part of the mean number of results, for
    nobody can say how the paper's 9.2 counts them.
    """
    of = len(queries)
    types = Counter(query.conflict_type for query in queries if query.conflict_type is not None)
    origins = Counter(origin_name(query.origin) for query in queries)
    # Where no query states its origin, none is not a count of the five.
    stated = any(name != NOT_STATED for name in origins)
    mean = sum(len(query.sources) for query in queries) / of if of else None
    conflicting = types.total() - types[ConflictType.NO_CONFLICT]
    answerable = sum(types[each] for each in ANSWERABLE)
    return (
        *(
            Statistic("type", each.short, types[each.type], of, BY_TYPE[each.type], QUERIES)
            for each in TAXONOMY
        ),
        *(
            Statistic("origin", name, origins[name] if stated else None, of, paper, QUERIES)
            for name, paper in BY_ORIGIN.items()
        ),
        *(
            Statistic("origin", name, origins[name], of, None, None)
            for name in sorted(origins.keys() - BY_ORIGIN.keys())
        ),
        Statistic("all", "queries", of, None, QUERIES, None),
        Statistic("all", "search results per query", mean, None, RESULTS_PER_QUERY, None),
        Statistic("all", "search results without text", passed_over, None, None, None),
        Statistic("all", "flagged as conflicting", conflicting, of, 297, QUERIES),
        Statistic("all", "single right answer", answerable, of, 228, QUERIES),
    )


def origin_name(origin: str | None) -> str:
    """The name in Table 7 of what the release calls a question's `source`, in any spelling.

    "SituatedQA_geo" and "situated_qa (temporal)" are two; what is none of the five stays as it is.
    """
    if not origin or not origin.strip():
        return NOT_STATED
    letters = re.sub(r"[\W_]", "", origin.casefold())
    for name in BY_ORIGIN:
        if all(part in letters for part in name.casefold().split()):
            return name
    return origin.strip()
