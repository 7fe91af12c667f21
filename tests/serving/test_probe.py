"""What a probe makes of calls: windows, their spread, and what is kept of it."""

import asyncio
from pathlib import Path

import pytest

from serving.calls import Completion
from serving.probe import Pace, Watch, Window, remember, remembered, watched


def watch_of(*calls: tuple[float, float, int, int]) -> Watch:
    return Watch(ended=list(calls))


def test_a_call_counts_in_each_window_by_its_share() -> None:
    # From 0 to 10 s one call of 8 s, half of it in each window; and one of 2 s before and behind.
    pace = watch_of((1, 9, 80, 16), (-1, 1, 20, 4), (9, 11, 20, 4)).pace(0, 10)
    assert pace is not None
    assert pace.windows == (
        Window(calls=(0.5 + 0.5) / 5, read=(40 + 10) / 5, written=(8 + 2) / 5),
        Window(calls=(0.5 + 0.5) / 5, read=(40 + 10) / 5, written=(8 + 2) / 5),
    )
    assert pace.calls == pytest.approx(2)
    assert pace.mean.calls == pytest.approx(0.2)


def test_windows_are_of_equal_length_to_the_end() -> None:
    pace = watch_of((0, 1, 1, 1)).pace(0, 12)
    assert pace is not None
    assert len(pace.windows) == 2
    assert [each.calls for each in pace.windows] == pytest.approx([1 / 6, 0])
    assert watch_of().pace(0, 30) is None


def test_the_spread_leaves_out_a_tenth_on_either_side() -> None:
    rates = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]
    pace = Pace(tuple(Window(rate, 0, 0) for rate in rates), 5, "now")
    assert pace.spread == pytest.approx((2, 10))
    assert Pace((Window(3, 0, 0),), 5, "now").spread == (3, 3)


async def test_what_was_begun_in_time_is_waited_for_and_the_rest_given_up() -> None:
    watch, begun, ended = Watch(), [], []

    async def call(number: int) -> None:
        with watch.call() as end:
            begun.append(number)
            await asyncio.sleep(0.3)
            end(Completion("", "stop", None, 10, 5))
            ended.append(number)

    async def run() -> None:
        for number in range(1000):
            await call(number)

    pace = await watched(run(), watch, 0.4)
    assert pace is not None
    assert 2 <= len(ended) < 10, "the second call was begun in time"
    assert not watch.open
    assert pace.mean.calls == pytest.approx(1 / 0.3, rel=0.25)
    assert pace.mean.read == pytest.approx(10 * pace.mean.calls)


async def test_a_short_run_is_measured_to_its_end_and_its_error_is_raised() -> None:
    async def nothing() -> None:
        return

    async def broken() -> None:
        raise ValueError("broken")

    assert await watched(nothing(), Watch(), 30) is None
    with pytest.raises(ValueError, match="broken"):
        await watched(broken(), Watch(), 30)


def test_a_pace_is_kept_by_its_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTESTED_HOME", str(tmp_path / "home"))
    pace = Pace((Window(1, 2, 3), Window(4, 5, 6)), 7, "2026-11-23 22:00 UTC")
    kind = {"entry": "madam-rag", "machine": {"gpus": []}}
    assert remembered(kind) is None
    remember(kind, pace)
    remember({"entry": "conrag"}, Pace((), 0, ""))
    assert remembered({"machine": {"gpus": []}, "entry": "madam-rag"}) == pace
    assert remembered(kind | {"entry": "conflicts"}) is None
    (tmp_path / "home" / "paces.json").write_text("half")
    assert remembered(kind) is None
