"""Types of conflict told from numbers: thresholds, the rule, signals, corrected probabilities."""

import asyncio
from collections.abc import Sequence
from math import log, log1p
from operator import itemgetter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from known_labels import KnownLabels

from pipelines.conflicts.aside import set_aside
from pipelines.conflicts.classification import by_yes_no
from pipelines.conflicts.combination import (
    FOLDS,
    Choice,
    Regression,
    Rows,
    Scaling,
    folds,
    nested,
    train,
)
from pipelines.conflicts.further import ramdocs_type
from pipelines.conflicts.measuring import less_mean
from pipelines.conflicts.prediction import decide
from pipelines.conflicts.question import Query, Source
from pipelines.conflicts.result import QueryResult
from pipelines.conflicts.signals import MEANING, Read, read_evidence, spread
from pipelines.conflicts.tables.type_scores import predictions
from pipelines.conflicts.taxonomy import ConflictType, commonest
from pipelines.data.ramdocs import RamQuestion
from pipelines.data.records import Document
from pipelines.evidence.judgement import Relation

TYPES = list(ConflictType)
NO_CONFLICT, _, OPINIONS, OUTDATED, _ = TYPES


# The rule of thresholds.

SHARES = st.lists(st.integers(0, 20), min_size=5, max_size=5).filter(any)
LEAST = st.dictionaries(st.sampled_from(TYPES), st.floats(0, 1))


@given(SHARES, LEAST)
def test_a_type_is_given_where_it_reaches_its_threshold(
    counts: list[int], thresholds: dict[ConflictType, float]
) -> None:
    shares = {each: count / sum(counts) for each, count in zip(TYPES, counts, strict=True)}
    chosen = decide(shares, thresholds)
    likely = TYPES[counts.index(max(counts))]
    assert chosen in {likely, None}
    assert (chosen is None) == (shares[likely] < thresholds.get(likely, 0))
    assert decide(shares, {}) == likely
    # More is never asked of one type by asking more of others.
    others = {each: 1.0 for each in TYPES if each != likely}
    assert decide(shares, others) == likely


def test_a_threshold_that_is_just_reached() -> None:
    """Of equally probable types it is the first, by its own threshold."""
    shares = dict.fromkeys(TYPES, 0.0) | {OPINIONS: 0.5, OUTDATED: 0.5}
    assert decide(shares, {OPINIONS: 0.5}) is OPINIONS
    assert decide(shares, {OPINIONS: 0.51}) is None
    assert decide(shares, {OUTDATED: 0.9}) is OPINIONS


def test_the_commonest_type() -> None:
    assert commonest([OUTDATED, OPINIONS, OUTDATED]) is OUTDATED
    assert commonest([OUTDATED, OPINIONS]) is OPINIONS, "of equal ones the first of the taxonomy"


# The rule.


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Is tea good for sleep?", OPINIONS), ("does it rain", OPINIONS),
        ("When did the tower open?", NO_CONFLICT), ("Who built the mill?", NO_CONFLICT),
    ],
)  # fmt: skip
def test_the_rule_reads_the_question_alone(question: str, expected: ConflictType) -> None:
    found = by_yes_no(Query(id="q", query=question, sources=(Source(text="Who knows."),)))
    assert (found.type, found.by, found.probabilities) == (expected, "yes-no", None)


def test_results_of_the_former_classifier_are_read() -> None:
    line = (
        '{"id": "1", "asked": {"id": "1", "query": "Is it?", "sources": [{"text": "Yes."}]}, '
        '"status": "answered", "predictions": {"nli": {"type": "opinions", "by": "nli"}}}'
    )
    found = QueryResult.model_validate_json(line)
    assert list(predictions(found)) == ["NLI, question and evidence"]


# What is set aside.


@given(st.text(st.characters(codec="utf-8"), max_size=40))
def test_space_around_a_query_does_not_decide(query: str) -> None:
    assert set_aside(f" {query}\n") == set_aside(query)


def test_a_third_is_set_aside() -> None:
    assert 300 < sum(set_aside(f"Question {n}?") for n in range(1000)) < 370
    # SHA-256 of "abc" ends in 15ad, and 0xba7816bf...15ad modulo 3 is 0 by the sum of its digits.
    digits = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert set_aside("abc") == (sum(int(each, 16) for each in digits) % 3 == 0)


# Signals.


class Axes:
    """Embeds a text by its first letter: a unit vector along an axis of its own."""

    def embed(self, texts: Sequence[str]) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
        vectors = np.zeros((len(texts), 128), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            row[ord(text.strip()[0].lower()) % 128] = 1
        return vectors


def stance(document: Document) -> Relation:
    """What a statement says first: "Yes", "No", or neither."""
    sides = {"Yes": Relation.SUPPORTS, "No,": Relation.CONTRADICTS}
    return sides.get(document.text[:3].strip(), Relation.IRRELEVANT)


def evidence_of(question: str, *sources: Source) -> Read:
    query = Query(id="q", query=question, sources=sources)
    return asyncio.run(read_evidence(query, KnownLabels(stance), Axes()))


def test_signals_worked_by_hand() -> None:
    """Each source's sentence nearest to the question begins as that does, with an "n", if any does.

    `KnownLabels` gives 0.8 to the label of a statement, and 0.1 to the others. The first statement
    contradicts whatever it stands beside, the other two say nothing of it: of six ordered pairs two
    contradict, by 0.8, and four by 0.1. Sources are of the middles of 2020, 2022 and 2024: 4 years
    between the first and the last, 8/3 between two on average. Pairs with the first have 0.9 of
    contradiction both ways, the other 0.2.
    """
    found = evidence_of(
        "Number of lanes?",
        Source(text="Rain fell. No, it has 4 lanes.", date="2020"),
        Source(text="Now 6 lanes are open.", date="2022"),
        Source(text="Six lanes in all, 6 of them new.", date="2024"),
    )
    signals = found.signals
    assert list(signals) == list(MEANING)
    assert signals["yes_no"] == 0
    assert (signals["kappa"], signals["refuting"]) == (None, None)
    assert signals["contradicting"] == pytest.approx((2 * 0.8 + 4 * 0.1) / 6)
    assert signals["most_contradicting"] == pytest.approx(0.8)
    assert signals["supporting"] == pytest.approx(0.1)
    assert signals["nearness"] == pytest.approx(2 / 3)
    assert signals["spread"] == pytest.approx(2 / 3)
    assert signals["document_spread"] == pytest.approx(1)
    assert signals["years_apart"] == pytest.approx(log1p(4), abs=2e-3)
    gap = (0.9 * 2 + 0.9 * 4 + 0.2 * 2) / 2.0
    assert signals["gap"] == pytest.approx(log1p(gap) - log1p(8 / 3), abs=2e-3)
    assert (signals["commonest"], signals["runner_up"]) == pytest.approx((2 / 3, 1 / 3))


def test_a_number_that_is_asked_about_is_not_counted_however_it_is_written() -> None:
    """1,500 is in the question; of two statements one names 30, and none a second number."""
    said = (Source(text="The 1500 years ended in 30."), Source(text="The 1,500 years ended."))
    signals = evidence_of("The 1,500 years?", *said).signals
    assert (signals["commonest"], signals["runner_up"]) == (1 / 2, 0)


def test_a_question_of_yes_or_no_is_a_statement() -> None:
    """At 0.8, 0.1, 0.1: support is 0.8 + 0.1, and as much contradicts."""
    yes, no = Source(text="Yes it is."), Source(text="No, it is not.")
    signals = evidence_of("Is tea good for sleep?", yes, no).signals
    assert signals["yes_no"] == 1
    assert signals["kappa"] == pytest.approx(1)
    assert signals["refuting"] == pytest.approx(0.9 / 2)


def test_one_source_contradicts_nobody() -> None:
    signals = evidence_of("Who is it?", Source(text="Nobody.")).signals
    assert (signals["contradicting"], signals["spread"]) == (0, 0)
    assert (signals["years_apart"], signals["gap"]) == (None, None)


def test_equal_statements_support_each_other_unasked() -> None:
    signals = evidence_of("Who is it?", *[Source(text="No, nobody.")] * 2).signals
    assert (signals["supporting"], signals["contradicting"]) == (1, 0)


def test_the_spread_of_vectors() -> None:
    right_angle = np.eye(2, dtype=np.float32)
    assert spread(right_angle) == pytest.approx(1)
    assert spread(np.vstack([right_angle[:1], -right_angle[:1]])) == pytest.approx(2)
    assert spread(right_angle[:1]) == 0


# Log-probabilities less their means.


def test_what_a_model_favours_is_taken_away_worked_by_hand() -> None:
    """The second query says "outdated" more than the first does, though "opinions" always leads."""
    rest = {each: 0.1 for each in TYPES if each not in (OPINIONS, OUTDATED)}
    first, second = ({OPINIONS: p, OUTDATED: 0.7 - p, **rest} for p in (0.6, 0.4))
    one, other = less_mean([first, second])
    # Of the others nothing is taken away, so that they show what is.
    assert log(one[OPINIONS] / one[NO_CONFLICT]) == pytest.approx(log(0.6) / 2 - log(0.4) / 2)
    assert log(one[OUTDATED] / one[NO_CONFLICT]) == pytest.approx(log(0.1) / 2 - log(0.3) / 2)
    assert max(other, key=lambda each: other[each]) is OUTDATED
    assert sum(one.values()) == pytest.approx(1)


@given(st.lists(st.lists(st.floats(0, 1), min_size=5, max_size=5), min_size=1, max_size=6))
def test_corrected_types_are_alike_on_the_mean(rows: list[list[float]]) -> None:
    found = less_mean([dict(zip(TYPES, row, strict=True)) for row in rows])
    for each in TYPES:
        assert sum(log(row[each] / row[TYPES[0]]) for row in found) == pytest.approx(0, abs=1e-9)


# The regression.

BOTH = [("random",), ("told",)]


def made(count: int, seed: int = 0, *, noise: float = 0.1) -> Rows:
    """Two types by turns; the column "told" tells them apart, "random" does not."""
    drawn = np.random.default_rng(seed)
    types = np.array(["opinions", "outdated"] * (count // 2))
    told = (types == "outdated").astype(float)[:, None] + drawn.normal(0, noise, (len(types), 1))
    return Rows({"told": told, "random": drawn.normal(size=(len(types), 3))}, types)


def test_scaled_rows_have_a_mean_squared_length_of_1() -> None:
    rows = made(20)
    vectors = Rows({**rows.blocks, "question": rows.blocks["random"]}, rows.types)
    for name in ("told", "random", "question"):
        lengths = (Scaling(vectors, [name])(vectors) ** 2).sum(axis=1)
        assert lengths.mean() == pytest.approx(1)


def test_what_is_not_known_is_the_mean_and_what_never_varies_counts_for_nothing() -> None:
    values = np.array([[1.0, 5.0], [3.0, 5.0], [np.nan, 5.0]])
    rows = Rows({"a": values}, np.array(["opinions", "outdated", "outdated"]))
    scaled = Scaling(rows, ["a"])(rows)
    assert scaled[2].tolist() == [0, 0]
    assert scaled[:, 1].tolist() == [0, 0, 0]
    assert scaled[0, 0] == pytest.approx(-scaled[1, 0])


def test_what_tells_is_chosen() -> None:
    found = train(made(40), BOTH)
    assert found.choice.blocks == ("told",)
    unseen = made(40, seed=1)
    said = [max(each, key=lambda name: each[name]) for each in found.probabilities(unseen)]
    assert said == unseen.types.tolist()
    assert all(sum(each.values()) == pytest.approx(1) for each in found.probabilities(unseen))


def test_nothing_of_a_held_out_row_leaks() -> None:
    """What a row says changes its own prediction and those of other folds, and none of its own."""
    rows = made(40, noise=1.0)
    fold = next(test.tolist() for _, test in folds(rows.types, FOLDS, 0) if 0 in test)
    told = rows.blocks["told"].copy()
    told[0] += 50
    changed = nested(Rows({**rows.blocks, "told": told}, rows.types), BOTH)
    before = nested(rows, BOTH)
    assert [changed[place] == before[place] for place in fold] == [place != 0 for place in fold]
    assert changed != before


def test_labels_of_chance_are_not_learnt() -> None:
    """Nested figures do not flatter: of columns that tell nothing, about half is right."""
    rows = made(200, seed=3)
    found = nested(rows, [("random",)])
    said = [max(each.probabilities.items(), key=itemgetter(1))[0] for each in found]
    right = [one == other for one, other in zip(said, rows.types.tolist(), strict=True)]
    assert 0.35 < sum(right) / len(right) < 0.65


def test_further_rows_are_learnt_from_where_they_help() -> None:
    """Of ten noisy rows little is learnt; sixty of the same kind teach the rest."""
    few, many, unseen = made(10, noise=0.6), made(60, seed=1, noise=0.6), made(400, seed=2)

    def right(further: Rows | None) -> float:
        found = train(few, [("told", "random")], further=further)
        assert (found.choice.further > 0) == (further is not None)
        said = [max(each, key=lambda name: each[name]) for each in found.probabilities(unseen)]
        return float(np.mean(np.array(said) == unseen.types))

    assert right(many) > right(None)


def test_further_rows_that_mislead_count_nothing() -> None:
    rows, other = made(40), made(200, seed=1)
    turned = Rows({**other.blocks, "told": -other.blocks["told"]}, other.types)
    found, alone = train(rows, BOTH, further=turned), train(rows, BOTH)
    assert found.choice.further == 0
    assert found.choice == alone.choice
    assert found.probabilities(other) == alone.probabilities(other)


def test_a_further_row_of_weight_1_is_like_an_own_one() -> None:
    rows = made(40, noise=1.0)
    half, rest = (rows.at(np.arange(start, 40, 2)) for start in (0, 1))
    rest_again = Rows({"told": half.blocks["told"], "random": half.blocks["random"]}, rest.types)
    doubled = half.followed_by(rest_again, ["told"])
    choice = Choice(("told",), 1.0, 1.0)
    # The same columns twice have the same scale.
    together = Regression(doubled, choice).probabilities(rows)
    beside = Regression(half, choice, rest_again)
    for one, other in zip(together, beside.probabilities(rows), strict=True):
        assert other == pytest.approx(one, abs=1e-4)


def test_types_that_follow_from_how_ramdocs_was_made() -> None:
    def of(*documents: tuple[str, str]) -> ConflictType | None:
        return ramdocs_type(
            RamQuestion.model_validate(
                {
                    "question": "Who?",
                    "documents": [
                        {"text": "So.", "type": kind, "answer": said} for kind, said in documents
                    ],
                    "gold_answers": ["A"],
                }
            )
        )

    right, other, false = ("correct", "A"), ("correct", "B"), ("misinfo", "C")
    noise = ("noise", "unknown")
    assert of(right, right, noise) is NO_CONFLICT
    assert of(right, other, noise) is ConflictType.COMPLEMENTARY
    assert of(right, false) is ConflictType.MISINFORMATION
    assert of(right, other, false) is None


def test_one_type_is_nothing_to_tell_apart() -> None:
    rows = made(10)
    alike = Rows(rows.blocks, np.array(["opinions"] * 10))
    with pytest.raises(ValueError, match="at least 2 classes"):
        Regression(alike, Choice(("told",), 1.0))
