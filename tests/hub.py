"""A model hub on loopback, as far as `huggingface_hub` asks one: a repository with one revision."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"
REPOSITORY = "org/repo"


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Serve a folder as the repository; gives the address, and the files that were fetched."""
    fetched: list[str] = []
    resolved = f"/{REPOSITORY}/resolve/{COMMIT}/"

    class Hub(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            name = path.removeprefix(resolved)
            if path in {f"/api/models/{REPOSITORY}/revision/{each}" for each in ("v1", COMMIT)}:
                names = sorted(file.name for file in folder.iterdir())
                card = {"id": REPOSITORY, "modelId": REPOSITORY, "sha": COMMIT, "tags": []}
                self.reply(json.dumps(card | {"siblings": [{"rfilename": n} for n in names]}))
            elif path == f"/api/models/{REPOSITORY}/tree/{COMMIT}":
                entries = [
                    {"type": "file", "path": file.name, "size": file.stat().st_size, "oid": "0"}
                    for file in sorted(folder.iterdir())
                ]
                self.reply(json.dumps(entries))
            elif path.startswith(resolved) and (folder / name).is_file():
                if self.command == "GET":
                    fetched.append(name)
                self.reply((folder / name).read_bytes())
            else:
                self.reply("{}", 404)

        def reply(self, content: str | bytes, status: int = 200) -> None:
            body = content.encode() if isinstance(content, str) else content
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("ETag", f'"{hashlib.sha256(body).hexdigest()}"')
            self.send_header("X-Repo-Commit", COMMIT)
            if status == 404:
                self.send_header("X-Error-Code", "RevisionNotFound")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", fetched
        finally:
            server.shutdown()
            thread.join()
