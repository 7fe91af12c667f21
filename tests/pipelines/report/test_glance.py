"""The first screen of a report: what each experiment found, against figures made by hand."""

from typing import Any

from browser import Read
from pages import safe

from pipelines.metrics.estimate import Estimate
from pipelines.report import glance
from pipelines.report.explorer import ExperimentView, render

HOSTILE = "</li></section><script>alert(1)</script><img src=x onerror=alert(2)>"


def found(examples: int = 100, **changed: Any) -> glance.Finding:
    given: dict[str, Any] = {
        "question": "Is it so?",
        "data": "100 claims, claims.jsonl",
        "models": "judged by our-nli",
        "found": "Half of them are.",
    }
    return glance.Finding(examples=examples, **(given | changed))


def page_of(**findings: glance.Finding) -> str:
    """A page of experiments by these titles."""
    views = [ExperimentView(title.lower(), title, each) for title, each in findings.items()]
    return render("T", views, {})


def plain(text: str) -> str:
    """With common spaces, as people type them."""
    return text.replace("\u00a0", " ")


# Figures in words.


def test_shares_are_said_in_per_cent_with_their_interval() -> None:
    assert plain(glance.percent(Estimate(0.214, 0.119, 0.331, 28))) == "21 % [12 %, 33 %]"
    assert plain(glance.percent(Estimate(1.0, None, None, 1))) == "100 % (no interval)"
    assert plain(glance.percent(Estimate(0.0, 0.0, 0.0, 9))) == "0 % (all alike)"
    assert glance.percent(None) == "–"


def test_other_values_keep_two_decimals() -> None:
    assert plain(glance.figure(Estimate(0.6421, 0.42, 0.831, 28))) == "0.64 [0.42, 0.83]"
    # No line breaks within a figure.
    assert glance.percent(Estimate(0.5, 0.2, 0.8, 9)) == "50\u00a0% [20\u00a0%,\u00a080\u00a0%]"


def test_few_examples_are_those_behind_the_weakest_figure() -> None:
    assert glance.fewest([Estimate(0.5, None, None, 40), None, Estimate(0.5, None, None, 7)]) == 7
    assert glance.fewest([None]) == 0
    assert glance.rests_on_few([found(), found(examples=glance.FEW - 1)])
    assert not glance.rests_on_few([found(), found(examples=glance.FEW), found(examples=0)])


# The page.


def test_the_first_screen_says_what_each_experiment_found() -> None:
    page = page_of(One=found(beside="Always: F1 0.67."), Two=found(failed="2 of 9"))
    read = Read(page)
    assert read.text.count("For comparison") == 1
    for part in ("Is it so?", "100 claims, claims.jsonl", "Always: F1 0.67.", "2 of 9", "none"):
        assert part in read.text
    assert '<h3><a href="#two">Two</a></h3>' in page
    assert glance.FEW_EXAMPLES not in page


def test_hostile_text_stays_text() -> None:
    names = ("question", "data", "models", "found", "beside", "failed")
    texts: dict[str, Any] = dict.fromkeys(names, f"\x1b{HOSTILE}")
    page = page_of(**{HOSTILE: found(**texts)})
    assert safe(page).text.count("alert(1)") == 8
    assert "\x1b" not in page


# What each experiment says.
