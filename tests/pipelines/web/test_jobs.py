"""The queue: order, cancelling, failing, and what is left by a program that ends."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from scripted import Scripted
from web_server import GUIDE, SCORE, Slow, Web, until, web

from pipelines.errors import InputError


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """A server that does no job."""
    with web(tmp_path_factory.mktemp("web"), work=False) as made:
        yield made


def test_a_job_is_cancelled_where_it_waits_and_where_it_runs(tmp_path: Path) -> None:
    slow = Slow({})
    with web(tmp_path, performing=slow) as page:
        first, second, third = (page.add(response=f"{number}.") for number in range(3))
        until(lambda: slow.began == ["0."])
        for name in (second, first):
            job = page.script.post(f"/api/jobs/{name}/cancel").json()
            assert (job["state"], job["progress"]) == ("cancelled", "")
        until(lambda: slow.began == ["0.", "2."])
        slow.go.set()
        assert page.ended(third)["state"] == "done"
        assert page.state(first) == "cancelled"
        assert page.script.get(f"/api/jobs/{first}/found").status_code == 409
        # What has ended stays as it is.
        assert page.script.post(f"/api/jobs/{third}/cancel").json()["state"] == "done"


def test_a_failure_is_one_line_and_the_next_job_is_done(tmp_path: Path) -> None:
    slow = Slow(
        {"user.": InputError("no\nmodel <b>here</b> \x1b[31m"), "ours.": KeyError("documents")}
    )
    slow.go.set()
    with web(tmp_path, performing=slow) as page:
        user, ours, fine = (page.add(response=each) for each in ("user.", "ours.", "fine."))
        assert page.ended(user)["error"] == "no model <b>here</b> ␛[31m"
        fault = page.ended(ours)["error"]
        assert fault.startswith("a bug in this program (KeyError: 'documents'); ")
        assert "Traceback" not in fault
        assert "Traceback" in (tmp_path / "jobs" / ours / "fault.txt").read_text()
        assert page.ended(fine)["state"] == "done"


def test_what_was_done_is_shown_again_and_what_was_not_is_done(tmp_path: Path) -> None:
    slow = Slow({})
    with web(tmp_path, performing=slow) as page:
        slow.go.set()
        done = page.add(response="done.")
        page.ended(done)
        slow.go.clear()
        running, queued, cancelled = (
            page.add(response=each) for each in ("running.", "queued.", "cancelled.")
        )
        page.jobs.cancel(cancelled)
        until(lambda: slow.began == ["done.", "running."])
    kept = {p.parent.name: json.loads(p.read_text()) for p in tmp_path.glob("jobs/*/job.json")}
    assert (kept[running]["state"], kept[queued]["state"]) == ("running", "queued")

    (tmp_path / "jobs/damaged").mkdir()
    (tmp_path / "jobs/damaged/job.json").write_text('{"id": ')
    again = Slow({})
    again.go.set()
    with web(tmp_path, performing=again) as page:
        assert page.found(done)["title"] == "Done"
        assert [page.ended(name)["state"] for name in (running, queued)] == ["done", "done"]
        assert again.began == ["running.", "queued."]
        assert page.state(cancelled) == "cancelled"
        assert page.script.get(f"/api/jobs/{queued}/asked").json()["response"] == "queued."


@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        ({"response": " "}, 422, "score.response: it is empty"),
        ({"documents": []}, 422, "score.documents: "),
        ({"documents": [GUIDE, GUIDE]}, 422, "two documents are called 'guide'; rename one"),
        ({"documents": [GUIDE | {"text": ""}]}, 422, "score.documents.0.text: "),
        ({"documents": [GUIDE | {"name": "n" * 201}]}, 422, "score.documents.0.name: "),
        (
            {"documents": [{"name": f"{n}", "text": "a"} for n in range(5)]},
            422,
            "5 documents exceed the limit, 4; give fewer",
        ),
        ({"response": "a" * 20_001}, 413, "characters of text exceed the limit, 20,000; give less"),
        ({"judge": "me"}, 422, "score.judge: it must be 'model', 'tagger'"),
        ({"task": "none"}, 422, "does not match any of the expected tags"),
        ({"evil": 1}, 422, "score.evil: there is no such field"),
        ({"judge": "model"}, 422, "is too weak to judge, or to split texts into claims"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(
    asked: dict[str, Any], status: int, said: str, idle: Web
) -> None:
    answer = idle.script.post("/api/jobs", json=SCORE | asked)
    assert answer.status_code == status, answer.text
    detail = answer.json()["detail"]
    assert said in detail
    assert "\n" not in detail
    assert idle.jobs.all() == []


def start(*options: str) -> tuple[subprocess.Popen[str], httpx2.Client]:
    """The command in a process of its own, and a script that asks it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pipelines.cli", "web", "--no-open", "--port", "0", *options],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    assert url.startswith("http://127.0.0.1:"), process.communicate()
    base, _, key = url.partition("/?key=")
    return process, httpx2.Client(base_url=base, headers={"Authorization": f"Bearer {key}"})


def test_a_killed_program_begins_its_jobs_again(tmp_path: Path, endpoint: Scripted) -> None:
    options = ["--endpoint", endpoint.url, "--out", str(tmp_path)]
    endpoint.delay_s = 60
    process, script = start(*options)
    asked = SCORE | {"judge": "model"}
    names = [
        script.post("/api/jobs", json=asked | {"response": f"{n}."}).json()["id"] for n in "ab"
    ]
    until(lambda: endpoint.requests != [])
    process.kill()
    process.communicate()
    endpoint.delay_s = 0
    process, script = start(*options)

    def state(name: str) -> str:
        return str(script.get(f"/api/jobs/{name}").json()["state"])

    until(lambda: [state(name) for name in names] == ["done", "done"])
    with script.stream("GET", "/api/events") as events:  # which must not keep it from ending
        first = next(line for line in events.iter_lines() if line.startswith("data: "))
        assert {job["id"] for job in json.loads(first[6:])["jobs"]} == set(names)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=20)
    assert process.returncode == 0
    assert said == "Ctrl-C stops it; unfinished jobs start again next time.\n"
