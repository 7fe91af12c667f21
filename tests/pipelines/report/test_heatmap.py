"""A salience map on a page: escaped, and its words light up what they rest on."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from browser import CHROMIUM
from playwright.sync_api import Page, expect, sync_playwright

from pipelines.report.heatmap import Map, Part, Unit, level_of, parts, section
from pipelines.report.page import write
from salience.decoder import Encoded
from salience.maps import WordMap
from salience.words import Word

HOSTILE = "<script>alert(1)</script> said"
MAP = Map(
    given=(
        Part("Dams hold water.", (Unit(0, 4, 0.2), Unit(5, 9, 0.9), Unit(10, 15, 0.5)), "pro", 0.6),
        Part(HOSTILE, (Unit(26, 30, 0.999),), "con", 0.999),
    ),
    response=(Part("They hold it, dams.", (Unit(5, 9, 0.1), Unit(14, 18, 0.2)), error=0.5),),
    values=np.array([[0.0, 0.8], [0.9, 0.001], [0.1, 0.01], [0.0, 0.0]]),
    left_out="left out?",
    added="added?",
    threshold=0.99,
)
TOKENS = WordMap(
    encoded=Encoded("Go. Autonomy?", " Yes.", (0, 1, 2, 3, 4), 4, ()),
    salience=np.zeros((5, 1)),
    given=((Word("Go", 0, 2, (0,)),), (Word("Auto", 4, 8, (1,)), Word("nomy", 8, 12, (2,)))),
    response=((Word("Yes", 14, 17, (4,)),),),
    values=np.array([[0.0], [0.25], [0.75]]),
)
"""A word of two tokens."""

SPANS = [(0, 3), (4, 13)], [(14, 18)]


def test_units_and_values_must_fit() -> None:
    wrong = Map(MAP.given, MAP.response, MAP.values.T)
    with pytest.raises(ValueError, match=r"\(4, 2\) units, but values of shape \(2, 4\)"):
        section(wrong, anchor="map", title="Map")


def test_texts_are_escaped() -> None:
    body = section(MAP, anchor="map", title="Map", question="<b>?</b>").body
    assert "<script>" not in body
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in body
    assert "<b>" not in body


@pytest.mark.parametrize(("share", "level"), [(1, 9), (0.5, 8), (0.1, 6), (0.001, 0), (0, 0)])
def test_shades_follow_the_scale(share: float, level: int) -> None:
    assert level_of(share) == level


def test_parts_have_the_scores_of_their_words() -> None:
    given, response = parts(TOKENS, *SPANS)
    assert given == (
        Part("Go.", (Unit(0, 2, 1),)),
        Part("Autonomy?", (Unit(0, 4, 0.75), Unit(4, 8, 0.25))),
    )
    assert response == (Part("Yes.", (Unit(0, 3, 0.25),)),)
    assert parts(TOKENS, *SPANS, "sum")[1][0].units[0].error == 0


@pytest.fixture
def shown() -> Map:
    return MAP


@pytest.fixture
def page(shown: Map, tmp_path: Path) -> Iterator[Page]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on PATH")
    file = tmp_path / "map.html"
    write(file, "A map", [section(shown, anchor="map", title="Map", picture=b"\x89PNG")], {})
    trouble: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 900}, reduced_motion="reduce")
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: trouble.append(dialog.message))
        page.goto(file.as_uri())
        yield page
        assert trouble == []
        browser.close()


def shades(page: Page, axis: str) -> list[str]:
    return [
        next((name for name in (each.get_attribute("class") or "").split() if "heat-" in name), "")
        for each in page.locator(f"[data-{axis}]").all()
    ]


@pytest.mark.browser
def test_a_word_of_the_response_lights_up_its_sources(page: Page) -> None:
    at_rest = shades(page, "row"), shades(page, "column")
    assert at_rest == (["heat-9", "heat-6", "heat-8", "heat-0"], ["heat-9", "heat-9"])
    page.locator("[data-column='0']").hover()
    assert shades(page, "row") == ["heat-0", "heat-9", "heat-6", "heat-0"]
    expect(page.locator(".said-of")).to_have_text(
        "“hold” rests on “hold” most, with 90 % of its salience."
    )
    page.mouse.move(0, 0)
    assert (shades(page, "row"), shades(page, "column")) == at_rest


@pytest.mark.browser
def test_a_word_of_the_input_lights_up_what_rests_on_it(page: Page) -> None:
    page.locator("[data-row='0']").focus()
    assert shades(page, "column") == ["heat-0", "heat-9"]
    expect(page.locator(".said-of")).to_have_text(
        "“Dams” gives most to “dams”: 80 % of what that rests on."
    )


@pytest.mark.parametrize("shown", [Map(*parts(TOKENS, *SPANS), values=TOKENS.values)])
@pytest.mark.browser
def test_tokens_of_one_word_light_up_apart(page: Page) -> None:
    expect(page.locator(".part").nth(1)).to_have_text("Autonomy?")
    page.locator("[data-column='0']").hover()
    assert shades(page, "row") == ["heat-0", "heat-7", "heat-9"]
    expect(page.locator(".said-of")).to_contain_text("“Yes” rests on “nomy” most, with 75 %")
    page.locator("[data-row='1']").hover()
    expect(page.locator(".said-of")).to_contain_text("“Auto” gives most to “Yes”: 25 %")


@pytest.mark.browser
def test_the_slider_moves_what_is_marked(page: Page) -> None:
    marked = page.locator(".part.marked")
    expect(marked).to_have_count(1)
    expect(marked).to_contain_text("left out?")
    slider = page.locator("input[type=range]")
    slider.fill("100")
    expect(marked).to_have_count(0)
    slider.fill("95")
    expect(marked).to_have_count(1)
    expect(page.locator("output")).to_have_text("5.0 %")


@pytest.mark.parametrize("width", [360, 1600])
@pytest.mark.browser
def test_it_fits_its_window(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
