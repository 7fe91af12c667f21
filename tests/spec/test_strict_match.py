"""Strict match with precision, recall and F1, worked by hand and on RAMDocs."""

from pathlib import Path

import pytest

from pipelines.data.ramdocs import RamQuestion, read
from pipelines.metrics.answers import answer_f1, canonical, found, precision, recall, strict_match


def named(answer: str, gold: str, wrong: str = "nothing") -> tuple[bool, bool]:
    """Whether an answer names a gold answer and a wrong one."""
    names = found([answer], [[gold]], [wrong])
    return bool(names.gold[0]), bool(names.wrong[0])


@pytest.mark.parametrize(
    ("answer", "name", "is_named"),
    [
        ("in Boston, Massachusetts", "Boston", True),
        ("Boston", "Boston, Massachusetts", False),  # a part is less than the answer
        ("Bostonians", "Boston", False),
        ("1911", "19", False),
        ("Jersey, New York", "New Jersey", False),  # not consecutive
        ("The novel", "a novel", True),
        ("Boston", "the", False),  # the name normalises to nothing
        # hedges
        ("50,000", "About 50,000", True),
        ("roughly 50,000", "About 50,000", True),
        ("an estimated 50,000 people", "50,000", True),
        ("about some 1835", "1835", True),
        ("about Boston", "Boston", True),  # still contained
        ("Boston", "about Boston", False),  # no number follows: the word counts
        # units
        ("3,559", "3,559 people", True),
        ("3,559 metres", "3,559 people", False),
        ("there are 3,559", "3,559 people", False),  # a sentence must say what it counts
        ("100", "about 100 square miles", True),
        ("100", "100 very large cows", False),  # three words are too many for a unit
        ("31,250", "$31,250", True),
        ("42.7", "42.7 years", True),
        ("1893", "1893-1896", False),
        # days
        ("July 15, 1905", "15th of July 1905", True),
        ("It opened on 1905-07-15.", "15 July 1905", True),
        ("September 19, 1902", "1902", True),
        ("September 19, 1902", "19", False),
        ("1902", "September 19, 1902", False),
        # refusals
        ("unknown", "unknown", False),
        ("", "Boston", False),
    ],
)
def test_what_an_answer_names(answer: str, name: str, is_named: bool) -> None:
    assert named(answer, name) == (is_named, False)
    assert named(answer, "nothing else", name) == (False, is_named)


@pytest.mark.parametrize(
    ("answer", "gold", "wrong", "which"),
    [
        ("American football", "American football", "football", (True, False)),
        ("American football", "football", "American football", (False, True)),
        ("football", "American football", "football", (False, True)),
        # The second "football" is not part of a longer name.
        ("American football or football", "American football", "football", (True, True)),
        ("Football", "football", "The Football", (True, False)),  # same form: gold wins
        ("3,559", "3,559 people", "3,559 metres", (True, False)),  # likewise
        ("about 50,000", "50,000", "roughly 50,000", (True, False)),  # likewise
        ("September 19, 1902", "September 19, 1902", "1902", (True, False)),
        ("September 19, 1902", "1902", "September 19, 1902", (False, True)),
        # They overlap, and neither contains the other.
        ("New York City Hall", "New York City", "City Hall", (True, True)),
    ],
)
def test_the_longest_name_has_its_place(
    answer: str, gold: str, wrong: str, which: tuple[bool, bool]
) -> None:
    assert named(answer, gold, wrong) == which


def test_found_says_what_each_given_answer_names() -> None:
    given = ["Paris and Lyon", "unknown", "Rome", "LYON"]
    names = found(given, [["Lyon", "Lyons"], ["Paris"], ["Nice"]], ["Rome", "Oslo"])
    assert names.gold == (frozenset({0, 1}), frozenset(), frozenset(), frozenset({0}))
    assert names.wrong == (frozenset(), frozenset(), frozenset({0}), frozenset())


@pytest.mark.parametrize(
    ("answers", "match", "match_as_the_one"),
    [
        (["Paris", "Lyon"], True, True),
        (["Paris and Lyon"], True, True),
        (["Lyons", "in Paris, France", "PARIS"], True, True),
        (["Paris"], False, False),  # Lyon is missing
        (["Paris", "Lyon", "Rome"], False, False),  # Rome is wrong
        (["Paris", "Lyon", "Oslo"], True, False),  # Oslo is not gold, but not listed as wrong
        (["Paris", "Lyon", "unknown"], True, True),
        (["unknown"], False, False),
        ([], False, False),
    ],
)
def test_all_gold_answers_and_no_wrong_one(
    answers: list[str], match: bool, match_as_the_one: bool
) -> None:
    gold = [["Lyon", "Lyons"], ["Paris"]]
    for naive in (False, True):  # these names have no numbers and are in no other
        assert strict_match(answers, gold, ["Rome"], substrings=naive) is match
        only = strict_match(answers, gold, ["Rome"], one_answer=True, substrings=naive)
        assert only is match_as_the_one


def test_without_gold_only_no_answer_is_right() -> None:
    for substrings in (False, True):
        assert strict_match([], [], ["Rome"], substrings=substrings)
        assert strict_match(["unknown"], [], ["Rome"], substrings=substrings)
        assert not strict_match(["Rome"], [], ["Rome"], substrings=substrings)
        assert not strict_match(["Oslo"], [], ["Rome"], substrings=substrings)


@pytest.mark.parametrize(
    ("answer", "gold", "wrong", "by_rule", "by_substring"),
    [
        ("1911", "19", "nothing", False, True),
        ("3,559", "3,559 people", "nothing", True, False),
        ("American football", "American football", "football", True, False),
        ("July 15, 1905", "15 July 1905", "nothing", True, False),
        ("64.4", "644", "nothing", False, True),  # the final period is removed
    ],
)
def test_the_naive_rule(
    answer: str, gold: str, wrong: str, by_rule: bool, by_substring: bool
) -> None:
    assert strict_match([answer], [[gold]], [wrong]) is by_rule
    assert strict_match([answer], [[gold]], [wrong], substrings=True) is by_substring


@pytest.mark.parametrize(
    ("answers", "right", "covered", "f1"),
    [
        (["Paris", "Lyon"], 1.0, 1.0, 1.0),
        # 1 of 1 is right, 1 of 2 found: 2 x 1 x 0.5 / 1.5 = 2/3
        (["Paris"], 1.0, 0.5, 2 / 3),
        # 1 of 2 is right, 1 of 2 found: 0.5
        (["Paris", "Rome"], 0.5, 0.5, 0.5),
        # 2 of 4 are right, 2 of 2 found: 2 x 0.5 x 1 / 1.5 = 2/3
        (["Paris", "Rome", "Oslo", "Lyon"], 0.5, 1.0, 2 / 3),
        # a sentence that names both is one right answer
        (["Paris and Lyon"], 1.0, 1.0, 1.0),
        # one that includes a wrong answer is not right, yet it names Paris
        (["Paris or Rome"], 0.0, 0.5, 0.0),
        # "Paris" once: 1 of 2 is right
        (["Paris", "paris.", "Oslo"], 0.5, 0.5, 0.5),
        (["Paris", "unknown"], 1.0, 0.5, 2 / 3),
        (["Oslo"], 0.0, 0.0, 0.0),
        (["unknown"], None, 0.0, 0.0),
        ([], None, 0.0, 0.0),
    ],
)
def test_precision_recall_and_f1(
    answers: list[str], right: float | None, covered: float, f1: float
) -> None:
    scored = (answers, [["Lyon", "Lyons"], ["Paris"]], ["Rome"])
    assert precision(*scored) == right
    assert recall(*scored) == covered
    assert answer_f1(*scored) == pytest.approx(f1, abs=1e-12)


def test_one_answer_of_two_entities_counts_once() -> None:
    gold = [["Film"], ["A film"], ["Play"]]  # two forms
    assert recall(["film"], gold) == 1 / 2
    assert recall(["about 50"], [["50"], ["around 50"], ["60"], ["70"]]) == 1 / 3
    assert precision(["about 50", "50", "80"], [["50"]]) == 1 / 2
    assert recall([], []) == 1


@pytest.fixture(scope="module")
def ramdocs(released_data: Path) -> list[RamQuestion]:
    return read(released_data / "ramdocs" / "RAMDocs_250.jsonl")


def gold_of(question: RamQuestion) -> list[list[str]]:
    return [[answer] for answer in question.gold_answers]


def test_gold_answers_of_ramdocs_are_right_and_with_a_wrong_one_they_are_not(
    ramdocs: list[RamQuestion],
) -> None:
    both = 0
    for question in ramdocs:
        answers, gold, wrong = question.gold_answers, gold_of(question), question.wrong_answers
        assert strict_match(answers, gold, wrong, one_answer=True), gold
        assert answer_f1(answers, gold, wrong) == 1
        for each in wrong:
            # Some rows list one answer as right for one entity and wrong for another ("Hindi");
            # gold wins, so that the row can be answered at all.
            is_gold = canonical(each) in map(canonical, answers)
            both += is_gold
            assert strict_match([*answers, each], gold, wrong) is is_gold, (gold, each)
    assert 0 < both < len(ramdocs) / 10
