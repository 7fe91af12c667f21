"""What counts as drift, worked by hand: flips, shifts of probabilities, changes of scores."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.conflictscore.detection.detect import DetectionResult
from pipelines.data.records import Document
from pipelines.evidence.examples import ContestedClaim
from pipelines.evidence.judgement import RELATIONS, Judgement, Relation, in_conflict
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.flip_rate import flip_rate
from pipelines.metrics.total_variation import total_variation
from pipelines.trust.drift.measures import Drift

SUPPORTS, CONTRADICTS, IRRELEVANT, INVALID = Relation

Shares = tuple[float, float, float]


def claim(name: str, *said: Relation | Shares, conflict: bool = False) -> DetectionResult:
    """A claim whose documents were judged so: by a label alone, or by probabilities."""
    documents = tuple(Document(id=f"d{n}", text=f"Text {n}.") for n in range(len(said)))
    judgements = tuple(
        Judgement(
            claim=name,
            document=document.id,
            relation=each if isinstance(each, Relation) else RELATIONS[each.index(max(each))],
            probabilities=None
            if isinstance(each, Relation)
            else dict(zip(RELATIONS, each, strict=True)),
            source="made up",
        )
        for document, each in zip(documents, said, strict=True)
    )
    found = in_conflict([each.relation for each in judgements])
    example = ContestedClaim(
        id=name, source="made", claim=name, documents=documents, conflict=conflict
    )
    return DetectionResult(
        id=name,
        example=example,
        status="invalid" if found is None else "labelled",
        judgements=judgements,
        conflict=found,
    )


def drift(first: Sequence[DetectionResult], *runs: Sequence[DetectionResult]) -> Drift:
    def by_id(claims: Sequence[DetectionResult]) -> Mapping[str, DetectionResult]:
        return {each.id: each for each in claims}

    later = {str(number): by_id(run) for number, run in enumerate(runs)}
    return Drift("judge", "alone", by_id(first), later)


def value(found: Estimate | None) -> tuple[float, int]:
    assert found is not None
    return round(found.value, 12), found.n


def test_total_variation_by_hand() -> None:
    """Half of |0.7 - 0.5| + |0.2 - 0.3| + |0.1 - 0.2|; a label that is not there has 0."""
    one, other = {"a": 0.7, "b": 0.2, "c": 0.1}, {"a": 0.5, "b": 0.3, "c": 0.2}
    assert total_variation(one, other) == pytest.approx(0.2)
    assert total_variation({"a": 1.0}, {"b": 1.0}) == 1
    assert total_variation({"a": 1.0, "b": 0.0}, {"a": 1.0}) == 0


WEIGHTS = st.lists(st.floats(0, 1), min_size=3, max_size=3).filter(lambda own: sum(own) > 0.01)
SHARES = WEIGHTS.map(
    lambda own: {label: each / sum(own) for label, each in zip("abc", own, strict=True)}
)


@given(SHARES, SHARES, SHARES)
def test_total_variation_is_a_distance(
    one: dict[str, float], other: dict[str, float], third: dict[str, float]
) -> None:
    found = total_variation(one, other)
    assert 0 <= found <= 1
    assert total_variation(one, one) == 0
    assert found == total_variation(other, one)
    assert found <= total_variation(one, third) + total_variation(third, other) + 1e-12
    largest = max(abs(one[label] - other[label]) for label in one)
    assert largest - 1e-12 <= found <= 1.5 * largest + 1e-12, "two of three labels at least move"


def test_a_flip_rate_by_hand() -> None:
    """Four keys; b flips in both runs and counts once, c in one; d was not asked again."""
    first = {"a": 1, "b": 1, "c": 1, "d": 1}
    found = flip_rate(first, [{"a": 1, "b": 2, "c": 1}, {"a": 1, "b": 3, "c": 2}])
    assert value(found) == (round(2 / 3, 12), 3)
    assert flip_rate(first, []) is None
    assert flip_rate({}, [{"a": 1}]) is None


RUN = st.dictionaries(st.integers(0, 9), st.sampled_from("xyz"))


@given(RUN, st.lists(RUN, max_size=4))
def test_more_runs_never_flip_less(first: dict[int, str], again: list[dict[int, str]]) -> None:
    flips = [
        round(found.value * found.n) if (found := flip_rate(first, again[:n])) else 0
        for n in range(len(again) + 1)
    ]
    assert flips == sorted(flips)
    assert flips[-1] <= len(first)
    same = flip_rate(first, [first])
    assert same is None if not first else same is not None and same.value == 0


def test_labels_probabilities_and_verdicts_by_hand() -> None:
    """Claim a loses its conflict in the second run; b keeps its label with another probability."""
    first = [
        claim("a", (0.8, 0.1, 0.1), (0.3, 0.4, 0.3), conflict=True),
        claim("b", (0.2, 0.2, 0.6)),
    ]
    same = first
    other = [
        claim("a", (0.8, 0.1, 0.1), (0.3, 0.3, 0.4), conflict=True),
        claim("b", (0.1, 0.25, 0.65)),
    ]
    own = drift(first, same, other)
    assert len(own.pairs) == 6
    assert own.flips() == 1
    assert value(own.flipped()) == (round(1 / 3, 12), 3)
    assert own.largest_shift() == pytest.approx(0.1)
    # Half of 0.1 + 0.1, and of 0.1 + 0.05 + 0.05, in six judgements.
    assert value(own.mean_variation()) == (round((0.1 + 0.1) / 6, 12), 6)
    assert value(own.verdicts_flipped()) == (1 / 2, 2)
    # a adds 1 to CS-C at first and once more, then 0; to CS-R 1/2, 1/2 and 0.
    assert value(own.change("cs_c")) == (-1 / 4, 4)
    assert value(own.change("cs_r")) == (-1 / 8, 4)
    # F1 of conflicts: 1 at first; found in one of two reruns, 2 / (2 + 1) together.
    assert value(own.f1_change()) == (round(-1 / 3, 12), 4)


def test_what_was_not_judged_again_or_has_no_probabilities() -> None:
    first = [claim("a", SUPPORTS, CONTRADICTS), claim("b", SUPPORTS)]
    failed = first[1].model_copy(update={"status": "failed", "judgements": ()})
    own = drift(first, [claim("a", SUPPORTS, INVALID), failed])
    assert (len(own.pairs), own.flips()) == (2, 1), "unreadable is a label, failed is none"
    assert (own.largest_shift(), own.mean_variation()) == (None, None)
    assert value(own.verdicts_flipped()) == (1, 1), "from conflict to undetermined"
    assert own.change("cs_c") is own.change("cs_r") is own.f1_change() is None
    assert (drift(first).flipped(), drift(first).largest_shift()) == (None, None)


@given(st.lists(st.tuples(*[st.sampled_from(RELATIONS)] * 3), min_size=1, max_size=5))
def test_equal_runs_do_not_drift(labels: list[tuple[Relation, ...]]) -> None:
    claims = [claim(f"c{n}", *own) for n, own in enumerate(labels)]
    own = drift(claims, claims, claims)
    assert own.flips() == 0
    for found in (own.flipped(), own.verdicts_flipped(), own.change("cs_c"), own.change("cs_r")):
        assert found is not None
        assert found.value == 0
