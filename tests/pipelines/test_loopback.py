"""Who is let in: the key, the host, the origin, the size; and what every answer carries."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from web_server import LIMITS, PORT, SCORE, Web, web

from pipelines.loopback import Door

OWN = f"http://127.0.0.1:{PORT}"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    with web(tmp_path_factory.mktemp("web"), work=False) as made:
        yield made


def detail(answer: object) -> str:
    told = answer.json()["detail"]  # type: ignore[attr-defined]
    assert isinstance(told, str)
    assert "\n" not in told
    return told


@pytest.mark.parametrize("path", ["/", "/assets/web.js", "/api/jobs", "/openapi.json", "/nothing"])
def test_nothing_is_had_without_the_key(page: Web, path: str) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Cookie": f"contested-{PORT}=wrong"}):
        answer = page.stranger.get(path, headers=headers)
        assert answer.status_code == 401
        assert "the key is missing or wrong" in detail(answer)
    assert page.stranger.get(f"{path}?key=wrong").status_code == 401


def test_the_key_of_the_address_becomes_a_cookie_that_scripts_and_other_sites_lack(
    page: Web,
) -> None:
    answer = page.stranger.get(f"/?key={page.door.key}")
    cookie = answer.headers["set-cookie"]
    assert f"contested-{PORT}={page.door.key}" in cookie
    assert {"httponly", "samesite=strict", "path=/"} <= set(cookie.lower().split("; "))
    assert page.door.key not in answer.text
    own = {"Cookie": f"contested-{PORT}={page.door.key}"}
    page.stranger.cookies.clear()
    assert page.stranger.get("/", headers=own).status_code == 200
    assert page.stranger.get(f"/api/jobs?key={page.door.key}").status_code == 401


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", f"127.0.0.1:{PORT + 1}", ""]
)
def test_a_name_that_was_bound_to_this_machine_is_refused(page: Web, host: str) -> None:
    """DNS rebinding: the page of another site, whose name leads here, has the key's cookie not,
    but nor may anything depend on that."""
    for client, path in ((page.script, "/api/jobs"), (page.stranger, f"/?key={page.door.key}")):
        answer = client.get(path, headers={"Host": host})
        assert answer.status_code == 403
        assert "use that address" in detail(answer)


@pytest.mark.parametrize("origin", ["https://evil.example", "null", f"http://127.0.0.1:{PORT + 1}"])
def test_another_page_changes_nothing(page: Web, origin: str) -> None:
    cookie = {"Cookie": f"contested-{PORT}={page.door.key}"}
    for client, headers in (
        (page.stranger, cookie | {"Origin": origin}),
        (page.script, {"Origin": origin}),
        (page.stranger, cookie),
    ):
        for method, path in (("POST", "/api/jobs"), ("DELETE", "/api/jobs/x")):
            body = SCORE if method == "POST" else None
            answer = client.request(method, path, headers=headers, json=body)
            assert answer.status_code == 403
            assert "own page" in detail(answer)
    assert page.jobs.all() == []


def test_our_page_and_a_script_may_change_something(page: Web) -> None:
    own = {"Cookie": f"contested-{PORT}={page.door.key}", "Origin": OWN}
    for client, headers in (
        (page.stranger, own),
        (page.script, {}),
        (page.script, {"Origin": OWN}),
    ):
        answer = client.post("/api/jobs", json=SCORE, headers=headers)
        assert answer.status_code == 201
        assert page.script.delete(f"/api/jobs/{answer.json()['id']}").status_code == 204


def test_more_bytes_than_allowed_are_not_read(page: Web) -> None:
    answer = page.script.post("/api/documents?name=a.txt", content=b"a" * (LIMITS.bytes + 1))
    assert answer.status_code == 413
    assert detail(answer) == "the request is larger than 0.2 MB; give less text"
    answer = page.script.post("/api/documents?name=a.txt", content=iter([b"a"]))
    assert answer.status_code == 411


@pytest.mark.parametrize(
    "path", ["/", "/assets/blocks.js", "/assets/report.css", "/api/jobs", "/assets/none", "/evil"]
)
def test_every_answer_bounds_what_a_page_may_do(page: Web, path: str) -> None:
    for client in (page.script, page.stranger):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in headers


@given(st.text(), st.sampled_from(["POST", "DELETE", "PUT", "GET"]))
def test_no_other_text_is_the_key_or_the_host(text: str, method: str) -> None:
    door = Door(PORT, 10)
    assert door.is_key(text) == (text == door.key)
    raw = text.encode("utf-8")
    for headers in (
        [(b"host", raw), (b"authorization", f"Bearer {door.key}".encode())],
        [(b"host", b"localhost:8765"), (b"authorization", b"Bearer " + raw)],
        [(b"host", b"localhost:8765"), (b"cookie", raw)],
    ):
        scope = {"type": "http", "method": method, "path": "/", "headers": headers}
        if raw.decode("latin-1") not in door.hosts:
            assert door.refusal(scope) is not None
