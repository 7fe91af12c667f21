"""Check that hostile texts are shown harmlessly: on a page, in tables, on a terminal.

The checks read only the output and have their own rules; they share no code with the escaping.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from pages import unpacked

BIDIRECTIONAL: Final = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
"""Bidirectional classes of characters that reorder their surroundings."""

_FORMULA: Final = "=+-@＝＋－＠"
_TAG: Final = re.compile(r"<[a-z/!]", re.IGNORECASE)


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


def page_faults(page: str) -> list[str]:
    """Invisible characters of a page and of its packed texts; what runs is `pages.safe`'s."""
    return [*raw_signs(page), *raw_signs("\n".join(_texts(unpacked(page))))]


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
