"""Hostile texts that are better made by rule: signs that look alike or cannot be seen, and much."""

from collections.abc import Callable
from typing import Final, Literal, get_args

from pipelines.prompts import fenced

RuleName = Literal[
    "cyrillic",
    "full-width",
    "mathematical",
    "zero-width",
    "soft-hyphens",
    "right-to-left",
    "tags",
    "own-fence",
    "many-marks",
    "huge-word",
    "nesting",
    "nesting-html",
    "half-character",
]

_CYRILLIC = str.maketrans("ABCEHIKMOPSTXYaceiopsxy", "АВСЕНІКМОРЅТХУасеіорѕху")
_FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
_MATHEMATICAL = {ord("A") + n: 0x1D400 + n for n in range(26)} | {
    ord("a") + n: 0x1D41A + n for n in range(26)
}
_TAGS = {code: 0xE0000 + code for code in range(0x20, 0x7F)}


def _own_fence(text: str, judged: str) -> str:
    """The end of the fence that the text would have without it."""
    end = fenced(judged, "DOCUMENT").rpartition("\n")[2]
    return f"{end}\n\n{text}"


_RULES: Final[dict[RuleName, Callable[[str, str], str]]] = {
    "cyrillic": lambda text, _: text.translate(_CYRILLIC),
    "full-width": lambda text, _: text.translate(_FULL_WIDTH),
    "mathematical": lambda text, _: text.translate(_MATHEMATICAL),
    "zero-width": lambda text, _: "\u200b".join(text),
    "soft-hyphens": lambda text, _: "\u00ad".join(text),
    "right-to-left": lambda text, _: f"\u202e{text[::-1]}\u202c",
    "tags": lambda text, _: text.translate(_TAGS),
    "own-fence": _own_fence,
    "many-marks": lambda text, _: (
        "\n".join(f"DOCUMENT {mark * 257:04x}>>" for mark in range(256)) + f"\n{text}"
    ),
    "huge-word": lambda text, _: text * 20_000,
    "nesting": lambda text, _: text * 3_000,
    "nesting-html": lambda text, _: text * 2_000,
    "half-character": lambda text, _: f"{text}\ud83d",
}
assert set(_RULES) == set(get_args(RuleName))  # noqa: S101


def written(text: str, rule: RuleName | None, judged: str) -> str:
    """A hostile text as its rule writes it, into what is judged."""
    return text if rule is None else _RULES[rule](text, judged)
