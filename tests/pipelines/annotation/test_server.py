"""Who may read the page and send labels: one person, from the page itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from annotations import C, S, subject, write_run
from fastapi.testclient import TestClient

from pipelines.annotation.sample import Labels, draw
from pipelines.annotation.server import LARGEST, application
from pipelines.loopback import Door

DOOR = Door(8765, LARGEST, "right-key")
HOST = f"http://{DOOR.hosts[0]}"
SENT = {"item": 0, "label": "SUPPORTS"}


@pytest.fixture
def labels(tmp_path: Path) -> Labels:
    own = subject(write_run([S, C, S], folder=tmp_path / "out"))
    own.path.mkdir(parents=True)
    return Labels(own, own.items, "anna")


@pytest.fixture
def client(tmp_path: Path, labels: Labels) -> Iterator[TestClient]:
    own = subject(tmp_path / "out")
    app = application(own, draw(own, 3, "label", 0).items, labels, DOOR)
    with TestClient(app, base_url=HOST, headers={"Origin": HOST}, follow_redirects=False) as made:
        yield made


def test_the_page_is_told_nothing_of_what_the_judge_says(client: TestClient) -> None:
    client.get("/?key=right-key")
    told = client.get("/contents").text
    assert "Claim 0." in told
    for secret in ("secret", "telling snippet", "judge", "theirs"):
        assert secret not in told


@pytest.mark.parametrize("path", ["/", "/?key=wrong", "/contents", "/contents?key=right-key"])
def test_without_the_key_nothing_is_shown_or_kept(
    client: TestClient, labels: Labels, path: str
) -> None:
    answer = client.get(path)
    assert answer.status_code == 401
    assert "Claim" not in answer.text
    assert client.post("/label?key=right-key", json=SENT).status_code == 401
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
    client.cookies.set(DOOR.cookie, DOOR.key)
    assert client.post("/label", json=sent).status_code == 422
    assert not labels.given
