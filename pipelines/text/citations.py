"""Inline citations of a text."""

import re

_MARKS = re.compile(r"[ \t]?(?:\[\d[\d,; –-]{0,30}\]|<sup>[^<>\n]{1,40}</sup>|[⁰¹²³⁴-⁹]{1,6})")


def without_marks(text: str) -> str:
    """The text without marks of sources."""
    return _MARKS.sub("", text)
