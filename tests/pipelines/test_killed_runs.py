"""Experiments that are killed or stopped: the same command ends as if nothing had happened."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from by_schema import reply, weigh
from commands import Contested, contents, kill_midway, loading
from scripted import Scripted, prompt_of

from pipelines.judge.store import JudgementStore

CONCURRENCY = 4
RUNS = {
    "conflictscore": "conflictscore --limit 6",
    "conrag.claims": "conrag --method bm25 --judge model --generator model --limit 6",
    "conflicts.scripted": "conflicts --classifier json --strategy vanilla --strategy oracle",
    "madam-rag.ramdocs": "madam-rag --rounds 2",
    "truthfulqa.scripted": "truthfulqa --claims sentences --limit 3",
}
"""Results of an experiment -> its command, on the bundled samples; Conflict Detection and reports
share ConflictScore's ways."""


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


def test_a_run_that_is_all_cached_loads_neither_torch_nor_vllm(
    endpoint: Scripted, contested: Contested, tmp_path: Path
) -> None:
    command = ["run", "conflictscore", "--limit", "2", "--endpoint", endpoint.url]
    contested.done(*command, "--out", tmp_path / "first")
    _, said, loaded = loading(*command, "--out", tmp_path / "second")
    assert loaded == set()
    assert "no model was asked" in said


class StoppedError(BaseException):
    """What ends a program in the middle of its work."""


def test_a_run_stopped_while_tagging_ends_as_one_that_was_not(
    contested: Contested, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["run", "conflictscore", "--limit", "2", "--judge", "tagger", "--claims", "whole"]
    monkeypatch.setattr(
        "pipelines.judge.tagger.native_format", lambda *_: "fp32"
    )  # no rounding helps

    def run(name: str) -> dict[str, bytes]:
        out = tmp_path / name
        contested.done(*command, "--out", out, "--cache", tmp_path / f"{name}.sqlite")
        return contents(out / "tables") | {"log": (out / "conflictscore.jsonl").read_bytes()}

    kept, put = [], JudgementStore.put

    def stopping(store: JudgementStore, *given: Any) -> None:
        put(store, *given)
        kept.append(given)
        if len(kept) == 3:  # amid a response
            raise StoppedError

    with monkeypatch.context() as patch:
        patch.setattr(JudgementStore, "put", stopping)
        patch.setattr("pipelines.judge.tagger.PAIRS_AT_ONCE", 3)  # else all are tagged before
        with pytest.raises(StoppedError):
            run("stopped")
    assert run("stopped") == run("undisturbed")
