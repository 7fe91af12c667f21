"""Who judged, and what a cascade saves: tables, plot and page, against counts made by hand."""

from math import inf
from xml.etree import ElementTree

import pytest

from nli.calibration import risk_curve
from pipelines.conflictscore.labelling import cascade, labellers, saved_share, tradeoff
from pipelines.conflictscore.result import Result
from pipelines.conflictscore.tables import all_tables
from pipelines.conflictscore.view import facts, view
from pipelines.evidence.risk import ChosenThreshold, choose_threshold
from pipelines.report.explorer import render
from pipelines.report.glance import judge_models
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
                    "source": "cascade-nli"
                    if judgement.probabilities
                    and judgement.probabilities[judgement.relation] >= 0.85
                    else "cascade-llm"
                }
            )
            for judgement in result.judgements
        )
        return result.model_copy(update={"judgements": judgements})

    return [renamed(result) for result in results]


def test_who_judged(cascaded: list[Result], results: list[Result]) -> None:
    rows = records(labellers(cascaded))
    judged = [j for result in cascaded for j in result.judgements]
    assert [row["labeller"] for row in rows] == ["cascade-llm", "cascade-nli"]
    assert sum(int(row["judgements"] or 0) for row in rows) == len(judged)
    by_nli = [j for j in judged if j.source == "cascade-nli"]
    assert rows[1]["judgements"] == len(by_nli) > 0
    assert rows[1]["share"] == pytest.approx(len(by_nli) / len(judged))
    for row in rows:
        parts = ("supports", "contradicts", "irrelevant", "invalid")
        assert sum(int(row[part] or 0) for part in parts) == row["judgements"]
    assert rows[1]["invalid"] == 0
    assert float(rows[1]["probability"] or 0) >= 0.85
    assert {row["labeller"] for row in records(labellers(results))} == {"llm-choice", "llm-json"}
    assert labellers([]).rows == ()


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
    share = sources.count("cascade-nli") / len(sources)
    assert f"{share:.1%} of {len(sources)} judgements kept" in text
    assert saved_share(()) is None


def test_a_long_curve_is_thinned_and_keeps_its_ends_and_its_choice() -> None:
    curve = risk_curve([n / 1000 for n in range(1000)], [n > 50 for n in range(1000)])
    chosen = choose_threshold(curve, 0.0415)
    rows = records(cascade(chosen, []))
    assert len(rows) <= 28
    assert (rows[0]["threshold"], rows[-1]["threshold"]) == ("0.0000", "0.9990")
    assert [row["threshold"] for row in rows if row["chosen"]] == [f"{chosen.threshold:.4f}"]


def test_the_plot_has_the_curve_the_choice_and_this_run(cascaded: list[Result]) -> None:
    drawn = ElementTree.fromstring(str(tradeoff(CHOSEN, cascaded)))
    lines = [line.attrib["points"].split() for line in drawn.iter("polyline")]
    assert [len(points) for points in lines] == [3, 2, 1]
    across = [[float(point.split(",")[0]) for point in points] for points in lines]
    assert across[0] == sorted(across[0])
    assert across[1][0] == across[1][1]  # an upright line
    assert across[2][0] == across[0][1]  # the chosen point lies on the curve
    said = "".join(drawn.itertext())
    for part in ("% of calls saved", "agreement with gold", "chosen for a risk of 0.05"):
        assert part in said


def rendered(results: list[Result], chosen: ChosenThreshold | None = None) -> str:
    model = {"name": "m", "digest": "1" * 64, "engine": "e"}
    settings = {"claims": "atomic", "labeller": "llm", "evidence": "choice"}
    entry = {"config": {"model": model, "data": {"name": "d"}, "settings": settings}}
    made = all_tables(results, "m", "d", (), chosen)
    return render("T", [view(results, made, entry, (), chosen)], {})


def test_the_page_shows_the_trade_off_of_a_cascade_only(cascaded: list[Result]) -> None:
    page = rendered(cascaded, CHOSEN)
    assert "Calls saved against agreement" in page
    assert "made &lt;up&gt;" in page
    plain = rendered(cascaded)
    assert "Calls saved against agreement" not in plain
    assert "Labellers" in plain


def test_a_cascade_that_keeps_nothing_says_why(results: list[Result]) -> None:
    nothing = choose_threshold(CURVE, 0.001)
    assert nothing.threshold == inf
    page = rendered(results, nothing)
    assert "kept no label of the tagger" in page
    assert "too few for a risk of 0.001" in page
    assert any("every pair was asked" in note for note in cascade(nothing, results).notes)
    again = ChosenThreshold.from_json(nothing.as_json())
    assert again == nothing


def test_the_tables_of_a_run(cascaded: list[Result]) -> None:
    names = [table.name for table in all_tables(cascaded, "m", "d")]
    assert names == ["scores", "differences", "labels", "labellers", "failures"]
    assert "cascade" in [table.name for table in all_tables(cascaded, "m", "d", (), CHOSEN)]


def test_the_head_of_the_page_names_everyone_who_judged() -> None:
    llm = {"name": "m", "digest": "1" * 64, "engine": "e", "context": 1}
    tagger = {"name": "t", "digest": "2" * 64, "engine": "cross-encoder auto"}
    settings = {"claims": "atomic", "labeller": "llm", "evidence": "choice"}
    config = {"model": llm, "settings": settings}
    assert [(one.role, one.name) for one in judge_models(config)] == [("judge", "m")]
    assert ("evidence", "choice") in facts({"config": config})
    nli = {"model": tagger, "tagger": tagger, "splitter": llm, "settings": settings}
    nli["settings"] = settings | {"labeller": "nli"}
    assert [(one.role, one.name) for one in judge_models(nli)] == [
        ("judge", "t"),
        ("splits responses", "m"),
    ]
    assert "evidence" not in dict(facts({"config": nli}))
    both = {"model": llm, "tagger": tagger, "cascade": CHOSEN.as_json()}
    both["settings"] = settings | {"labeller": "cascade"}
    assert [one.name for one in judge_models(both)] == ["t", "m"]
    known = dict(facts({"config": both, "store": {"found": 3, "pairs": 12}}))
    assert known["threshold"] == "0.850, for a risk of 0.05"
    assert known["pairs from the store"] == "3 of 12"
