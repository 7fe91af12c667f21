"""Runs over a Ray cluster: what they leave is what a run here leaves, even where a worker dies."""

import asyncio
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pytest
from commands import Contested, contents, results, write
from scripted import Scripted, by_digest

from pipelines.cluster import workers
from pipelines.cluster.worker import Worker
from pipelines.experiment.options import RunOptions

# Not imported: Ray reads its settings as it is, and these are the command's to make.
pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="contested[ray] is not installed")

COUNT = 40
REFUSED = "bridge 7 "
ASKED_FOR_EACH = 4
"""Two claims by two documents."""


@pytest.fixture
def command(endpoint: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A run over 40 examples; one of them is refused by the endpoint."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    endpoint.refuses = lambda prompt: REFUSED in prompt
    records = [
        {
            "id": f"r{number}",
            "response": f"bridge {number} is old. bridge {number} is long.",
            "claims": [f"bridge {number} is old.", f"bridge {number} is long."],
            "documents": [
                {"id": "guide", "text": f"The bridge {number} was opened in 1932."},
                {"id": "study", "text": f"The bridge {number} was opened in 1950."},
            ],
        }
        for number in range(COUNT)
    ]
    write("data.jsonl", *records)
    return [
        *("run", "conflictscore", "--data", "data.jsonl", "--on-error", "skip"),
        *("--endpoint", endpoint.url, "--concurrency", "2"),
    ]


def subjects(prompts: list[str]) -> set[str]:
    """The examples that prompts are about."""
    return {f"r{found[1]}" for text in prompts if (found := re.search(r"bridge (\d+)", text))}


def processes() -> list[psutil.Process]:
    """What this process has started, Ray with its workers among it."""
    return psutil.Process().children(recursive=True)


def listening() -> set[str]:
    """The addresses at which Ray can be reached."""
    running = (process for process in processes() if process.is_running())
    lines = (line for process in running for line in process.net_connections("tcp"))
    return {line.laddr.ip for line in lines if line.status == psutil.CONN_LISTEN}


def kill_a_worker() -> list[int]:
    """Kill a worker that this process has on a Ray of its own; its id, if there is one."""
    for process in processes():
        if process.name() == "ray::Worker":
            process.kill()
            return [process.pid]
    return []


def test_a_run_on_ray_leaves_what_a_run_here_leaves_though_a_worker_is_killed(
    command: list[str], endpoint: Scripted, contested: Contested
) -> None:
    contested.done(*command, "--out", "here", "--cache", "here.sqlite")
    assert len(endpoint.requests) == ASKED_FOR_EACH * (COUNT - 1)
    endpoint.requests.clear()

    killed: list[int] = []
    logged: set[str] = set()
    reached: set[str] = set()

    def weigh(request: dict[str, Any]) -> list[float]:
        if not killed and len(endpoint.requests) > ASKED_FOR_EACH * COUNT * 0.6:
            reached.update(listening())
            logged.update(results(Path("there")))
            killed.extend(kill_a_worker())
            endpoint.requests.clear()
        return by_digest(request)

    endpoint.weigh, endpoint.delay_s = weigh, 0.02
    command += ["--out", "there", "--cache", "there.sqlite", "--ray", "local"]
    contested.done(*command)
    assert killed, "the kill came too late"
    assert reached, "nothing was looked at"
    assert reached <= {"127.0.0.1", "::ffff:127.0.0.1", "::1"}
    assert logged - {"r7"}, "nothing was kept before the kill"
    assert not subjects(endpoint.prompts()) & logged
    assert contents(Path("there/tables")) == contents(Path("here/tables"))
    log = "conflictscore.jsonl"
    assert Path("there", log).read_bytes() == Path("here", log).read_bytes()
    assert [row["id"] for row in results(Path("there")).values() if row["error"]] == ["r7"]


class Within:
    """A worker in a thread of its own, asked as an actor is; `dies` says which items kill it."""

    def __init__(self, worker: Worker, dies: Callable[[str], bool]) -> None:
        self.answer = self
        self._worker, self._dies = worker, dies
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    async def remote(self, entry: str, config: str, item: str) -> str:
        from ray.exceptions import RayActorError

        if self._dies(item):
            raise RayActorError
        answer = self._worker.answer(entry, config, item)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(answer, self._loop))

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._worker.close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def workers_within(
    monkeypatch: pytest.MonkeyPatch, dies: Callable[[str], bool] = lambda _: False
) -> None:
    @contextmanager
    def actors(experiment: Any, options: RunOptions) -> Iterator[list[Within]]:
        made = [
            Worker(experiment.name, options.model_dump_json(exclude_unset=True), str(Path.cwd()), n)
            for n in (1, 2)
        ]
        with ExitStack() as stack:
            yield [stack.enter_context(closing(Within(worker, dies))) for worker in made]

    monkeypatch.setattr(workers, "_actors", actors)


def test_an_item_that_kills_its_workers_stops_the_run(
    command: list[str], contested: Contested, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers_within(monkeypatch, dies=lambda item: item == "r9")
    says = ["a worker died 4 times while working on 'r9'"]
    contested.refused(*command, "--out", "there", "--ray", "local", says=says)
