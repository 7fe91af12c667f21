"""What `--dry-run` says of calls and tokens, beside what the run then asks."""

import json
import re
from pathlib import Path

import pytest
from by_schema import reply, weigh
from commands import Contested
from scripted import Scripted

from pipelines.experiment import probe, rehearse
from serving.probe import paces_file

RUNS = (
    "conflictscore --limit 4 --claims sentences",
    "conflictscore --limit 4 --evidence together",
    "conflictscore --limit 3 --claims whole --repeat 2",
    "conflict-detection --limit 4",
    "conrag --limit 2 --method bm25 --generator llm",
    "madam-rag --limit 2",
    "conflicts --limit 2",
    "report-writing --limit 1",
    "truthfulqa --limit 1",
)


@pytest.fixture
def model(endpoint: Scripted) -> Scripted:
    endpoint.reply, endpoint.weigh = reply, weigh
    return endpoint


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def bounds(told: str, what: str) -> tuple[int, int]:
    """The least and the most that a line says."""
    (line,) = (line for line in told.splitlines() if line.startswith(what))
    numbers = [int(each.replace(",", "")) for each in re.findall(r"[\d,]*\d", line.split(": ")[1])]
    return (numbers[0], numbers[0]) if len(numbers) == 1 else (numbers[-2], numbers[-1])


@pytest.mark.parametrize("run", RUNS)
def test_a_run_asks_what_its_dry_run_said(contested: Contested, model: Scripted, run: str) -> None:
    command = ["run", *run.split(), "--endpoint", model.url, "--out", "out"]
    before = contested.done(*command, "--dry-run").out
    assert not model.requests
    assert not Path("out").exists()
    low, high = bounds(before, "calls to scripted")
    contested.done(*command)
    # A reply in thirty is unreadable, and what would follow it is not asked.
    assert 0.9 * low <= len(model.requests) <= high
    after = contested.done(*command, "--dry-run").out
    assert bounds(after, "calls to scripted") == (0, 0)
    assert re.search(r"^(\d+) of \1 \w+ are done$", after, re.M)
    assert "hours: 0\n" in after


def test_what_was_answered_lets_expect_the_rest(contested: Contested, model: Scripted) -> None:
    command = ["run", "conflict-detection", "--endpoint", model.url, "--out", "out"]
    contested.done(*command, "--limit", 8)
    asked = len(model.requests)
    told = contested.done(*command, "--dry-run").out
    assert "8 of 28 examples are done" in told
    assert "expected as of 8 examples that the cache knows whole" in told
    low, high = bounds(told, "calls to scripted")
    assert low == high
    contested.done(*command)
    assert len(model.requests) == asked + low


def test_answers_of_another_folder_cost_nothing(contested: Contested, model: Scripted) -> None:
    command = ["run", "madam-rag", "--limit", 2, "--endpoint", model.url]
    contested.done(*command, "--out", "one")
    told = contested.done(*command, "--out", "two", "--dry-run").out
    assert "are done" not in told
    assert bounds(told, "calls to scripted") == (0, 0)


def test_a_long_file_is_sampled(
    contested: Contested, model: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rehearse, "SAMPLE", 10)
    command = ["run", "conflict-detection", "--endpoint", model.url, "--dry-run"]
    told = contested.done(*command).out
    assert re.search(r"from 10 of the 28 examples that are left, within \d+%", told)
    assert bounds(told, "calls to scripted")[0] == pytest.approx(102, rel=0.2)


def test_items_that_cannot_be_asked_about_are_told(contested: Contested, model: Scripted) -> None:
    documents = [{"id": "a", "text": "x" * 9000}]
    record = {"id": "r", "response": "One.", "claims": ["One."], "documents": documents}
    short = record | {"id": "s", "documents": [{"id": "a", "text": "x"}]}
    Path("data.jsonl").write_text(f"{json.dumps(record)}\n{json.dumps(short)}\n")
    model.context = 1000
    command = ["run", "conflictscore", "--data", "data.jsonl", "--endpoint", model.url]
    told = contested.done(*command, "--dry-run").out
    # Nobody knows the model's tokens, so nobody can say that the text does not fit.
    assert bounds(told, "calls to scripted") == (2, 2)


# Probes.


def test_a_probe_is_half_a_minute_of_the_run(
    contested: Contested, model: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "PROBE_S", 0.3)
    model.delay_s = 0.05
    command = ["run", "conflict-detection", "--endpoint", model.url, "--concurrency", 2]
    told = contested.done(*command, "--dry-run", "--probe").out
    asked = len(model.requests)
    assert 2 <= asked < 102, "it ends before the run would"
    # Two at a time, each of at least 0.05 s.
    found = re.search(r"hours: [\d.e-]+ \(.*\), at ([\d.]+) calls/s \((\d+) tokens/s read", told)
    assert found
    assert 0 < float(found[1]) <= 40
    assert float(found[2]) == pytest.approx(10 * float(found[1]), abs=1)
    assert not list(Path("results").glob("*.jsonl")), "a probe is no result"
    # What was answered is kept, and the measurement, too.
    again = contested.done(*command, "--dry-run").out
    assert f"at {found[1]} calls/s" in again
    left, _ = bounds(again, "calls to scripted")
    assert 102 - asked <= left < 102, "what was in flight at the end is asked again"
    # Of other options nothing is known.
    assert "hours: unknown" in contested.done(*command, "--evidence", "json", "--dry-run").out


def test_a_probe_needs_something_to_ask(contested: Contested, model: Scripted) -> None:
    message = contested.refused("run", "conflict-detection", "--probe", "--endpoint", model.url)
    assert "--probe has no effect with a run that is no --dry-run; leave it out" in message
    tagged = ("run", "conflict-detection", "--labeller", "nli", "--dry-run", "--probe")
    assert "which asks no language model" in contested.refused(*tagged)
    command = ["run", "conflict-detection", "--limit", 1, "--endpoint", model.url]
    contested.done(*command)
    assert "hours: 0\n" in contested.done(*command, "--dry-run", "--probe").out
    assert not paces_file().exists()


def test_the_main_job_is_summed_up(contested: Contested, model: Scripted) -> None:
    data = Path("data")
    data.mkdir()
    claim = {"id": "b", "source": "own", "claim": "It is red.", "conflict": False}
    claim["documents"] = [{"id": "a", "text": "It is red."}, {"id": "b", "text": "It is blue."}]
    response = {"id": "r", "response": "Red.", "claims": ["It is red."]} | {
        "documents": claim["documents"]
    }
    (data / "conflictscore.jsonl").write_text(json.dumps(response))
    (data / "conflict-detection.jsonl").write_text(json.dumps(claim))
    command = ["run", "all", "--data", data, "--endpoint", model.url, "--labeller", "llm"]
    told = contested.done(*command, "--dry-run").out.splitlines()
    rows = [line.split() for line in told[-5:]]
    # ConflictScore and the second detector ask for two labels, of the same claim by other prompts.
    assert [row[:3] for row in rows] == [
        ["1/4", "conflictscore", "2"],
        ["2/4", "conflict-detection", "0"],
        ["3/4", "conflict-detection", "2"],
        ["4/4", "conrag", "0"],
        ["all", "4", rows[-1][2]],
    ]
    assert told[-1].endswith("unknown")
    assert not model.requests
