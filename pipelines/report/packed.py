"""The examples of a page as data inside it: small, and read only when one is wanted.

Everything is JSON in chunks, deflated and in base64. A long text stands in the page once, however
many examples hold it. A page reads the list of an experiment when it opens, and the chunk of an
example with the texts that it refers to when a reader opens it (`assets/data.js`).
"""

import base64
import json
import zlib
from collections.abc import Iterable
from typing import Any

from pipelines.report.template import made_visible
from pipelines.report.texts import visible

LONG = 60
"""Characters from which on a text is stored once and referred to by `{"$": number}`."""

CHUNK = 256_000
"""Characters of JSON from which on a chunk is closed: about 5 ms to read."""


class Packed:
    """Collects values; `elements` then holds what goes into the page, by element id."""

    def __init__(self) -> None:
        self.elements: dict[str, str] = {}
        self.starts: list[int] = []
        """Number of the first text of each chunk of texts, whose ids are "texts-0" and so on."""
        self._numbers: dict[str, int] = {}
        self._open: list[str] = []
        self._size = 0

    def put(self, name: str, value: Any) -> None:
        """Adds a value under an element id as it is, texts included."""
        self.elements[name] = _deflated(_json(made_visible(value)))

    def put_all(self, name: str, values: Iterable[Any]) -> list[int]:
        """Adds values in chunks "NAME-0", "NAME-1" and so on, their long texts stored apart.

        Returns the position of the first value of each chunk.
        """
        starts: list[int] = []
        chunk: list[str] = []
        size = 0

        def close() -> None:
            self.elements[f"{name}-{len(starts) - 1}"] = _deflated(f"[{','.join(chunk)}]")

        for place, value in enumerate(values):
            if not chunk:
                starts.append(place)
            chunk.append(_json(self._referring(value)))
            size += len(chunk[-1])
            if size > CHUNK:
                close()
                chunk, size = [], 0
        if chunk:
            close()
        return starts

    def finish(self) -> None:
        """Closes the last chunk of texts."""
        if self._open:
            self.elements[f"texts-{len(self.starts) - 1}"] = _deflated(_json(self._open))
            self._open, self._size = [], 0

    def _referring(self, value: Any) -> Any:
        if isinstance(value, str):
            return visible(value) if len(value) < LONG else {"$": self._number(value)}
        if isinstance(value, dict):
            return {key: self._referring(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self._referring(each) for each in value]
        return value

    def _number(self, text: str) -> int:
        if text not in self._numbers:
            if not self._open:
                self.starts.append(len(self._numbers))
            self._numbers[text] = len(self._numbers)
            self._open.append(visible(text))
            self._size += len(text)
            if self._size > CHUNK:
                self.finish()
        return self._numbers[text]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _deflated(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode())).decode()
