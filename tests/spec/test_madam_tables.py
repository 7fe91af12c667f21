"""The tables of MADAM-RAG's evaluation from hand-worked results (sections 5.1, 6.1-6.3)."""

import pytest
from debates import question

from pipelines.madam_rag.baselines import (
    ASTUTE,
    CONCATENATED,
    MADAM,
    NO_RAG,
    WITHOUT_AGGREGATOR,
    Outcome,
    QuestionResult,
)
from pipelines.madam_rag.data import Question, Statistic
from pipelines.madam_rag.replies import AgentReply, Conclusion, Debate, Round
from pipelines.madam_rag.tables import all_tables
from pipelines.metrics.estimate import Estimate
from pipelines.report.table import Cell, Table, own_rows

UNREADABLE = Conclusion(problem="no list of answers", raw="I think that\nit is Rome.")


def held(
    *rounds: tuple[tuple[str | None, ...], tuple[str, ...] | Conclusion | None],
    agreed: bool = True,
) -> Debate:
    """Rounds, each with the agents' answers and the aggregate; None is an unreadable answer."""
    return Debate(
        rounds=tuple(
            Round(
                agents=tuple(
                    AgentReply(answer=answer, problem="no JSON" if answer is None else None)
                    for answer in agents
                ),
                aggregate=Conclusion(answers=made) if isinstance(made, tuple) else made,
            )
            for agents, made in rounds
        ),
        agreed=agreed,
    )


def debated(debate: Debate) -> Outcome:
    return Outcome(concluded=debate.concluded, calls=debate.calls, debate=debate)


def says(*answers: str) -> Outcome:
    return Outcome(concluded=Conclusion(answers=answers), calls=1)


def result(asked: Question, **outcomes: Outcome) -> QuestionResult:
    called = {"none": NO_RAG, "prompt": CONCATENATED, "astute": ASTUTE, "madam": MADAM}
    called["joint"] = WITHOUT_AGGREGATOR
    named = {called[key]: outcome for key, outcome in outcomes.items()}
    return QuestionResult(id=asked.id, asked=asked, status="answered", outcomes=named)


JORDAN = question(
    "q1", ("correct", "correct", "misinfo", "noise"), ("1963", "1956"), wrong=("1998",)
)
CITY = question("q2", ("correct", "misinfo"), ("Paris",), wrong=("Lyon",))
CLUBS = question("q3", ("correct", "correct"), ("Rome", "Milan"))
OPEN = question("q4", (None,))

# Replies: 3 * (4 + 1) = 15. The third agent gives way; the fourth answers without knowing.
JORDAN_DEBATE = held(
    (("1963", "1956", "1998", "Chicago"), ("1963", "1956", "1998")),
    (("1963", "1956", "1963", "unknown"), ("1963", "1956")),
    (("1963", "1956", "1963", "unknown"), ("1963", "1956")),
)
CITY_DEBATE = held(  # 2 * (2 + 1) = 6 replies
    (("Paris", "Lyon"), ("Lyon",)),
    (("Paris", "Lyon"), ("Lyon",)),
)
CLUBS_DEBATE = held(  # 3 * (2 + 1) = 9 replies; no agent says Turin
    (("Rome", None), ("Rome", "Turin")),
    (("Rome", "Milan"), UNREADABLE),
    (("Rome", "Milan"), UNREADABLE),
)
OPEN_DEBATE = held((("x",), ("x",)), (("y",), ("y",)), agreed=False)  # 2 * (1 + 1) = 4 replies

CLUB_NAMES = ("Rome", "Milan", "Turin")
BOTH = says("Rome", "Milan")
UNREAD = Outcome(concluded=UNREADABLE, calls=1)
METHODS = [
    result(JORDAN, none=says(), prompt=says("1963"), madam=debated(JORDAN_DEBATE)),
    result(CITY, none=UNREAD, prompt=says("Parisians"), madam=debated(CITY_DEBATE)),
    result(CLUBS, none=says(*CLUB_NAMES), prompt=BOTH, madam=debated(CLUBS_DEBATE)),
    result(OPEN, none=says("x"), prompt=says("x"), madam=debated(OPEN_DEBATE)),
    QuestionResult(id="q5", asked=CITY, status="failed", error="too\nlong"),
]
FIRST = (("1963", "1956", "1998", "unknown"), None)
LATER = (("1963", "1956", "1963", "unknown"), None)
ROUNDS = [
    result(JORDAN, madam=debated(JORDAN_DEBATE), joint=debated(held(FIRST, LATER, LATER))),
    result(CITY, madam=debated(CITY_DEBATE), joint=debated(held(*[(("Paris", "Lyon"), None)] * 2))),
]


def varied(name: str, level: int, prompt: Outcome, astute: Outcome) -> QuestionResult:
    asked = question(f"{name}/{level}", ("correct",), ("Rome", "Milan"), ("Turin",), level)
    return result(asked, prompt=prompt, astute=astute)


LEVELS = [
    varied("a", 3, prompt=says("Rome"), astute=says(*CLUB_NAMES)),
    varied("a", 1, prompt=BOTH, astute=BOTH),
    varied("b", 1, prompt=BOTH, astute=BOTH),
    varied("b", 3, prompt=UNREAD, astute=BOTH),
    varied("c", 3, prompt=BOTH, astute=BOTH),
]
RESULTS = {"ramdocs": METHODS, "ramdocs.rounds": ROUNDS, "ramdocs.misinformation": LEVELS}
MODELS = dict.fromkeys(RESULTS, "small")


def tables(results: dict[str, list[QuestionResult]] | None = None) -> dict[str, Table]:
    made = all_tables(RESULTS if results is None else results, MODELS)
    return {table.name: table for table in made}


def rows(table: Table, *keys: str) -> dict[tuple[Cell, ...], list[Cell]]:
    """The key cells of a row -> all cells after the last key; estimates as values."""
    names = [column.key for column in table.columns]
    places = [names.index(key) for key in keys]
    return {
        tuple(row[place] for place in places): [
            cell.value if isinstance(cell, Estimate) else cell for cell in row[max(places) + 1 :]
        ]
        for row in table.rows
    }


def close(*cells: Cell) -> list[object]:
    return [pytest.approx(cell) if isinstance(cell, float) else cell for cell in cells]


def cell(table: Table, key: str, **where: Cell) -> Estimate:
    """The estimate in a column of the only row with these cells."""
    (row,) = (row for row in own_rows(table) if where.items() <= row.items())
    estimate = row[key]
    assert isinstance(estimate, Estimate)
    return estimate


def test_methods() -> None:
    made = tables()["madam_methods"]
    # Of five questions, q5 failed and q4 has no gold answer. MADAM-RAG: q1 right, q2 "Lyon", q3
    # unreadable, which counts as no answer: recall and F1 0, no precision; (15 + 6 + 9 + 4) / 4
    # replies. No RAG: q1 no answer; q2 unreadable; q3 all right plus Turin, which is not listed as
    # wrong: precision 2/3, recall 1, F1 4/5. Prompt: q1 half, F1 2/3; q2 "Parisians", which has
    # Paris only as a substring; q3 right.
    assert rows(made, "data", "model", "method", "figures") == {
        ("RAMDocs", "small", method, "this run"): close(5, 1, 1, *cells)
        for method, *cells in (
            (NO_RAG, 1, 1 / 3, 2 / 3, 1 / 3, 4 / 15, 1 / 3, 1.0),
            (CONCATENATED, 0, 1 / 3, 2 / 3, 1 / 2, 5 / 9, 2 / 3, 1.0),
            (MADAM, 1, 1 / 3, 1 / 2, 1 / 3, 1 / 3, 1 / 3, 8.5),
        )
    }
    # Wilson of 1 in 3: z^2 = 3.8415, centre (1/3 + z^2/6) / (1 + z^2/3) = 0.4269,
    # half = 1.95996 * sqrt(2/27 + z^2/36) / (1 + z^2/3) = 0.3654.
    exact = cell(made, "exact_match", method=MADAM)
    assert (exact.low, exact.n) == pytest.approx((0.0615, 3), abs=1e-4)
    # 15, 6, 9, 4: s^2 = 69/3, half = 3.18245 * sqrt(23/4) = 7.6312; the lower end is clipped to 1.
    calls = cell(made, "calls", method=MADAM)
    assert (calls.low, calls.n, calls.high) == pytest.approx((1, 4, 16.1312), abs=1e-3)
    assert cell(made, "precision", method=NO_RAG).n == 1


def test_rounds() -> None:
    # MADAM-RAG, one round: q1 with 1998, precision 2/3 and F1 4/5; q2 no answer; q3 Rome and Turin,
    # all 1/2. Two: q1 right, q2 no answer, q3 unreadable, which counts as no answer. Three: the
    # same, as q2 and q4 had ended.
    # Without aggregator, one round: q1 as before, q2 "Paris" and "Lyon" with precision 1/2 and F1
    # 2/3. Two: q1 right.
    found = rows(tables()["madam_rounds"], "data", "model", "aggregator", "figures", "rounds")
    half = (1 / 2, 1 / 2, 1 / 2, 1 / 2)
    third = (1 / 3, 1 / 2, 1 / 3, 1 / 3)
    assert found == {
        (data, "small", aggregator, "this run", n): close(*cells)
        for data, aggregator, n, *cells in (
            ("RAMDocs", "with", 1, 0, 1, 5, 1, 1, 0, 0.0, 7 / 18, 1 / 2, 13 / 30),
            ("RAMDocs", "with", 2, 0, 1, 5, 1, 1, 1, *third),
            ("RAMDocs", "with", 3, 2, 1, 5, 1, 1, 1, *third),
            ("RAMDocs, rounds", "with", 1, 0, 0, 2, 0, 0, 0, 0.0, 1 / 3, 1 / 2, 2 / 5),
            ("RAMDocs, rounds", "with", 2, 0, 0, 2, 0, 0, 0, *half),
            ("RAMDocs, rounds", "with", 3, 1, 0, 2, 0, 0, 0, *half),
            ("RAMDocs, rounds", "without", 1, 0, 0, 2, 0, 0, 0, 0.0, 7 / 12, 1.0, 11 / 15),
            ("RAMDocs, rounds", "without", 2, 0, 0, 2, 0, 0, 0, 1 / 2, 3 / 4, 1.0, 5 / 6),
            ("RAMDocs, rounds", "without", 3, 1, 0, 2, 0, 0, 0, 1 / 2, 3 / 4, 1.0, 5 / 6),
        )
    }


def test_levels() -> None:
    made = tables()
    # Prompt, three documents: a has one answer of two, F1 2/3; b is unreadable; c is right. Astute
    # RAG: a adds Turin, precision 2/3 and F1 4/5; b and c are right.
    keys = ("data", "model", "experiment", "level", "method")
    place = ("RAMDocs", "small", "misinformation")
    assert rows(made["madam_levels"], *keys) == {
        (*place, 1, CONCATENATED): close(2, 0, 0, 0, 1.0, 1.0, 1.0, 1.0),
        (*place, 1, ASTUTE): close(2, 0, 0, 0, 1.0, 1.0, 1.0, 1.0),
        (*place, 3, CONCATENATED): close(3, 0, 0, 1, 1 / 3, 1.0, 1 / 2, 5 / 9),
        (*place, 3, ASTUTE): close(3, 0, 0, 0, 2 / 3, 8 / 9, 1.0, 14 / 15),
    }


def test_figure_5_is_how_many_questions_have_each_number() -> None:
    counted = [Statistic("documents", 5.53, Estimate(1.0, None, None, 4), {4: 1, 5.5: 1_003})]
    (made,) = (t for t in all_tables({}, {}, counted) if t.name == "madam_statistics")
    assert made.rows[0][-1] == "4: 1, 5.5: 1,003"
