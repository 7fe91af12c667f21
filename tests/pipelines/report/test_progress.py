"""Progress without a terminal: lines that promise no more than is known."""

from types import SimpleNamespace

import pytest

from pipelines.report import progress
from pipelines.report.progress import Display


def test_no_time_is_told_before_one_was_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    display = Display("updates", 8)
    for done, seconds in ((1, 60), (2, 120), (8, 480)):
        now[0] = seconds
        display.reached(done, 8)
    assert capsys.readouterr().err.splitlines() == [
        "updates 1/8",
        "updates 2/8, 60.0 s each, about 6 min left",
        "updates 8/8, 60.0 s each",
    ]
