"""Which of Table 4's topics a name means, where other topics belong, and the bundled ones."""

import json
from collections import Counter
from pathlib import Path

import pytest

from pipelines.data.procon import Topic, read
from pipelines.npov.settings import SAMPLE_TOPICS
from pipelines.npov.synthesis import argument_digest, read_paraphrases
from pipelines.npov.topics import TABLE_4, outside_table, split_of, table_topic, topic_key
from pipelines.text.words import stems


def test_table_4_is_whole() -> None:
    assert Counter(TABLE_4.values()) == {"train": 9, "dev": 28, "test": 35}
    for name, split in TABLE_4.items():
        assert table_topic(name) == name
        assert split_of(name) == split


@pytest.mark.parametrize(
    ("name", "topic"),
    [
        ("GMOs (Genetically Modified Organisms)", "GMOs (Genetically Modified Organisms)"),
        ("Genetically modified organisms (GMOs)", "GMOs (Genetically Modified Organisms)"),
        (
            "Should Genetically Modified Organisms Be Grown?",
            "GMOs (Genetically Modified Organisms)",
        ),
        ("gmo", "GMOs (Genetically Modified Organisms)"),
        ("Vaping/E-Cigarettes", "Vaping E-Cigarettes"),
        ("e-cigarettes", "Vaping E-Cigarettes"),
        ("Should college be free?", "Free College"),
        ("filibusters", "Filibuster"),
        ("The Penny", "Penny"),
        ("Should Humans Colonize Space?", "Space Colonization"),
        ("Is Pokemon good for children?", "Pokémon"),
        ("uber and lyft", "Uber & Lyft"),
        ("Tablets vs Textbooks", "Tablets vs. Textbooks"),
        ("Should tablets replace textbooks?", "Tablets vs. Textbooks"),
        ("Should the Supreme Court be packed?", "US Supreme Court Packing"),
        ("Do Violent Video Games Contribute to Youth Violence?", "Video Games and Violence"),
        ("DACA and Dreamers", "DACA & Dreamers"),
        ("D.C. & Puerto Rico Statehood", "DC and Puerto Rico Statehood"),
        ("Should college athletes be paid?", "Paying College Athletes"),
        ("SCHOOL UNIFORM", "School Uniforms"),
        ("Should marijuana be legalized?", "Recreational Marijuana Legalization"),
        ("UBI", "Universal Basic Income"),
        # One topic may share words with another: the longer name counts.
        ("Employer Vaccine Mandates for Kids of Staff", "Employer Vaccine Mandates"),
        ("Electoral College", "Electoral College"),
        # Words in common are not enough.
        ("Should schools ban cell phones?", None),
        ("Should drones deliver parcels?", None),
        ("medical marijuana", None),
        ("death penalty", None),
        ("college football", None),
        ("large dams", None),
        ("???", None),
    ],
)
def test_names_of_table_4_and_their_variants(name: str, topic: str | None) -> None:
    assert table_topic(name) == topic
    assert (topic is None) or split_of(name) == TABLE_4[topic]
    assert (topic is None) or topic_key(name) == topic_key(topic)


def test_the_titles_of_a_scrape_mean_the_same_as_its_addresses(released_data: Path) -> None:
    file = released_data / "procon" / "procon_topics.json"
    for entry in json.loads(file.read_text("utf-8")):
        host = entry["url"].removeprefix("https://").split(".")[0]
        if host != "www":
            assert table_topic(entry["claim_title"]) == table_topic(host), host


def test_other_topics_are_divided_as_table_4_is() -> None:
    counts = Counter(split_of(f"topic {number}") for number in range(3_000))
    for split, topics in Counter(TABLE_4.values()).items():
        assert counts[split] / 3_000 == pytest.approx(topics / 72, abs=0.03)
    assert split_of("Night Trains?") == split_of("night trains") == "dev"


def named(*names: str) -> list[Topic]:
    return [Topic(topic=name, question="Good?", pro=("Yes.",), con=("No.",)) for name in names]


def test_topics_outside_table_4_are_told() -> None:
    assert outside_table(named("Golf", "Zoos")) == []
    (remark,) = outside_table(named("Golf", "dams", "weirs", "night trains", "wolves", "felons"))
    assert remark == (
        "5 of 6 topics are not in the paper's Table 4; a hash of the name chose their split "
        "(dev 3: 'weirs', 'night trains', 'wolves'; test 2: 'dams', 'felons')"
    )


def test_bundled_topics_are_of_table_4_and_whole() -> None:
    topics = read(SAMPLE_TOPICS)
    assert {topic.topic for topic in topics} <= TABLE_4.keys()
    assert Counter(split_of(topic.topic) for topic in topics) == {"train": 4, "dev": 5, "test": 9}
    every = [argument for topic in topics for argument in (*topic.pro, *topic.con)]
    assert len(set(every)) == len(every) == 144
    assert all(len(topic.sources) >= 3 for topic in topics)


def test_every_bundled_argument_has_a_paraphrase_in_other_words() -> None:
    known = read_paraphrases(SAMPLE_TOPICS.with_name("topics_paraphrases.jsonl"))
    for topic in read(SAMPLE_TOPICS):
        for argument in (*topic.pro, *topic.con):
            given, put = stems(argument), stems(known[argument_digest(argument)])
            assert len(set(given) & set(put)) <= len(set(given)) / 4, argument
