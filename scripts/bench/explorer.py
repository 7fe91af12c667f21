"""How fast the page of many examples opens, narrows down and shows one, in Chromium.

    python scripts/bench/explorer.py --experiments 6 --examples 2000

An example is a debate of six agents in three rounds, with documents of 1,000 characters: 15 KB. The
aims are 2 seconds until the list can be used, and 100 ms for a filter.
"""

import random
import re
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from playwright.sync_api import Page, sync_playwright

from pipelines.data.jsonl import SAMPLES
from pipelines.report.blocks import Card, Cards, Debate, Voice
from pipelines.report.explorer import Example, ExperimentView, Facet, write
from pipelines.report.glance import Finding
from pipelines.report.texts import Block, Chip, Heading, Line, Note

WORDS = re.findall(r"\w+", SAMPLES.read_text(encoding="utf-8"))
NARROWED = """async ([name, value]) => {
  const field = document.querySelector(name);
  const start = performance.now();
  field.value = value;
  field.dispatchEvent(new Event(name.startsWith("select") ? "change" : "input", {bubbles: true}));
  await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
  return performance.now() - start;
}"""
"""Milliseconds until what is left is painted."""


def text(seed: str, characters: int) -> str:
    """Words of the bundled documents, in an order of their own."""
    return " ".join(random.Random(seed).choices(WORDS, k=characters // 6))


def blocks(name: str) -> list[Block]:
    """One example."""
    voices = tuple(
        Voice(
            f"Agent {n + 1}",
            (Line((Chip("correct", "support", "✓"),)),),
            f"document {n}",
            text(f"{name}/{n}", 1000),
            tuple(
                (
                    Line((Chip(text(f"{name}/{n}/{k}", 20), "plain", "○"),)),
                    Note(text(f"{name}{n}{k}", 300)),
                )
                for k in range(3)
            ),
        )
        for n in range(6)
    )
    ends = tuple((Note(text(f"{name}/end/{k}", 300)),) for k in range(3))
    cards = (Card("Answer", (Note(text(f"{name}/card/{n}", 200)),)) for n in range(4))
    debate = Debate("debate", "Agent", voices, (Line(("Aggregator",)),), ends, "It ended.")
    return [Heading("Answers"), Cards(tuple(cards)), debate]


def view(number: int, examples: int) -> ExperimentView:
    """One experiment."""
    name = f"experiment-{number}"
    return ExperimentView(
        name,
        f"Experiment {number}",
        Finding("Is it?", "All", "m", "It is.", examples),
        examples=tuple(
            Example(
                str(n),
                "run",
                text(f"{name}/{n}", 80),
                "answered",
                partial(blocks, f"{name}/{n}"),
                chips=(Chip("a method", "support", "✓"), Chip("another", "contradict", "✗")),
                facets={"Verdict": ["right" if n % 3 else "wrong"]},
                words=text(f"{name}/{n}/words", 600),
            )
            for n in range(examples)
        ),
        facets=(Facet("Verdict", ("right", "wrong")),),
    )


def opened(page: Page, address: str, shown: str) -> float:
    """Seconds from an address to what it shows."""
    page.goto("about:blank")
    start = time.monotonic()
    page.goto(address, wait_until="commit")
    page.locator(shown).first.wait_for()
    return time.monotonic() - start


def report(what: str, milliseconds: Sequence[float]) -> None:
    """Print a median and the longest."""
    print(f"{what:14} {median(milliseconds):6.0f} ms, at most {max(milliseconds):.0f} ms")


def main(
    experiments: Annotated[int, typer.Option(min=1)] = 6,
    examples: Annotated[int, typer.Option(min=1, help="Of each experiment.")] = 2000,
    rounds: Annotated[int, typer.Option(min=1)] = 5,
    chromium: Annotated[str, typer.Option(help="Path of the browser.")] = "/usr/bin/chromium",
) -> None:
    """Make a page, open it, and print medians."""
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "report.html"
        start = time.monotonic()
        write(path, "Results", [view(n, examples) for n in range(experiments)], {})
        print(f"written in {time.monotonic() - start:.1f} s, {path.stat().st_size / 1e6:.0f} MB")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(120_000)
        own = f"{path.as_uri()}#experiment-0/run/{examples - 1}"
        for what, address, shown in (
            ("overview", path.as_uri(), ".finding"),
            ("list of all", f"{path.as_uri()}#examples", ".row"),
            ("list of one", f"{path.as_uri()}#examples?experiment=experiment-0", ".row"),
            ("last example", own, ".debate"),
        ):
            found = median(opened(page, address, shown) for _ in range(rounds))
            print(f"{what:14} {found:6.2f} s")
        page.goto(f"{path.as_uri()}#examples")
        page.locator(".row").first.wait_for()
        words = ("bridge", "", "the river", "", "nothing-at-all", "") * rounds
        report("a word", [page.evaluate(NARROWED, ["input[type=search]", each]) for each in words])
        page.goto(f"{path.as_uri()}#examples?experiment=experiment-0")
        page.locator(".row").first.wait_for()
        facet = "select[name=Verdict]"
        values = ("right", "wrong", "") * rounds
        report("a facet", [page.evaluate(NARROWED, [facet, each]) for each in values])
        browser.close()


if __name__ == "__main__":
    typer.run(main)
