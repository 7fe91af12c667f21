"""A content-addressed store of completions: what makes a run resumable and a repeat free.

One SQLite file in WAL mode, JSON values, one commit per completion. A process killed at any moment
loses no completion that was stored. Several processes may share the file.
"""

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from serving.database import open_database
from serving.errors import ServingError

SCHEMA = """
CREATE TABLE IF NOT EXISTS completions (
    key     TEXT PRIMARY KEY,
    model   TEXT NOT NULL,
    value   TEXT NOT NULL,
    created REAL NOT NULL
) WITHOUT ROWID
"""


def completion_key(parts: Mapping[str, Any]) -> str:
    """SHA-256 over everything that decides a completion, as canonical JSON."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class CompletionCache:
    """Completions by key, in a file that is opened by `open_database`; faults are ServingErrors."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._told("opened for writing", "name another file with --cache"):
            self._database = open_database(
                path, SCHEMA, name="the cache", loss="completions will be asked again"
            )

    def get(self, key: str) -> dict[str, Any] | None:
        """The stored completion, or None."""
        value: dict[str, Any] | None = None
        with self._told("read", "move it away, or name another file with --cache"):
            query = "SELECT value FROM completions WHERE key = ?"
            if row := self._database.execute(query, (key,)).fetchone():
                value = json.loads(row[0])
        return value

    def put(self, key: str, model: str, value: Mapping[str, Any]) -> None:
        """Store a completion for good. The first one stored under a key stays.

        The model's digest goes with it, so that a user can see or drop one model's answers.
        """
        row = (key, model, json.dumps(value, ensure_ascii=False), time.time())
        remedy = (
            "free some space or name another file with --cache, then start again: nothing stored "
            "is lost"
        )
        with self._told("written", remedy), self._database:
            self._database.execute("INSERT OR IGNORE INTO completions VALUES (?, ?, ?, ?)", row)

    @contextmanager
    def _told(self, what: str, remedy: str) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error, json.JSONDecodeError) as error:
            raise ServingError(
                f"the cache {self.path} cannot be {what} ({error}); {remedy}"
            ) from error

    def __len__(self) -> int:
        """Number of stored completions."""
        (count,) = self._database.execute("SELECT COUNT(*) FROM completions").fetchone()
        return int(count)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
