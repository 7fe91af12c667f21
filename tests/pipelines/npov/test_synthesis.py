"""Synthetic errors: the response stays, the arguments given do not."""

from collections import Counter
from collections.abc import Callable

import pytest
from estimates import defined
from hypothesis import given
from hypothesis import strategies as st

from pipelines.data.procon import Topic
from pipelines.metrics.ranks import roc_auc
from pipelines.npov.example import AnnotatedExample, NpovExample
from pipelines.npov.result import ErrorScores
from pipelines.npov.rouge import count_errors, length_errors, side_errors
from pipelines.npov.synthesis import synthetic_examples

ErrorsOf = Callable[[NpovExample], ErrorScores]
NUMBERS = ("first", "second", "third", "fourth", "fifth")


def topic(name: str = "dams", pro: int = 5, con: int = 4) -> Topic:
    return Topic(
        topic=name,
        question="Should dams go?",
        pro=tuple(f"Salmon like the {number} river." for number in NUMBERS[:pro]),
        con=tuple(f"Turbines power the {number} town." for number in NUMBERS[:con]),
    )


def families(examples: list[AnnotatedExample]) -> dict[str, dict[str, AnnotatedExample]]:
    found: dict[str, dict[str, AnnotatedExample]] = {}
    for each in examples:
        name, _, suffix = each.id.partition("+")
        found.setdefault(name, {})[suffix] = each
    return found


@given(st.integers(0, 50), st.integers(1, 5), st.integers(1, 4))
def test_errors_are_what_they_are_called(seed: int, pro: int, con: int) -> None:
    made = families(
        synthetic_examples([topic(pro=pro, con=con)], per_topic=3, seed=seed, design="paper")
    )
    assert len(made) == 3
    for right_id, family in made.items():
        right = family[""].example
        given = Counter([*right.pro, *right.con])
        assert len(right.pro) == len(right.con)
        assert all(each.rstrip(".")[1:] in right.response for each in given)
        for suffix, each in family.items():
            now = Counter([*each.example.pro, *each.example.con])
            extra, missing = now - given, given - now
            assert each.example.response == right.response
            uncovered, hallucinated = suffix in {"left-out", "both"}, suffix in {"added", "both"}
            assert each.source == right_id
            assert (each.coverage == "full") is bool(extra) is uncovered
            assert (each.hallucination == "full") is bool(missing) is hallucinated
            left_out = [
                each.example.arguments(part.side)[part.argument][slice(*part.span)]
                for part in each.uncovered or ()
            ]
            assert left_out == list(extra)
            assert all(text.rstrip(".")[1:] not in right.response for text in left_out)
            added = [right.response[slice(*span)] for span in each.hallucinated or ()]
            assert added == [
                text.rstrip(".")[:1].lower() + text.rstrip(".")[1:] for text in missing
            ]
        assert ("left-out" in family) is (len(right.pro) < max(pro, con))
        assert "added" in family


def matched(per_topic: int = 8, seed: int = 0, topics: int = 1) -> list[AnnotatedExample]:
    names = [f"topic {n}" for n in range(topics)]
    made = [topic(name) for name in names]
    return synthetic_examples(made, per_topic=per_topic, seed=seed, design="matched")


@given(st.integers(0, 50), st.integers(1, 5), st.integers(1, 4))
def test_every_matched_response_has_each_kind_of_error(seed: int, pro: int, con: int) -> None:
    made = families(
        synthetic_examples([topic(pro=pro, con=con)], per_topic=4, seed=seed, design="matched")
    )
    assert len(made) == (4 if min(pro, con) > 1 else 0)
    for family in made.values():
        assert list(family) == ["", "left-out", "added", "both"]
        assert len({each.example.response for each in family.values()}) == 1
        sizes = {
            name: (len(each.example.pro), len(each.example.con)) for name, each in family.items()
        }
        assert sizes["both"] == sizes[""]
        assert sum(sizes["left-out"]) - 1 == sum(sizes["added"]) + 1 == sum(sizes[""])
        assert {side for pair in sizes.values() for side in pair} <= {1, 2, 3}
        right = Counter([*family[""].example.pro, *family[""].example.con])
        both = Counter([*family["both"].example.pro, *family["both"].example.con])
        assert sum((both - right).values()) == sum((right - both).values()) == 1
        (left_out,) = family["left-out"].uncovered or ()
        assert left_out.side != ("pro" if sizes["added"][0] < sizes[""][0] else "con")


@pytest.mark.parametrize("seed", range(3))
def test_matched_errors_are_on_both_sides_alike_and_unequal_as_often(seed: int) -> None:
    made = matched(seed=seed)
    sides = Counter(
        (each.id.partition("+")[2], len(each.example.pro) - len(each.example.con)) for each in made
    )
    for kind in ("", "left-out", "added", "both"):
        assert [sides[kind, by] for by in (-1, 0, 1)] == [2, 4, 2], kind
    left_out = Counter(each.uncovered[0].side for each in made if each.id.endswith("left-out")
                       and each.uncovered)  # fmt: skip
    assert left_out["pro"] == left_out["con"] == 4
    said = {len(each.example.response.split(". ")) for each in made}
    assert said == {3, 4, 5}, "responses have up to three arguments of a side"


@pytest.mark.parametrize("kind", ["hallucination", "coverage"])
def test_lengths_and_counts_tell_no_matched_error_that_the_error_is_not_made_of(kind: str) -> None:
    def area(made: list[AnnotatedExample], errors: ErrorsOf, *, exchanged: bool = False) -> float:
        counted = [
            each for each in made
            if each.error_free or (getattr(each, kind) == "full"
                                   and (not exchanged or each.hallucination == each.coverage))
        ]  # fmt: skip
        scores = [getattr(errors(each.example), kind) for each in counted]
        return defined(roc_auc(scores, [not each.error_free for each in counted])).value

    made = matched(topics=3)
    assert area(made, length_errors) == 0.5
    assert area(made, count_errors) == 0.75, "by definition"
    assert area(made, count_errors, exchanged=True) == 0.5
    assert area(made, side_errors) == area(made, side_errors, exchanged=True) == 0.5
    unmatched = synthetic_examples([topic()], per_topic=9, seed=0, design="paper")
    assert area(unmatched, side_errors) > 0.8, "as the paper makes errors"


def test_a_topic_has_the_same_examples_beside_any_others() -> None:
    alone = synthetic_examples([topic()], per_topic=4, seed=1, design="paper")
    beside = synthetic_examples([topic("wolves"), topic()], per_topic=4, seed=1, design="paper")
    assert [each for each in beside if each.example.topic == "dams"] == alone
    assert synthetic_examples([topic()], per_topic=4, seed=2, design="paper") != alone


def test_only_what_can_be_reworded_is_said_and_overlap_falls() -> None:
    def reword(argument: str) -> str | None:
        return (
            "Fish return to that stream." if "first" in argument or "second" in argument else None
        )

    made = synthetic_examples([topic()], per_topic=3, seed=0, design="paper", reword=reword)
    assert {len(each.example.pro) for each in made if each.error_free} == {1, 2}
    assert all("salmon" not in each.example.response.lower() for each in made)
    assert all(each.overlap == 0 for each in made)
    verbatim = synthetic_examples([topic()], per_topic=3, seed=0, design="paper")
    assert all(each.overlap == pytest.approx(1) for each in verbatim)
    assert (
        synthetic_examples([topic()], per_topic=3, seed=0, design="paper", reword=lambda _: None)
        == []
    )


def test_an_argument_within_another_is_found_where_it_is_said() -> None:
    zoos = Topic(
        topic="zoos",
        question="Should zoos stay?",
        pro=("Zoos save animals from poachers.", "Zoos save animals."),
        con=("Zoos are cruel.", "Cages harm elephants."),
    )
    for seed in range(12):
        for each in synthetic_examples([zoos], per_topic=2, seed=seed, design="paper"):
            for start, end in each.hallucinated or ():
                said = each.example.response[start : end + 1]
                assert said.endswith("."), said
                assert said not in " ".join((*each.example.pro, *each.example.con)).lower()
