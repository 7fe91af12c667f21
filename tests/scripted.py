"""A scripted OpenAI-compatible endpoint: known replies, faults on demand, every request logged.

It replaces a model in tests with a known outcome: fault injection, resume, hand-worked transcripts.
Replies depend only on the request, so their order does not matter.
"""

import hashlib
import json
import math
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

KEY = "scripted-key"
MODEL = "scripted"

Reply = Callable[[dict[str, Any]], str]
Weigh = Callable[[dict[str, Any]], list[float]]


def prompt_of(request: dict[str, Any]) -> str:
    """The text of a request's last user turn."""
    turns = [m["content"] for m in request["messages"] if m["role"] == "user"]
    return str(turns[-1])


def schema_of(request: dict[str, Any]) -> str:
    """Name of the requested JSON reply: "AgentJson"."""
    return str(request["response_format"]["json_schema"]["name"])


def fenced_text(request: dict[str, Any], name: str) -> str:
    """The text inside a prompt's fence of that name."""
    found = re.search(rf"<<{name} (\w+)\n(.*?)\n{name} \1>>", prompt_of(request), re.DOTALL)
    assert found, f"no fence {name}"
    return found[2]


def by_digest(request: dict[str, Any]) -> list[float]:
    """Probabilities of three labels that depend only on the prompt; they sum to half."""
    digest = hashlib.sha256(prompt_of(request).encode()).digest()
    weights = [1 + digest[0], 1 + digest[1], 1 + digest[2]]
    return [0.5 * weight / sum(weights) for weight in weights]


def by_sum(ids: list[int]) -> list[float]:
    """Log-probabilities of a prompt's tokens, from the second; each depends on all up to it."""
    return [-(1 + sum(ids[: place + 1]) % 17 / 4) for place in range(1, len(ids))]


def sentences(request: dict[str, Any]) -> str:
    """A decomposition into sentences, or a relation by digest, as the schema requires."""
    schema = request["response_format"]["json_schema"]
    if schema["name"] == "Claims":
        text = fenced_text(request, "TEXT")
        most = schema["schema"]["properties"]["claims"]["maxItems"]
        parts = [part.strip() for part in re.split(r"(?<=[.!?])\s+", text) if part.strip()]
        return json.dumps({"claims": [part[:300] for part in parts[:most]]})
    weights = by_digest(request)
    label = ["SUPPORTS", "CONTRADICTS", "IRRELEVANT"][weights.index(max(weights))]
    if schema["name"] == "RelationReply":
        snippet = fenced_text(request, "DOCUMENT")[:40]
        return json.dumps({"snippet": snippet, "reasoning": "by digest", "answer": label})
    return json.dumps(dict.fromkeys(schema["schema"]["properties"], label))


@dataclass(frozen=True)
class Page:
    """A response other than a completion: a body, or pieces sent as fast as the client reads.

    `length` is the Content-Length; without it, pieces end when the connection closes.
    """

    body: bytes = b""
    pieces: Callable[[], Iterator[bytes]] | None = None
    status: int = 200
    length: int | None = None
    headers: tuple[tuple[str, str], ...] = ()


@dataclass
class Scripted:
    """A server on loopback; use it as a context manager.

    Attributes:
        reply: Text for a chat or JSON request, or one with embeddings.
        weigh: Probabilities for a label request, in the order of its choices.
        likelihood: Log-probabilities of a prompt's tokens, from the second; None if the server
            returns none.
        delay_s: Seconds per completion.
        key: API key that requests must carry; an empty key admits everyone.
        model, port: Name of the served model, and the port; 0 picks a free one.
        elsewhere: Target of a redirect by fault 307.
        refuses: Whether a prompt is rejected with status 400.
        faults: Status codes for the next completions, one each; 0 drops the connection, 200 sends
            half a JSON object.
        foreign: Sent in place of every completion, if set.
        pages: Path -> the page to send for any request, or a function of the request.
        requests: Bodies of all requests for completions and `pages`, in order of arrival.
        sent: Number of bytes that clients read.
    """

    reply: Reply = sentences
    weigh: Weigh = by_digest
    likelihood: Callable[[list[int]], list[float]] | None = by_sum
    delay_s: float = 0.0
    context: int | None = 32768
    root: str = "/nowhere"
    key: str = KEY
    model: str = MODEL
    port: int = 0
    elsewhere: str = ""
    refuses: Callable[[str], bool] = lambda _: False
    faults: list[int] = field(default_factory=list)
    foreign: Any = None
    pages: dict[str, Page | Callable[[dict[str, Any]], Page]] = field(default_factory=dict)
    requests: list[dict[str, Any]] = field(default_factory=list)
    sent: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> Self:
        handler = type("Handler", (_Handler,), {"script": self})
        self._server = _Server(("127.0.0.1", self.port), handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def prompts(self) -> list[str]:
        return [prompt_of(request) for request in self.requests]

    def answer(self, request: dict[str, Any]) -> dict[str, Any] | int:
        if "messages" in request and self.refuses(prompt_of(request)):
            return 400
        with self._lock:
            self.requests.append(request)
            fault = self.faults.pop(0) if self.faults else None
        time.sleep(self.delay_s)
        if fault is not None:
            return fault
        logprobs = told = None
        if "prompt_logprobs" in request:
            text = "S"
            if self.likelihood is not None:
                ids = request["prompt"]
                values = zip(ids[1:], self.likelihood(ids), strict=True)
                told = [None, *({str(token): {"logprob": each}} for token, each in values)]
        elif "logprob_token_ids" in request:
            text = "S"
            ids = request["logprob_token_ids"]
            entries = [
                {"token": f"token_id:{token}", "logprob": math.log(weight), "bytes": None}
                for token, weight in zip(ids, self.weigh(request), strict=True)
            ]
            first = entries[0] | {"top_logprobs": entries}
            logprobs = {"content": [first], "refusal": None}
        else:
            text = self.reply(request)
        cut = len(text.split()) > request["max_tokens"]
        chat = "messages" in request
        said = {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
        return {
            "id": "chatcmpl-scripted",
            "object": "chat.completion" if chat else "text_completion",
            "created": 0,
            "model": request["model"],
            "choices": [
                {
                    "index": 0,
                    **said,
                    "logprobs": logprobs,
                    "prompt_logprobs": told,
                    "finish_reason": "length" if cut else "stop",
                }
            ],
            "usage": {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11},
        }


class _Server(ThreadingHTTPServer):
    # Many requests may arrive at once; the default is 5.
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # a client that gave up
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    script: Scripted
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path in self.script.pages:
            self._send_page({})
        elif self.path == "/health":
            self._send(200, {})
        elif not self._admitted():
            self._send(401, {"error": {"message": "bad key"}})
        elif self.path == "/version":
            self._send(200, {"version": "scripted"})
        elif self.path == "/v1/models":
            card: dict[str, Any] = {
                "id": self.script.model,
                "object": "model",
                "root": self.script.root,
                "max_model_len": self.script.context,
            }
            self._send(200, {"object": "list", "data": [card]})
        else:
            self._send(404, {"error": {"message": f"no {self.path}"}})

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        raw = self.rfile.read(length)
        if len(raw) < length:  # a client that gave up
            self.close_connection = True
            return
        body = json.loads(raw)
        if self.path in self.script.pages:
            self.script.requests.append(body)
            self._send_page(body)
        elif not self._admitted():
            self._send(401, {"error": {"message": "bad key"}})
        elif self.path == "/tokenize":
            ids = list(body["prompt"].encode())
            self._send(200, {"count": len(ids), "tokens": ids})
        else:
            answer = self.script.answer(body)
            if self.script.foreign is not None:
                self._send(200, self.script.foreign)
            elif isinstance(answer, dict):
                self._send(200, answer)
            elif answer == 0:
                self.close_connection = True
                self.connection.close()
            elif answer == 200:
                self._send_bytes(200, b'{"choices": [')
            else:
                self._send(answer, {"error": {"message": f"scripted fault {answer}"}})

    def _admitted(self) -> bool:
        wanted = f"Bearer {self.script.key}"
        return not self.script.key or self.headers.get("Authorization") == wanted

    def _send(self, status: int, body: Any) -> None:
        self._send_bytes(status, json.dumps(body).encode())

    def _send_bytes(self, status: int, data: bytes) -> None:
        where = (("Location", self.script.elsewhere),) if status == 307 else ()
        kind = ("Content-Type", "application/json")
        self._write(Page(data, status=status, headers=(*where, kind)))

    def _send_page(self, request: dict[str, Any]) -> None:
        page = self.script.pages[self.path]
        self._write(page if isinstance(page, Page) else page(request))

    def _write(self, page: Page) -> None:
        if page.pieces or page.length is not None:
            self.close_connection = True
        self.send_response(page.status)
        for name, value in page.headers:
            self.send_header(name, value)
        if page.pieces is None or page.length is not None:
            length = len(page.body) if page.length is None else page.length
            self.send_header("Content-Length", str(length))
        self.end_headers()
        # Else the kernel takes megabytes that no client reads, and `sent` counts them.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 18)
        try:
            for piece in page.pieces() if page.pieces else [page.body]:
                self.wfile.write(piece)
                self.script.sent += len(piece)
        except OSError:  # the client stopped reading
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing."""
