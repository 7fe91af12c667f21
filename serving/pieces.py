"""Counts tokens piece by piece, so that a beginning which many prompts share is counted once."""

import math
import re
from collections.abc import Iterator
from functools import cached_property

from tokenizers import Tokenizer

PIECE = 1024
"""Least characters of a piece."""

KEPT = 16_384
"""Pieces whose counts are kept: some 16 MB of text."""

END = re.compile(r"[^\W\d_](?=[ \n])")
"""A letter with white space behind it. Tokenizers begin a new token there."""

INSIDE = re.compile(r"(?:[^\W\d_]|\ufffd)[ \n]")
"""The same within a token; a part of a character may be a letter's."""

MOST_BYTES = 33
"""UTF-8 bytes that a character may become in any Unicode normal form; a token has at least one."""


class Pieces:
    """Token counts of the texts that a tokenizer is asked for. Threads may share it."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, int] = {}

    def count(self, text: str) -> int:
        """Number of tokens of a text, without special tokens around it."""
        if not self.add_up:
            return len(self._tokenizer.encode_batch_fast([text], add_special_tokens=False)[0])
        parts, known = list(pieces(text)), self._known
        new = [part for part in dict.fromkeys(parts) if part not in known]
        encodings = self._tokenizer.encode_batch_fast(new, add_special_tokens=False)
        counts = {part: len(encoding) for part, encoding in zip(new, encodings, strict=True)}
        if len(known) + len(counts) > KEPT:
            self._known = {}  # another thread may be reading the old ones
        self._known.update(counts)
        return sum(counts[part] if part in counts else known[part] for part in parts)

    def at_most(self, text: str) -> float:
        """A number that `count` does not exceed, without counting."""
        if not self.add_up:
            return math.inf
        known = self._known
        return sum(known[part] if part in known else _most_tokens(part) for part in pieces(text))

    @cached_property
    def add_up(self) -> bool:
        """Whether the tokens of a text are those of its pieces.

        They are in byte-pair encoding if no token reaches over the end of a piece and none is added
        at the beginning of a text: so in Llama 3, Qwen, Gemma and SmolLM, not in Llama 2.
        """
        if type(self._tokenizer.model).__name__ != "BPE":
            return False
        decoder = self._tokenizer.decoder
        for token in self._tokenizer.get_vocab(with_added_tokens=True):
            # White space as byte-level and SentencePiece vocabularies write it, and plain.
            if any(token.find(space, 1) > 0 for space in "ĠĊ▁ \n"):
                plain = decoder.decode(["a", token])[1:] if decoder is not None else token
                if INSIDE.search(plain) or INSIDE.search(token):
                    return False
        return all(
            self._encode(one + other) == self._encode(one) + self._encode(other)
            for one, other in (("The river", " is long."), ("The river", "\nIt is long."))
        )

    def _encode(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)


def pieces(text: str) -> Iterator[str]:
    """The parts of a text, in order; texts that begin alike have their first parts in common."""
    start = 0
    while end := END.search(text, start + PIECE):
        yield text[start : end.end()]
        start = end.end()
    yield text[start:]


def _most_tokens(text: str) -> int:
    """More tokens than a text can have."""
    beyond_ascii = 0 if text.isascii() else len(text.encode("utf-8", "replace")) - len(text)
    return len(text) + (MOST_BYTES - 1) * beyond_ascii
