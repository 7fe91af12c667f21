"""Text of others on a terminal."""

from rich.markup import escape

from pipelines.report.texts import visible


def plain(text: str) -> str:
    """Text of documents and models for rich: neither markup nor control characters.

    Print it with a console that has `emoji=False`: names between colons are none.
    """
    shown = escape(visible(text))
    # Of an odd number of backslashes at the end the last would make a tag behind it plain text.
    return f"{shown}\\" if (len(shown) - len(shown.rstrip("\\"))) % 2 else shown


def plain_json(text: str) -> str:
    """JSON with what `visible` would replace written as escapes: the same JSON, fit to be shown."""
    return "".join(sign if visible(sign) == sign else _escaped(sign) for sign in text)


def _escaped(sign: str) -> str:
    units = sign.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))
