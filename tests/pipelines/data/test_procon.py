"""Topics with arguments: scrapes of ProCon, lines of one's own, and the real file."""

from pathlib import Path

import pytest
from releases import lines

from pipelines.data.procon import Topic, as_question, read
from pipelines.errors import InputError

OWN = {"topic": "dams", "question": "Should dams go?", "pro": ["Fish."], "con": ["Power."]}
SCRAPED = {
    "claim_title": "Dams should be removed.",
    "url": "https://river-dams.procon.org",
    "topic": "",
    "perspectives_for_count": 3,
    "perspectives_for": [
        {"perspective_title": " Salmon  come back. ", "argument": {"description": ["x"]}},
        {"perspective_title": "Salmon come back.", "counter_argument": []},
        {"perspective_title": "Nature:"},
        {"perspective_title": ""},
    ],
    "perspectives_against": [{"perspective_title": "They give clean power."}],
}


def read_back(folder: Path, *values: object) -> list[Topic]:
    return read(lines(folder / "topics.json", list(values)))


def test_a_scrape(tmp_path: Path) -> None:
    (topic,) = read_back(tmp_path, SCRAPED)
    assert topic == Topic(
        topic="river dams",
        question="Should dams be removed?",
        pro=("Salmon come back.",),
        con=("They give clean power.",),
    )


def test_a_topic_without_a_side_is_left_out(tmp_path: Path) -> None:
    assert len(read_back(tmp_path, SCRAPED | {"perspectives_against": []}, OWN)) == 1
    with pytest.raises(InputError, match="no topic with arguments on both sides"):
        read_back(tmp_path, SCRAPED | {"perspectives_against": []})


@pytest.mark.parametrize(
    ("title", "question"),
    [
        ("Golf is a Sport", "Is golf a Sport?"),
        ("The penny should stay in circulation", "Should the penny stay in circulation?"),
        ("The United States should go", "Should the United States go?"),
        ("Social Security should be private", "Should Social Security be private?"),
        ("Lowering taxes does create jobs", "Is it true that “Lowering taxes does create jobs”?"),
    ],
)
def test_a_title_is_put_as_a_question(title: str, question: str) -> None:
    assert as_question(title) == question


def test_the_real_file(released_data: Path) -> None:
    topics = read(released_data / "procon" / "procon_topics.json")
    assert len(topics) == 36
    assert all(len(topic.pro) > 1 and len(topic.con) > 1 for topic in topics)
    quoted = [topic for topic in topics if topic.question.startswith("Is it true")]
    assert len(quoted) <= 5
