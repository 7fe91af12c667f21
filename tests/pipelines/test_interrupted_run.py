"""Runs that are killed: nothing is lost."""

import asyncio
import json
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from scripted import Scripted

from pipelines.cli.app import main
from pipelines.judge.store import JudgementStore
from serving import profile
from serving.cache import completion_key
from serving.connect import Source, resolve
from serving.tokens import TEMPLATE_ARGUMENTS

ROOT = Path(__file__).parents[2]
CONTESTED = [sys.executable, "-m", "pipelines.cli"]


def write_records(path: Path, count: int) -> Path:
    records = [
        {
            "id": f"bridge-{number}",
            "responses": {
                "sure": f"Bridge {number} was opened in 1932. It is old. The toll is two pounds.",
                "hedged": f"Sources differ on bridge {number}: 1932 or 1936.",
            },
            "documents": [
                {"id": "a", "text": f"The bridge number {number} was opened in 1932."},
                {"id": "b", "text": f"Traffic first crossed bridge {number} in May 1936."},
                {
                    "id": "c",
                    "text": f"The toll is {number} pounds.{' It was less.' * (3 * number)}",
                },
            ],
        }
        for number in range(count)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def start(arguments: Sequence[object]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*CONTESTED, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
    )


def finish(process: subprocess.Popen[str]) -> str:
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output
    return output


def stored_keys(cache: Path) -> set[str]:
    if not cache.exists():
        return set()
    with sqlite3.connect(cache, timeout=60) as database:
        try:
            return {key for (key,) in database.execute("SELECT key FROM completions")}
        except sqlite3.OperationalError:  # killed before the table was made
            return set()


def stored(cache: Path) -> int:
    return len(stored_keys(cache))


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str], limit: float) -> None:
    deadline = time.monotonic() + limit
    while not condition():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline, "nothing happened in time"
        time.sleep(0.02)


def contents(folder: Path) -> dict[str, bytes]:
    kept = [*sorted((folder / "tables").iterdir()), folder / "conflictscore.jsonl"]
    return {path.name: path.read_bytes() for path in kept}


def keys_of(requests: Sequence[dict[str, Any]], digest: str, engine: str) -> list[str]:
    """The cache keys of requests as a server saw them."""
    added = {"model", "chat_template_kwargs"}
    return [
        completion_key(
            {
                "model": digest,
                "engine": engine,
                "template": TEMPLATE_ARGUMENTS,
                "request": {name: value for name, value in sent.items() if name not in added},
                "repeat": 0,
            }
        )
        for sent in requests
    ]


def test_killed_again_and_again_a_run_asks_nothing_twice_and_ends_the_same(
    endpoint: Scripted, tmp_path: Path
) -> None:
    data = write_records(tmp_path / "records.jsonl", 12)
    endpoint.delay_s = 0.05
    cache, out = tmp_path / "cache.sqlite", tmp_path / "out"

    def run(cache: Path, out: Path) -> subprocess.Popen[str]:
        url = ["--endpoint", endpoint.url, "--concurrency", "4"]
        return start(["run", "conflictscore", "--data", data, "--out", out, "--cache", cache, *url])

    finish(run(tmp_path / "undisturbed.sqlite", tmp_path / "undisturbed"))
    undisturbed = len(endpoint.requests)
    assert undisturbed > 100
    endpoint.requests.clear()

    source = Source(
        profile.load("cpu-small"), "judge", tmp_path / "models", endpoints=(endpoint.url,)
    )
    identity = asyncio.run(resolve(source)).identity
    moments = random.Random(7)
    for _ in range(3):  # the second and all further kills hit a resumed run
        before = stored(cache)
        already, seen = stored_keys(cache), len(endpoint.requests)
        process = run(cache, out)
        target = before + moments.randint(5, 25)
        wait_until(lambda target=target: stored(cache) >= target, process, 60)  # type: ignore[misc]
        time.sleep(moments.random() * 0.1)
        process.kill()
        process.wait()
        asked = keys_of(endpoint.requests[seen:], identity.digest, identity.engine)
        assert not already & set(asked), "a stored completion was asked again"
        assert already <= stored_keys(cache), "a stored completion was lost"

    already, seen = stored_keys(cache), len(endpoint.requests)
    finish(run(cache, out))
    asked = keys_of(endpoint.requests[seen:], identity.digest, identity.engine)
    assert asked, "the kills came too late to test anything"
    assert not already & set(asked)
    assert set(asked) <= stored_keys(cache), "the keys of this test are not those of the client"
    assert contents(out) == contents(tmp_path / "undisturbed")

    endpoint.requests.clear()
    assert "no model was asked" in finish(run(cache, out))
    assert not endpoint.requests


def test_a_run_that_is_all_cached_loads_neither_torch_nor_vllm(
    endpoint: Scripted, tmp_path: Path
) -> None:
    data = write_records(tmp_path / "records.jsonl", 2)
    arguments = ["run", "conflictscore", "--data", str(data), "--endpoint", endpoint.url]
    finish(start([*arguments, "--out", tmp_path / "first"]))
    program = (
        "import sys\n"
        "from pipelines.cli.app import main\n"
        f"code = main({[*arguments, '--out', str(tmp_path / 'second')]!r})\n"
        "heavy = {'torch', 'transformers', 'vllm'} & set(sys.modules)\n"
        "sys.exit(code or (f'loaded {heavy}' if heavy else 0))"
    )
    again = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, cwd=ROOT
    )
    assert again.returncode == 0, again.stderr
    assert "no model was asked" in again.stderr


class StoppedError(BaseException):
    """What ends a program in the middle of its work."""


def test_a_run_stopped_while_tagging_ends_as_one_that_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = write_records(tmp_path / "records.jsonl", 4)
    how = ["run", "conflictscore", "--data", str(data), "--judge", "tagger"]
    how += ["--claims", "whole"]  # three pairs for each response
    monkeypatch.setattr("pipelines.judge.tagger.format_of", lambda *_: "fp32")  # no rounding helps

    def run(out: str) -> dict[str, bytes]:
        cache = str(tmp_path / f"{out}.sqlite")
        assert main([*how, "--out", str(tmp_path / out), "--cache", cache]) == 0
        return contents(tmp_path / out)

    kept, put = [], JudgementStore.put

    def stopping(store: JudgementStore, *given: Any) -> None:
        put(store, *given)
        kept.append(given)
        if len(kept) == 5:  # amid the second response
            raise StoppedError

    with monkeypatch.context() as patch:
        patch.setattr(JudgementStore, "put", stopping)
        patch.setattr("pipelines.judge.tagger.PAIRS_AT_ONCE", 3)  # else all are tagged before
        with pytest.raises(StoppedError):
            run("stopped")
    assert run("stopped") == run("undisturbed")
