"""Test sets: those that are bundled, and limits."""

from collections import Counter

from pipelines.npov.result import PARAPHRASED, UNPARAPHRASED
from pipelines.npov.sets import limited, read_cases
from pipelines.npov.settings import SAMPLE_SETS
from pipelines.npov.topics import split_of

EVERY = (UNPARAPHRASED, PARAPHRASED)


def test_bundled_sets_have_the_same_examples_in_other_words() -> None:
    made = read_cases(SAMPLE_SETS)
    by_set = [[case.annotated for case in made if case.test_set == name] for name in EVERY]
    for copied, reworded in zip(*by_set, strict=True):
        assert copied.id == reworded.id
        assert (copied.example.pro, copied.example.con) == (
            reworded.example.pro,
            reworded.example.con,
        )
        assert copied.example.response != reworded.example.response
    kinds = Counter((each.hallucination, each.coverage) for each in by_set[0])
    assert {*kinds.values()} == {9}, "as many of each kind"
    assert {split_of(each.example.topic or "") for each in by_set[0]} == {"test"}


def test_a_limit_is_of_each_set() -> None:
    made = limited(read_cases(SAMPLE_SETS), 2)
    assert [case.test_set for case in made] == [name for name in EVERY for _ in range(2)]
    assert limited(made, None) == made
