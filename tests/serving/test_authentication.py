"""Every request to a server we started needs the key, except for its health."""

from collections.abc import Iterator

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocket

from serving.authentication import Authentication
from serving.detached import State

GUARDED = [
    "GET /version",
    "GET /metrics",
    "GET /metrics/",
    "POST /ping",
    "POST /invocations",
    "POST /tokenize",
    "GET /v1/models",
    "GET /",
    "GET /no-such-path",
    "OPTIONS /tokenize",
    "HEAD /version",
    "GET /health/",
    "GET //health",
    "GET /health/../version",
    "GET /%2e/health",
    "GET /HEALTH",
]
"""Routes of vLLM 0.32 outside /v1, some of its others, and paths that look like the open one."""


@pytest.fixture
def guarded(monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A server that answers everything, behind the key."""

    async def reply(_: object) -> PlainTextResponse:
        return PlainTextResponse("secret")

    async def talk(socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_text("secret")
        await socket.close()

    monkeypatch.setenv("VLLM_API_KEY", "the key")
    every = ["GET", "POST", "OPTIONS"]
    app = Starlette(
        routes=[
            WebSocketRoute("/v1/realtime", talk),
            Mount("/metrics", PlainTextResponse("secret")),
            Route("/{path:path}", reply, methods=every),
        ]
    )
    app.add_middleware(Authentication)
    with TestClient(app) as client:
        yield client


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.mark.parametrize("asked", GUARDED)
def test_nothing_is_had_without_the_key(asked: str, guarded: TestClient) -> None:
    method, path = asked.split()
    for headers in ({}, bearer("wrong"), bearer(""), {"Authorization": "the key"}):
        answer = guarded.request(method, path, headers=headers)
        assert (answer.status_code, "secret" in answer.text) == (401, False)
    assert guarded.request(method, path, headers=bearer("the key")).status_code == 200


@pytest.mark.parametrize(
    "given",
    ["Bearer the ke", "Bearer the keyy", "Bearer  the key", "Basic the key", "Bearer k\xe9"],
)
def test_nothing_but_the_key_is_the_key(given: str, guarded: TestClient) -> None:
    headers = {"Authorization": given.encode("latin-1")}
    assert guarded.get("/version", headers=headers).status_code == 401  # type: ignore[arg-type]


def test_health_answers_all_and_the_scheme_is_read_in_any_case(guarded: TestClient) -> None:
    assert guarded.get("/health").status_code == 200
    assert guarded.get("/version", headers={"Authorization": "bearer the key"}).status_code == 200


@pytest.mark.parametrize("path", ["/v1/realtime", "/health"])
def test_a_web_socket_needs_the_key_too(path: str, guarded: TestClient) -> None:
    with pytest.raises(WebSocketDenialResponse) as refused, guarded.websocket_connect(path):
        pass
    assert refused.value.status_code == 401
    with guarded.websocket_connect("/v1/realtime", headers=bearer("the key")) as socket:
        assert socket.receive_text() == "secret"


@pytest.mark.parametrize("value", [None, ""])
def test_without_a_key_no_server_begins(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_API_KEY", value or "")
    if value is None:
        monkeypatch.delenv("VLLM_API_KEY")
    with pytest.raises(KeyError):
        Authentication(PlainTextResponse("secret"))


@pytest.mark.real_server
def test_vllm_itself_is_behind_the_key(running_server: State) -> None:
    (endpoint,) = running_server.endpoints
    root = endpoint.url.removesuffix("/v1")
    with httpx2.Client(trust_env=False, timeout=60) as client:
        statuses = {
            asked: client.request(asked.split()[0], root + asked.split()[1]).status_code
            for asked in GUARDED
        }
        assert {asked: status for asked, status in statuses.items() if status != 401} == {}
        assert client.get(f"{root}/health").status_code == 200
        key = {"Authorization": f"Bearer {endpoint.key}"}
        assert client.get(f"{root}/version", headers=key).status_code == 200
