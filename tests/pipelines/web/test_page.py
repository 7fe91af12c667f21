"""The page in a real browser: what a person does, what a hostile text does not."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pages import watch
from playwright.sync_api import Browser, Page, expect
from web_server import GUIDE, LIMITS, STUDY, live

from pipelines.web.jobs import Jobs

pytestmark = pytest.mark.browser

HOSTILE = (
    '<script>alert(1)</script><img src=x onerror="alert(2)"><svg onload=alert(3)>'
    "<a href='javascript:alert(4)'>press</a> </textarea></script>{{7*7}} ${alert(5)} "
    "The bridge was opened in 1932. \u202egnp.exe"
)


@dataclass(frozen=True)
class Opened:
    """A page that was entered by the printed address; `requests` are those to elsewhere."""

    page: Page
    jobs: Jobs
    url: str
    requests: list[str]


@pytest.fixture
def opened(chromium: Browser, trouble: list[str], tmp_path: Path) -> Iterator[Opened]:
    """The page; nothing is fetched from elsewhere, complained of or run."""
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(20_000)
    watch(page, trouble)
    requests: list[str] = []
    with live(tmp_path / "web", LIMITS) as (url, jobs):
        base = url.partition("?")[0]
        page.on(
            "request",
            lambda each: (
                None if each.url.startswith((base, "data:")) else requests.append(each.url)
            ),
        )
        page.goto(url)
        page.wait_for_selector("form")
        assert page.url == base, "the key is not in the address any more"
        yield Opened(page, jobs, base, requests)
        page.close()
    assert trouble == []


def paste(page: Page, response: str, *documents: dict[str, str]) -> None:
    page.get_by_label("Response", exact=True).fill(response)
    for number, each in enumerate(documents, start=1):
        page.get_by_label(f"Name of document {number}").fill(each["name"])
        page.get_by_label(f"Text of document {number}").fill(each["text"])


def test_a_response_is_scored_by_the_tagger(opened: Opened) -> None:
    page = opened.page
    paste(page, "The bridge was opened in 1932. It is of steel.", GUIDE, STUDY)
    page.get_by_role("button", name="Run").click()
    matrix = page.get_by_role("table", name="Claim against each document")
    expect(matrix).to_be_visible(timeout=60_000)
    cells = matrix.get_by_role("button")
    expect(cells).to_have_count(4)
    expect(cells.nth(0)).to_have_attribute("aria-label", re.compile("guide: supports, "))
    expect(cells.nth(1)).to_have_attribute("aria-label", re.compile("study: contradicts, "))
    expect(page.get_by_text("CS-C 0.50")).to_be_visible()
    expect(page.get_by_role("status")).to_contain_text("done")
    with page.expect_download() as kept:
        page.get_by_text("Save as a page").click()
    assert "<!doctype html>" in Path(kept.value.path()).read_text()
    # A reader comes back to the list, and to the same texts.
    page.get_by_role("button", name="Change and run again").click()
    expect(page.get_by_label("Text of document 2")).to_have_value(STUDY["text"])
    expect(page.locator(".jobs .row")).to_have_count(1)
    page.reload()
    page.get_by_role("link", name="The bridge was opened in 1932. It is of steel.").click()
    expect(matrix).to_be_visible()
    assert opened.requests == []


def test_hostile_texts_stay_texts(opened: Opened) -> None:
    page = opened.page
    paste(page, HOSTILE, {"name": "<b>guide</b>", "text": HOSTILE}, STUDY)
    page.get_by_label("Files with documents").set_input_files(
        {"name": "<img src=x onerror=alert(6)>.html", "mimeType": "text/html",
         "buffer": b"<script>alert(7)</script><p onclick=alert(8)>It opened in &lt;1936&gt;."}
    )  # fmt: skip
    expect(page.get_by_label("Text of document 3")).to_have_value("It opened in <1936>.")
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".matrix")).to_be_visible(timeout=60_000)
    page.locator(".sources summary").first.click()
    expect(page.locator(".sources .text").first).to_contain_text("<script>alert(1)</script>")
    for selector in (
        "img",
        "#content script",
        "#content a[href^=javascript]",
        "[onerror]",
        "[onload]",
    ):
        assert page.locator(selector).count() == 0
    assert "\u202e" not in page.locator("#content").inner_text()
    page.goto(opened.url)
    expect(page.locator(".jobs .row")).to_have_count(1)
    (job,) = opened.jobs.all()
    kept = opened.jobs.file(job.id, "page.html")
    page.goto(kept.as_uri())
    expect(page.locator(".matrix")).to_be_visible()
    assert opened.requests == [kept.as_uri()]
