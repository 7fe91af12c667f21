"""A response on NPOV's page."""

from pathlib import Path

import numpy as np
import pytest
from pages import RUNS, Reading, every
from playwright.sync_api import expect

from pipelines.npov.check import check
from pipelines.npov.example import NpovExample, argument_spans, npov_prompt
from pipelines.npov.view import THRESHOLD, response_view
from pipelines.report.blocks import Heatmap
from pipelines.report.explorer import write
from salience.decoder import Encoded
from salience.maps import WordMap
from salience.words import Word

EXAMPLE = NpovExample(
    question=f"Should it stay? {RUNS}",
    pro=("Dams hold water.",),
    con=("Fish die.",),
    response="Dams hold water.",
)


def mapped() -> WordMap:
    """Every word of the response rests on the same word of the only argument for it."""
    prompt = npov_prompt(EXAMPLE)
    text, base = f"{prompt.text}{EXAMPLE.response}", len(prompt.text)
    (pro, _), (con, _) = argument_spans(prompt)

    def words(start: int, said: str) -> tuple[Word, ...]:
        places = ((start + said.index(each), each) for each in said.rstrip(".").split())
        return tuple(Word(each, place, place + len(each), (0,)) for place, each in places)

    return WordMap(
        encoded=Encoded(prompt.text, text[base:], (), 0, ()),
        given=(words(pro, EXAMPLE.pro[0]), words(con, EXAMPLE.con[0])),
        response=(words(base, EXAMPLE.response),),
        values=np.vstack([np.eye(3) * 0.5, np.full((2, 3), 0.001)]),
    )


@pytest.mark.parametrize("limit", [1 - THRESHOLD, None])
def test_shares_of_a_response_are_those_of_its_check(limit: float | None) -> None:
    found = mapped()
    checked = check(EXAMPLE, found)
    (made,) = response_view(checked, found.values, None, limit=limit).examples
    (shown,) = every(list(made.blocks()), Heatmap)
    assert (shown.left_out, shown.added) == (("left out?", "added?") if limit else ("", ""))
    assert shown.limit == (limit or 0)
    assert [part.label for part in shown.given] == ["pro", "con"]
    for part, text in zip(shown.given, checked.arguments, strict=True):
        assert part.share == pytest.approx(1 - (text.error or 0))
        assert [word.share for word in part.words] == pytest.approx(
            [1 - word.error for word in text.words]
        )


def test_an_argument_that_was_left_out_is_marked(reading: Reading, tmp_path: Path) -> None:
    found = mapped()
    made = response_view(check(EXAMPLE, found), found.values, None)
    write(tmp_path / "page.html", made.title, [made], {})
    page = reading(tmp_path / "page.html")
    expect(page.locator("h3").first).to_have_text(EXAMPLE.question)
    marked = page.locator(".part.marked")
    expect(marked).to_have_count(1)
    expect(marked).to_contain_text("con Fish die. left out?")
