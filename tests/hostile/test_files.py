"""Foreign files and folders fail fast with one line and code 2, and nothing outside is touched."""

import gzip
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from commands import Contested, contents
from scripted import KEY, Scripted
from starlette.testclient import TestClient
from web_server import live, until, web

from nli.pairs import write_pairs
from pipelines.cli.app import main
from pipelines.cli.run import publish
from pipelines.data.extraction import html_text
from pipelines.data.records import Document
from pipelines.data.released import content
from pipelines.data.text import read_text
from pipelines.errors import InputError
from pipelines.files import check_writable, read_whole, replace_text
from pipelines.retrieval.index import Index, build
from pipelines.runs.folder import RunFolder
from pipelines.web.jobs import Jobs
from serving.home import alone

DOCUMENT = {"id": "d", "text": "The ferry was replaced by a bridge in 1936."}
RECORD = {"id": "ferry", "response": "The bridge is old.", "documents": [DOCUMENT]}
DEEP = b'{"id": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
QUICK_S = 5
"""Seconds within which every attack must have failed."""


# Input files.


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def bound(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def endless(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


NO_FILES: dict[str, Callable[[Path], object]] = {
    "device": device,
    "pipe that nobody writes": os.mkfifo,
    "socket": bound,
    "folder": Path.mkdir,
    "a terabyte of nothing": endless,
}
READERS = {
    "data": ("run", "conflictscore", "--endpoint", "{url}", "--out", "out", "--data", "{file}"),
    "response": ("score", "--endpoint", "{url}", "--documents", "d.txt", "--response", "{file}"),
    "document": ("score", "--endpoint", "{url}", "--response", "d.txt", "--documents", "{file}"),
    "pairs": ("lab", "calibrate", "--dry-run", "--pairs", "{file}"),
    "prompt": ("run", "conflictscore", "--endpoint", "{url}", "--out", "out",
               "--data", "data.jsonl", "--prompts", "prompts"),
    "profile": ("run", "conflictscore", "--dry-run", "--data", "data.jsonl", "--profile", "{file}"),
    "index": ("index", "build", "{file}", "--out", "index"),
}  # fmt: skip
PLACES = {
    "prompt": "prompts/judge/relation.j2",
    "profile": "file.toml",
    "index": "file.txt",
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("d.txt").write_text(DOCUMENT["text"])
    Path("data.jsonl").write_text(json.dumps(RECORD) + "\n")
    return tmp_path


@pytest.mark.parametrize(
    ("reader", "kind"), [*product(["data"], NO_FILES), *product([*READERS][1:], ["device"])]
)
def test_what_is_no_file(
    reader: str, kind: str, here: Path, contested: Contested, endpoint: Scripted
) -> None:
    file = Path(PLACES.get(reader, "file"))
    file.parent.mkdir(parents=True, exist_ok=True)
    NO_FILES[kind](file)
    command = [part.format(url=endpoint.url, file=file) for part in READERS[reader]]
    began = time.monotonic()
    assert str(file) in contested.refused(*command)
    assert time.monotonic() - began < QUICK_S
    assert not endpoint.requests


def test_a_pipe_that_is_written_is_read(here: Path) -> None:
    command = "from pathlib import Path; from pipelines.data.text import read_text\n"
    command += "import sys; print(*(read_text(Path(name)) for name in sys.argv[1:]))"
    line = f"'{sys.executable}' -c '{command}' <(sleep 0.2; echo one) /dev/stdin"
    run = subprocess.run(["bash", "-c", line], input="two", capture_output=True, text=True)
    assert run.stdout == "one two\n", run.stderr


def packed(size: int) -> bytes:
    return gzip.compress(b" " * size)


def test_a_packed_file_that_swells(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_whole, "__defaults__", (100, 0))
    for name in ("claims.jsonl", "claims.jsonl.gz"):
        Path(name).write_bytes(packed(10_000))
        with pytest.raises(InputError, match=r"unpacked, has more than"):
            content(Path(name))


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("deep.jsonl", ("run", "conflictscore", "--endpoint", "{url}", "--data", "deep.jsonl")),
        ("deep.jsonl", ("run", "conrag", "--endpoint", "{url}", "--data", "deep.jsonl")),
        ("deep.jsonl", ("lab", "calibrate", "--dry-run", "--pairs", "deep.jsonl")),
        ("deep.jsonl", ("index", "build", "deep.jsonl", "--out", "index")),
        ("deep.json", ("check-npov", "deep.json", "--endpoint", "{url}")),
    ],
)
def test_deep_json(
    name: str, command: tuple[str, ...], here: Path, contested: Contested, endpoint: Scripted
) -> None:
    Path(name).write_bytes(DEEP)
    message = contested.refused(*(part.format(url=endpoint.url) for part in command))
    assert message.startswith(f"{name}:")
    assert not endpoint.requests


def test_many_documents_of_one_name_are_refused_at_once(here: Path, contested: Contested) -> None:
    documents = [{"id": f"d{number}", "text": "x"} for number in range(60_000)]
    record = {**RECORD, "documents": [*documents, documents[-1]]}
    Path("data.jsonl").write_text(json.dumps(record) + "\n")
    began = time.monotonic()
    contested.refused("run", "conflictscore", "--data", "data.jsonl", says=["id 'd59999'"])
    fields = ", ".join(f'"f{number}": 1' for number in range(60_000))
    Path("data.jsonl").write_text(f'{{{fields}, "f59999": 1}}')
    contested.refused("run", "conflictscore", "--data", "data.jsonl", says=["'f59999' is given"])
    assert time.monotonic() - began < QUICK_S


# Run folders.


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run with one claim labelled by a person."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "data.jsonl").write_text(json.dumps(RECORD) + "\n")
    with pytest.MonkeyPatch.context() as patch, Scripted() as scripted:
        patch.setenv("CONTESTED_API_KEY", KEY)
        patch.setenv("CONTESTED_HOME", str(folder / "home"))
        where = ["--data", folder / "data.jsonl", "--out", folder / "out"]
        command = ["run", "conflictscore", *where, "--endpoint", scripted.url]
        assert main([str(part) for part in command]) == 0
    return folder / "out"


@pytest.fixture
def run(finished: Path, here: Path) -> Path:
    """A copy of the run from a stranger, beside a folder of the user's."""
    shutil.copytree(finished, "out")
    shutil.copyfile(finished.parent / "data.jsonl", "data.jsonl")
    Path("mine/tables").mkdir(parents=True)
    Path("mine/letter.txt").write_text("Dear Ada, this is private.")
    return Path("out")


def commands(url: str) -> dict[str, list[str]]:
    resume = ["run", "conflictscore", "--data", "data.jsonl", "--out", "out", "--endpoint", url]
    return {
        "run": resume,
        "probe": [*resume, "--dry-run", "--probe"],
        "export": ["export", "out", "--out", "exported"],
        "annotate": ["annotate", "out", "--results"],
        "compare": ["compare", "out", "other"],
    }


OURS = (
    *(".lock", "run.json", "conflictscore.jsonl", "report.html"),
    *("tables", "tables/failures.md", "logs", "logs/server.log", "annotations"),
)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "link") for name in OURS),
        *((name, "dangling link") for name in ("conflictscore.jsonl", "tables")),
        (".lock", "pipe"),
    ],
)
def test_a_run_folder_with_links(
    name: str, kind: str, run: Path, contested: Contested, endpoint: Scripted
) -> None:
    shutil.copytree(run, "other")
    place = run / name
    place.parent.mkdir(exist_ok=True)
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    folder = name in {"tables", "logs", "annotations"}
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "link":
        place.symlink_to(Path("mine" if folder else "mine/letter.txt").absolute())
    else:
        place.symlink_to(Path("mine/new").absolute())
    before = contents(Path("mine"))
    for command, arguments in commands(endpoint.url).items():
        began = time.monotonic()
        message = contested.refused(*arguments)
        assert message.startswith(f"{place} is a {kind.rsplit(maxsplit=1)[-1]}"), command
        assert time.monotonic() - began < QUICK_S
    assert contents(Path("mine")) == before
    assert not Path("exported").exists()
    assert not endpoint.requests


def test_a_run_folder_may_itself_be_reached_by_a_link(
    run: Path, contested: Contested, endpoint: Scripted
) -> None:
    Path("elsewhere").mkdir()
    run.rename("other")
    run.symlink_to("elsewhere")
    contested.done(*commands(endpoint.url)["run"])
    contested.done(*commands(endpoint.url)["export"])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", ["run.json is damaged", "restore a copy", "name another folder"]),
        (b'{"pipelines": {"conflictscore"', ["run.json is damaged", "answers already given come"]),
        (b'{"a": ' * 300 + b"1" + b"}" * 300, ["run.json is damaged", "recursion limit"]),
        (b"\xff\xfe{}", ["run.json is damaged"]),
        (b'{"pipelines": {"conflictscore": {"config": 3}}}', ["was not written by this program"]),
        (
            b'{"pipelines": {"conflictscore./../../mine/x": {"config": {}}}}',
            ["was not written by this program"],
        ),
        (None, ["has results", "run.json lacks their settings", "name another folder"]),
    ],
)
def test_a_damaged_run_json(
    content: bytes | None, says: list[str], run: Path, contested: Contested, endpoint: Scripted
) -> None:
    (run / "run.json").unlink()
    if content is not None:
        (run / "run.json").write_bytes(content)
    before = contents(run)
    contested.refused(*commands(endpoint.url)["run"], says=says)
    contested.refused(*commands(endpoint.url)["export"], says=["run.json"])
    assert contents(run) == before
    assert not endpoint.requests


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"data": 3},
        {"data": {"name": "a", "sha256": "0"}, "model": {"name": "\x1b[2J", "digest": 1}},
    ],
)
def test_settings_of_another_shape(config: object, run: Path, contested: Contested) -> None:
    about = json.loads((run / "run.json").read_text())
    about["pipelines"]["conflictscore"]["config"] = config
    shutil.copytree(run, "other")
    (run / "run.json").write_text(json.dumps(about))
    for name in ("export", "compare"):  # shows as much as it can
        outcome = contested(*commands("")[name])
        assert (outcome.code, outcome.err.count("\n")) in {(0, 0), (0, 1), (2, 1)}
    with pytest.raises(InputError, match="out was not written by this version"):
        publish(RunFolder(run))


@pytest.mark.parametrize("line", [DEEP, b"", b"[1]", b'{"line": {}}', b'"\\ud800"', b"\xff"])
def test_damaged_lines(line: bytes, run: Path, contested: Contested) -> None:
    (run / "conflictscore.jsonl").write_bytes(line + b"\n")
    message = contested.refused(*commands("")["export"])
    assert message.startswith(f"{run}/conflictscore.jsonl:1: not a result of this version")


# Our files.


def test_a_link_with_the_name_of_a_half_written_file(here: Path) -> None:
    Path("mine.txt").write_text("private")
    writers: list[Callable[[Path], None]] = [
        check_writable,
        lambda path: replace_text(path, "new"),
        lambda path: write_pairs(path, []),
    ]
    for write in writers:
        Path(f".report.html.{os.getpid()}").symlink_to("mine.txt")
        write(Path("report.html"))
        assert Path("mine.txt").read_text() == "private"


def test_locks_follow_no_link(here: Path) -> None:
    Path("mine.txt").write_text("private")
    places = [Path("web/jobs/.lock"), Path("index/.building"), Path("servers.lock")]
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(Path("mine.txt").absolute())
    Path("index/index.json").write_text("{}")
    with pytest.raises(InputError, match=r"\.lock is a link"):
        Jobs(Path("web"), bytes)
    passage = Document(id="d", text="It is old.")
    with pytest.raises(InputError, match=r"\.building is a link"):
        build([passage], Path("index"))
    with pytest.raises(InputError, match=r"\.building is a link"):
        Index(Path("index"))
    with pytest.raises(OSError, match="symbolic"), alone(Path("servers.lock")):
        pass
    assert Path("mine.txt").read_text() == "private"


# Pages built to take long.

LONG = 100_000
PAGES = {
    "comments without an end": "<!--" * LONG,
    "quotes without an end": "<a b='" * LONG,
    "attributes": "<a b=c " * LONG,
    "sections": "<![CDATA[" * LONG,
    "instructions": "<?" * LONG,
    "angles": "<" * LONG,
    "end tags": "</a" * LONG,
    "nothing but a name": "<" + "a" * LONG,
    "equals": "<a " + "=" * LONG,
    "open elements, then ends of another": "<svg>" * LONG + "<math></math>" * LONG,
    "titles": "<title>" * LONG,
    "ampersands": "&" * LONG,
    "long entities": "&#" + "9" * LONG + ";",
    "blank lines": "<br>\n" * LONG,
}


@pytest.mark.parametrize("kind", PAGES)
def test_a_page_is_read_in_linear_time(kind: str) -> None:
    began = time.monotonic()
    html_text(PAGES[kind])
    assert time.monotonic() - began < QUICK_S


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("one <!-- two", "one"),
        ("one <a href='two", "one"),
        ("<p title='a > b'>one</p>", "one"),
        ("<title>a <b> & c</title>one", "a <b> & c\n\none"),
        ("one<!-->two<!--->three", "onetwothree"),
        ("1 < 2 &lt; 3 & &#99999999999999; 4", "1 < 2 < 3 & \ufffd 4"),
        ("<svg><template>x</svg>one", "one"),
        ("<script/>one<script>x</SCRIPT >two", "one\n\ntwo"),
        ("<TEXTAREA><!-- <p></textarea>", "<!-- <p>"),
    ],
)
def test_what_a_page_shows(page: str, text: str) -> None:
    assert html_text(page) == text


def test_modules_of_the_present_folder_are_not_run(here: Path) -> None:
    for name in ("pipelines", "html", "re", "resource"):
        Path(f"{name}.py").write_text("raise SystemExit('taken over')")
    Path("page.html").write_text("<p>A page.")
    assert read_text(Path("page.html")) == "A page."


# The server of the page.


def test_a_client_that_leaves_ends_the_reading(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = Path("slow").absolute()
    program.write_text('#!/bin/sh\necho $$ >> "$(dirname "$0")/pids"\nexec sleep 600\n')
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))  # reads forever
    pids = here / "pids"

    def reading(count: int) -> int:
        until(lambda: pids.exists() and pids.read_text().count("\n") == count, 10)
        return int(pids.read_text().split()[-1])

    def asking(port: int, key: str, line: str, body: str = "") -> socket.socket:
        head = (line, f"Host: 127.0.0.1:{port}", f"Authorization: Bearer {key}")
        client = socket.create_connection(("127.0.0.1", port))
        lines = (*head, f"Content-Length: {len(body)}", "", body)
        client.sendall("\r\n".join(lines).encode())
        return client

    with live(here / "web") as (address, _):
        base, key = address.split("/?key=")
        port, upload = int(base.rpartition(":")[2]), "POST /api/documents?name=a.html HTTP/1.1"
        with asking(port, key, upload, "<p>"):
            left = reading(1)
            began = time.monotonic()
            with asking(port, key, "GET /api/setting HTTP/1.1") as other:
                assert other.recv(12).endswith(b"200")
            assert time.monotonic() - began < 1
        until(lambda: not Path(f"/proc/{left}").exists(), 5)
        stays = asking(port, key, upload, "<p>")
        under_way = reading(2)
        began = time.monotonic()
    assert time.monotonic() - began < QUICK_S
    until(lambda: not Path(f"/proc/{under_way}").exists(), 1)
    stays.close()


def test_uploads_and_bodies_of_attackers(here: Path) -> None:
    with web(here / "web", work=False) as page:
        script: TestClient = page.script
        for name, data, says in (
            ("a.jsonl", packed(100_000_000), "not UTF-8"),
            ("a.jsonl", DEEP, "a.jsonl:1: cannot be read as JSON"),
            ("a.html", b"<!--" * 40_000, "has no text"),
        ):
            answer = script.post("/api/documents", params={"name": name}, content=data[:190_000])
            assert answer.status_code == 422
            assert says in answer.json()["detail"]
        headers = {"Content-Type": "application/json"}
        answer = script.post("/api/jobs", content=DEEP[:190_000], headers=headers)
        assert answer.status_code in {400, 422}
