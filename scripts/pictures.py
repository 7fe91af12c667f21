"""Recreate docs/example and the pictures in docs/, in a real browser.

    python scripts/pictures.py

It needs the environment of scripts/test.sh, Chromium, and two registered models:
contested-nli-large judges the example report, and the packaged model checks an NPOV response.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

DOCS = Path(__file__).resolve().parents[1] / "docs"
RUNS = ("conflictscore", "conflict-detection", "conrag")
COLOURS = 128
"""Colours per picture; screenshots use few, and files shrink to a third."""


def main() -> None:
    """Make the example report and all pictures."""
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as temporary:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        folder = Path(temporary)
        example(browser, folder / "results")
        salience(browser, folder)
        web(browser, folder)
        annotate(browser, folder / "results")
        browser.close()


def example(browser: Browser, results: Path) -> None:
    """The bundled samples judged by the larger tagger: the report, and two screens of it."""
    for name in RUNS:
        options = ("--tagger", "contested-nli-large", "--judge", "tagger", "--out", str(results))
        subprocess.run(["contested", "run", name, *options], check=True)
    address = Path(shutil.copy(results / "report.html", DOCS / "example")).as_uri()
    with shown(browser, address, 1280) as page:
        take(page, "example/overview", 1280, 760)
    with shown(browser, f"{address}#conflictscore/-/tallest-mountain/overconfident", 1280) as page:
        take(page, "example/response", 1280, 960)


def salience(browser: Browser, folder: Path) -> None:
    """The bundled example, checked."""
    report = folder / "checked.html"
    subprocess.run(["contested", "check-npov", "--html", str(report)], check=True)
    with shown(browser, report.as_uri(), 1150) as page:
        page.get_by_text("left out?").wait_for()
        take(page, "pictures/salience", 1150, 790)


def web(browser: Browser, folder: Path) -> None:
    """A response scored on the page of `contested web`."""
    with (
        served("contested", "web", "--no-open", "--out", str(folder / "jobs")) as address,
        shown(browser, address, 1100) as page,
    ):
        page.get_by_text("Fill in an example").click()
        page.locator("button.main").click()
        page.locator(".matrix").wait_for(timeout=120_000)
        take(page, "pictures/web", 1100, 760)


def annotate(browser: Browser, results: Path) -> None:
    """An item of the labelling page, with one answer given."""
    command = ("contested", "annotate", str(results), "--entry", "conflictscore", "--sample", "20")
    with served(*command) as address, shown(browser, address, 900, 620) as page:
        page.locator("#item section").first.wait_for()
        page.keyboard.press("1")
        page.get_by_text("Kept").wait_for()
        take(page, "pictures/annotate", 900, 620)


@contextmanager
def served(*command: str) -> Iterator[str]:
    """The address that a command prints; the command is interrupted afterwards."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        for line in process.stdout:
            address = line.removeprefix("open ").strip()
            if address.startswith("http://127.0.0.1"):
                yield address
                break
    finally:
        process.terminate()
        process.wait()


@contextmanager
def shown(browser: Browser, address: str, width: int, height: int = 1000) -> Iterator[Page]:
    """A page in the light colour scheme."""
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme="light")
    page.goto(address)
    yield page
    page.close()


def take(page: Page, name: str, width: float, height: float) -> None:
    """Save the top left of a page as a small file."""
    path = DOCS / f"{name}.png"
    page.wait_for_timeout(500)  # wait for fade-ins
    page.screenshot(path=path, clip={"x": 0, "y": 0, "width": width, "height": height})
    Image.open(path).convert("RGB").quantize(COLOURS).save(path, optimize=True)
    print(path)


if __name__ == "__main__":
    main()
