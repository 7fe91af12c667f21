"""The page in a real browser: what a reader does with it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from browser import CHROMIUM
from playwright.sync_api import Browser, Dialog, Locator, Page, Request, expect, sync_playwright

from pipelines.conflictscore.page import section
from pipelines.conflictscore.result import Result
from pipelines.report.page import ModelUsed, write

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH"),
]

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@dataclass
class Opened:
    """A page being read, and everything that must not happen on it."""

    page: Page
    address: str
    trouble: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def response(self, number: int) -> Locator:
        return self.page.locator(f"#response-{number}")

    def listed(self) -> list[str]:
        names = self.page.locator(".listing > li:visible .about > span:first-child")
        return names.all_text_contents()


def unfolded(response: Locator) -> Locator:
    """The response, opened. The page draws when the browser tells it, a moment after the click."""
    response.locator("summary").first.click()
    expect(response.locator(".papers")).to_be_visible()
    return response


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def file(results: list[Result], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write(
        path,
        "ConflictScore",
        [section(results, "judge-7b", "samples")],
        {"note": "</pre><script>alert(3)</script>"},
        models=[ModelUsed("judge", "judge-7b", "0123456789abcdef" * 4)],
    )
    return path


def watched(page: Page, file: Path) -> Opened:
    seen = Opened(page, file.as_uri())

    def requested(request: Request) -> None:
        if not request.url.startswith("data:"):
            seen.requests.append(request.url)

    def asked(dialog: Dialog) -> None:
        seen.trouble.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    page.on("console", lambda message: seen.trouble.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: seen.trouble.append(str(error)))
    page.on("dialog", asked)
    page.on("request", requested)
    page.goto(seen.address)
    return seen


@pytest.fixture
def opened(browser: Browser, file: Path) -> Iterator[Opened]:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(10_000)
    seen = watched(page, file)
    yield seen
    # Whatever a test did: hostile text ran nothing, nothing was fetched, nothing was complained of.
    assert seen.trouble == []
    assert {address.split("#")[0] for address in seen.requests} == {seen.address}
    page.close()


def test_filters_narrow_the_list(opened: Opened) -> None:
    page = opened.page
    assert len(opened.listed()) == 6
    page.get_by_label("Find").fill("COFFEE heart")
    assert opened.listed() == ["coffee/overconfident", "coffee/hedged"]
    page.get_by_role("combobox", name="Variant").select_option("hedged")
    assert opened.listed() == ["coffee/hedged"]
    expect(page.locator(".filters output")).to_have_text("1 of 6")
    page.get_by_label("Find").fill("no such words")
    assert opened.listed() == []


def test_who_comes_back_finds_the_list_as_it_was(opened: Opened) -> None:
    page = opened.page
    page.get_by_role("combobox", name="Variant").select_option("hedged")
    page.get_by_role("combobox", name="Order").select_option("CS-C, low first")
    before = opened.listed()
    page.goto("about:blank")
    page.go_back()
    expect(page.get_by_role("combobox", name="Variant")).to_have_value("hedged")
    expect(page.locator(".filters output")).to_have_text("3 of 6")
    assert opened.listed() == before


@pytest.mark.parametrize(
    ("show", "names"),
    [
        ("with conflicting claims", ["coffee/overconfident", "bridge/overconfident"]),
        ("with unreadable judgements", ["bridge/overconfident"]),
        ("with truncated texts", ["bridge/overconfident"]),
        ("invalid", ["bridge/hedged"]),
        ("failed", ["ferry/overconfident"]),
    ],
)
def test_the_list_shows_one_kind(opened: Opened, show: str, names: list[str]) -> None:
    opened.page.get_by_role("combobox", name="Show").select_option(show)
    assert opened.listed() == names


@pytest.mark.parametrize(
    ("order", "names"),
    [
        ("CS-C, high first", ["bridge/overconfident", "coffee/overconfident"]),
        ("CS-R, high first", ["coffee/overconfident", "bridge/overconfident"]),
        ("CS-C, low first", ["coffee/hedged", "ferry/hedged"]),
        ("variant", ["coffee/hedged", "bridge/hedged"]),
    ],
)
def test_the_list_is_put_in_order(opened: Opened, order: str, names: list[str]) -> None:
    opened.page.get_by_role("combobox", name="Order").select_option(order)
    assert opened.listed()[:2] == names
    if order.startswith("CS"):
        # What has no score comes last, whichever way the scores run.
        assert opened.listed()[4:] == ["bridge/hedged", "ferry/overconfident"]
    opened.page.get_by_role("combobox", name="Order").select_option("as in the data")
    assert opened.listed()[0] == "coffee/overconfident"


def test_a_response_is_drawn_when_it_is_opened(opened: Opened) -> None:
    assert opened.page.locator(".matrix").count() == 0
    response = unfolded(opened.response(1))
    expect(response.locator(".matrix tbody tr")).to_have_count(3)
    expect(response.locator(".matrix thead th")).to_have_count(5)
    expect(response.locator(".matrix .badge-conflict")).to_have_count(1)
    assert opened.page.locator(".matrix").count() == 1


def test_a_cell_shows_what_is_behind_it(opened: Opened) -> None:
    response = unfolded(opened.response(1))
    panel = response.locator(".panel")
    # The first contradiction of the first conflicting claim is open already.
    expect(panel.locator("mark")).to_have_text(
        "unfiltered   coffee raised LDL cholesterol\nwithin four weeks", use_inner_text=False
    )
    expect(panel).to_contain_text("The document contradicts the claim")

    response.get_by_role("button", name="Claim 1, D1: A cohort of 40,000 adults: supports").click()
    expect(panel.locator("mark")).to_have_text(
        "a lower risk of heart disease than those who drank none"
    )
    expect(panel.locator(".chances dd:not(.bar)")).to_have_text(["50 %", "25 %", "25 %"])
    expect(panel).to_contain_text("example.org/cohort?a=1&b=2")
    expect(panel).to_contain_text("The passage speaks of the claim.")

    response.get_by_role("button", name="Claim 2, D2").click()
    expect(panel).to_contain_text("Quoted, but not found in the document")
    expect(panel.locator("mark")).to_have_count(0)

    response.get_by_role("button", name="Claim 1, D4").click()
    expect(panel).to_contain_text("Only 31 % of the model's probability fell on the labels.")


def test_the_keyboard_reaches_everything(opened: Opened) -> None:
    page, response = opened.page, opened.response(1)
    response.locator("summary").first.focus()
    page.keyboard.press("Enter")
    panel = response.locator(".panel")
    expect(panel).to_contain_text("D2: A trial")
    selected = response.locator('.cell[aria-pressed="true"]')
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('cell')"):
            break
    expect(selected).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(panel).to_contain_text("D3: Umbrella review")
    page.keyboard.press("ArrowDown")
    expect(panel.locator(".claim")).to_have_text("Unfiltered coffee protects the heart.")
    page.keyboard.press("End")
    expect(panel).to_contain_text("D4: column")
    page.keyboard.press("ArrowRight")  # nothing lies beyond
    expect(panel).to_contain_text("D4: column")
    page.keyboard.press("Home")
    expect(selected).to_be_focused()
    expect(panel).to_contain_text("D1: A cohort")
    assert response.locator('.cell[tabindex="0"]').count() == 1


def test_what_went_wrong_leads_to_its_response(opened: Opened) -> None:
    response = opened.response(3)
    expect(response).not_to_have_attribute("open", "")
    opened.page.locator("table.figures a", has_text="bridge/overconfident").first.click()
    expect(response).to_have_attribute("open", "")
    expect(response.locator(".matrix")).to_be_visible()
    response.locator(".cell.INVALID").click()
    panel = response.locator(".panel")
    expect(panel).to_contain_text("The judgement could not be read")
    expect(panel.locator("pre")).to_contain_text('{"answer": "SUPP</script><script>alert(1)')


def test_hostile_text_is_shown_and_runs_nothing(opened: Opened) -> None:
    response = unfolded(opened.response(3))
    for cell in response.locator(".cell").all():
        cell.click()
    for paper in response.locator(".papers details").all():
        paper.locator("summary").click()
    shown = response.locator(".papers .text")
    expect(shown).to_have_count(4)
    expect(shown.nth(3)).to_contain_text("</script><script>alert(1)</script><img src=x")
    expect(shown.nth(2)).to_contain_text("␛[31mred")
    assert opened.page.locator("img").count() == 0
    for number in (4, 5):
        opened.response(number).locator("summary").first.click()
        expect(opened.response(number).locator(".trouble")).to_be_visible()
    opened.page.locator("#provenance summary").click()
    expect(opened.page.locator(".provenance")).to_contain_text("alert(3)")


def test_markup_cannot_be_written_at_all(opened: Opened) -> None:
    """Were a script to parse a document as HTML, the browser itself would refuse."""
    refused = opened.page.evaluate(
        "() => { try { document.body.innerHTML = '<b>x</b>'; return false } catch { return true } }"
    )
    assert refused
    assert opened.trouble
    opened.trouble.clear()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1600])
def test_the_page_fits_its_window(browser: Browser, file: Path, width: int, scheme: str) -> None:
    page = browser.new_page(
        viewport={"width": width, "height": 800},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page.goto(file.as_uri())
    for number in range(1, 7):
        unfolded(page.locator(f"#response-{number}"))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    light = page.evaluate(
        "getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).map(Number)[0]"
    )
    assert (light > 128) == (scheme == "light")
    page.close()


def test_the_overview_can_be_read_without_scripts(browser: Browser, file: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())
    expect(page.locator(".tile .figure").first).to_have_text("0.21")
    expect(page.locator(".plot .dot")).to_have_count(4)
    expect(page.get_by_text("need JavaScript")).to_be_visible()
    expect(page.locator(".filters")).to_be_hidden()
    page.locator("#response-1 > summary").click()
    expect(page.locator("#response-1 .response-text")).to_be_visible()
    context.close()


def test_many_responses_stay_closed_until_they_are_wanted(
    browser: Browser, results: list[Result], tmp_path: Path
) -> None:
    many = [
        results[0].model_copy(update={"id": f"r{number}", "group": f"r{number}"})
        for number in range(1000)
    ]
    path = tmp_path / "many.html"
    write(path, "ConflictScore", [section(many, "m", "d")], {})
    page = browser.new_page()
    page.goto(path.as_uri(), timeout=20_000)
    assert page.locator(".entry").count() == 1000
    assert page.locator(".cell").count() == 0
    page.get_by_label("Find").fill("r777")
    expect(page.locator(".filters output")).to_have_text("1 of 1,000")
    page.locator("#response-778 > summary").click()
    expect(page.locator(".cell")).to_have_count(12)
    page.close()
