"""The local page without a browser: its application, called as a page or a script would."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from starlette.testclient import TestClient

from pipelines.cli.web import WebOptions
from pipelines.experiment.options import ServerOptions
from pipelines.inspection.task import Tell
from pipelines.loopback import Door, listening
from pipelines.web.app import Limits, application
from pipelines.web.jobs import Found, Jobs, Perform
from pipelines.web.tasks import FORM, perform

PORT = 8765
GUIDE = {"name": "guide", "text": "The bridge was opened by the mayor in 1932."}
STUDY = {
    "name": "study",
    "text": "The bridge was not opened in 1932: it was opened in May 1936, after delays.",
}
SCORE: dict[str, Any] = {
    "task": "score",
    "response": "The bridge was opened in 1932.",
    "documents": [GUIDE, STUDY],
}
LIMITS = Limits(bytes=200_000, documents=4, characters=20_000)


@dataclass(frozen=True)
class Web:
    """A page's server: `script` sends the key in a header, `stranger` sends no key."""

    jobs: Jobs
    door: Door
    script: TestClient
    stranger: TestClient

    def add(self, asked: Mapping[str, Any] = SCORE, **changed: Any) -> str:
        """Queue a job and return its id."""
        answer = self.script.post("/api/jobs", json={**asked, **changed})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def ended(self, name: str, within: float = 60) -> dict[str, Any]:
        """A job, once it has ended."""
        until(lambda: self.state(name) not in {"queued", "running"}, within)
        found: dict[str, Any] = self.script.get(f"/api/jobs/{name}").json()
        return found

    def state(self, name: str) -> str:
        """Current state of a job."""
        return str(self.script.get(f"/api/jobs/{name}").json()["state"])

    def found(self, name: str) -> dict[str, Any]:
        """The result of a job, once it is done."""
        job = self.ended(name)
        assert job["state"] == "done", job["error"]
        found: dict[str, Any] = self.script.get(f"/api/jobs/{name}/found").json()
        return found


def until(so: Callable[[], bool], within: float = 30) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + within
    while not so():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


@contextmanager
def web(
    folder: Path,
    *,
    performing: Perform | None = None,
    work: bool = True,
    **options: Any,
) -> Iterator[Web]:
    """A server that runs jobs, with `performing` if given; with `work` False it runs none."""
    server = ServerOptions(**options)
    jobs = Jobs(folder, FORM.validate_json)
    door = Door(PORT, LIMITS.bytes)
    app = application(server, jobs, door, LIMITS)
    base = f"http://127.0.0.1:{PORT}"
    made = Web(
        jobs,
        door,
        TestClient(app, base, headers={"Authorization": f"Bearer {door.key}"}),
        TestClient(app, base),
    )
    if work:
        with jobs.working(performing or partial(perform, server)):
            yield made
    else:
        yield made
        jobs.close()


@contextmanager
def live(folder: Path, limits: Limits = LIMITS, **options: Any) -> Iterator[tuple[str, Jobs]]:
    """A server on a port, for browsers: the printed address, and its jobs."""
    asked = WebOptions(**options)
    jobs, socket = Jobs(folder, FORM.validate_json), listening(0)
    door = Door(socket.getsockname()[1], limits.bytes)
    config = uvicorn.Config(
        application(asked, jobs, door, limits), log_level="warning", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
    with jobs.working(partial(perform, asked)):
        thread.start()
        yield door.url, jobs
        server.should_exit = True
        thread.join(10)
        socket.close()


@dataclass
class Slow:
    """Runs jobs that wait until released, and records their order.

    `raising` is raised by a job whose response is that text.
    """

    raising: dict[str, Exception]

    def __post_init__(self) -> None:
        self.began: list[str] = []
        self.go = threading.Event()

    async def __call__(self, asked: Any, tell: Tell) -> tuple[Found, str]:
        self.began.append(asked.response)
        while not self.go.is_set():
            tell("waiting <b>for</b> you")
            await asyncio.sleep(0.01)
        if asked.response in self.raising:
            raise self.raising[asked.response]
        return Found(title="Done", cost="nothing", models=(), blocks=[], result={}), "<p>page"
