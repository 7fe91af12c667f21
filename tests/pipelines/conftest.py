"""The browser that pages are read in."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import CHROMIUM
from pages import Reading, watch
from playwright.sync_api import Browser, Page, Request, sync_playwright

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "reading" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on PATH")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def trouble() -> list[str]:
    """What must not happen while a page is read; a test that provokes it clears this."""
    return []


@pytest.fixture
def reading(chromium: Browser, trouble: list[str]) -> Iterator[Reading]:
    """Opens pages. Whatever a test does, nothing is fetched, complained of or run."""
    pages: list[Page] = []
    requests: list[str] = []

    def requested(request: Request) -> None:
        if not request.url.startswith("data:"):
            requests.append(request.url.split("#")[0])

    def read(path: Path, at: str = "", width: int = 1280, **options: object) -> Page:
        page = chromium.new_page(viewport={"width": width, "height": 900}, **options)  # type: ignore[arg-type]
        page.set_default_timeout(10_000)
        watch(page, trouble)
        page.on("request", requested)
        page.goto(path.as_uri() + at)
        pages.append(page)
        return page

    yield read
    titles = {page.title() for page in pages}
    images = [page.locator("img:not([src^='data:'])").count() for page in pages]
    for page in pages:
        page.close()
    assert trouble == []
    assert not any("taken over" in title for title in titles)
    assert not any(images)
    assert all(address.startswith("file:") for address in requests)
    assert len({*requests}) <= len(pages)
