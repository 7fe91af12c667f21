"""The page of several experiments: one file, safe, with every example found, opened and linked."""

import base64
import hashlib
import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from browser import Read
from hypothesis import given
from hypothesis import strategies as st
from pages import Reading, unpacked
from playwright.sync_api import Page, expect

from pipelines.metrics.estimate import Estimate
from pipelines.report import explorer, glance
from pipelines.report.blocks import (
    Card,
    Cards,
    Choice,
    Fact,
    Facts,
    Fold,
    Source,
    Sources,
    encoded,
)
from pipelines.report.explorer import LONG, in_turn
from pipelines.report.glance import Finding, ModelUsed
from pipelines.report.plots import dots
from pipelines.report.table import Column, Table
from pipelines.report.texts import (
    CHARACTERS_SHOWN,
    Aside,
    Block,
    Chip,
    Cite,
    Heading,
    Items,
    Line,
    Note,
    Span,
    Strong,
    Text,
    Trouble,
    Unread,
    cut,
)

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
DOCUMENT = f"𝔸 The bridge measures 412 metres. {HOSTILE} " + "It stands. " * 40
START = DOCUMENT.index("412")
FAILURES = Table(
    "failures", "Failures", (Column("name", "Name"), Column("why", "Why")), (("r: x/1", HOSTILE),)
)
SCORES = Table("scores", "Scores", (Column("v", "Variant"), Column("n", "N")), (("all", 3),))


def blocks(name: str) -> list[Block]:
    """One of every general kind."""
    return [
        Trouble("Failed", f"too long {HOSTILE}", "raw reply"),
        Facts(
            (Fact("Right answers", ((Chip("412", "support", "✓", "right"), Aside("or 412 m")),)),)
        ),
        Heading("Answers"),
        Cards((Card(name, (Line((Strong("412"), Cite(2))), Note("so it is said. " * 20))),)),
        Items(((Chip("a"),), ("b",))),
        Unread("no JSON", f"Sure! {HOSTILE}"),
        Choice("Which", (Card("one", (Note("first"),)), Card("two", (Note("second"),)))),
        Fold("More", (Text(DOCUMENT, "A text", (Span(START, START + 10, "quoted"),)),)),
        Heading("Sources"),
        Sources(
            (
                Source(
                    1, "Survey", DOCUMENT, (Aside("2019"),), "https://example.org/a", linked=True
                ),
                Source(2, f"Tender {HOSTILE}", DOCUMENT, url="javascript:alert(4)"),
            )
        ),
    ]


def example(name: str, run: str = "r", **changed: object) -> explorer.Example:
    given = {
        "title": f"How long is bridge {name}?",
        "status": "answered",
        "about": ("2 documents",),
        "chips": (Chip("method", "support", "✓", "right"),),
        "words": "viaduct" if name == "0" else "",
    }
    return explorer.Example(name, run, blocks=lambda: blocks(name), **(given | changed))  # type: ignore[arg-type]


FINDING = Finding("Is it so?", "3 questions", "m", "Half: 50 % [9 %, 91 %].", 3)


def bridges(count: int = 90) -> explorer.ExperimentView:
    return explorer.ExperimentView(
        "bridges",
        "Bridges",
        FINDING,
        parts=(
            explorer.Part(
                "Results", (SCORES,), (dots([("a", Estimate(0.5, 0.1, 0.9, 9))], "A plot"),)
            ),
            explorer.Part(
                "Failures", (FAILURES,), links={"r: x/1": explorer.address("bridges", "r", "x/1")}
            ),
        ),
        examples=(
            example("x/1", status="failed", figures={"score": None}),
            *(
                example(
                    str(n),
                    "s s" if n % 2 else "r",
                    facets={"Verdict": ["m: right" if n % 3 else "m: wrong"]},
                    figures={"score": n / 100},
                )
                for n in range(count)
            ),
        ),
        facets=(explorer.Facet("Verdict", ("right", "wrong", "never"), ("m", "other")),),
        runs={"r": "Rivers", "s s": "Seas"},
        noun=("bridge", "bridges"),
        models=(ModelUsed("judge", "judge <7b>", "0123456789abcdef" * 4), ModelUsed("x", "far")),
        facts=(("data", "b.jsonl"),),
    )


def ferries() -> explorer.ExperimentView:
    return explorer.ExperimentView(
        "ferries",
        "Ferries",
        FINDING,
        parts=(explorer.Part("Failures", intro="None: all sailed."),),
        examples=(example("1", title="When did the ferry stop?"),),
    )


VIEWS = [bridges(), ferries()]
PAGE = explorer.render(
    "Results", VIEWS, {"note": "</pre><script>alert(3)</script>"}, [("profile", "cpu")]
)


# The file.


def test_nothing_is_fetched() -> None:
    for tag, attrs in Read(PAGE).elements:
        assert "src" not in attrs
        assert tag not in ("iframe", "object", "embed", "base", "img")
        for name in ("href", "action", "data"):
            assert re.match(r"#|data:,$", attrs.get(name) or "#"), (tag, attrs)
    style = PAGE.partition("<style>")[2].partition("</style>")[0]
    assert "@import" not in style
    assert "url(" not in style


def test_the_policy_allows_the_one_script_and_the_one_style() -> None:
    policy = next(a["content"] for t, a in Read(PAGE).elements if a.get("http-equiv")) or ""
    (script,) = re.findall(r"<script>(.*?)</script>", PAGE, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", PAGE, re.DOTALL)

    def digest(text: str) -> str:
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    assert f"script-src 'sha256-{digest(script)}'" in policy
    assert f"style-src 'sha256-{digest(style)}'" in policy
    for part in ("default-src 'none'", "trusted-types 'none'", "require-trusted-types-for"):
        assert part in policy
    assert "unsafe" not in policy
    assert "alert" not in script


def test_the_vendored_library_is_the_pinned_one() -> None:
    vendor = Path("pipelines/report/assets/vendor")
    digest = hashlib.sha256((vendor / "htm-preact.js").read_bytes()).hexdigest()
    assert digest in (vendor / "README.md").read_text()


def test_ids_are_unique_and_links_lead_somewhere() -> None:
    read = Read(PAGE)
    ids = [attrs["id"] for _, attrs in read.elements if "id" in attrs]
    assert len(ids) == len({*ids})
    known = {*ids, *(entry["address"] for entry in unpacked(PAGE))}
    for tag, attrs in read.elements:
        if tag == "a":
            assert (attrs["href"] or "")[1:].split("?")[0] in known


# Data.


def test_long_texts_stand_in_the_page_once() -> None:
    once, often = (len(explorer.render("T", [bridges(count)], {})) for count in (40, 90))
    assert often - once < 50 * 100  # each of the 50 has 400 characters four times
    assert all(DOCUMENT in json.dumps(each, ensure_ascii=False) for each in unpacked(PAGE))


def test_long_texts_of_many_examples_fill_several_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.report.explorer.CHUNK", 300)
    texts = [f"{n} " * LONG for n in range(9)]
    made = [explorer.Example(str(n), "r", "t", "s", lambda n=n: [Note(texts[n])]) for n in range(9)]  # type: ignore[misc]
    shown = unpacked(
        explorer.render("T", [explorer.ExperimentView("a", "A", examples=tuple(made))], {})
    )
    assert [each["blocks"] for each in shown] == [
        [{"kind": "note", "text": text}] for text in texts
    ]


@given(st.text(min_size=1), st.text(min_size=1))
def test_addresses_are_plain_and_lead_back(run: str, name: str) -> None:
    run, name = (each.encode(errors="replace").decode() for each in (run, name))
    made = explorer.address("paper", run, name)
    assert re.fullmatch(r"[\w.~%/-]+", made, re.ASCII)
    _, first, *rest = made.split("/")
    assert (unquote(first), unquote("/".join(rest))) == (run, name)


def test_a_large_run_lists_a_part_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.report.explorer.EXAMPLES_SHOWN", 5)
    shown = tuple(example(name, run) for run, name in in_turn({"r": "0123", "s": "456"}))
    view = explorer.ExperimentView("a", "A", examples=shown, noun=("x", "bridges"), left_out=2)
    page = explorer.render("T", [view], {})
    assert "The page holds 5 bridges, taken from all runs in turn. 2 more" in Read(page).text
    assert "stand in the a files of the run" in Read(page).text
    assert [each["id"] for each in unpacked(page)] == [*"01245"]
    assert "more stand in" not in Read(PAGE).text


def test_blocks_leave_out_what_is_as_usual() -> None:
    assert encoded(Chip("a")) == {"kind": "chip", "text": "a"}
    assert encoded((Span(1, 2), 0.123456)) == [{"kind": "span", "start": 1, "end": 2}, 0.1235]
    assert cut("abcd", 3) == "abc… (1 more characters are not shown)"
    long, shown = "a" * (CHARACTERS_SHOWN + 1500), "a" * CHARACTERS_SHOWN
    (source,) = encoded(Sources((Source(1, "Long", long),)))["sources"]
    assert source["text"] == f"{shown}… (1,500 more characters are not shown)"
    assert encoded(Unread("no JSON", long))["raw"] == source["text"]


def test_small_models_are_named_on_the_first_line() -> None:
    used = [ModelUsed("judge", name) for name in ("smollm2-135m-instruct", "llama-8b", "v135mx")]
    said, judge = glance.cautions([], [*used, ModelUsed("judge", "contested-nli")])
    assert judge == "contested-nli is a small judge: it misses paraphrased conflicts."
    assert said.startswith("smollm2-135m-instruct is a small model")


# In a browser.


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(PAGE)
    return path


def names(page: Page) -> list[str]:
    return page.locator(".row .about span:nth-child(1)").all_text_contents()


def test_everything_is_reached_by_keyboard_alone(reading: Reading, file: Path) -> None:
    page = reading(file)

    def tab_to(name: str) -> None:
        for _ in range(60):
            page.keyboard.press("Tab")
            if name in page.evaluate("document.activeElement.textContent"):
                return
        raise AssertionError(name)

    tab_to("Skip to the results")
    page.keyboard.press("Enter")
    expect(page.locator("#overview-title")).to_be_focused()
    tab_to("Bridges")
    page.keyboard.press("Enter")
    expect(page.locator("#bridges-title")).to_be_focused()
    tab_to("Bridges 91")
    page.keyboard.press("Enter")
    page.get_by_label("Find").focus()
    page.keyboard.type("BRIDGE 71")
    expect(page.locator("output")).to_have_text("1 of 91")
    tab_to("How long is bridge 71?")
    page.keyboard.press("Enter")
    expect(page.locator("#example h2")).to_be_focused()
    page.get_by_role("radio", name="one").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("second")).to_be_visible()
    page.go_back()
    expect(page.locator(".row .title")).to_be_focused()
    expect(page.get_by_label("Find")).to_have_value("BRIDGE 71")


def test_the_list_is_narrowed_down(reading: Reading, file: Path) -> None:
    page = reading(file)
    page.get_by_role("link", name="Examples 92").click()
    count = page.locator("output")
    expect(count).to_have_text("92 of 92")
    expect(page.locator(".legend")).to_have_text("✓ right")
    form = page.locator(".filters")
    expect(form.locator("select")).to_have_count(2)  # experiment, status
    form.get_by_label("Status").select_option("failed")
    expect(count).to_have_text("1 of 92")
    form.get_by_label("Experiment").select_option("Bridges")
    expect(count).to_have_text("91 of 91")
    form.get_by_label("Run").select_option("Seas")
    expect(count).to_have_text("45 of 91")
    verdict = form.get_by_label("Verdict")
    expect(verdict.locator("option")).to_have_text(["any", "right", "wrong"])
    verdict.select_option("m: wrong")
    expect(count).to_have_text("15 of 91")
    form.get_by_label("Find").fill("VIADUCT how")
    expect(page.get_by_text("No example is like this.")).to_be_visible()
    page.reload()
    expect(form.get_by_label("Find")).to_have_value("VIADUCT how")
    expect(form.get_by_label("Run")).to_have_value("s s")
    form.get_by_label("Run").select_option("all")
    expect(count).to_have_text("1 of 91")
    assert names(page) == ["0"]


def test_every_block_is_drawn_and_hostile_text_runs_nothing(reading: Reading, file: Path) -> None:
    page = reading(file, "#bridges/r/0")
    shown = page.locator("#example")
    expect(shown.locator(".known")).to_have_text("Right answers✓ 412 (right) or 412 m")
    expect(shown.locator(".cards .card")).to_contain_text("0412 [2]")
    expect(shown.locator(".items li")).to_have_text(["a", "b"])
    folded = shown.locator(".folded")
    expect(folded.locator(".why")).to_be_hidden()
    folded.locator("summary").click()
    expect(folded.locator(".why")).to_contain_text("so it is said. so it is said.")
    shown.get_by_text("Reply as it came").click()
    expect(shown.locator(".reply pre")).to_have_text(f"Sure! {HOSTILE}")
    expect(shown.get_by_text("first")).to_be_visible()
    shown.get_by_label("two").check()
    expect(shown.get_by_text("second")).to_be_visible()
    shown.get_by_text("More", exact=True).click()
    expect(shown.locator("mark")).to_have_text("412 metres (quoted)")
    sources = shown.locator(".source")
    expect(sources.nth(0).locator("summary")).to_have_text("[1] Survey 2019")
    for each in sources.all():
        each.locator("summary").click()
        expect(each.get_by_role("region")).to_contain_text(HOSTILE)
    expect(sources.nth(0).get_by_role("link")).to_have_attribute("href", "https://example.org/a")
    expect(sources.nth(1).get_by_role("link")).to_have_count(0)
    page.evaluate("location.hash = 'provenance'")
    expect(page.locator(".provenance")).to_be_visible()
    expect(page.locator(".provenance")).to_contain_text("alert(3)")


def test_markup_cannot_be_written_at_all(reading: Reading, file: Path, trouble: list[str]) -> None:
    """Were a script to parse a document as HTML, the browser itself would refuse."""
    refused = reading(file).evaluate(
        "() => { try { document.body.innerHTML = '<b>x</b>'; return false } catch { return true } }"
    )
    assert refused
    assert trouble
    trouble.clear()


@pytest.mark.parametrize(
    "at",
    ["", "#bridges", "#examples", "#examples?experiment=bridges", "#bridges/r/0?source=2"],
)
def test_every_view_fits_its_window(reading: Reading, file: Path, at: str) -> None:
    page = reading(file, at)
    expect(page.locator("main > :visible").first).to_be_visible()
    if "/" in at:
        expect(page.locator(".source").nth(1).get_by_role("region")).to_be_visible()
    for width in (400, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
