"""Switches that make settings those of a paper."""

from typing import Annotated, Any, ClassVar

import pytest
from pydantic import BaseModel, Field

from pipelines import papers
from pipelines.errors import InputError
from pipelines.experiment.options import RunOptions
from pipelines.option import (
    Choice,
    Only,
    Option,
    WithPresets,
    differences,
    refuse_idle,
    switched,
)

UNASKED = {
    *("debate.agreement", "debate.closing"),
    *("settings.packet.below_tau", "settings.packet.irrelevant_above", "settings.policy.numbers"),
}
"""Settings that a preset alone decides, without an option."""


class Inner(BaseModel, frozen=True, extra="forbid"):
    replies: Annotated[str, Option("Form.")] = "json"
    tokens: Annotated[
        int,
        Field(ge=1),
        Option("Most.", only=Only(lambda own: own.replies == "text", "--replies json")),
    ] = 256


class Own(WithPresets, frozen=True, extra="forbid"):
    PRESETS: ClassVar = {
        "as_in_paper": (
            Choice("rows", None),
            Choice("inner.tokens", 128),
            Choice("inner.replies", "json"),
        ),
        "as_released": (Choice("inner.replies", "text"),),
    }
    as_in_paper: bool = False
    as_released: bool = False
    rows: Annotated[int | None, Option("Rows.", name="--rows")] = 5
    inner: Inner = Inner(tokens=64)


def test_a_switch_decides_and_the_rest_stays() -> None:
    assert Own().inner == Inner(tokens=64)
    made = Own(as_in_paper=True)
    assert (made.rows, made.inner) == (None, Inner(tokens=128))
    assert Own(as_released=True).inner == Inner(replies="text", tokens=64)
    assert (switched(made), switched(Own()), switched(Inner())) == ("as-in-paper", None, None)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"rows": 7}, "--as-in-paper sets --rows; leave one of the two out"),
        ({"inner": Inner(tokens=9)}, "--as-in-paper sets --tokens"),
        ({"inner": {"tokens": 9}}, "--as-in-paper sets --tokens"),
        ({"inner": {"replies": "text"}}, "--as-in-paper sets --replies"),
        ({"as_released": True}, "--as-in-paper and --as-released cannot be combined"),
    ],
)
def test_another_value_beside_a_switch_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        Own(as_in_paper=True, **given)


def presets() -> list[tuple[str, str]]:
    return [
        (name, preset)
        for name in papers.EXPERIMENTS
        for preset in papers.experiment(name).options.PRESETS
    ]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("conflictscore", {"metric": {"judge": "tagger"}}),
        ("conflictscore", {"metric": {"claims": "sentences"}}),
        ("conflict-detection", {"judging": {"judge": "cascade"}}),
        ("truthfulqa", {"truth": "tagger"}),
        # Our defaults agree with these papers.
        ("truthfulqa", {"hedge": True}),
        ("truthfulqa", {"most_documents": 5}),
        ("report-writing", {"sample": 20}),
        ("conflicts", {"settings": {"judge": "tagger"}}),
    ],
)
def test_another_method_than_the_papers_is_refused(name: str, given: dict[str, Any]) -> None:
    options: Any = papers.experiment(name).options
    options(**given)
    with pytest.raises(InputError, match="--as-in-paper sets --"):
        options(as_in_paper=True, **given)


def test_an_experiment_without_a_paper_refuses_the_switch() -> None:
    assert not RunOptions().as_in_paper
    with pytest.raises(InputError, match="leave --as-in-paper out"):
        RunOptions(as_in_paper=True)


@pytest.mark.parametrize(("name", "preset"), presets())
def test_a_preset_can_be_made_and_differs_from_the_defaults(name: str, preset: str) -> None:
    options: Any = papers.experiment(name).options
    for each in differences(options, preset):
        where = {each.choice.where[0]: each.choice.where[1][0]} if each.choice.where else {}
        made = value = options(**{preset: True}, **where)
        refuse_idle(made)
        for part in each.choice.field.split("."):
            value = getattr(value, part)
        assert value == each.preset != each.ours, each.choice.field
        assert each.flag.startswith("--") or each.choice.field in UNASKED, each.choice.field
