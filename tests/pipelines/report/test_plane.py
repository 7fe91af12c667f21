"""Shares against shares, as a drawing."""

from pipelines.report.plots import Place, plane


def test_a_point_lies_where_its_shares_are() -> None:
    drawn = str(plane({"a": [Place(0, 1, "a, all"), Place(1, 0, "a, few")]}, "T", ("x", "y")))
    # The frame begins at 34, 8 and is 240 wide and high; y points down.
    assert 'cx="34.00" cy="8.00" r="5"' in drawn
    assert 'cx="274.00" cy="248.00" r="2"' in drawn
    assert drawn.index('r="2"') < drawn.index('r="5"'), "what counts is drawn on top"
    assert "a, all: 0.00, 1.00" in drawn
    assert "hollow" not in drawn


def test_points_beside_are_hollow_and_names_are_escaped() -> None:
    series = {name: [Place(0.5, 0.5, name)] for name in ("a", "<b>")}
    drawn = str(plane(series, "T", ("x", "y"), {"<b>": Place(0.25, 0.75, "paper")}))
    assert 'class="hollow second" cx="94.00" cy="68.00"' in drawn
    assert "&lt;b&gt;" in drawn
    assert "<b>" not in drawn
