"""`contested debate`, as a person meets it."""

import re
from pathlib import Path

import pytest
from commands import Contested
from debates import readers
from scripted import Scripted, fenced_text

QUESTION = "When was the mill built?"
ASKED = ["debate", QUESTION, "--documents", "north.txt", "south.txt", "flour.txt"]


@pytest.fixture
def mills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, endpoint: Scripted) -> Scripted:
    """Three documents in the working folder, and readers of them."""
    monkeypatch.setenv("COLUMNS", "120")
    Path("north.txt").write_text("The mill in the north was built in 1856.")
    Path("south.txt").write_text("The mill in the south was built in 1902.")
    Path("flour.txt").write_text("Flour [bold]is[/bold] <script>alert(1)</script> ground.")
    endpoint.reply = readers
    return endpoint


def test_rounds_are_columns_and_agents_rows(contested: Contested, mills: Scripted) -> None:
    out = contested.done(*ASKED, "--endpoint", mills.url).out
    assert re.search(r"• 1856 +\n +• 1902", out)
    assert "round 1" in out
    assert "round 2" in out
    assert "round 3" not in out
    assert [name in out for name in ("north", "south", "flour", "Aggregator")] == [True] * 4
    assert "Ended after round 2: no agent changed its answer" in out
    asked = [fenced_text(r, "QUESTION") for r in mills.requests]
    assert set(asked) == {QUESTION}
