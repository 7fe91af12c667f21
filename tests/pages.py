"""Read the data of a page, and open pages in a browser."""

import base64
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

from browser import Read
from playwright.sync_api import Dialog, Page

from pipelines.experiment.experiment import Experiment
from pipelines.experiment.publish import Publication, Runs
from pipelines.runs.folder import RunFolder

Kind = TypeVar("Kind")

RUNS = "<script>document.title = 'taken over'</script><img src=x onerror=alert(1)>"
CLOSES = "</script><script>alert(1)</script><!--"
"""Texts that would run, or would end a page's data, if a page did not escape them."""

Reading = Callable[..., Page]
"""Opens a page: (path, at="#...", width=1280, and other arguments of `Browser.new_page`)."""


def published(
    experiment: Experiment[Any, Any],
    results: Mapping[str, Sequence[Any]],
    config: Mapping[str, Any],
) -> Publication:
    """The publication of results, by the names of runs that have no folder."""
    entries = {run: {"config": config} for run in results}
    return experiment.publication(
        Runs(experiment.name, RunFolder(Path("unread")), entries, results)
    )


def safe(page: str) -> None:
    """Check that nothing in a page runs or leads elsewhere."""
    read = Read(page)
    scripts = [attrs for tag, attrs in read.elements if tag == "script" and "type" not in attrs]
    assert len(scripts) <= 1
    for tag, attrs in read.elements:
        assert tag not in ("img", "iframe", "object", "embed", "base", "form"), tag
        leads = [attrs.get(name) or "#" for name in ("src", "action", "data", "srcset", "poster")]
        assert all(value.startswith(("#", "data:")) for value in leads), (tag, attrs)
        assert not any(name == "style" or name.startswith("on") for name in attrs), (tag, attrs)
        assert (attrs.get("href") or "#").startswith(("#", "data:,"))


def unpacked(page: str) -> list[dict[str, Any]]:
    """The examples of a page in list order, each with its `blocks`."""
    read = Read(page)
    contents = read.data["contents"]
    texts = chunks(read, "texts", len(contents["texts"]))
    found = []
    for experiment in contents["experiments"]:
        name = experiment["name"]
        blocks = chunks(read, f"{name}-blocks", len(experiment["starts"]))
        listed = chunk(read, f"{name}-list")
        found += [
            entry | {"blocks": filled(own, texts)}
            for entry, own in zip(listed, blocks, strict=True)
        ]
    return found


def chunk(read: Read, name: str) -> Any:
    """One chunk of a page's data."""
    return json.loads(zlib.decompress(base64.b64decode(read.packed[name])))


def chunks(read: Read, name: str, number: int) -> list[Any]:
    """The contents of several chunks, in order."""
    return [each for place in range(number) for each in chunk(read, f"{name}-{place}")]


def filled(value: Any, texts: list[str]) -> Any:
    """Data with text references resolved."""
    if isinstance(value, dict):
        if "$" in value:
            return texts[value["$"]]
        return {key: filled(each, texts) for key, each in value.items()}
    return [filled(each, texts) for each in value] if isinstance(value, list) else value


def watch(page: Page, trouble: list[str]) -> None:
    """Note whatever a page complains of or asks in a dialog."""

    def dismiss(dialog: Dialog) -> None:
        trouble.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    page.on("console", lambda message: trouble.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("dialog", dismiss)


def every(blocks: Any, kind: type[Kind]) -> Iterator[Kind]:
    """All blocks of a kind, at any nesting depth."""
    if isinstance(blocks, kind):
        yield blocks
    elif is_dataclass(blocks):
        for field in fields(blocks):
            yield from every(getattr(blocks, field.name), kind)
    elif isinstance(blocks, list | tuple):
        for each in blocks:
            yield from every(each, kind)
