"""SmolLM2 predicts, answers and judges bundled queries; a killed run goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from commands import table

from serving.detached import State

pytestmark = pytest.mark.real_server

CONTESTED = [sys.executable, "-m", "pipelines.cli"]


def kept(out: Path) -> list[dict[str, Any]]:
    files = list(out.glob("conflicts.*.jsonl"))
    lines = [line for file in files for line in file.read_bytes().split(b"\n")[:-1]]
    return [json.loads(line) for line in lines]


QUERIES = 5
"""Of the bundled ten."""


def test_all_of_it_on_bundled_queries_with_a_kill(running_server: State, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (endpoint,) = running_server.endpoints()
    environment = os.environ | {"CONTESTED_API_KEY": endpoint.key}
    arguments = [
        *("run", "conflicts", "--endpoint", endpoint.url, "--out", str(out)),
        *("--answer-tokens", "40", "--judge", "nli", "--behaviour", "choice"),
        *("--limit", str(QUERIES)),
    ]

    def start(*more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*CONTESTED, *arguments, *more],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    process = start("--concurrency", "4")
    deadline = time.monotonic() + 300
    while len(kept(out)) < 1:
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline, "nothing happened in time"
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = kept(out)
    assert 1 <= len(before) < QUERIES

    process = start()
    said, _ = process.communicate(timeout=400)
    assert process.returncode == 0, said
    results = kept(out)
    assert len(results) == QUERIES
    assert {each["status"] for each in results} == {"answered"}
    by_id = {each["id"]: each for each in results}
    assert all(by_id[each["id"]] == each for each in before), "what was answered stays"
    for each in results:
        assert set(each["predictions"]) == {"yes-no", "json", "choice"}
        assert set(each["outcomes"]) == {"vanilla", "pipeline", "taxonomy-aware", "oracle"}
        readable = [one for one in each["outcomes"].values() if one["answer"]["problem"] is None]
        assert all(one["judged"]["adherence"]["adheres"] is not None for one in readable)
        assert all(one["judged"]["grounding"] is not None for one in readable)
        shares = each["predictions"]["choice"]["probabilities"]
        assert sum(shares.values()) == pytest.approx(1)
    rows = table(out, "conflicts_answers")
    ours = [row for row in rows if row["queries"] == QUERIES]
    assert {row["strategy"] for row in ours} == {"Vanilla", "Pipeline", "Taxonomy-aware", "Oracle"}

    process = start("--judge", "llm", "--limit", "1", "--name", "llm-judge")
    said, _ = process.communicate(timeout=400)
    assert process.returncode == 0, said
    judged = next(
        json.loads(line)["outcomes"]["vanilla"]["judged"]
        for line in (out / "conflicts.llm-judge.jsonl").read_text().splitlines()
    )
    assert len(judged["grounding"]["sentences"]) >= 1
    assert judged["inclusion"] is None or judged["inclusion"]["gold"]
