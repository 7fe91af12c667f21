"""A salience map on a page: escaped, and its words light up what they rest on."""

from pathlib import Path

import numpy as np
from pages import Reading
from playwright.sync_api import Page, expect

from pipelines.report.blocks import Heatmap
from pipelines.report.explorer import single, write
from pipelines.report.heatmap import heatmap, picture, sides
from pipelines.report.texts import Word, Words
from salience.decoder import Encoded
from salience.maps import WordMap
from salience.words import Word as Found

HOSTILE = "<script>alert(1)</script> said"
GIVEN = (
    Words("Dams hold water.", (Word(0, 4, 0.8), Word(5, 9, 0.1), Word(10, 15, 0.5)), "pro", 0.4),
    Words(HOSTILE, (Word(26, 30, 0.001),), "con", 0.001),
)
RESPONSE = (Words("They 𝕙 hold it, dams.", (Word(7, 11, 0.9), Word(16, 20, 0.8)), share=0.5),)
"""A sign that JavaScript counts twice stands before both words."""

VALUES = np.array([[0.0, 0.8], [0.9, 0.001], [0.1, 0.01], [0.0, 0.0]])
MAP = heatmap(GIVEN, RESPONSE, VALUES, left_out="left out?", added="added?", limit=0.01)
TOKENS = WordMap(
    encoded=Encoded("Go. Autonomy?", " Yes.", (0, 1, 2, 3, 4), 4, ()),
    given=((Found("Go", 0, 2, (0,)),), (Found("Auto", 4, 8, (1,)), Found("nomy", 8, 12, (2,)))),
    response=((Found("Yes", 14, 17, (4,)),),),
    values=np.array([[0.0], [0.25], [0.75]]),
)
"""A word of two tokens."""

SPANS = [(0, 3), (4, 13)], [(14, 18)]


def test_texts_have_the_scores_of_their_words() -> None:
    given, response = sides(TOKENS, *SPANS)
    assert given == (
        Words("Go.", (Word(0, 2, 0),)),
        Words("Autonomy?", (Word(0, 4, 0.25), Word(4, 8, 0.75))),
    )
    assert response == (Words("Yes.", (Word(0, 3, 0.75),)),)


def opened(reading: Reading, folder: Path, shown: Heatmap = MAP, width: int = 1200) -> Page:
    file = folder / "map.html"
    write(file, "A map", [single("map", "A map", [shown, *picture(b"\x89PNG")])], {})
    page = reading(file, width=width, reduced_motion="reduce")
    expect(page.locator(".heatmap")).to_be_visible()
    return page


def shades(page: Page, axis: str) -> list[int]:
    words = page.locator(f"[data-axis={axis}]").all()
    return [int((each.get_attribute("class") or "")[-1]) for each in words]


def test_a_word_of_the_response_lights_up_its_sources(reading: Reading, tmp_path: Path) -> None:
    page = opened(reading, tmp_path)
    at_rest = shades(page, "row"), shades(page, "column")
    assert at_rest == ([9, 6, 8, 0], [9, 9])
    page.get_by_text("hold", exact=True).last.hover()
    expect(page.locator(".said-of")).to_have_text(
        "“hold” rests on “hold” most, with 90 % of its salience."
    )
    assert shades(page, "row") == [0, 9, 6, 0]
    assert shades(page, "column") == [9, 0]
    page.mouse.move(0, 0)
    expect(page.locator(".said-of")).to_contain_text("Point at a word")
    assert (shades(page, "row"), shades(page, "column")) == at_rest
