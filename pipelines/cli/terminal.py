"""Text of others on a terminal."""

from rich.markup import escape

from pipelines.report.text import visible


def plain(text: str) -> str:
    """Text of documents and models for rich: neither markup nor control characters.

    Print it with a console that has `emoji=False`: names between colons are none.
    """
    return escape(visible(text))
