"""Who may read the page and send labels: one person, from the page itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from annotations import C, S, subject, write_run
from fastapi.testclient import TestClient

from pipelines.annotation.labels import Labels
from pipelines.annotation.sample import draw
from pipelines.annotation.server import Address, application

ADDRESS = Address(8765, "right-key")
HOST = f"http://{ADDRESS.host}"
SENT = {"item": 0, "label": "SUPPORTS"}


@pytest.fixture
def labels(tmp_path: Path) -> Labels:
    own = subject(write_run([S, C, S], folder=tmp_path / "out"))
    own.path.mkdir(parents=True)
    return Labels(own, own.items, "anna")


@pytest.fixture
def client(tmp_path: Path, labels: Labels) -> Iterator[TestClient]:
    own = subject(tmp_path / "out")
    app = application(own, draw(own, 3, "label", 0).items, labels, ADDRESS)
    with TestClient(app, base_url=HOST, headers={"Origin": HOST}, follow_redirects=False) as made:
        yield made


def test_the_key_becomes_a_cookie_of_this_site_alone(client: TestClient, labels: Labels) -> None:
    answer = client.get("/?key=right-key")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"].lower()
    assert "samesite=strict" in cookie
    assert "httponly" in cookie
    page = client.get("/")
    assert page.status_code == 200
    assert "right-key" not in page.text
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert client.post("/label", json=SENT).status_code == 204
    assert list(labels.given.values()) == ["SUPPORTS"]


def test_the_page_is_told_nothing_of_what_the_judge_says(client: TestClient) -> None:
    client.get("/?key=right-key")
    told = client.get("/contents").text
    assert "Claim 0." in told
    for secret in ("secret", "telling snippet", "judge", "theirs"):
        assert secret not in told


@pytest.mark.parametrize(
    "path", ["/", "/?key=wrong", "/?key=", "/contents", "/contents?key=right-key"]
)
def test_without_the_key_nothing_is_shown(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 403
    assert "Claim" not in answer.text


def test_without_the_key_nothing_is_kept(client: TestClient, labels: Labels) -> None:
    assert client.post("/label", json=SENT).status_code == 403
    client.cookies.set(ADDRESS.cookie, "wrong")
    assert client.post("/label?key=right-key", json=SENT).status_code == 403
    assert not labels.given


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"Host": "evil.example:8765"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:8766"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content-Type": "text/plain"}, 403),
        ({"Content-Length": "20000"}, 413),
    ],
)
def test_other_sites_send_nothing(
    client: TestClient, labels: Labels, changed: dict[str, str], status: int
) -> None:
    client.cookies.set(ADDRESS.cookie, ADDRESS.key)
    assert client.post("/label", json=SENT, headers=changed).status_code == status
    assert not labels.given


@pytest.mark.parametrize(
    "sent",
    [
        {"item": 3, "label": "SUPPORTS"},
        {"item": -1, "label": "SUPPORTS"},
        {"item": 0, "label": "INVALID"},
        {"item": "0", "label": "SUPPORTS"},
        {"item": 0},
        {"item": 0, "label": None, "annotator": "ben"},
        [],
    ],
)
def test_what_is_no_label_is_refused(client: TestClient, labels: Labels, sent: object) -> None:
    client.cookies.set(ADDRESS.cookie, ADDRESS.key)
    assert client.post("/label", json=sent).status_code == 422
    assert not labels.given
