"""Test sets: the same examples in each, but for how responses put the arguments."""

from pathlib import Path
from statistics import mean

import pytest

from pipelines.data import procon
from pipelines.npov.result import Case
from pipelines.npov.sets import limited, synthetic_cases
from pipelines.npov.settings import SAMPLE_TOPICS, SyntheticSet
from pipelines.npov.synthesis import bundled_paraphrases
from pipelines.npov.topics import split_of

EVERY = tuple(SyntheticSet)


def cases(*names: SyntheticSet, data: Path = SAMPLE_TOPICS, per_topic: int = 3) -> list[Case]:
    return synthetic_cases(
        procon.read(data),
        names,
        bundled_paraphrases(),
        per_topic=per_topic,
        seed=0,
        design="matched",
    )


def test_sets_have_the_same_examples_in_other_words() -> None:
    made = cases(*EVERY)
    by_set = [[case.annotated for case in made if case.test_set == name] for name in EVERY]
    assert len({len(own) for own in by_set}) == 1
    for same in zip(*by_set, strict=True):
        assert len({each.id for each in same}) == 1
        assert len({(each.example.pro, each.example.con) for each in same}) == 1
        copied, reworded = (each.overlap or 0 for each in same)
        assert copied == pytest.approx(1)
        assert reworded < copied
    assert len({case.id for case in made}) == len(made)


def test_a_limit_is_of_each_set() -> None:
    made = limited(cases(*EVERY), 2)
    assert [case.test_set for case in made] == [name for name in EVERY for _ in range(2)]
    assert limited(made, None) == made


def test_every_test_topic_of_the_real_file_can_be_paraphrased(released_data: Path) -> None:
    data = released_data / "procon" / "procon_topics.json"
    made = cases(*EVERY, data=data, per_topic=2)
    topics = {case.annotated.example.topic or "" for case in made}
    assert len(topics) == 16
    assert {split_of(topic) for topic in topics} == {"test"}
    paraphrased = [case.annotated for case in made if case.test_set == SyntheticSet.PARAPHRASED]
    right = [each.overlap or 0 for each in paraphrased if each.error_free]
    assert len(right) == 32
    assert mean(right) < 0.3
