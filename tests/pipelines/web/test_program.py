"""`contested web` as a program: how a browser enters, and that an interrupt ends it."""

import os
import signal
import socket
import subprocess
import sys
import time
import webbrowser
from pathlib import Path
from stat import S_IMODE
from urllib.parse import unquote, urlsplit

import httpx2
import pytest
from web_server import SCORE, until

from pipelines.cli.web import _open

# Jobs and uploads that a thread works on for a minute, which nothing can stop.
PROGRAM = """
import asyncio, sys, time
from pipelines.web import app, tasks
from pipelines.cli.app import main

async def performing(*_):
    await asyncio.to_thread(time.sleep, 60)

tasks.perform = performing
app.read = lambda *_: time.sleep(60)
sys.exit(main(["web", "--port", "0"]))
"""

KEY = "key-of-the-page"


def browser(folder: Path, then: str) -> Path:
    """A browser that notes what it is started with and what it reads, and what it does then."""
    program = folder / "browser"
    program.write_text(
        f'#!/bin/sh\ncd {folder}\necho $$ >> pid\necho "$*" >> started\n'
        f'for one in "$@"; do case "$one" in file:*) cat "${{one#file://}}" >> read; '
        f'stat -c %a "${{one#file://}}" >> mode;; esac; done\n{then}\n'
    )
    program.chmod(0o700)
    return program


@pytest.mark.parametrize(
    "command",
    [
        "{}",
        "{} --profile=a --incognito %s --quiet",
        "/no/such/browser %s:{} %s",
        "{} %s &",
    ],
)
def test_what_a_browser_is_started_with_tells_others_no_key(
    command: str, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWSER", command.format(browser(tmp_path, "exit 0")))
    monkeypatch.setattr(webbrowser, "_tryorder", None)
    monkeypatch.setattr(webbrowser, "_browsers", {})
    _open(f"http://127.0.0.1:8765/?key={KEY}", home / "open-8765.html")
    until((tmp_path / "mode").exists)
    assert KEY not in (tmp_path / "started").read_text()
    assert f'url=http://127.0.0.1:8765/?key={KEY}"' in (tmp_path / "read").read_text()
    assert (tmp_path / "mode").read_text() == "600\n"


def test_an_interrupt_ends_it_whoever_holds_on(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A browser that stays open, an open stream, half an upload, an upload and a job at work."""
    monkeypatch.setenv("BROWSER", str(browser(tmp_path, "exec sleep 60")))
    monkeypatch.setenv("DISPLAY", ":0")
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
        umask=0,
    )
    assert process.stdout is not None
    base, _, key = process.stdout.readline().strip().partition("/?key=")
    until((tmp_path / "mode").exists)
    assert key not in (tmp_path / "started").read_text()
    page = Path(unquote(urlsplit((tmp_path / "started").read_text().strip()).path))
    assert page.is_relative_to(home)
    headers = {"Authorization": f"Bearer {key}"}
    place = (urlsplit(base).hostname, urlsplit(base).port)
    with (
        httpx2.Client(base_url=base, headers=headers) as script,
        script.stream("GET", "/api/events") as events,
        socket.create_connection(place) as half,
        socket.create_connection(place) as whole,
    ):
        for upload, sent in ((half, b"half"), (whole, b"whole, it is")):
            upload.sendall(
                f"POST /api/documents?name=a.txt HTTP/1.1\r\nHost: {place[0]}:{place[1]}\r\n"
                f"Authorization: Bearer {key}\r\nContent-Length: 12\r\n\r\n".encode()
                + sent
            )
        next(events.iter_lines())
        name = script.post("/api/jobs", json=SCORE).json()["id"]
        until(lambda: script.get(f"/api/jobs/{name}").json()["state"] == "running")
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.wait(30)
        assert time.monotonic() - began < 5
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGTERM)
    assert process.returncode == 0
    assert not page.exists()
    kept = [path for path in home.rglob("*") if path.is_file()]
    assert home / "web/jobs" / name / "asked.json" in kept
    assert {path for path in kept if S_IMODE(path.stat().st_mode) & 0o077} == set()
