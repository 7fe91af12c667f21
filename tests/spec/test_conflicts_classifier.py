"""The embedded classifier of conflict types: its features, its training, its arithmetic."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from math import exp, isfinite, log
from pathlib import Path
from random import Random
from typing import Any

import pytest
from conflicts_endpoint import constant
from hypothesis import given, settings
from hypothesis import strategies as st
from known_labels import KnownLabels
from pydantic import ValidationError

from pipelines.conflicts import training
from pipelines.conflicts.classifier import (
    FURTHEST,
    Fold,
    Linear,
    TypeClassifier,
    digest_of,
    read,
    seen,
    shipped_classifier,
)
from pipelines.conflicts.features import GROUPS, LEARNT, MEANING, Features, features
from pipelines.conflicts.prediction import Prediction, decide
from pipelines.conflicts.question import Query, Source
from pipelines.conflicts.structure import Structure, structure
from pipelines.conflicts.taxonomy import ConflictType, commonest
from pipelines.conflicts.training import (
    LabelledQuery,
    cross_validation,
    fit,
    held_out_predictions,
    names_of,
    train,
)
from pipelines.data.records import Document
from pipelines.evidence.judgement import Relation

TYPES = list(ConflictType)
NO_CONFLICT, _, OPINIONS, OUTDATED, _ = TYPES
NAMES = names_of(["question"])


def stance(document: Document) -> Relation:
    """What a text says first: "Yes", "No", or neither."""
    sides = {"Yes": Relation.SUPPORTS, "No": Relation.CONTRADICTS}
    return sides.get(document.text[:3].strip(", "), Relation.IRRELEVANT)


def structure_of(query: Query) -> Structure:
    return asyncio.run(structure(query, KnownLabels(stance)))


def features_of(question: str, *texts: str, dates: tuple[str, ...] = ()) -> dict[str, Any]:
    own = [*dates, *(None,) * (len(texts) - len(dates))]
    sources = tuple(Source(text=text, date=date) for text, date in zip(texts, own, strict=True))
    query = Query(id="q", query=question, sources=sources)
    return dict(features(query, structure_of(query)))


def rows(count: int, types: list[ConflictType], seed: int = 0) -> list[LabelledQuery]:
    """Rows whose features lean towards their type, at random."""
    random = Random(seed)
    made = []
    for number in range(count):
        of = types[number % len(types)]
        values = {name: random.gauss(0, 1) for name in MEANING}
        values[NAMES[TYPES.index(of)]] += 2
        made.append(LabelledQuery(f"Question {number}?", values, of))
    return made


def with_features(row: LabelledQuery, **own: float | None) -> LabelledQuery:
    return replace(row, features={**row.features, **own})


# Arithmetic.

TWO = Linear(
    features=("yes_no", "length"),
    means=(0.5, 1.0),
    scales=(0.5, 2.0),
    types=(NO_CONFLICT, OPINIONS, OUTDATED),
    weights=((0.0, 0.0), (log(2), 0.0), (0.0, log(3))),
    intercepts=(0.0, 0.0, log(2)),
)
VALUES = {"yes_no": 1.0, "length": 3.0}
"""Both are 1 when they are standardised."""


def test_probabilities_worked_by_hand() -> None:
    """Logits 0, ln 2 and ln 2 + ln 3: shares 1, 2 and 6 of 9."""
    found = TWO.probabilities(VALUES)
    assert found == {
        NO_CONFLICT: pytest.approx(1 / 9),
        OPINIONS: pytest.approx(2 / 9),
        OUTDATED: pytest.approx(6 / 9),
        ConflictType.COMPLEMENTARY: 0.0,
        ConflictType.MISINFORMATION: 0.0,
    }
    assert list(found) == TYPES


def test_contributions_worked_by_hand() -> None:
    """Of ln 2 the mean over three types is ln 2 / 3, of ln 3 it is ln 3 / 3."""
    assert TWO.contributions(VALUES, OPINIONS) == {
        "yes_no": pytest.approx(log(2) * 2 / 3),
        "length": pytest.approx(-log(3) / 3),
    }


@given(st.lists(st.floats(-50, 50), min_size=2, max_size=2), st.sampled_from(TWO.types))
def test_contributions_add_up_to_the_logit(values: list[float], of: ConflictType) -> None:
    """What the logit without its intercept is more than that of all types on average."""
    given_ = dict(zip(TWO.features, values, strict=True))
    standard = ((values[0] - 0.5) / 0.5, (values[1] - 1) / 2)
    x = [min(max(value, -FURTHEST), FURTHEST) for value in standard]
    logits = {
        each: sum(weight * value for weight, value in zip(row, x, strict=True))
        for each, row in zip(TWO.types, TWO.weights, strict=True)
    }
    expected = logits[of] - sum(logits.values()) / 3
    assert sum(TWO.contributions(given_, of).values()) == pytest.approx(expected, abs=1e-9)


def test_what_is_not_known_has_no_part() -> None:
    """Its place is that of the mean: logits 0, 0 and ln 2 + ln 3."""
    unknown = {"yes_no": None, "length": 3.0}
    assert TWO.probabilities(unknown)[OPINIONS] == pytest.approx(1 / 8)
    assert TWO.contributions(unknown, OUTDATED)["yes_no"] == 0
    assert TWO.probabilities(unknown) == TWO.probabilities({"yes_no": 0.5, "length": 3.0})


def test_no_value_counts_beyond_a_distance_from_the_mean() -> None:
    """The scale of "length" is 2, its mean 1; of "yes_no" they are 0.5 each."""
    edge = {"yes_no": 0.5 + 0.5 * FURTHEST, "length": 1 - 2 * FURTHEST}
    beyond = {"yes_no": 1e9, "length": -1e9}
    assert TWO.standardised(edge) == TWO.standardised(beyond) == (FURTHEST, -FURTHEST)
    assert TWO.probabilities(edge) == TWO.probabilities(beyond)
    within = {"yes_no": 0.5 + 0.4 * FURTHEST, "length": 1 - 2 * FURTHEST}
    assert TWO.probabilities(within) != TWO.probabilities(edge)


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_probabilities_sum_to_1_wherever_values_lie(first: float, second: float) -> None:
    found = TWO.probabilities({"yes_no": first, "length": second})
    assert sum(found.values()) == pytest.approx(1)
    assert all(0 <= share <= 1 for share in found.values())


@pytest.mark.parametrize("types", [TYPES, [OPINIONS, OUTDATED]])
def test_probabilities_are_those_of_scikit_learn(
    types: list[ConflictType], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Apart from rounding: coefficients are kept with six decimals."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    monkeypatch.setattr(training, "STRENGTHS", (0.1,))
    made = rows(80, types)
    found = fit(made, NAMES)
    values = np.array([[row.features[name] for name in NAMES] for row in made], dtype=float)
    standard = (values - values.mean(axis=0)) / values.std(axis=0)
    standard = standard.clip(-FURTHEST, FURTHEST)
    model = LogisticRegression(C=0.1, max_iter=2000).fit(standard, [row.type for row in made])
    for row, shares in zip(made, model.predict_proba(standard), strict=True):
        own = found.probabilities(row.features)
        assert [own[each] for each in model.classes_] == pytest.approx(list(shares), abs=2e-6)


@pytest.mark.parametrize(
    "change",
    [
        {"features": ("yes_no", "colour")}, {"means": (0.5,)}, {"means": (0.5, float("nan"))},
        {"scales": (0.5, 0.0)}, {"scales": (0.5, -1.0)},
        {"weights": ((0.0, 0.0), (0.0, 0.0))}, {"weights": ((0.0, 0.0), (0.0, 0.0), (0.0,))},
        {"intercepts": (0.0, 0.0)}, {"intercepts": (0.0, 0.0, 1e308)},
        {"types": (NO_CONFLICT,), "weights": ((0.0, 0.0),), "intercepts": (0.0,)},
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_no_classifier(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Linear.model_validate(TWO.model_dump() | change)


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


# Which classifier judges a query.


CONSTANT = {each: constant(each).whole for each in TYPES}
FOLDED = TypeClassifier(
    trained_on={"file": "made", "queries": 2},
    tagger="known",
    whole=CONSTANT[NO_CONFLICT],
    folds=(
        Fold(held_out=frozenset({digest_of("Is tea good?")}), linear=CONSTANT[OPINIONS]),
        Fold(held_out=frozenset({digest_of("Who is pope?")}), linear=CONSTANT[OUTDATED]),
    ),
)


TEA = Query(id="q", query="Is tea good?", sources=(Source(text="Yes."), Source(text="No.")))


def predicted(
    classifier: TypeClassifier,
    asked: str = TEA.query,
    thresholds: Mapping[ConflictType, float] | None = None,
) -> Prediction:
    query = TEA.model_copy(update={"query": asked})
    return classifier.predict(query, structure_of(query), thresholds or {})


@pytest.mark.parametrize(
    ("asked", "by"),
    [
        ("Is tea good?", OPINIONS), ("  is TEA\n good?", OPINIONS),
        ("Who is pope?", OUTDATED), ("Who is pope", OUTDATED),
        ("Who is the pope", NO_CONFLICT), ("Is coffee good?", NO_CONFLICT),
    ],
)  # fmt: skip
def test_a_query_is_judged_by_the_fold_that_never_saw_it(asked: str, by: ConflictType) -> None:
    assert FOLDED.linear_for(asked) == CONSTANT[by]
    found = predicted(FOLDED, asked)
    assert found.type is by
    assert found.probabilities is not None
    assert found.probabilities[by] == pytest.approx(exp(1) / (1 + exp(1)))
    assert seen(FOLDED, [TEA.model_copy(update={"query": asked})]) == (by is not NO_CONFLICT)


def test_it_abstains_below_its_threshold_and_says_why() -> None:
    whole = TypeClassifier(trained_on={}, tagger="known", whole=TWO, folds=())
    found = predicted(whole, thresholds={OUTDATED: 0.99, OPINIONS: 0.99})
    assert (found.type, found.abstained, found.by) == (None, True, "nli")
    # The other types lose ln 2 / 3 by what speaks for opinions.
    assert found.explanation.startswith(
        "Most for and against 'outdated': a question of yes or no (-0.23); length of the question ("
    )


def test_a_query_is_held_out_of_one_fold() -> None:
    with pytest.raises(ValidationError, match="held out of two folds"):
        TypeClassifier(
            trained_on={}, tagger="known", whole=TWO, folds=(FOLDED.folds[0], FOLDED.folds[0])
        )


@pytest.mark.parametrize("texts", [["Yes."], ["Yes.", "Yes."]])
def test_what_all_sources_say_in_the_same_words_is_no_conflict(texts: list[str]) -> None:
    sources = tuple(Source(text=text, title=str(n)) for n, text in enumerate(texts))
    query = TEA.model_copy(update={"sources": sources})
    found = FOLDED.predict(query, structure_of(query), {NO_CONFLICT: 0.99})
    assert found.type is NO_CONFLICT
    assert found.probabilities == {each: float(each is NO_CONFLICT) for each in ConflictType}
    assert found.explanation.startswith("There is one source")


@pytest.mark.parametrize(("fewest", "told"), [(2, False), (3, True)])
def test_of_fewer_sources_than_it_learned_from_it_says_so(fewest: int, told: bool) -> None:
    few = FOLDED.model_copy(update={"trained_on": {"fewest_sources": fewest}})
    explanation = predicted(few).explanation
    assert explanation.endswith("learned from 3 sources or more, so of 2 it says little.") == told


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_the_digest_is_of_the_content(encoding: str, tmp_path: Path) -> None:
    """A file may begin with a byte order mark."""
    path = tmp_path / "types.json"
    path.write_text(FOLDED.model_dump_json(), encoding)
    again = read(path)
    assert (again, again.digest) == (FOLDED, FOLDED.digest)
    changed = FOLDED.model_copy(update={"whole": CONSTANT[OPINIONS]})
    assert changed.digest != FOLDED.digest


# Training.


def test_folds_part_the_queries() -> None:
    made = rows(43, TYPES)
    folds = cross_validation(made, NAMES, folds=4)
    held_out = [name for fold in folds for name in fold.held_out]
    assert sorted(held_out) == sorted(digest_of(row.query) for row in made)
    assert {len(fold.held_out) for fold in folds} <= {10, 11}
    # All types alike: 43 rows have eight or nine of each, so that every fold has two or three.
    for fold in folds:
        own = [row.type for row in made if digest_of(row.query) in fold.held_out]
        assert {own.count(each) for each in TYPES} <= {2, 3}


def test_equal_queries_are_in_one_fold() -> None:
    made = rows(30, [OPINIONS, OUTDATED])
    twice = [*made, *(replace(row, query=f" {row.query.upper()}") for row in made)]
    folds = cross_validation(twice, NAMES, folds=3)
    assert [len(fold.held_out) for fold in folds] == [10] * 3
    assert len(held_out_predictions(twice, folds)) == 60


def test_nothing_of_a_held_out_row_leaks() -> None:
    """A fold's classifier is the same whatever its held-out rows are like, and whatever they are.

    Features have no part in which fold a row is in, so those of the first fold can be exchanged in
    the cross-validation; labels have, so they are exchanged before the fit that the fold makes.
    """
    made = rows(40, TYPES)
    first, *others = cross_validation(made, NAMES, folds=4)
    random = Random(1)

    def changed(row: LabelledQuery, of: ConflictType) -> LabelledQuery:
        if digest_of(row.query) not in first.held_out:
            return row
        return LabelledQuery(row.query, {name: random.gauss(9, 5) for name in MEANING}, of)

    again, *rest = cross_validation([changed(row, row.type) for row in made], NAMES, folds=4)
    assert again == first
    assert [fold.held_out for fold in rest] == [fold.held_out for fold in others]
    assert all(one.linear != other.linear for one, other in zip(rest, others, strict=True))

    relabelled = [changed(row, random.choice(TYPES)) for row in made]
    kept = [row for row in relabelled if digest_of(row.query) not in first.held_out]
    assert fit(kept, NAMES) == first.linear


def test_what_is_learnt_is_right_of_rows_that_were_held_out() -> None:
    made = rows(60, [OPINIONS, OUTDATED])
    found = held_out_predictions(made, cross_validation(made, NAMES, folds=5))
    assert 45 < sum(row.type == each for row, each in zip(made, found, strict=True)) <= 60
    noise = [with_features(row, **dict.fromkeys(NAMES, 0.0)) for row in made]
    assert cross_validation(noise, NAMES, folds=5)[0].linear.features == ()


def test_a_whole_classifier_is_trained_on_all() -> None:
    made = rows(40, TYPES)
    folds = cross_validation(made, NAMES, folds=4)
    found = train(made, {"file": "made"}, "tagger", folds, groups=["question"])
    assert found.whole == fit(made, NAMES)
    assert list(found.folds) == folds
    assert (found.trained_on, found.tagger) == ({"file": "made"}, "tagger")


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, 1e6])
def test_features_that_never_vary_are_left_out(value: float) -> None:
    """The mean of equal numbers may differ from them by a rounding error, which is no variation."""
    made = [with_features(row, length=value) for row in rows(37, TYPES)]
    assert set(fit(made, NAMES).features) == set(NAMES) - {"length"}


def test_without_any_that_varies_types_have_their_shares() -> None:
    types = [OPINIONS] * 6 + [OUTDATED] * 2
    made = [LabelledQuery(str(n), dict.fromkeys(MEANING, 0.1), of) for n, of in enumerate(types)]
    shares = fit(made, NAMES).probabilities(dict.fromkeys(MEANING, 7.0))
    assert (shares[OPINIONS], shares[OUTDATED]) == pytest.approx((3 / 4, 1 / 4), abs=1e-6)


def test_unknown_features_are_means() -> None:
    """A column with gaps is as if they had its mean; one of gaps alone tells nothing."""
    made = rows(40, [OPINIONS, OUTDATED])
    lengths = [None if n % 3 == 0 else float(n % 2) for n in range(40)]
    known = [each for each in lengths if each is not None]
    mean = sum(known) / len(known)
    gaps = [with_features(row, time=None, length=n) for row, n in zip(made, lengths, strict=True)]
    filled = [
        with_features(row, time=5.0, length=mean if n is None else n)
        for row, n in zip(made, lengths, strict=True)
    ]
    assert "time" not in fit(gaps, NAMES).features
    assert fit(gaps, NAMES) == fit(filled, NAMES)


@pytest.mark.parametrize("counts", [(2, 2), (3, 1), (1, 1), (9, 2)])
def test_few_rows_are_enough(counts: tuple[int, int]) -> None:
    """So few that there is no inner fold to choose the penalty by."""
    types = [OPINIONS] * counts[0] + [OUTDATED] * counts[1]
    made = [
        LabelledQuery(str(n), dict.fromkeys(MEANING, 0.0) | {"length": float(n)}, of)
        for n, of in enumerate(types)
    ]
    found = fit(made, NAMES)
    last = found.probabilities(made[-1].features)
    assert last[OUTDATED] > found.probabilities(made[0].features)[OUTDATED]


def test_one_type_is_nothing_to_tell_apart() -> None:
    with pytest.raises(ValueError, match="one type only"):
        fit(rows(10, [OPINIONS]), NAMES)


def test_the_commonest_type() -> None:
    assert commonest([OUTDATED, OPINIONS, OUTDATED]) is OUTDATED
    assert commonest([OUTDATED, OPINIONS]) is OPINIONS, "of equal ones the first of the taxonomy"


# Features.


def learnt(found: Features) -> dict[str, float | None]:
    """The features that a classifier learns from unless told otherwise."""
    return {name: found[name] for name in names_of(LEARNT)}


def test_groups_part_the_features() -> None:
    assert [name for names in GROUPS.values() for name in names] == list(MEANING)
    assert names_of(["wording", "question"]) == (*GROUPS["question"], *GROUPS["wording"])


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=30)
TEXTS = WORDS.filter(lambda text: bool(text.strip()))
DATES = st.none() | st.sampled_from(["2014-05-06", "Mar 2021", "1999", "NA", "3 days ago"]) | WORDS


@given(TEXTS, st.lists(st.tuples(TEXTS, DATES), min_size=1, max_size=4))
@settings(max_examples=60)
def test_features_of_any_query_are_finite_or_unknown(
    asked: str, given_: list[tuple[str, str | None]]
) -> None:
    sources = tuple(Source(text=text, date=date) for text, date in given_)
    query = Query(id="q", query=asked, sources=sources)
    found = features(query, structure_of(query))
    assert list(found) == list(MEANING)
    assert all(value is None or isfinite(value) for value in found.values())
    shares = shipped_classifier().whole.probabilities(found)
    assert sum(shares.values()) == pytest.approx(1)


QUESTIONS = [
    "Is tea good for sleep?",
    "Did the tower open in 1889?",
    "When did the tower open?",
    "Who is the current president of France?",
    "How many lanes does the bridge have?",
    "Where is the largest city of the world?",
    "what does tea cost in London?",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_letter_case_and_question_mark_are_not_learnt_from(question: str) -> None:
    """They would tell from which collection a question was taken."""
    texts = (
        "Yes, tea is good for sleep since 2019.",
        "No, the tower opened in Paris.",
        "So it is.",
    )
    forms = [question.lower(), question.upper(), question.rstrip("?"), question.title()]
    whole = features_of(question, *texts)
    assert [learnt(features_of(form, *texts)) for form in forms] == [learnt(whole)] * 4
    assert features_of(forms[0], *texts)["capitals"] == 0
    assert features_of(forms[1], *texts)["capitals"] == 1
    assert [features_of(form, *texts)["question_mark"] for form in ("tea?", "tea")] == [1, 0]


def test_a_month_is_no_word_of_doubt() -> None:
    asked, other = "When was the bridge opened?", "It was opened in 1932."
    may, june = (
        features_of(asked, f"The bridge was opened in {month} 1936.", other)
        for month in ("May", "June")
    )
    assert may == june
    assert may["hedges"] == 0


@pytest.mark.parametrize(
    ("question", "feature"),
    [
        ("Is tea good for sleep?", "yes_no"),
        ("How many lanes does the bridge have?", "quantity"),
        ("In which year did the tower open?", "time"),
        ("Who built the mill?", "person"),
        ("What city is the tower in?", "place"),
    ],
)
def test_the_form_of_a_question(question: str, feature: str) -> None:
    forms = ("yes_no", "quantity", "time", "person", "place")
    found = features_of(question, "Some text.")
    assert [each for each in forms if found[each]] == [feature]


def test_features_worked_by_hand() -> None:
    """Two of four sources say yes, one no, at 0.8 each; the last has nothing of the question.

    Kappa of masses 1.6 and 0.8 is 1 - 0.8 / 2.4. The first three answer, and two of them name 2019,
    one 2021. From 2014-01-01 to 2024-01-01 there are 10 years. "However" and "may" are two hedges
    among 47 words; "May" is a month.
    """
    found = features_of(
        "Is tea good for sleep?",
        "Yes, tea is good for sleep, they said in 2019. One two three four five.",
        "Yes, tea may be good for sleep, as in 2019. One two three four five.",
        "No, however: tea is bad for sleep in May 2021.",
        "Five words without any answer by 2050.",
        dates=("2014-01-01", "2024-01-01"),
    )
    assert found["yes_no"] == 1
    assert found["kappa"] == pytest.approx(1 - 0.8 / 2.4, abs=1e-6)
    # Of a label with 0.8 the other two have 0.1 each.
    assert found["refuting"] == pytest.approx((0.1 + 0.1 + 0.8 + 0.1) / 4)
    assert found["indifferent"] == pytest.approx((0.1 * 3 + 0.8) / 4)
    assert found["answering"] == 3 / 4
    assert (found["commonest"], found["runner_up"]) == (2 / 4, 1 / 4)
    assert found["spread"] == pytest.approx(log(11), abs=0.01)
    assert found["years"] == pytest.approx(log(1 + 4 / 4))
    # The newest source is of 2024; 2021 is three years before it, 2019 five, and 2050 to come.
    assert found["recent_years"] == pytest.approx(1 / 3)
    assert found["hedges"] == pytest.approx(100 * 2 / 47)
    assert (found["dated"], found["sources"]) == (2 / 4, pytest.approx(log(5)))


def test_the_same_sources_twice_change_nothing_learnt_but_agreement() -> None:
    """Nothing is learnt from how many sources there are: all are shares, means and rates.

    Sources that say the same word for word agree with each other.
    """
    texts = ("Yes, tea is good for sleep in 2019.", "No, tea is bad for sleep.", "Some may sleep.")
    dates = ("2014-05-06", "2020-01-01", "2021-01-01")
    once = learnt(features_of(QUESTIONS[0], *texts, dates=dates))
    twice = learnt(features_of(QUESTIONS[0], *texts, *texts, dates=(*dates, *dates)))
    assert (twice["agreeing"] or 0) > (once["agreeing"] or 0)
    same = {name: twice[name] for name in ("agreeing", "contradicting")}
    assert twice == pytest.approx(once | same, abs=1e-6)


def test_one_source_twice_weighs_twice() -> None:
    """Means over sources and over pairs of answers move towards what it says; nothing else does."""
    yes, no = "Yes, tea is good for sleep.", "No, tea is bad for sleep."
    once = features_of(QUESTIONS[0], yes, no, dates=("2014", "2020"))
    more = features_of(QUESTIONS[0], yes, no, no, dates=("2014", "2020", "2020"))
    changed = {name for name in names_of(LEARNT) if more[name] != pytest.approx(once[name])}
    assert changed == {"kappa", "refuting", "agreeing", "contradicting"}
    assert more["refuting"] == pytest.approx((0.1 + 0.8 + 0.8) / 3)


# The one that comes with the program.


def test_the_shipped_classifier() -> None:
    found = shipped_classifier()
    assert set(found.whole.types) == set(ConflictType)
    assert (found.trained_on["queries"], found.trained_on["fewest_sources"]) == (144, 5)
    assert len(found.folds) == training.FOLDS == 10
    held_out = [name for fold in found.folds for name in fold.held_out]
    assert len(held_out) == len(set(held_out)) == 144
    for linear in (found.whole, *(fold.linear for fold in found.folds)):
        assert set(linear.features) <= set(names_of(LEARNT))
        assert set(linear.types) <= set(ConflictType)
    # Any query that the samples have is new to it.
    assert found.linear_for("What is the capital of Australia?") is found.whole


def test_it_knows_the_queries_that_it_was_trained_on(released_data: Path) -> None:
    from pipelines.conflicts.datasets import read as read_data

    data = read_data(released_data / "conflicts/conflicts_partial.jsonl.gz")
    found = shipped_classifier()
    assert found.trained_on["sha256"] == data.digest
    assert seen(found, data.queries) == len(data.queries) == 144
    # No question stands in the file, neither as text nor so that it could be read.
    text = json.dumps(found.model_dump(mode="json"))
    assert not [query for query in data.queries if query.query in text]
