"""A content-addressed store of completions: it makes a run resumable and a repeat free.

One SQLite file in WAL mode, JSON values. A thread writes new completions at most every 20 ms, so no
reply waits for the disk. A process that is killed loses only the completions of its last 20 ms;
they are requested again. Several processes may share the file.
"""

import hashlib
import json
import os
import sqlite3
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from serving.errors import ServingError

SCHEMA = """
CREATE TABLE IF NOT EXISTS completions (
    key     TEXT PRIMARY KEY,
    model   TEXT NOT NULL,
    value   TEXT NOT NULL,
    created REAL NOT NULL
) WITHOUT ROWID
"""

CHECKED_BYTES = 256 * 2**20
"""Files up to this size are checked in full when opened, which takes well under a second."""

PAUSE_S = 0.02
"""Pause between commits. A commit costs as much as storing several completions."""


def completion_key(parts: Mapping[str, Any]) -> str:
    """SHA-256 over everything that decides a completion, as canonical JSON."""
    ordered = _ordered(dict(parts))
    try:
        data = to_json(ordered)  # several times as fast as json, which matters with long prompts
    except PydanticSerializationError:  # half a surrogate pair
        text = json.dumps(ordered, ensure_ascii=False, separators=(",", ":"))
        data = text.encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()


class CompletionCache(AbstractContextManager["CompletionCache"]):
    """Completions by key, in a file opened by `open_database`; faults are ServingErrors.

    A failed write is reported by the next `put`, `flush` or `close`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._told("opened for writing", "name another file with --cache"):
            self._database = open_database(
                path, SCHEMA, name="the cache", loss="completions will be requested again"
            )
            self._written_by_thread = sqlite3.connect(path, timeout=60, check_same_thread=False)
            self._written_by_thread.execute("PRAGMA synchronous = NORMAL")
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="completions")
        self._lock = Lock()
        self._unwritten: dict[str, tuple[str, str, str, float]] = {}
        self._will_write = False
        self._failure: ServingError | None = None

    def get(self, key: str) -> dict[str, Any] | None:
        """The stored completion, or None."""
        value: dict[str, Any] | None = None
        with self._told("read", "move it away, or name another file with --cache"):
            query = "SELECT value FROM completions WHERE key = ?"
            # Looked up before the file, as the thread may move it from here to the file meanwhile.
            unwritten = self._unwritten.get(key)
            # A completion in the file was stored first, so it wins.
            if row := self._database.execute(query, (key,)).fetchone():
                value = json.loads(row[0])
            elif unwritten:
                value = json.loads(unwritten[2])
        return value

    def drop(self, key: str) -> None:
        """Remove an unusable completion, so that the next one is stored."""
        with self._told("written", "name another file with --cache"), self._database:
            self._database.execute("DELETE FROM completions WHERE key = ?", (key,))

    def put(self, key: str, model: str, value: Mapping[str, Any]) -> None:
        """Store a completion for good. The first one stored under a key stays.

        The model's digest is stored with it, so that a user can list or drop a model's answers.
        """
        row = (key, model, json.dumps(value, ensure_ascii=False), time.time())
        with self._lock:
            self._unwritten.setdefault(key, row)
            if not self._will_write:
                self._will_write = True
                self._thread.submit(self._write_and_pause)
        self._tell_failure()

    def flush(self) -> None:
        """Wait until everything stored so far is in the file."""
        self._thread.submit(self._write).result()
        self._tell_failure()

    def _write_and_pause(self) -> None:
        self._write()
        time.sleep(PAUSE_S)

    def _write(self) -> None:
        with self._lock:
            self._will_write = False
            rows = list(self._unwritten.values())
        if not rows:
            return
        remedy = (
            "free some space or name another file with --cache, then start again: nothing stored "
            "is lost"
        )
        insert = "INSERT OR IGNORE INTO completions VALUES (?, ?, ?, ?)"
        try:
            with self._told("written", remedy), self._written_by_thread:
                self._written_by_thread.executemany(insert, rows)
        except ServingError as error:
            self._failure = error
            return
        for row in rows:
            del self._unwritten[row[0]]

    def _tell_failure(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    @contextmanager
    def _told(self, what: str, remedy: str) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error, ValueError, RecursionError) as error:
            raise ServingError(
                f"the cache {self.path} cannot be {what} ({error}); {remedy}"
            ) from error

    def close(self) -> None:
        """Write the rest and close the file."""
        try:
            self.flush()
        finally:
            self._thread.shutdown()
            self._written_by_thread.close()
            self._database.close()

    def __exit__(self, *_: object) -> None:
        self.close()


def _ordered(value: Any) -> Any:
    """The value with the keys of every mapping sorted."""
    if isinstance(value, dict):
        return {name: _ordered(value[name]) for name in sorted(value)}
    return [_ordered(item) for item in value] if isinstance(value, list | tuple) else value


def open_database(path: Path, schema: str, *, name: str, loss: str) -> sqlite3.Connection:
    """Open a file in WAL mode, created if missing; several processes may share it.

    Only the user can read a new file and the files that SQLite creates beside it. A file that
    SQLite cannot read is renamed to `NAME.damaged-TIME` and replaced by a new one, with a message
    on standard error that gives its `name` ("the cache") and the `loss`. The `schema` is a
    statement that creates the table if missing.

    Raises:
        OSError: The folder cannot be written.
        sqlite3.OperationalError: The file cannot be opened or written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return _open(path, schema)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        renamed = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
        path.rename(renamed)
        for leftover in (f"{path.name}-wal", f"{path.name}-shm"):
            path.with_name(leftover).unlink(missing_ok=True)
        print(
            f"contested: {name} {path} is damaged ({error}); it was renamed to {renamed.name} "
            f"and a new one created, so {loss}",
            file=sys.stderr,
        )
        return _open(path, schema)


def _open(path: Path, schema: str) -> sqlite3.Connection:
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    # In WAL mode with NORMAL a commit survives the death of the process; only a power cut can
    # undo the last few.
    database = sqlite3.connect(path, timeout=60)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute(schema)
        if path.stat().st_size <= CHECKED_BYTES:
            (verdict,) = database.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise sqlite3.DatabaseError(verdict)
    except sqlite3.Error:
        database.close()
        raise
    return database
