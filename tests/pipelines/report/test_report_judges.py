"""Who judged, and what a cascade saves: tables, plot and page, against counts made by hand."""

from math import inf

import pytest

from nli.calibration import risk_curve
from pipelines.conflictscore.result import Result
from pipelines.conflictscore.tables import all_tables, cascade, saved_share
from pipelines.conflictscore.view import view
from pipelines.judge.risk import ChosenThreshold, choose_threshold
from pipelines.report.explorer import render
from pipelines.report.table import records

CURVE = risk_curve(
    [0.95] * 40 + [0.85] * 40 + [0.5] * 20,
    [True] * 40 + [True] * 38 + [False] * 2 + [True] * 10 + [False] * 10,
)
CHOSEN = choose_threshold(CURVE, 0.05, "made <up>")


@pytest.fixture
def cascaded(results: list[Result]) -> list[Result]:
    """Every judgement with a probability of at least 0.85 is the tagger's."""

    def renamed(result: Result) -> Result:
        judgements = tuple(
            judgement.model_copy(
                update={
                    "source": "cascade-tagger"
                    if judgement.probabilities
                    and judgement.probabilities[judgement.relation] >= 0.85
                    else "cascade-model"
                }
            )
            for judgement in result.judgements
        )
        return result.model_copy(update={"judgements": judgements})

    return [renamed(result) for result in results]


def test_what_each_threshold_saves_and_how_often_it_is_wrong(cascaded: list[Result]) -> None:
    table = cascade(CHOSEN, cascaded)
    rows = records(table)
    assert [row["threshold"] for row in rows] == ["0.5000", "0.8500", "0.9500"]
    assert [row["kept"] for row in rows] == pytest.approx([1.0, 0.8, 0.4])
    assert [row["agreement"] for row in rows] == pytest.approx([88 / 100, 78 / 80, 1.0])
    assert [row["risk"] for row in rows] == pytest.approx([0.12, 0.02, 0.0])
    assert [row["bound"] for row in rows] == pytest.approx([13 / 101, 3 / 101, 1 / 101])
    assert [row["chosen"] for row in rows] == ["", "chosen", ""]
    text = " ".join(table.notes)
    assert "100 calibration pairs (made <up>)" in text
    sources = [j.source for result in cascaded for j in result.judgements]
    share = sources.count("cascade-tagger") / len(sources)
    assert f"{share:.1%} of {len(sources)} judgements kept" in text
    assert saved_share(()) is None


def test_a_long_curve_is_thinned_and_keeps_its_ends_and_its_choice() -> None:
    curve = risk_curve([n / 1000 for n in range(1000)], [n > 50 for n in range(1000)])
    chosen = choose_threshold(curve, 0.0415)
    rows = records(cascade(chosen, []))
    assert len(rows) <= 28
    assert (rows[0]["threshold"], rows[-1]["threshold"]) == ("0.0000", "0.9990")
    assert [row["threshold"] for row in rows if row["chosen"]] == [f"{chosen.threshold:.4f}"]


def rendered(results: list[Result], chosen: ChosenThreshold | None = None) -> str:
    model = {"name": "m", "digest": "1" * 64, "engine": "e"}
    settings = {"claims": "atomic", "judge": "model", "evidence": "choice"}
    entry = {"config": {"model": model, "data": {"name": "d"}, "settings": settings}}
    made = all_tables(results, "m", "d", (), chosen)
    return render("T", [view(results, made, entry, (), chosen)], {})


def test_a_cascade_that_keeps_nothing_says_why(results: list[Result]) -> None:
    nothing = choose_threshold(CURVE, 0.001)
    assert nothing.threshold == inf
    page = rendered(results, nothing)
    assert "kept no label of the tagger" in page
    assert "too few for a risk of 0.001" in page
    assert any("every pair was asked" in note for note in cascade(nothing, results).notes)
    again = ChosenThreshold.from_json(nothing.as_json())
    assert again == nothing
