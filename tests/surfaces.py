"""Check that hostile texts are shown harmlessly: on a page, in tables, on a terminal.

The checks read only the output and have their own rules; they share no code with the escaping.
"""

import base64
import csv
import io
import json
import re
import unicodedata
import zlib
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Final

BIDIRECTIONAL: Final = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
"""Bidirectional classes of characters that reorder their surroundings."""

_FORMULA: Final = "=+-@＝＋－＠"
_TAG: Final = re.compile(r"<[a-z/!]", re.IGNORECASE)
_LEADS: Final = frozenset({"src", "href", "action", "data", "srcset", "poster"})


def raw_signs(text: str) -> list[str]:
    """Control characters, bidirectional controls, tags and lone surrogates in a text.

    Tabs and line feeds are allowed.
    """
    return [
        f"U+{ord(sign):04X}"
        for sign in text
        if sign not in "\t\n"
        and (
            unicodedata.category(sign) in ("Cc", "Cs")
            or unicodedata.bidirectional(sign) in BIDIRECTIONAL
            or 0xE0000 <= ord(sign) < 0xE0080
        )
    ]


class _Page(HTMLParser):
    """A page as a browser parses it: anything that runs or leads elsewhere, and its data."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.live: list[str] = []
        self.data: list[str] = []
        self._scripts = 0
        self._packed = False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element; only the page's single script may run."""
        own = dict(attrs)
        self._packed = tag == "script" and own.get("type") == "text/plain"
        if tag == "script" and "type" not in own:
            self._scripts += 1
            if self._scripts > 1:
                self.live.append("a second script")
        if tag in {"iframe", "object", "embed", "base", "form"}:
            self.live.append(f"<{tag}>")
        for name, value in own.items():
            leads = name in _LEADS and not (value or "").startswith(("#", "data:"))
            if name.startswith("on") or name == "srcdoc" or leads:
                self.live.append(f"<{tag} {name}>")

    def handle_data(self, data: str) -> None:
        """Text between elements."""
        if self._packed and data.strip():
            self.data.append(data)

    def handle_endtag(self, _: str) -> None:
        """An element ends."""
        self._packed = False


def page_faults(page: str) -> list[str]:
    """Parts of a page that run, lead elsewhere, or are invisible, including its packed texts."""
    read = _Page(page)
    texts = "\n".join(
        text
        for packed in read.data
        for text in _texts(json.loads(zlib.decompress(base64.b64decode(packed))))
    )
    return [*read.live, *raw_signs(page), *raw_signs(texts)]


def _texts(value: object) -> Iterator[str]:
    """All texts in JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


def markdown_faults(text: str) -> list[str]:
    """Parts of a Markdown page that are foreign markup or invisible."""
    unescaped = re.sub(r"\\.", "", text)
    links = ["a link"] * len(re.findall(r"\]\(", unescaped))
    return [*_TAG.findall(unescaped), *links, *raw_signs(text)]


def csv_faults(text: str) -> list[str]:
    """Cells of a CSV file that a spreadsheet may run, and invisible characters.

    A sign that starts a formula counts even after invisible characters.
    """
    rows = csv.reader(io.StringIO(text, newline=""))
    return [*(cell for row in rows for cell in row if _runs(cell)), *raw_signs(text)]


def _runs(cell: str) -> bool:
    if re.fullmatch(r"-?\d+(\.\d+)?(e[+-]?\d+)?", cell):
        return False
    seen = next((sign for sign in cell if unicodedata.category(sign)[0] not in "CZ"), "")
    return cell[:1] in tuple("\t\r\n") or seen in tuple(_FORMULA)
