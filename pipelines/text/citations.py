"""Inline citations of a text: the cited sources, their places, and the text without them."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

YEARS: Final = 1000
"""Bracketed numbers from this one on are text, not citations: "[2019]"."""

RANGE: Final = 20
"""Longest range such as "[1-3]" that counts as a citation, in sources."""

# Brackets do not contain brackets, so time is linear in the length of any text. A number may link
# to its page, whose address may contain "(x)", or to its note; other links are text.
_ADDRESS = r"(?:https?://(?:[^\s()\[\]]|\([^\s()\[\]]{0,100}\)){1,500}|#[^\s()]{0,100})"
_LINK = re.compile(rf"(?:\({_ADDRESS}(?:[ \t]\"[^\"\n]{{0,200}}\")?\))?")
# A raised number cites after a word or a stop; otherwise it is a power, as in km², sin² and 10³.
_MARK = re.compile(
    r"\\?[\[【［](?P<inside>[^\[\]【】［］\\\n]{1,200})\\?[\]】］]"
    rf"(?:{_LINK.pattern[:-1]}|(?!\())"
    r"|(?:(?<=[^\W\d_]{4}|\d{4})|(?<=[^\W\d_]{2})(?=¹)|(?<=[\s.,;:!?…\"'”’»。！？*_\]>]))"
    r"(?:(?P<raised>[⁰¹²³⁴-⁹]{1,6})(?![\w⁄⁺⁻])"
    r"|<sup>(?:<a\b[^<>\n]{0,300}>)?(?P<sup>[^<>\[\]\n]{1,100})(?:</a>)?</sup>)"
)
_NAME = re.compile(r"†[^,;&†]*")  # 【1†source】
_PARTS = re.compile(r"[,;&、]|\band\b|(?<=\d)\s+(?=\d)", re.IGNORECASE)
_NUMBER = r"(0|[1-9][0-9]{0,5})"
_SOURCE = (
    r"(?:(?:source|(?:search )?result|document|doc|reference|ref|citation|cite|passage|snippet|"
    r"chunk|context|web|quellen?|来源|文档)s?\s*[.:_-]?\s*#?|d|#|\^)?"
)
_PART = re.compile(rf"{_SOURCE}{_NUMBER}(?:\s*[-–—]\s*{_SOURCE}{_NUMBER})?\^?", re.IGNORECASE)
_AND = re.compile(r"[ \t]*(?:[,;&、]|(?:,[ \t]*)?\band\b)?[ \t]*")
_TO = re.compile(r"[ \t]*[-–—][ \t]*")
_ALONE = re.compile(
    r"(?:\((?:(?:see|cf\.?|sources?:?)[ \t]*)?|\*\*|__|\*|_|\^|\[|<sup>"
    r"|(?:(?<=[.!?…*\"”] )|(?<=\n))\*{0,2}(?-i:S)ource\*{0,2}:\*{0,2}[ \t]*)\Z",
    re.IGNORECASE,
)
_CLOSING: Final = {"(": ")", "^": "", "[": "]", "<": "</sup>", "S": ""}
# The marker of a list item, heading or quotation; what follows counts as the start of a line.
_ITEM = re.compile(r"[ \t]*(?:(?:[-*•‣◦–—>]|#{1,6}|\(?[0-9]{1,3}[.)])[ \t]+)?[*_\"“]{0,3}")
_SPACE = re.compile(r"[ \t]*")
_LEAD = re.compile(r":?[ \t]*")
# Words that may have a mark as their object. The object of "by" may be the noun that follows, and
# "in" and "from" may end a clause ("the town he lived in [1]."), so these need more evidence than
# "according to".
_ACCORDING = re.compile(r"\b(?:according[ \t]+to|as[ \t]+per)[ \t]+\Z", re.I)
_BY = re.compile(
    r"\b(?:by|per|see|(?:cited|claimed|confirmed|described|discussed|explained|found|given|listed|"
    r"mentioned|noted|reported|said|seen|shown|stated)[ \t]+in)[ \t]+\Z",
    re.I,
)
_IN = re.compile(r"\b(?:in|from)[ \t]+\Z", re.I)
_NO_NOUN = re.compile(r"[ \t]*(?:[.,;:!?)\n]|\Z|(?:and|or|but|while|whereas|for)\b)")
_COMMA = re.compile(r"[ \t]*[,:]")
_STOPPED = re.compile(r"[.!?…][\"'”’»)*_]*\Z")

# Lists of sources. Below a title are entries, or lines without marks or headings to the end.
_TITLE = (
    r"^[ \t]*(?:#{1,6}[ \t]+)?[*_]{0,3}(?:list of |cited )?(?:sources|references|citations|fonti|"
    r"works cited|bibliography|footnotes|quellen(?:angaben|verzeichnis)?|literaturverzeichnis|"
    r"références|fuentes|referencias|fontes|источники|参考文献|来源|出典|출처)"
    r"(?: (?:cited|used))?[*_]{0,3}[ \t]*"
)
_HEADING = r"[ \t]*(?:#|\*\*)"
_ENTRY = r"[ \t]*(?:[-*•‣–—+|][ \t]|[*_]{0,3}(?:\(?\d{1,3}[.)]|\\?[\[【［]|[⁰¹²³⁴-⁹]|<?http|<sup))"
_LIST = re.compile(
    rf"{_TITLE}[:：]?[*_]{{0,3}}[ \t]*$"
    rf"(?:(?>(?:\s*\n{_ENTRY}.*(?:\n(?!{_HEADING})[ \t]*\S.*)*)+)"
    rf"|(?>(?:\n(?!{_HEADING}|.*[\[【［]\d).*)*)\Z)"
    rf"|(?:{_TITLE}|(?<=[.!?…] )(?-i:Sources))[:：][*_]{{0,3}}+[ \t]*+\S.*$(?:\n{_ENTRY}.*)*"
    r"|^[*_]{0,3}(?:source|reference|quelle)[*_]{0,3}[:：][*_]{0,3}[ \t]*[^\s\[【［\\*_].*$"
    r"|^[ \t]*\[\^[^\[\]\n]{1,50}\]:.*$(?:\n[ \t]{2,}\S.*)*"  # a footnote
    r"|^[ \t]*\\?\[\d{1,3}\\?\]:?[ \t]+<?https?://\S*[ \t]*$",  # an address
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True)
class _Mark:
    """Citations side by side: `text[start:end]` names the sources `numbers`, some perhaps twice."""

    start: int
    end: int
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class Cut:
    """The part of a text that is removed with a mark: `text[start:end]`, replaced by `glue`.

    The numbers are the mark's. The mark may belong to the text after it (`follows`), and may be the
    subject of a sentence, before its verb (`subject`).
    """

    start: int
    end: int
    glue: str
    numbers: tuple[int, ...]
    follows: bool = False
    subject: bool = False


def without_marks(text: str) -> str:
    """A text without its citations and lists of sources; see `cuts`."""
    bare = without_lists(text)
    return cut_out(bare, cuts(bare, numbered=False))[0]


def without_lists(text: str) -> str:
    """A text without its lists of sources, whose entries do not count as sentences."""
    return _LIST.sub("", text)


def cut_out(text: str, cuts: Iterable[Cut]) -> tuple[str, list[int], list[int]]:
    """The text without marks, their places in it, and those of verbs that had one as subject."""
    parts: list[str] = []
    places: list[int] = []
    subjects: list[int] = []
    length = end = 0
    for cut in cuts:
        parts += [text[end : cut.start], cut.glue]
        places.append(length + cut.start - end)
        length = places[-1] + len(cut.glue)
        end = cut.end
        if cut.subject:
            subjects.append(length)
    return "".join([*parts, text[end:]]), places, subjects


def cuts(text: str, *, numbered: bool = True) -> Iterator[Cut]:
    """The cuts that remove marks and keep the spacing right."""
    end = 0
    for mark in _marks(text):
        before = text[end : mark.start]
        line = before[before.rfind("\n") + 1 :]
        begins = (end == 0 or "\n" in before) and _ITEM.fullmatch(line) is not None
        after = _end(_SPACE, text, mark.end)
        follows = text[after : after + 1]
        if begins and follows not in {"", "\n"} and follows not in ".,;!?)":
            cut = Cut(mark.start, _end(_LEAD, text, mark.end), "", mark.numbers, follows=True)
        elif _is_object(before[-40:], text, mark.end):
            noun = _noun(mark.numbers, numbered) + " " * text[mark.end : mark.end + 1].isalnum()
            cut = Cut(mark.start, mark.end, noun, mark.numbers)
        else:
            before = before.rstrip() if begins else before.rstrip(" \t")
            stopped = _STOPPED.search(before[-8:]) is not None
            subject = stopped and follows.islower()
            glue = ""
            if follows == "." and stopped:
                after += 1  # "It opened. [1]." has one full stop too many
            elif follows.isalnum() or (after > mark.end and follows not in ".,;:!?)…\n"):
                glue = " "
            cut = Cut(end + len(before), after, glue, mark.numbers, subject, subject)
        yield cut
        end = cut.end


def _is_object(before: str, text: str, end: int) -> bool:
    """Whether a mark that ends there is the object of a preposition."""
    return (
        _ACCORDING.search(before) is not None
        or (_BY.search(before) is not None and _NO_NOUN.match(text, end) is not None)
        or (_IN.search(before) is not None and _COMMA.match(text, end) is not None)
    )


def _noun(numbers: Sequence[int], numbered: bool) -> str:
    """A noun in place of a mark: "source 2", "sources 1, 2 and 3"."""
    *others, last = map(str, dict.fromkeys(numbers))
    name = "sources" if others else "source"
    if not numbered:
        return f"the {name}"
    return f"{name} {', '.join(others)} and {last}" if others else f"{name} {last}"


def _end(pattern: re.Pattern[str], text: str, place: int) -> int:
    """The end of a pattern, possibly empty, matched at a place."""
    found = pattern.match(text, place)
    return found.end() if found else place


def _marks(text: str) -> Iterator[_Mark]:
    """Citations in order; adjacent ones become one."""
    start = end = 0
    numbers: list[int] = []
    for match in _MARK.finditer(text):
        named = _numbers(match[match.lastgroup or 0])
        if not named:
            continue
        from_, to = _decorated(text, *match.span())
        between = text[end:from_]
        span = _range(numbers[-1], named[0]) if numbers and _TO.fullmatch(between) else range(0)
        if span:
            numbers += [*span[1:], *named[1:]]
        elif numbers and _AND.fullmatch(between):
            numbers += named
        else:
            if numbers:
                yield _Mark(*_decorated(text, start, end), tuple(numbers))
            start, numbers = from_, named
        end = to
    if numbers:
        yield _Mark(*_decorated(text, start, end), tuple(numbers))


def _decorated(text: str, start: int, end: int) -> tuple[int, int]:
    """A mark with its decoration: "(see [1])", "**[1]**", "[[1]](https://a.example)"."""
    opening = _ALONE.search(text[max(0, start - 16) : start])
    if opening is None:
        return start, end
    sign = opening.group()
    closing = _CLOSING.get(sign.lstrip("*")[:1], sign)
    if not text.startswith(closing, end):
        return start, end
    end += len(closing)
    return start - len(sign), _end(_LINK, text, end) if closing == "]" else end


def _numbers(inside: str) -> list[int]:
    """The numbers within brackets; empty if the brackets hold anything else."""
    numbers: list[int] = []
    for part in _PARTS.split(_NAME.sub("", unicodedata.normalize("NFKC", inside))):
        found = _PART.fullmatch(part.strip())
        span = _range(int(found[1]), int(found[2] or found[1])) if found else range(0)
        if not span or span[-1] >= YEARS:
            return []
        numbers += span
    return numbers


def _range(first: int, last: int) -> range:
    """The numbers of a range; empty if it is not a range, or is too long."""
    return range(first, last + 1) if last - first < RANGE else range(0)
