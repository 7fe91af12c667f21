"""Text from outside (documents, models' replies) made fit for people's eyes and for UTF-8."""

CHARACTERS_SHOWN = 40_000
"""Characters of one text that the page holds; it says how many more there are."""

_VISIBLE = (
    {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"}
    | {0x7F: 0x2421}
    | dict.fromkeys(range(0x80, 0xA0), 0xFFFD)
    # Bidirectional embeddings, overrides and isolates reorder the text around them.
    | dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], 0xFFFD)
    # Tags spell ASCII that nobody sees and models read; they are for the flags of three regions.
    | dict.fromkeys(range(0xE0000, 0xE0080), 0xFFFD)
    # Surrogates cannot be written as UTF-8; non-characters are invalid in HTML.
    | dict.fromkeys([*range(0xD800, 0xE000), *range(0xFDD0, 0xFDF0), 0xFFFE, 0xFFFF], 0xFFFD)
)


def visible(text: str) -> str:
    """Replaces control characters by signs that can be seen, one for one.

    Tabs, line feeds and the letters of every script stay. The length stays too, so that positions
    found in `text` hold in the result. Carriage returns before a line feed are shown as a space.
    """
    return text.replace("\r\n", " \n").translate(_VISIBLE)


def one_line(text: str, limit: int | None = None) -> str:
    """`text` with every run of white space made one space, cut to `limit` characters.

    What is cut is marked by an ellipsis, which counts towards `limit`.
    """
    line = " ".join(text.split())
    return line if limit is None or len(line) <= limit else line[: limit - 1].rstrip() + "…"


def cut(text: str, limit: int = CHARACTERS_SHOWN) -> str:
    """The text, or its beginning and how much more there is."""
    more = len(text) - limit
    return text if more <= 0 else f"{text[:limit]}… ({more:,} more characters are not shown)"
