"""The browser that opens pages in tests."""

import json
import shutil
from html.parser import HTMLParser
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
"""Path of the browser; None if it is not installed."""


class Read(HTMLParser):
    """A page as parsed by a browser: elements, JSON and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.data: dict[str, Any] = {}
        self.packed: dict[str, str] = {}
        self.text = ""
        self.within: tuple[str, dict[str, str | None]] = ("", {})
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.within = tag, dict(attrs)
        self.elements.append(self.within)

    def handle_endtag(self, tag: str) -> None:
        self.within = "", {}

    def handle_data(self, data: str) -> None:
        tag, attrs = self.within
        if tag == "script" and attrs.get("type") == "application/json":
            self.data[attrs.get("id") or ""] = json.loads(data)
        elif tag == "script" and attrs.get("type") == "text/plain":
            self.packed[attrs.get("id") or ""] = data
        elif tag not in ("script", "style"):
            self.text += data
