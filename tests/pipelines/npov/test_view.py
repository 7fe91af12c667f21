"""NPOV's page: tables and plots of a folder's runs, and every response."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from pages import Reading, every, published, unpacked
from playwright.sync_api import expect

from pipelines.npov.check import check
from pipelines.npov.example import Error, NpovExample, argument_spans, npov_prompt
from pipelines.npov.experiment import EXPERIMENT
from pipelines.npov.result import ROUGE, SALIENCE, ErrorScores, NpovResult, WordScore
from pipelines.npov.view import THRESHOLD, response_view
from pipelines.report.blocks import Heatmap
from pipelines.report.explorer import render, write
from salience.decoder import Encoded
from salience.maps import WordMap
from salience.words import Word

RUNS = "<script>document.title = 'taken over'</script><img src=x onerror=alert(1)>"
CONFIG = {
    "model": {"name": "small-llm", "digest": "1" * 64},
    "detector": "salience",
    "data": {"name": "topics.jsonl"},
    "sets": {"split": "test"},
}


EXAMPLE = NpovExample(
    question=f"Should it stay? {RUNS}",
    pro=("Dams hold water.",),
    con=("Fish die.",),
    response="Dams hold water.",
)


def scored(name: str, salience: float, coverage: Error = "none") -> NpovResult:
    return NpovResult(
        id=f"paraphrased/{name}",
        test_set="paraphrased",
        source="paraphrased/dams",
        topic="dams",
        example=EXAMPLE,
        hallucination="none",
        coverage=coverage,
        detectors={
            ROUGE: ErrorScores(hallucination=0.1, coverage=0.2),
            SALIENCE: ErrorScores(hallucination=0.3, coverage=salience),
        },
        given=(
            WordScore(wrong=False, errors={ROUGE: 0.0, SALIENCE: 0.5}),
            WordScore(wrong=coverage == "full", errors={ROUGE: 1.0, SALIENCE: 0.9}),
        ),
    )


RESULTS = {
    "small": [
        scored("dams", 0.1),
        scored("dams-left", 0.7, "full"),
        scored("dams-part", 0.4, "ambiguous"),
        NpovResult(
            id=f"organic/{RUNS}",
            test_set="organic",
            source="organic/x",
            topic="dams",
            example=EXAMPLE,
            status="failed",
            reason=f"no word {RUNS}",
            hallucination="none",
            coverage="none",
        ),
    ]
}


def rendered(results: Mapping[str, Sequence[NpovResult]] = RESULTS) -> str:
    return render("NPOV", [published(EXPERIMENT, results, CONFIG).view], {})


def test_every_response_is_on_the_page_with_what_is_known_of_it() -> None:
    page = rendered()
    plain, left, part, failed = unpacked(page)
    assert plain["address"] == "npov/small/paraphrased/dams"
    assert [each["text"] for each in plain["chips"]] == ["no error"]
    assert [each["text"] for each in left["chips"]] == ["left out"]
    assert [each["text"] for each in part["chips"]] == ["left out in part"]
    assert left["figures"] == {"content added": 0.3, "left out": 0.7}
    assert left["facets"]["Left out"] == ["full"]
    assert f"no word {RUNS}" in str(failed["blocks"])
    assert "figures" not in failed
    assert RUNS not in page


@pytest.mark.parametrize("width", [400, 1280])
def test_a_response_is_found_by_its_error(reading: Reading, tmp_path: Path, width: int) -> None:
    (tmp_path / "report.html").write_text(rendered())
    page = reading(tmp_path / "report.html", "#examples?experiment=npov", width=width)
    page.get_by_role("combobox", name="Left out").first.select_option("full")
    page.locator(".row a").click()
    cells = page.get_by_role("row", name=SALIENCE).get_by_role("cell")
    expect(cells).to_have_text(["0.3000", "0.7000"])
    assert page.evaluate("document.documentElement.scrollWidth") <= width


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
