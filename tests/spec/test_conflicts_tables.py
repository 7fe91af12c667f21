"""The tables of CONFLICTS' evaluation from hand-worked results (sections 4 and 5)."""

import pytest

from pipelines.conflicts.data import Query, Source
from pipelines.conflicts.metrics import Part
from pipelines.conflicts.pipeline import STRATEGIES
from pipelines.conflicts.result import (
    Adherence,
    Answer,
    Grounding,
    Grounds,
    Inclusion,
    Outcome,
    QueryResult,
    Sentence,
    SentenceGrounding,
    Strategy,
    Verdicts,
)
from pipelines.conflicts.tables import all_tables
from pipelines.conflicts.taxonomy import ConflictType, Prediction
from pipelines.metrics.estimate import Estimate
from pipelines.report.table import Cell, Table, own_rows

NO_CONFLICT, COMPLEMENTARY, OPINIONS, OUTDATED, MISINFORMATION = ConflictType
S, U, C, N = Grounds
RULE = "Yes/no rule"


def query(name: str, type_: ConflictType | None = None, gold: str | None = None) -> Query:
    return Query(
        id=name,
        query="When was it built?",
        sources=(Source(text="A text."),),
        conflict_type=type_,
        gold_answer=gold,
    )


def says(
    *grounds: Grounds | None,
    adheres: bool | None = None,
    included: bool | None = None,
    told: ConflictType | None = None,
    finished: bool = True,
) -> Outcome:
    """An answer with one sentence per judgement; each cites source 1, the first also 9."""
    return Outcome(
        answer=Answer(
            text="It was built then.",
            sentences=tuple(
                Sentence(text="So.", cites=(1,), unknown=() if number else (9,))
                for number, _ in enumerate(grounds)
            ),
            told=told,
            finished=finished,
        ),
        judged=Verdicts(
            adherence=Adherence(adheres=adheres, type=OUTDATED, problem="no JSON"),
            inclusion=Inclusion(included=included, gold="1889"),
            grounding=Grounding(sentences=tuple(SentenceGrounding(grounds=g) for g in grounds)),
        ),
    )


def unread(told: ConflictType | None = None) -> Outcome:
    return Outcome(answer=Answer(text="", told=told, problem="no text", raw="{}\n{}"))


def gives(type_: ConflictType | None) -> Prediction:
    """A prediction by the rule; None if its reply was unreadable."""
    problem = "no number" if type_ is None else None
    return Prediction(type=type_, by="yes-no", problem=problem)


def result(asked: Query, predicted: Prediction, **outcomes: Outcome) -> QueryResult:
    named: dict[str, Strategy] = {each: each for each in STRATEGIES}
    return QueryResult(
        id=asked.id,
        asked=asked,
        status="answered",
        predictions={"yes-no": predicted},
        outcomes={named[key]: each for key, each in outcomes.items()},
    )


OWN = [
    result(
        query("o1", OUTDATED, "1889"),
        gives(OUTDATED),
        vanilla=says(S, S, U, N, adheres=True, included=True),
        pipeline=says(S, adheres=True, included=True, told=OUTDATED),
    ),
    result(
        query("o2", OUTDATED, "1889"),
        gives(NO_CONFLICT),
        vanilla=says(S, adheres=True, included=False),
        pipeline=says(S, U, adheres=False, included=True, told=OUTDATED),
    ),
    result(
        query("o3", OUTDATED, "1889"),
        gives(None),
        vanilla=says(N, adheres=True),
        pipeline=says(N, adheres=False, told=MISINFORMATION),
    ),
    result(
        query("o4", OUTDATED, "1889"),
        gives(None),
        vanilla=says(C, adheres=False, included=True),
        pipeline=says(S, adheres=True, included=True),
    ),
    result(
        query("m1", MISINFORMATION, "1889"),
        gives(OUTDATED),
        vanilla=says(None, adheres=False, included=False),
        pipeline=unread(told=OUTDATED),
    ),
    result(
        query("n1", NO_CONFLICT, "1889"),
        gives(NO_CONFLICT),
        vanilla=unread(),
    ),
    result(query("p1", OPINIONS, "yes"), gives(OPINIONS), vanilla=says(S, U, finished=False)),
    result(query("u1"), gives(OUTDATED), vanilla=says(S)),
    QueryResult(id="f1", asked=query("f1", NO_CONFLICT), status="failed", error="too\nlong"),
]
RUN = Part("conflicts", OWN, writer="small", judge="big", types=RULE)


def tables(run: Part = RUN) -> dict[str, Table]:
    return {table.name: table for table in all_tables([run])}


def records(table: Table, **where: Cell) -> list[dict[str, Cell]]:
    """The rows with these cell values, by column."""
    return [row for row in own_rows(table) if where.items() <= row.items()]


def record(table: Table, **where: Cell) -> dict[str, Cell]:
    """The only such row, with estimates as their values."""
    (found,) = records(table, **where)
    return {key: cell.value if isinstance(cell, Estimate) else cell for key, cell in found.items()}


def only(found: dict[str, Cell], *keys: str) -> list[Cell]:
    return [found[key] for key in keys]


def test_accuracy() -> None:
    found = record(tables()["conflicts_types"], classifier=RULE)
    # o1, n1, p1 are right, o2 and m1 wrong, o3 and o4 unreadable: 3 of 7. u1 has no gold type and
    # f1 failed.
    assert only(found, "queries", "failed", "untyped", "unreadable") == [9, 1, 1, 2]
    assert found["accuracy"] == pytest.approx(3 / 7)
    assert found["writer"] is None
    (interval,) = records(tables()["conflicts_types"], classifier=RULE)
    assert isinstance(interval["accuracy"], Estimate)
    assert interval["accuracy"].n == 7


def test_answers() -> None:
    found = record(tables()["conflicts_answers"], strategy="Vanilla")
    assert only(found, "run", "writer", "judge", "types") == ["conflicts", "small", "big", None]
    told = record(tables()["conflicts_answers"], strategy="Pipeline")
    assert told["types"] == RULE
    assert only(found, "queries", "failed", "unreadable", "cut", "untyped") == [9, 1, 1, 1, 1]
    # o1, o2, o3 adhere, o4 and m1 do not; n1 could not be read and so does not; the verdict on p1
    # could not be read.
    assert found["behaviour"] == pytest.approx(3 / 6)
    # o1 and o4 include the answer, o2, m1 and n1 do not; o3 has no verdict; p1 asks for opinions.
    assert found["recall"] == pytest.approx(2 / 5)
    # o1 2/3, o2 1, o4 0, p1 1/2, u1 1, n1 0; o3 states no fact, m1 has no verdict.
    assert found["grounding"] == pytest.approx((2 / 3 + 1 + 0 + 1 / 2 + 1 + 0) / 6)
    # Behaviour of p1 and u1, the gold answer in o3, p1 and u1, the sentence of m1.
    assert found["unjudged"] == 6


def test_categories_are_merged() -> None:
    made = tables()["conflicts_behaviour"]
    # 3 of 4 outdated and 0 of 1 misinformation; Pipeline has 2 of 5, as m1 is unreadable.
    found = record(made, category="Freshness and misinformation")
    assert only(found, "queries", "vanilla_n", "pipeline_n") == [5, 5, 5]
    assert found["vanilla"] == pytest.approx(3 / 5)
    assert found["pipeline"] == pytest.approx(2 / 5)
    assert only(found, "oracle", "oracle_n") == [None, None]
    found = record(made, category="No conflict")  # n1 unreadable, f1 failed
    assert only(found, "queries", "vanilla", "vanilla_n") == [2, 0, 1]
