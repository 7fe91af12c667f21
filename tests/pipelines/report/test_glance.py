"""The first screen of a report: what each experiment found, against figures made by hand."""

from typing import Any

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


# Figures in words.


def test_few_examples_are_those_behind_the_weakest_figure() -> None:
    assert glance.fewest([Estimate(0.5, None, None, 40), None, Estimate(0.5, None, None, 7)]) == 7
    assert glance.fewest([None]) == 0
    assert glance.rests_on_few([found(), found(examples=glance.FEW - 1)])
    assert not glance.rests_on_few([found(), found(examples=glance.FEW), found(examples=0)])


# The page.


def test_hostile_text_stays_text() -> None:
    names = ("question", "data", "models", "found", "beside", "failed")
    texts: dict[str, Any] = dict.fromkeys(names, f"\x1b{HOSTILE}")
    page = page_of(**{HOSTILE: found(**texts)})
    assert safe(page).text.count("alert(1)") == 8
    assert "\x1b" not in page


# What each experiment says.
