"""Bounds by formula and hours by a probe, worked by hand."""

from types import SimpleNamespace
from typing import Any

from pipelines.experiment.cost import Cost, cost_line, judging
from pipelines.experiment.forecast import Forecast, Pace, table
from pipelines.judge.settings import JudgeSettings
from serving.calls import Usage


def test_claims_are_judged_by_each_document() -> None:
    """One or two claims, by two documents."""

    def cost(**settings: object) -> Cost:
        return judging(JudgeSettings.model_validate(settings), 2, claims=2, least=1)

    assert cost(judge="tagger") == Cost(pairs=4)
    assert cost(judge="model") == Cost((2, 4))
    assert cost(judge="cascade") == Cost((0, 4), pairs=4)
    assert cost(judge="model", evidence="together") == Cost((1, 2))


def test_hours_are_of_items_side_by_side() -> None:
    """Items of two and four seconds took four together: one and a half at a time."""
    told = Pace((2.0, 4.0), wall=4.0, in_flight=2, read=100, written=2.5).lines(3600)
    # t(1) = 12.71 times a standard error of 1.
    assert told == [
        "hours: 2 (0 to 10), with 2 at once as in the probe",
        "tokens: about 360,000 read, 9,000 written, by the probe",
    ]
    alone = Pace((3.0,), wall=3.0, in_flight=8, known=5).lines(3600)
    assert alone == [
        "hours: 3, with 1 at once as in the probe; a run has up to 8, which servers that batch do "
        "sooner; 5 answers were known, and took no time"
    ]


def test_runs_are_summed_up_where_all_are_known() -> None:
    one, other = Cost((1, 2), 5), Cost((2, 2))
    rows = table([("a", Forecast(1, 0, one)), ("b", Forecast(1, 0, other))])
    assert rows[-1].split("  ")[0] == "all"
    assert "from 3 to 4" in rows[-1]
    assert rows[-1].endswith("at most 5")
    unknown = table([("a", Forecast(1, 0, one)), ("b", Forecast(1, 0, None))])
    assert unknown[-1].count("unknown") == 2


def test_one_call_is_told_as_one() -> None:
    client: Any = SimpleNamespace(model=SimpleNamespace(name="m"), answered_as=())
    client.usage = Usage(calls=1)
    assert cost_line(client).startswith("1 call to m, ")
    client.usage = Usage(saved_calls=2)
    assert cost_line(client).startswith("2 calls, all answered")
