"""The text of an HTML page, in time linear in its length.

As in a browser, a tag or a comment without an end takes the rest of the page with it.
"""

import re
from collections import Counter
from html import unescape

UNREAD = {"script", "style", "template", "noscript", "svg", "math", "iframe", "object", "select"}
RAW = {"script", "style", "textarea", "title"}
"""Elements in which nothing but their own end is markup."""

INLINE = {
    *("a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "dfn", "em", "font", "i", "ins"),
    *("kbd", "mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "u", "var"),
}

# Possessive, or with one way on alone: no part is read twice.
_PART = re.compile(
    r"""<!--(?:-?>|.*?-->|.*\Z)"""
    r"""|<(?P<end>/?)(?P<tag>[a-zA-Z][^\s/>]*+)"""
    r"""(?P<rest>(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+)(?:>|\Z)"""
    r"""|<[!?/][^>]*+>?"""
    r"""|(?P<text>[^<]++|<)""",
    re.DOTALL,
)
_LONG_NUMBER = re.compile(r"&#(?:[0-9]{8,}+|[xX][0-9a-fA-F]{8,}+);?")


def html_text(page: str) -> str:
    """What a page shows: its title and its text, blocks on lines of their own."""
    pieces: list[str] = []
    unread: list[str] = []
    count: Counter[str] = Counter()
    place = 0
    while part := _PART.match(page, place):
        place, text = part.end(), part["text"]
        if part["tag"]:
            tag, opens = part["tag"].lower(), not (part["end"] or part["rest"].endswith("/"))
            if opens and tag in UNREAD:
                unread.append(tag)
                count[tag] += 1
            elif part["end"] and count[tag]:
                while (left := unread.pop()) != tag:  # what stands open within it ends, too
                    count[left] -= 1
                count[tag] -= 1
            pieces.append(_between(tag))
            if opens and tag in RAW:
                end = re.compile(rf"</{tag}(?=[\s/>])|\Z", re.IGNORECASE).search(page, place)
                place, text = (end.start(), page[place : end.start()]) if end else (place, "")
        if text and not unread:
            # White space of the source is no line of the page.
            pieces.append(re.sub(r"\s+", " ", unescape(_LONG_NUMBER.sub("\ufffd", text))))
    lines = (" ".join(line.split()) for line in "".join(pieces).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _between(tag: str) -> str:
    """What parts the texts before and after a tag."""
    if tag in {"td", "th"}:
        return " "
    if tag in INLINE:
        return ""
    return "\n" if tag in {"br", "li", "tr"} else "\n\n"
