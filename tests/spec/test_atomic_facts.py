"""Facts beside people's: similarity, matching, precision and recall, by hand."""

from collections.abc import Sequence
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.conflictscore.atomic_facts.matching import (
    LEAST_WORDS,
    at_conjunctions,
    by_tagger,
    by_words,
    dice,
    one_to_one,
)
from pipelines.conflictscore.atomic_facts.result import FactsResult, Split, Splitter
from pipelines.conflictscore.atomic_facts.view import f1, precision, recall, splits_of
from pipelines.data.records import Document
from pipelines.evidence.judgement import Judgement, Judgements, Relation


def test_shared_words() -> None:
    # ada ng actor, ada ng singer: 2 2 / 6. Born, in 1936 against born in 1936 in Rome: 2 4 / 9.
    assert dice("Ada Ng is an actor.", "Ada Ng is a singer.") == pytest.approx(2 / 3)
    assert dice("Ada Ng was born in 1936.", "Ada Ng was born in 1936 in Rome.") == pytest.approx(
        8 / 9
    )
    assert dice("Ada!", "ada") == 1
    assert (dice("It is.", "It is."), dice("It is.", "It was.")) == (1, 0)


def test_as_many_pairs_as_can_be() -> None:
    """The best pair alone, 1.0, would leave the others without one; two of 0.8 are taken."""
    pairs = one_to_one([[1.0, 0.8], [0.8, 0.1]], 0.8)
    assert [(each.ours, each.people) for each in pairs] == [(0, 1), (1, 0)]
    assert one_to_one([[0.7]], 0.8) == one_to_one([], 0.8) == one_to_one([[]], 0.8) == ()


@settings(max_examples=40)
@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(st.floats(0, 1), min_size=width, max_size=width), min_size=1, max_size=4
        )
    )
)
def test_no_matching_is_larger(similarity: list[list[float]]) -> None:
    found = one_to_one(similarity, 0.5)
    rows, columns = len(similarity), len(similarity[0])
    assert len({each.ours for each in found}) == len({each.people for each in found}) == len(found)
    assert all(similarity[each.ours][each.people] >= 0.5 for each in found)
    size = max(rows, columns)
    square = [[*row, *[0.0] * (size - columns)] for row in similarity]
    square += [[0.0] * size] * (size - rows)
    most = max(
        sum(square[row][column] >= 0.5 for row, column in enumerate(order))
        for order in permutations(range(size))
    )
    assert len(found) == most


async def test_the_tagger_must_agree_both_ways() -> None:
    """ "She is a singer and an actor" supports "She is a singer"; the reverse does not hold."""

    class Tagger:
        identity = "by length"

        async def __call__(
            self, claims: Sequence[str], documents: Sequence[Document]
        ) -> Judgements:
            return Judgements(
                tuple(
                    Judgement(
                        claim=claim,
                        document=each.id,
                        relation=Relation.SUPPORTS,
                        probabilities={Relation.SUPPORTS: 0.9 if claim in each.text else 0.2},
                        source="nli",
                    )
                    for claim in claims
                    for each in documents
                )
            )

    found = await by_tagger(["She sings", "She sings and acts"], ["She sings"], Tagger())
    assert found == [[0.9], [0.2]]
    assert await by_tagger([], ["She sings"], Tagger()) == []


def test_conjunctions() -> None:
    assert at_conjunctions("She sang, and he danced; Bandar left.") == (
        "She sang.", "he danced.", "Bandar left.",
    )  # fmt: skip


def split(by: Splitter, facts: tuple[str, ...], people: tuple[str, ...]) -> Split:
    return Split(
        by=by, facts=facts, words=one_to_one(by_words(facts, people), LEAST_WORDS), tagger=()
    )


def test_precision_and_recall_worked_by_hand() -> None:
    """Of 3 facts 2 are people's, who see 4: 2/3, 1/2, and 2 2 / 7. A sentence lost is in none."""
    first, second = ("Ada sings.", "Ada acts."), ("Bo paints.", "Bo lives here.")
    results = [
        FactsResult(
            id=name, topic=name, sentence="", people=people, status="matched",
            splits=(split("ours", facts, people),),
        )
        for name, people, facts in (
            ("a", first, first),
            ("b", second, ("Bo cooks.",)),
        )
    ]  # fmt: skip
    lost = FactsResult(id="c", topic="c", sentence="", people=("x",), status="invalid")
    own = next(each for each in splits_of([*results, lost]) if each.ruler == "words")
    figures = [measure(own) for measure in (precision, recall, f1)]
    assert [each and each.value for each in figures] == pytest.approx([2 / 3, 1 / 2, 4 / 7])
    by_tagger_ = next(each for each in splits_of(results) if each.ruler == "tagger")
    found = recall(by_tagger_)
    assert found is not None
    assert found.value == 0
