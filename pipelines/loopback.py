"""Who may ask a page of this machine for anything: its user, from the page itself, and scripts.

A server on loopback can be reached by every page that the user's browser has open, and by every
user of the machine. So each request names a host of this machine (no other name may be bound to
it), carries the key, and, where it changes something, comes from this page; none is larger than
allowed.
"""

import logging
import secrets
import signal
import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pipelines.errors import InputError

HOST = "127.0.0.1"

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

STOP_S = 2.0
"""How long a server that is told to stop is waited for, whatever its clients hold on to."""

SAFE = {"GET", "HEAD"}
"""Methods that change nothing."""

# The next page is asked for from here, so that the strict cookie comes along even where a link in
# another program's page led here; and the key is gone from the address.
_ENTERED = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=/">
<link rel="icon" href="data:,"><title>contested</title></head>
<body><p><a href="/">Continue</a></p></body></html>
"""


@dataclass(frozen=True)
class Door:
    """What a request must have.

    Attributes:
        port: That the server listens on.
        largest: Bytes of a request's body.
        key: In the address once, then in a cookie; or in an Authorization header.
    """

    port: int
    largest: int
    key: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def url(self) -> str:
        """Where a browser enters."""
        return f"http://{HOST}:{self.port}/?key={self.key}"

    @property
    def cookie(self) -> str:
        """Name of the cookie; browsers share cookies among the ports of a host."""
        return f"contested-{self.port}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What the Host header may be."""
        return (f"{HOST}:{self.port}", f"localhost:{self.port}")

    def is_key(self, given: str) -> bool:
        """Whether it is the key, compared in constant time."""
        return secrets.compare_digest(given.encode("utf-8", "replace"), self.key.encode())

    def refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Why a request is refused, status and line; None where it is let in."""
        headers = Headers(scope=scope)
        if headers.get("host") not in self.hosts:
            return 403, f"this server is {self.hosts[0]}; ask it under that name"
        by_header = headers.get("authorization", "")
        with_header = by_header.startswith("Bearer ") and self.is_key(by_header[7:])
        cookies = cookie_parser(headers.get("cookie", ""))
        if not (with_header or self.is_key(cookies.get(self.cookie, ""))):
            return 401, "the key is missing or wrong; open the address that was printed"
        if scope["method"] in SAFE:
            return None
        # A browser names the origin of whatever changes something; a script need not have one.
        origin = headers.get("origin")
        ours = origin in {f"http://{host}" for host in self.hosts}
        if not (ours or (origin is None and with_header)):
            return 403, "a request that changes something must come from this server's own page"
        return self._too_large(headers.get("content-length"), scope["method"])

    def _too_large(self, length: str | None, method: str) -> tuple[int, str] | None:
        # The server reads no more of a body than was announced.
        if length is None:
            why = "the request does not say how long it is; send Content-Length"
            return None if method == "DELETE" else (411, why)
        if not length.isdecimal() or int(length) > self.largest:
            return 413, f"the request is larger than {self.largest / 1e6:g} MB; give less text"
        return None

    def entering(self, scope: Scope) -> Response | None:
        """The way in for who brings the key in the address, for the first page alone."""
        if scope["path"] != "/" or scope["method"] != "GET":
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("key", [""])[0]
        if Headers(scope=scope).get("host") not in self.hosts or not self.is_key(given):
            return None
        entered = HTMLResponse(_ENTERED)
        entered.set_cookie(self.cookie, self.key, httponly=True, samesite="strict", path="/")
        return entered


def listening(port: int) -> socket.socket:
    """The port, before anything is loaded; 0 takes a free one.

    Raises:
        InputError: It is taken, or no port.
    """
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOST, port))
        found.listen()  # else another could bind it, too
    except OSError as error:
        found.close()
        raise InputError(
            f"port {port} is not available ({error.strerror}); name another with --port"
        ) from error
    return found


def serve_until_interrupted(app: ASGIApp, opened: socket.socket) -> None:
    """Serve a guarded application on the socket of `listening` until Ctrl-C, which it raises.

    So it does in the background, too, where a shell has INT ignored.
    """
    import uvicorn

    signal.signal(signal.SIGINT, signal.default_int_handler)
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,  # it would have the key
            server_header=False,
            ws="none",
            timeout_graceful_shutdown=1,
        )
    )
    # In a thread, so that an interrupt is ours. What clients hold open ends with the program.
    running = threading.Thread(target=server.run, args=([opened],), daemon=True)
    running.start()
    try:
        while running.is_alive():
            running.join(1)  # one without an end sleeps through what another thread receives
    finally:
        server.should_exit = True
        logging.getLogger("uvicorn.error").disabled = True  # that it cuts off requests is no fault
        running.join(STOP_S)


def guarded(app: ASGIApp, door: Door, policy: str = POLICY) -> ASGIApp:
    """The application behind the door, with headers that bound what its pages may do."""
    headers = HEADERS | {"Content-Security-Policy": policy}

    async def let_in(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no page of ours opens a WebSocket
        answer: ASGIApp = app
        if entered := door.entering(scope):
            answer = entered
        elif refused := door.refusal(scope):
            status, why = refused
            answer = JSONResponse({"detail": why}, status)
        await answer(scope, receive, _with_headers(send, headers))

    return let_in


def _with_headers(send: Send, headers: Mapping[str, str]) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(headers)
        await send(message)

    return sending
