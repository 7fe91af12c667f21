"""Recreate the pictures in README.md and docs/ from a main job's results, in a real browser.

    python scripts/pictures.py results

It needs the environment of scripts/test.sh and Chromium. The tagger is the only judge.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

PICTURES = Path(__file__).resolve().parents[1] / "docs/pictures"
COLOURS = 128
"""Colours per picture; screenshots use few, and files shrink to a third."""


def main(results: Path) -> None:
    """Make all pictures; `results` is what scripts/run_all.sh wrote."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        report(browser, results / "report.html")
        with tempfile.TemporaryDirectory() as folder:
            salience(browser, Path(folder))
            web(browser, Path(folder))
            annotate(browser, results, Path(folder))
        browser.close()


def report(browser: Browser, path: Path) -> None:
    """The first screen of a report."""
    with shown(browser, path.resolve().as_uri(), 1280) as page:
        fourth = page.get_by_role("heading", name="TruthfulQA").first
        fourth.wait_for()
        box = fourth.bounding_box()
        assert box is not None
        take(page, "report", 1280, box["y"] - 16)


def salience(browser: Browser, folder: Path) -> None:
    """The bundled example, checked."""
    page_of = folder / "checked.html"
    subprocess.run(["contested", "check-npov", "--html", str(page_of)], check=True)
    with shown(browser, page_of.as_uri(), 1150) as page:
        page.get_by_text("left out?").wait_for()
        take(page, "salience", 1150, 790)


def web(browser: Browser, folder: Path) -> None:
    """A response scored on the page of `contested web`."""
    with (
        served("contested", "web", "--no-open", "--out", str(folder / "jobs")) as address,
        shown(browser, address, 1100) as page,
    ):
        page.get_by_text("Fill in an example").click()
        page.locator("button.main").click()
        page.locator(".matrix").wait_for(timeout=120_000)
        take(page, "web", 1100, 760)


def annotate(browser: Browser, results: Path, folder: Path) -> None:
    """An item to label."""
    copy = folder / "results"
    shutil.copytree(results, copy)
    command = ("contested", "annotate", str(copy), "--entry", "conflictscore", "--sample", "20")
    with served(*command) as address, shown(browser, address, 900, 620) as page:
        page.locator("#item section").first.wait_for()
        page.keyboard.press("1")
        page.get_by_text("Kept").wait_for()
        take(page, "annotate", 900, 620)


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
    path = PICTURES / f"{name}.png"
    page.wait_for_timeout(500)  # wait for fade-ins
    page.screenshot(path=path, clip={"x": 0, "y": 0, "width": width, "height": height})
    Image.open(path).convert("RGB").quantize(COLOURS).save(path, optimize=True)
    print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
