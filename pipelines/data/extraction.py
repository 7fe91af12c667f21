"""Extracts the text of HTML and PDF in a separate process.

Its time and memory are limited, because a hostile file may try to use up both.

    python -m pipelines.data.extraction html|pdf < FILE > TEXT
"""

import io
import os
import re
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from html import unescape

from pipelines.errors import InputError
from serving.offline import module_path

UNREAD = {"script", "style", "template", "noscript", "svg", "math", "iframe", "object", "select"}
RAW = {"script", "style", "textarea", "title"}
"""Elements whose content is not markup, up to their end tag."""

INLINE = {
    *("a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "dfn", "em", "font", "i", "ins"),
    *("kbd", "mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "u", "var"),
}

# Possessive or unambiguous, so that matching never backtracks.
_PART = re.compile(
    r"""<!--(?:-?>|.*?-->|.*\Z)"""
    r"""|<(?P<end>/?)(?P<tag>[a-zA-Z][^\s/>]*+)"""
    r"""(?P<rest>(?>(?:[^>=]++|=\s*+(?>(?:"[^"]*+"|'[^']*+')?))*))(?:>|\Z)"""
    r"""|<[!?/][^>]*+>?"""
    r"""|(?P<text>[^<]++|<)""",
    re.DOTALL,
)
_LONG_NUMBER = re.compile(r"&#(?:[0-9]{8,}+|[xX][0-9a-fA-F]{8,}+);?")


def html_text(page: str) -> str:
    """The visible text of a page: its title and its text, one block per line."""
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
                while (left := unread.pop()) != tag:  # elements open inside it end too
                    count[left] -= 1
                count[tag] -= 1
            pieces.append(_between(tag))
            if opens and tag in RAW:
                end = re.compile(rf"</{tag}(?=[\s/>])|\Z", re.IGNORECASE).search(page, place)
                place, text = (end.start(), page[place : end.start()]) if end else (place, "")
        if text and not unread:
            # White space in the source does not break lines on the page.
            pieces.append(re.sub(r"\s+", " ", unescape(_LONG_NUMBER.sub("\ufffd", text))))
    lines = (" ".join(line.split()) for line in "".join(pieces).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _between(tag: str) -> str:
    """The separator that a tag puts between the texts around it."""
    if tag in {"td", "th"}:
        return " "
    if tag in INLINE:
        return ""
    return "\n" if tag in {"br", "li", "tr"} else "\n\n"


SECONDS = 30
"""Seconds after which extraction gives up."""

CPU_SECONDS, MEMORY, OUTPUT = 25, 1 << 30, 1 << 26
"""Limits of the process: seconds of CPU, and bytes of memory and of the text written."""


Started = Callable[["subprocess.Popen[bytes]"], object]
"""Gets the process, to kill it once nobody is waiting for the text."""


def extracted(name: str, kind: str, data: bytes, started: Started = lambda _: None) -> str:
    """The text of the file `name`, given its bytes; its kind is "html" or "pdf".

    Raises:
        InputError: The file is damaged, or takes too long or too much memory.
    """
    with subprocess.Popen(  # noqa: S603  our own module; -P ignores the working directory
        [sys.executable, "-P", "-m", "pipelines.data.extraction", kind],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | module_path(),
    ) as process:
        started(process)
        try:
            text, messages = process.communicate(data, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise InputError(
                f"{name} takes longer than {SECONDS} seconds to read; save its text instead"
            ) from None
        finally:
            process.kill()
    if process.returncode:
        lines = messages.decode("utf-8", "replace").strip().splitlines()
        why = lines[-1] if lines else "it exceeds the limit on time or memory"
        raise InputError(f"{name} cannot be read as {kind.upper()} ({why}); save its text instead")
    return text.decode("utf-8", "replace").replace("\0", "")


def main(kind: str) -> int:
    """0, or 1 with the reason in one line on standard error."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        text = _TEXT_OF[kind](sys.stdin.buffer.read()).encode("utf-8", "replace")
        if len(text) > OUTPUT:
            raise ValueError(f"its text has more than {OUTPUT >> 20} MB")
    except Exception as error:  # a damaged file raises anything
        print(" ".join(f"{error or type(error).__name__}".split())[:200], file=sys.stderr)
        return 1
    sys.stdout.buffer.write(text)
    return 0


def _of_html(data: bytes) -> str:
    return html_text(data.decode("utf-8"))


def _of_pdf(data: bytes) -> str:
    import logging

    try:
        import pypdf
    except ImportError as error:
        raise ValueError("pypdf is not installed") from error
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    return "\n\n".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(data)).pages)


_TEXT_OF = {"html": _of_html, "pdf": _of_pdf}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
