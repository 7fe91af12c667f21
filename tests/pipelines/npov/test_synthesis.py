"""Synthetic errors: the response stays, the arguments given do not."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from pipelines.data.procon import Topic
from pipelines.npov.example import AnnotatedExample
from pipelines.npov.synthesis import synthetic_examples

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
    made = families(synthetic_examples([topic(pro=pro, con=con)], per_topic=3, seed=seed))
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


def test_a_topic_has_the_same_examples_beside_any_others() -> None:
    alone = synthetic_examples([topic()], per_topic=4, seed=1)
    beside = synthetic_examples([topic("wolves"), topic()], per_topic=4, seed=1)
    assert [each for each in beside if each.example.topic == "dams"] == alone
    assert synthetic_examples([topic()], per_topic=4, seed=2) != alone


def test_only_what_can_be_reworded_is_said() -> None:
    def reword(argument: str) -> str | None:
        return (
            "Fish return to that stream." if "first" in argument or "second" in argument else None
        )

    made = synthetic_examples([topic()], per_topic=3, seed=0, reword=reword)
    assert {len(each.example.pro) for each in made if each.error_free} == {1, 2}
    assert all("salmon" not in each.example.response.lower() for each in made)
    assert synthetic_examples([topic()], per_topic=3, seed=0, reword=lambda _: None) == []


def test_an_argument_within_another_is_found_where_it_is_said() -> None:
    zoos = Topic(
        topic="zoos",
        question="Should zoos stay?",
        pro=("Zoos save animals from poachers.", "Zoos save animals."),
        con=("Zoos are cruel.", "Cages harm elephants."),
    )
    for seed in range(12):
        for each in synthetic_examples([zoos], per_topic=2, seed=seed):
            for start, end in each.hallucinated or ():
                said = each.example.response[start : end + 1]
                assert said.endswith("."), said
                assert said not in " ".join((*each.example.pro, *each.example.con)).lower()
