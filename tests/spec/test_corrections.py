"""Corrections of label probabilities: worked by hand, and their invariants."""

import random
from math import exp, log
from typing import Any

import pytest
from corrections import of_bias
from pydantic import ValidationError

from pipelines import prompts
from pipelines.errors import InputError
from pipelines.judge import correction as corrections
from pipelines.judge.correction import (
    SHIPPED,
    Correction,
    corrected,
    corrected_judgement,
    correction_of,
    cross_corrected,
    fitted,
    read_correction,
)
from pipelines.judge.judgement import RELATIONS, Judgement, Relation

LABELS = ("yes", "no", "perhaps")


def of(*shares: float) -> dict[str, float]:
    return dict(zip(LABELS, shares, strict=True))


def test_a_correction_by_hand() -> None:
    """exp(log p + b), b = (0, log 3): 0.25 and 3 * 0.75."""
    made = corrected({"b": 0.75, "a": 0.25}, of_bias(("a", "b"), (0, log(3))))
    assert list(made) == ["b", "a"]
    assert made == pytest.approx({"a": 0.25 / 2.5, "b": 2.25 / 2.5})


def test_a_correction_is_of_its_labels() -> None:
    with pytest.raises(ValueError, match="probabilities of yes, no, perhaps, but a correction of"):
        corrected(of(0.2, 0.3, 0.5), of_bias(("yes", "no"), [0, 0]))
    with pytest.raises(ValidationError, match="need a bias of 2 numbers"):
        of_bias(("a", "b"), (0,))
    with pytest.raises(ValidationError, match="appears twice"):
        of_bias(("a", "a"), (0, 0))


def leaning_judge(count: int, seed: int = 0) -> tuple[list[dict[str, float]], list[str], list[str]]:
    """An accurate judge with a bias of two nats to "no": probabilities, truth, groups of two."""
    draw = random.Random(seed)
    rows, gold = [], []
    for _ in range(count):
        true = draw.choice(LABELS)
        known = {
            label: exp(draw.gauss(1.0 * (label == true), 1) + 2 * (label == "no"))
            for label in LABELS
        }
        total = sum(known.values())
        rows.append({label: each / total for label, each in known.items()})
        gold.append(true)
    return rows, gold, [str(place // 2) for place in range(count)]


def test_a_fitted_correction_is_the_posterior_of_a_known_judge() -> None:
    """Normal densities 1 apart: p(label) is proportional to exp(log p - 2 [label = no])."""
    rows, gold, _ = leaning_judge(4000)
    made = fitted(rows, gold)
    assert (made.method, made.pairs, made.labels) == ("bias", 4000, LABELS)
    truth = of_bias(LABELS, [0, -2, 0])
    apart = [
        abs(found - known)
        for row in rows
        for found, known in zip(
            corrected(row, made).values(), corrected(row, truth).values(), strict=True
        )
    ]
    assert sum(apart) / len(apart) < 0.015


def test_no_group_is_on_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pair is corrected by a fit on pairs of other groups only."""
    rows, gold, groups = leaning_judge(40)
    seen: list[set[str]] = []
    place_of = {id(row): place for place, row in enumerate(rows)}

    def spy(inside: Any, _: Any) -> Correction:
        seen.append({groups[place_of[id(row)]] for row in inside})
        return of_bias(LABELS, [0, 0, 0])

    monkeypatch.setattr(corrections, "fitted", spy)
    cross_corrected(rows, gold, groups)
    assert len(seen) == 5
    # Groups are held out whole, and every group is held out.
    assert sorted(group for part in seen for group in set(groups) - part) == sorted(set(groups))


def test_too_few_pairs_groups_or_labels_are_refused() -> None:
    rows, gold, groups = leaning_judge(60)
    with pytest.raises(InputError, match="29 pairs of 15 groups are too few"):
        cross_corrected(rows[:29], gold[:29], groups[:29])
    with pytest.raises(InputError, match="60 pairs of 1 groups are too few"):
        cross_corrected(rows, gold, ["one"] * 60)
    with pytest.raises(InputError, match="too few pairs have the label 'perhaps'"):
        cross_corrected(rows, ["yes", "no"] * 30, groups)


def test_a_judgement_keeps_its_raw_probabilities() -> None:
    raw = dict(zip(RELATIONS, (0.3, 0.6, 0.1), strict=True))
    judgement = Judgement(
        claim="c",
        document="d",
        relation=Relation.CONTRADICTS,
        probabilities=raw,
        source="model-choice",
    )
    correction = of_bias(RELATIONS, [log(4), 0, 0])
    made = corrected_judgement(judgement, correction)
    assert made.relation is Relation.SUPPORTS
    assert made.raw_probabilities == raw
    assert made.probabilities == pytest.approx(
        dict(zip(RELATIONS, (1.2 / 1.9, 0.6 / 1.9, 0.1 / 1.9), strict=True))
    )
    assert made.confidence == pytest.approx(1.2 / 1.9)
    unread = Judgement(claim="c", document="d", relation=Relation.INVALID, source="model-json")
    assert corrected_judgement(unread, correction) == unread


# Shipped corrections.


def test_shipped_corrections_are_of_the_prompt_as_it_is() -> None:
    """A correction for an earlier wording would never be used."""
    prompt = prompts.load("judge/relation", {"document", "claim"}).digest
    for each in map(read_correction, SHIPPED.glob("*.json")):
        assert each.prompt == prompt, f"fit the correction of {each.name} again"
        assert each.correction.labels == RELATIONS
        assert each.correction.pairs >= 100
        figures = {found.method: found.log_likelihood.value for found in each.held_out}
        assert figures[each.correction.method] > figures["none"]
        assert correction_of(each.model, each.prompt) == each.correction
        assert correction_of("another", each.prompt) is None
        assert correction_of(each.model, "another") is None
