"""Access control for local pages: only the page itself and scripts with the key may call them.

Every page open in the user's browser, and every user of the machine, can reach a server on
loopback. So every request must name a host of this machine (which prevents DNS rebinding), carry
the key, come from this page if it changes something, and stay within the size limit.
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
"""Seconds to wait for a stopping server, even if clients keep connections open."""

SAFE = {"GET", "HEAD"}
"""Methods that change nothing."""

# The next page is requested from here, so that the strict cookie is sent even if a link in another
# program's page led here, and the key disappears from the address bar.
_ENTERED = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=/">
<link rel="icon" href="data:,"><title>contested</title></head>
<body><p><a href="/">Continue</a></p></body></html>
"""


@dataclass(frozen=True)
class Door:
    """Requirements on a request.

    Attributes:
        port: The server's port.
        largest: Maximum size of a request body, in bytes.
        key: Sent in the URL once, then in a cookie; or in an Authorization header.
    """

    port: int
    largest: int
    key: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def url(self) -> str:
        """The URL to open in a browser."""
        return f"http://{HOST}:{self.port}/?key={self.key}"

    @property
    def cookie(self) -> str:
        """Name of the cookie; it includes the port, since a host's ports share cookies."""
        return f"contested-{self.port}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """Allowed values of the Host header."""
        return (f"{HOST}:{self.port}", f"localhost:{self.port}")

    def is_key(self, given: str) -> bool:
        """Whether `given` is the key, compared in constant time."""
        return secrets.compare_digest(given.encode("utf-8", "replace"), self.key.encode())

    def refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Status and message if a request is refused; None if it is allowed."""
        headers = Headers(scope=scope)
        if headers.get("host") not in self.hosts:
            return 403, f"this server is {self.hosts[0]}; use that address"
        by_header = headers.get("authorization", "")
        with_header = by_header.startswith("Bearer ") and self.is_key(by_header[7:])
        cookies = cookie_parser(headers.get("cookie", ""))
        if not (with_header or self.is_key(cookies.get(self.cookie, ""))):
            return 401, "the key is missing or wrong; open the address that was printed"
        if scope["method"] in SAFE:
            return None
        # A browser sends an Origin with every request that changes something; a script need not.
        origin = headers.get("origin")
        ours = origin in {f"http://{host}" for host in self.hosts}
        if not (ours or (origin is None and with_header)):
            return 403, "a request that changes something must come from this server's own page"
        return self._too_large(headers.get("content-length"), scope["method"])

    def _too_large(self, length: str | None, method: str) -> tuple[int, str] | None:
        # The server reads no more of a body than was announced.
        if length is None:
            why = "the request does not state its length; send Content-Length"
            return None if method == "DELETE" else (411, why)
        if not length.isdecimal() or int(length) > self.largest:
            return 413, f"the request is larger than {self.largest / 1e6:g} MB; give less text"
        return None

    def entering(self, scope: Scope) -> Response | None:
        """The response that sets the cookie if the URL has the key; for the first page only."""
        if scope["path"] != "/" or scope["method"] != "GET":
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("key", [""])[0]
        if Headers(scope=scope).get("host") not in self.hosts or not self.is_key(given):
            return None
        entered = HTMLResponse(_ENTERED)
        entered.set_cookie(self.cookie, self.key, httponly=True, samesite="strict", path="/")
        return entered


def listening(port: int) -> socket.socket:
    """Bind and listen on the port before anything is loaded; 0 picks a free one.

    Raises:
        InputError: The port is taken or invalid.
    """
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen()  # otherwise another process could bind it too
    except OSError as error:
        listener.close()
        raise InputError(
            f"port {port} is not available ({error.strerror}); name another with --port"
        ) from error
    return listener


def serve_until_interrupted(app: ASGIApp, opened: socket.socket) -> None:
    """Serve a guarded application on the socket of `listening`; Ctrl-C raises KeyboardInterrupt.

    Ctrl-C also works in the background, where a shell sets SIGINT to be ignored.
    """
    import uvicorn

    signal.signal(signal.SIGINT, signal.default_int_handler)
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,  # the log would contain the key
            server_header=False,
            ws="none",
            timeout_graceful_shutdown=1,
        )
    )
    # In a thread, so that the main thread gets the interrupt. Open connections end with the
    # program.
    running = threading.Thread(target=server.run, args=([opened],), daemon=True)
    running.start()
    try:
        while running.is_alive():
            running.join(1)  # a join without a timeout misses other threads' signals
    finally:
        server.should_exit = True
        logging.getLogger("uvicorn.error").disabled = True  # cutting off requests is not an error
        running.join(STOP_S)


def guarded(app: ASGIApp, door: Door, policy: str = POLICY) -> ASGIApp:
    """The application behind the door, with headers that restrict what its pages may do."""
    headers = HEADERS | {"Content-Security-Policy": policy}

    async def let_in(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # our pages open no WebSocket
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
