"""The page on which a person labels, served to that person alone.

Whoever opens `http://127.0.0.1:PORT/?key=KEY` gets the key as a cookie that other sites cannot send
(SameSite=Strict), and is asked for it from then on. A request under another name of the host (DNS
rebinding) or from another origin is refused.
"""

import secrets
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from pipelines.annotation.labels import Labels
from pipelines.annotation.page import page
from pipelines.annotation.subject import Subject
from pipelines.errors import InputError
from pipelines.report.template import made_visible
from pipelines.report.text import cut

if TYPE_CHECKING:
    from fastapi import FastAPI, Request

HOST = "127.0.0.1"


class Given(BaseModel):
    """A label that the page sends: the item's place in the sample, and the label or None."""

    model_config = ConfigDict(extra="forbid", strict=True)

    item: int
    label: str | None


@dataclass(frozen=True)
class Address:
    """Where the page is served, and the key that it wants."""

    port: int
    key: str

    @property
    def host(self) -> str:
        """As requests must name it."""
        return f"{HOST}:{self.port}"

    @property
    def url(self) -> str:
        """What the person opens."""
        return f"http://{self.host}/?key={self.key}"

    @property
    def cookie(self) -> str:
        """Its name; browsers share cookies among the ports of a host."""
        return f"contested-{self.port}"


def contents(subject: Subject, items: Sequence[str], labels: Labels) -> dict[str, Any]:
    """What the page shows, as JSON: nothing of what the judge says, nor of strata."""
    places = {item: place for place, item in enumerate(items)}
    return {
        "asked": subject.labelling.asked,
        "labels": list(subject.labelling.labels.items()),
        "annotator": labels.annotator,
        "items": [
            [(heading, cut(text)) for heading, text in subject.items[item].shown] for item in items
        ],
        "given": [(places[item], label) for item, label in labels.given.items() if item in places],
    }


def application(
    subject: Subject, items: Sequence[str], labels: Labels, address: Address
) -> "FastAPI":
    """The page, its contents, and where labels are sent."""
    from fastapi import FastAPI, HTTPException, Request, Response
    from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse

    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    text, policy = page(f"{subject.entry}: {subject.kind}")

    @app.middleware("http")
    async def guarded(request: Request, call: Callable[[Request], Awaitable[Response]]) -> Response:
        refused = refusal(request, address)
        answer = Response(refused[1], refused[0]) if refused else await call(request)
        answer.headers.update(
            {
                "Content-Security-Policy": policy,
                "X-Content-Type-Options": "nosniff",
                "Referrer-Policy": "no-referrer",
                "Cross-Origin-Resource-Policy": "same-origin",
                "Cache-Control": "no-store",
            }
        )
        return answer

    @app.get("/")
    def shown(request: Request) -> Response:
        if "key" not in request.query_params:
            return HTMLResponse(text)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(address.cookie, address.key, httponly=True, samesite="strict")
        return answer

    @app.get("/contents")
    def told() -> Response:
        return JSONResponse(made_visible(contents(subject, items, labels)))

    @app.post("/label", status_code=204)
    def labelled(given: Given) -> None:
        known = given.label is None or given.label in subject.labelling.labels
        if not (0 <= given.item < len(items) and known):
            raise HTTPException(422, "no such item or label")
        labels.give(items[given.item], given.label)

    return app


def refusal(request: "Request", address: Address) -> tuple[int, str] | None:
    """Why a request is not answered, with its status; None where it is."""
    if request.headers.get("host") != address.host:
        return 421, "wrong host"
    given = request.cookies.get(address.cookie, "")
    if request.method == "GET" and request.url.path == "/":
        given = request.query_params.get("key", given)
    if not secrets.compare_digest(given.encode(), address.key.encode()):
        return 403, "open the address that `contested annotate` prints; it has a key"
    if request.method != "GET":
        ours = request.headers.get("origin") == f"http://{address.host}"
        if not ours or request.headers.get("content-type") != "application/json":
            return 403, "only the page itself may send labels, as JSON"
        length = request.headers.get("content-length", "")
        if not (length.isdecimal() and len(length) < 5):
            return 413, "a label has fewer than 10,000 bytes"
    return None


def serve(
    subject: Subject, items: Sequence[str], labels: Labels, port: int, told: Callable[[str], None]
) -> None:
    """Serve the page until Ctrl-C; `told` is called with its address once it can be opened.

    Port 0 takes a free one.

    Raises:
        InputError: The port is taken.
    """
    import uvicorn

    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((HOST, port))
        except OSError as error:
            raise InputError(f"--port {port}: {error.strerror}; name another one") from error
        listening.listen()
        address = Address(listening.getsockname()[1], secrets.token_urlsafe(24))
        app = application(subject, items, labels, address)
        told(address.url)
        # Addresses have the key, so none is logged.
        config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
        uvicorn.Server(config).run(sockets=[listening])
