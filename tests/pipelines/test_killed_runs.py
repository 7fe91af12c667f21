"""Experiments that are killed midway: the same command ends as if nothing had happened."""

from collections import Counter
from pathlib import Path

import pytest
from by_schema import reply, weigh
from commands import Contested, contents, kill_midway
from scripted import Scripted, prompt_of

CONCURRENCY = 4
RUNS = {
    "conrag.claims": "conrag --method bm25 --judge model --generator model --limit 12",
    "conflicts.scripted": "conflicts --classifier json --strategy vanilla --strategy oracle",
    "madam-rag.ramdocs": "madam-rag --rounds 2",
    "truthfulqa.scripted": "truthfulqa --claims sentences --limit 3",
}
"""Results of an experiment -> its command, on the bundled samples; ConflictScore, which Conflict
Detection and reports share, is killed often in test_interrupted_run.py."""


@pytest.mark.parametrize("entry", RUNS)
def test_a_killed_run_ends_as_one_that_was_not(
    entry: str,
    endpoint: Scripted,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    contested = Contested(capsys)
    endpoint.reply, endpoint.weigh = reply, weigh
    command = [
        *("run", *RUNS[entry].split(), "--on-error", "skip"),
        *("--endpoint", endpoint.url, "--concurrency", str(CONCURRENCY)),
    ]
    contested.done(*command, "--out", "undisturbed", "--cache", "undisturbed.sqlite")
    undisturbed = Counter(map(prompt_of, endpoint.requests))

    def done() -> list[bytes]:
        log = Path(f"out/{entry}.jsonl")
        return log.read_bytes().split(b"\n")[:-1] if log.exists() else []

    endpoint.requests.clear()
    endpoint.delay_s = 0.03
    command += ["--out", "out", "--cache", "killed.sqlite"]
    # Items are worked on side by side, so that all results may come at the end.
    kill_midway(command, lambda: len(endpoint.requests) > 0.6 * undisturbed.total())
    before = len(done())
    assert len(endpoint.requests) < undisturbed.total(), "the kill came too late"
    assert not Path("out/report.html").exists()

    endpoint.delay_s = 0
    contested.done(*command)
    asked = Counter(map(prompt_of, endpoint.requests))
    # What was in flight when the kill came is asked once more, and what came back in the 20 ms
    # before it.
    assert set(asked) == set(undisturbed)
    assert asked.total() - undisturbed.total() <= 2 * CONCURRENCY
    assert before < len(done())
    one, other = (contents(Path(name, "tables")) for name in ("out", "undisturbed"))
    assert one == other
    results = [Path(name, f"{entry}.jsonl").read_bytes() for name in ("out", "undisturbed")]
    assert results[0] == results[1]
