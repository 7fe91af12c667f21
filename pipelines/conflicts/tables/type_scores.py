"""What classifiers say of a query's type, beside its gold type (CONFLICTS, section 4, Task 1).

What cannot be read, or has no type, is counted, and never taken for what is wrong.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pipelines.conflicts.pipeline import CLASSIFIERS
from pipelines.conflicts.prediction import Prediction
from pipelines.conflicts.result import QueryResult
from pipelines.conflicts.taxonomy import ConflictType, commonest
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.f1 import macro_f1
from pipelines.metrics.proportion import proportion, share
from pipelines.text.declarative import affirmed

JOINT: Final = "LLM, with its answer"
"""The classifier that the taxonomy-aware strategy is."""

MAJORITY: Final = "Most frequent type"
"""The classifier that always says the type which most queries have."""

BY_FORM: Final = "Most frequent type, yes/no or not"
"""The one that says the type which most questions of yes or no have, and of others the type which
most others have. In CONFLICTS the questions of yes or no are those of one collection
(ConflictingQA), and types go with collections."""

Silence = Literal["abstained", "unreadable"]
"""No type reached its threshold, or the reply could not be read."""

BASELINES: Final = (MAJORITY, BY_FORM)
"""Classifiers that read no source."""


@dataclass(frozen=True)
class Classification:
    """What a classifier says of queries that have a gold type; the rest is counted.

    Attributes:
        said: Query -> gold type, and the type that it gave or why it gave none.
        untyped: Queries without a gold type.
        failed: Queries that failed as a whole.
    """

    said: Mapping[str, tuple[ConflictType, ConflictType | Silence]]
    untyped: int
    failed: int

    @property
    def queries(self) -> int:
        """All that were asked."""
        return len(self.said) + self.untyped + self.failed

    @property
    def pairs(self) -> dict[str, tuple[ConflictType, ConflictType]]:
        """Query -> gold type and the type that it gave."""
        return {
            name: (gold, given)
            for name, (gold, given) in self.said.items()
            if isinstance(given, ConflictType)
        }

    def silent(self, why: Silence) -> int:
        """Queries of a gold type that it gave none, for that reason."""
        return sum(given == why for _, given in self.said.values())

    def right(self) -> dict[str, bool]:
        """Query -> whether the type that it gave is the gold type."""
        return {name: gold == given for name, (gold, given) in self.pairs.items()}

    @property
    def accuracy(self) -> Estimate | None:
        """Share of right types among those given."""
        return share(self.right().values())

    @property
    def accuracy_of_all(self) -> Estimate | None:
        """The same among all queries with a gold type."""
        return proportion(sum(self.right().values()), len(self.said))

    @property
    def macro_f1(self) -> Estimate | None:
        """Over the types given."""
        pairs = self.pairs.values()
        gold, given = [gold for gold, _ in pairs], [given for _, given in pairs]
        return macro_f1(gold, given, list(ConflictType))


def predictions(result: QueryResult) -> dict[str, Prediction]:
    """What every classifier says of a query, by the names of tables; `JOINT` comes last."""
    found = {CLASSIFIERS[by]: each for by, each in result.predictions.items()}
    joint = result.outcomes.get("taxonomy-aware")
    if joint is not None:
        unread = Prediction(
            type=None,
            by="json",
            problem=joint.answer.problem or "the answer came without a type",
            raw=joint.answer.raw,
        )
        found[JOINT] = joint.answer.prediction or unread
    return found


def shown_classifiers(own: Sequence[QueryResult]) -> list[str]:
    """The classifiers that were asked anything, by the names of tables, in their order."""
    used = {name for each in own for name in predictions(each)}
    return [name for name in (*CLASSIFIERS.values(), JOINT) if name in used]


def classification(own: Sequence[QueryResult], classifier: str) -> Classification:
    """What a classifier, by its name in tables, says of the queries of a run."""
    said: dict[str, tuple[ConflictType, ConflictType | Silence]] = {}
    untyped = failed = 0
    for each in own:
        if each.status == "failed":
            failed += 1
            continue
        made, gold = predictions(each).get(classifier), each.asked.conflict_type
        if made is None:
            continue
        if gold is None:
            untyped += 1
        elif made.problem is not None:
            said[each.id] = gold, "unreadable"
        else:
            said[each.id] = gold, made.type or "abstained"
    return Classification(said, untyped, failed)


def baseline(own: Sequence[QueryResult], name: str) -> Classification:
    """One of `BASELINES`: the most frequent gold type of its kind; of equal ones the first.

    It reads no source, so no query fails.
    """
    kinds = {each.id: name == BY_FORM and affirmed(each.asked.query) is not None for each in own}
    known = {
        each.id: each.asked.conflict_type for each in own if each.asked.conflict_type is not None
    }
    most = {
        kind: commonest(known[id_] for id_ in known if kinds[id_] == kind)
        for kind in {*kinds.values()}
    }
    said = {id_: (gold, most[kinds[id_]]) for id_, gold in known.items()}
    return Classification(said, untyped=len(own) - len(known), failed=0)
