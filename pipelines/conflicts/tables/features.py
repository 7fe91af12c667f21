"""What the embedded classifier is worth, and what each group of its features brings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pipelines.conflicts.classifier import Fold
from pipelines.conflicts.features import GROUPS, MEANING, Group
from pipelines.conflicts.taxonomy import ConflictType, commonest
from pipelines.conflicts.training import (
    LabelledQuery,
    cross_validation,
    held_out_predictions,
    names_of,
)
from pipelines.metrics.accuracy import accuracy
from pipelines.metrics.f1 import macro_f1
from pipelines.metrics.mcnemar import mcnemar
from pipelines.report.compare import bonferroni
from pipelines.report.table import Column, Measure, Table

ALL = "all groups"
MAJORITY = "none: the commonest type"
BY_FORM = "none: the commonest of yes/no questions, and of others"


@dataclass(frozen=True)
class Validation:
    """A type for every query, by classifiers that never saw it.

    It is named after what they were made from; the commonest type has no groups and no classifiers
    (`folds`).
    """

    name: str
    groups: tuple[Group, ...]
    predicted: tuple[ConflictType, ...]
    folds: tuple[Fold, ...] = ()


def ablations(groups: Sequence[Group]) -> dict[str, tuple[Group, ...]]:
    """Name -> groups: all of them, each alone, all but each."""
    every = tuple(groups)
    if len(every) == 1:
        return {ALL: every}
    return {
        ALL: every,
        **{f"{each} alone": (each,) for each in every},
        **{f"all but {each}": tuple(other for other in every if other != each) for each in every},
    }


def validate(
    rows: Sequence[LabelledQuery],
    wanted: Mapping[str, Sequence[Group]],
    *,
    folds: int,
    seed: int,
    on_result: Callable[[], None] = lambda: None,
) -> list[Validation]:
    """Cross-validate with each set of groups, after the commonest type of all queries and of kinds.

    `wanted` is from `ablations`. All sets have the same folds, which the seed decides. `on_result`
    is told after each set.
    """
    kinds = {
        yes_no: commonest(row.type for row in rows if row.features["yes_no"] == yes_no)
        for yes_no in (0, 1)
    }
    found = [
        Validation(MAJORITY, (), (commonest(row.type for row in rows),) * len(rows)),
        Validation(BY_FORM, (), tuple(kinds[row.features["yes_no"] == 1] for row in rows)),
    ]
    for name, groups in wanted.items():
        made = cross_validation(rows, names_of(groups), folds=folds, seed=seed)
        predicted = tuple(held_out_predictions(rows, made))
        found.append(Validation(name, tuple(groups), predicted, tuple(made)))
        on_result()
    return found


def feature_table(
    rows: Sequence[LabelledQuery], validated: Sequence[Validation], folds: int
) -> Table:
    """Accuracy and macro-F1 of each set of groups, beside all of them; see `validate`."""
    gold = [row.type for row in rows]
    yes_no = [bool(row.features["yes_no"]) for row in rows]
    right = {
        each.name: [one == other for one, other in zip(gold, each.predicted, strict=True)]
        for each in validated
    }
    whole = right[ALL]

    def right_on(each: Validation, kind: bool) -> int:
        own = zip(right[each.name], yes_no, strict=True)
        return sum(holds for holds, asks in own if asks == kind)

    def more(each: Validation) -> int | None:
        return None if each.name == ALL else sum(right[each.name]) - sum(whole)

    def p(each: Validation) -> float | None:
        if each.name == ALL:
            return None
        return mcnemar(dict(enumerate(right[each.name])), dict(enumerate(whole)))

    return Table.of(
        validated,
        name="conflicts_features",
        title="What the classifier learns from",
        caption=f"Conflict types by logistic regression, cross-validated in {folds} folds over "
        f"{len(rows):,} queries, {sum(yes_no):,} of which ask for yes or no.",
        columns=[
            Column("groups", "Features", lambda each: each.name),
            Column("features", "Number", lambda each: len(names_of(each.groups))),
            Column("queries", "Queries", lambda _: len(rows)),
            Measure("accuracy", "Accuracy", lambda each: accuracy(gold, each.predicted)),
            Measure(
                "macro_f1",
                "Macro-F1",
                lambda each: macro_f1(gold, each.predicted, list(ConflictType)),
            ),
            Column("right_yes_no", "Right, yes/no", lambda each: right_on(each, kind=True)),
            Column("right_others", "Right, others", lambda each: right_on(each, kind=False)),
            Column("more_right", "Queries more right than with all", more),
            Column("p", "p (McNemar)", p),
        ],
        notes=(
            "In brackets are 95 % intervals: Wilson's of accuracy, a bootstrap over queries of "
            "macro-F1.",
            "In CONFLICTS the questions of yes or no are those of one collection, and types go "
            "with collections. So a classifier shows what it is worth within a kind of question.",
            "Every query is judged by a classifier that was trained without it; the strength of "
            "the penalty is chosen within the training part. Another division into folds gives "
            "other figures; no interval counts that.",
            *bonferroni([[p(each)] for each in validated]),
            *(
                f"{group}: {', '.join(MEANING[name] for name in names)}."
                for group, names in GROUPS.items()
                if any(group in each.groups for each in validated)
            ),
        ),
    )
