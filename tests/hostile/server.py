"""A model server that misbehaves, by the table of what it sends.

It lists a model, splits texts into bytes and completes chats as an OpenAI-compatible server does,
but for the one page whose answer the test gives.
"""

import json
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

MODEL = "hostile"

Pieces = Iterator[bytes]


@dataclass(frozen=True)
class Page:
    """What is sent: a body, or pieces of one that are sent as the client takes them.

    `length` is what the head says of the body's; without it the connection's end is the body's.
    """

    body: bytes = b""
    pieces: Callable[[], Pieces] | None = None
    status: int = 200
    length: int | None = None
    headers: tuple[tuple[str, str], ...] = ()


def of(value: Any, **more: Any) -> Page:
    """A page of JSON."""
    return Page(json.dumps(value).encode(), **more)


def reply(request: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """A proper completion, with other values for some of its parts.

    `logprob` is that of the first label, `content` the text, `finish_reason` a reason; the others
    stand in the reply itself.
    """
    ids = request.get("logprob_token_ids", ())
    logprobs = [changed.pop("logprob", -0.5), *[-0.6] * len(ids)]
    likely = [{"token": f"token_id:{token}", "logprob": one} for token, one in zip(ids, logprobs)]  # noqa: B905
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": changed.pop("content", "S")},
        "finish_reason": changed.pop("finish_reason", "stop"),
        "logprobs": {"content": [{"top_logprobs": likely}]} if ids else None,
    }
    usage = {"prompt_tokens": 5, "completion_tokens": 1}
    return {"model": MODEL, "choices": [choice], "usage": usage} | changed


def drip(data: bytes, pause_s: float = 0.1) -> Callable[[], Pieces]:
    """A byte at a time."""

    def pieces() -> Pieces:
        for place in range(len(data)):
            yield data[place : place + 1]
            time.sleep(pause_s)

    return pieces


def endless(piece: bytes = b" " * (1 << 16), most: int = 1 << 30) -> Callable[[], Pieces]:
    """A gigabyte: a test that reads it all is seen to."""
    return lambda: iter([piece] * (most // len(piece)))


def packed(gigabytes: float = 0.25) -> bytes:
    """A gzip body of a thousandth of what it unpacks to."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    zeros = b" " * (1 << 22)
    return b"".join(packer.compress(zeros) for _ in range(int(gigabytes * 256))) + packer.flush()


GZIP = (("Content-Encoding", "gzip"),)
CHAT, MODELS, TOKENIZE = "/v1/chat/completions", "/v1/models", "/tokenize"


class Hostile:
    """A server on loopback; use it as a context manager.

    Attributes:
        path: The page that is answered by `page`, while `armed`.
        sent: Bytes of it that the client took.
        asked: How many requests there were for it.
    """

    def __init__(self, path: str, page: Page | Callable[[dict[str, Any]], Page]) -> None:
        self.path, self.page = path, page
        self.armed = True
        self.sent = self.asked = 0

    def __enter__(self) -> Self:
        handler = type("Handler", (_Handler,), {"hostile": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    hostile: Hostile
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _answer(self, request: dict[str, Any]) -> None:
        hostile = self.hostile
        if self.path == hostile.path and hostile.armed:
            hostile.asked += 1
            page = hostile.page if isinstance(hostile.page, Page) else hostile.page(request)
        elif self.path == MODELS:
            page = of({"data": [{"id": MODEL, "max_model_len": 4096}]})
        elif self.path == TOKENIZE:
            page = of({"tokens": list(request["prompt"].encode())})
        elif self.path == CHAT:
            page = of(reply(request))
        else:
            page = Page(b"{}", status=200 if self.path == "/health" else 404)
        self._send(page)

    def _send(self, page: Page) -> None:
        self.close_connection = page.pieces is not None or page.length is not None
        self.send_response(page.status)
        for name, value in page.headers:
            self.send_header(name, value)
        if page.pieces is None or page.length is not None:
            length = len(page.body) if page.length is None else page.length
            self.send_header("Content-Length", str(length))
        self.end_headers()
        try:
            for piece in page.pieces() if page.pieces else [page.body]:
                self.wfile.write(piece)
                self.hostile.sent += len(piece)
        except OSError:  # the client has had enough
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Quiet."""
