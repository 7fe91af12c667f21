"""A content-addressed store of completions: what makes a run resumable and a repeat free.

One SQLite file in WAL mode, JSON values, one commit per completion. A process killed at any moment
loses no completion that was stored. Several processes may share the file.
"""

import hashlib
import json
import sqlite3
import time
from collections.abc import Mapping
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
    """Completions by key, in a file that is opened by `database.open_database`.

    Raises:
        ServingError: The folder or file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._database = open_database(
                path, SCHEMA, name="the cache", loss="completions will be asked again"
            )
        except (OSError, sqlite3.OperationalError) as error:
            raise ServingError(
                f"the cache {path} cannot be opened for writing ({error}); "
                "name another file with --cache"
            ) from error

    def get(self, key: str) -> dict[str, Any] | None:
        """The stored completion, or None.

        Raises:
            ServingError: The file cannot be read: it is another program's, or damaged.
        """
        try:
            row = self._database.execute(
                "SELECT value FROM completions WHERE key = ?", (key,)
            ).fetchone()
            value: dict[str, Any] | None = json.loads(row[0]) if row is not None else None
        except (sqlite3.Error, ValueError) as error:
            raise ServingError(
                f"the cache {self.path} cannot be read ({error}); move it away, or name another "
                "file with --cache"
            ) from error
        return value

    def put(self, key: str, model: str, value: Mapping[str, Any]) -> None:
        """Store a completion for good. The first one stored under a key stays.

        The model's digest goes with it, so that a user can see or drop one model's answers.

        Raises:
            ServingError: The disk is full or the file can no longer be written.
        """
        try:
            with self._database:
                self._database.execute(
                    "INSERT OR IGNORE INTO completions VALUES (?, ?, ?, ?)",
                    (key, model, json.dumps(value, ensure_ascii=False), time.time()),
                )
        except sqlite3.Error as error:
            raise ServingError(
                f"the cache {self.path} cannot be written ({error}); free some space or name "
                "another file with --cache, then start again: nothing stored is lost"
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
