"""How far annotators agree on errors, with each other and with a file's labels (section 4.1.1)."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from pipelines.metrics.agreement import nominal_alpha
from pipelines.metrics.estimate import Estimate, proportion
from pipelines.npov import paper
from pipelines.npov.result import KINDS, ErrorKind, NpovResult
from pipelines.report.table import Column, Measure, Table


class Agreement(NamedTuple):
    """On one kind of error."""

    error: ErrorKind
    annotators: int
    responses: int
    alpha: Estimate | None
    majority: Estimate | None


def agreement(results: Iterable[NpovResult]) -> Table:
    """Annotators' agreement that there is an error, of any extent, in responses with votes."""
    voted = {each.id: each for each in results if each.votes}
    return Table.of(
        [_on(kind, list(voted.values())) for kind in KINDS if voted],
        name="npov_agreement",
        title="Agreement of annotators",
        columns=[
            Column("error", "Error"),
            Measure("alpha", "Krippendorff's alpha", lambda found: found.alpha),
            Measure("majority", "Majority as the file says", lambda found: found.majority),
            Column("responses", "Responses"),
            Column("annotators", "Annotators"),
        ],
        quoted=paper.AGREEMENT,
        caption="Whether there is an error, of a whole argument or ambiguous. Alpha is nominal and "
        "has the 95 % interval of a bootstrap over responses; 1 is full agreement, 0 chance. The "
        "majority of a response's votes is right where it says what the file does; even votes have "
        "none and are left out.",
    )


def _on(kind: ErrorKind, results: list[NpovResult]) -> Agreement:
    votes: list[list[bool]] = []
    right = []
    names: set[str] = set()
    for result in results:
        said = {
            name: error != "none"
            for name, vote in result.votes.items()
            if (error := getattr(vote, kind)) is not None
        }
        names |= said.keys()
        votes.append([*said.values()])
        if (most := majority(votes[-1])) is not None:
            right.append(most is (result.known(kind) != "none"))
    return Agreement(
        error=kind,
        annotators=len(names),
        responses=sum(bool(each) for each in votes),
        alpha=nominal_alpha(votes),
        majority=proportion(sum(right), len(right)),
    )


def majority(votes: Iterable[bool]) -> bool | None:
    """What more than half of the votes say; None of even votes, or of none."""
    count = Counter(votes)
    return None if count[True] == count[False] else count[True] > count[False]
