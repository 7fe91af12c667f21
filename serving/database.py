"""The SQLite files that keep what was paid for: opened, checked, and set aside when damaged."""

import os
import sqlite3
import sys
import time
from pathlib import Path

CHECKED_BYTES = 256 * 2**20
"""Files up to this size are checked whole when they are opened, which takes well under a second."""


def open_database(path: Path, schema: str, *, name: str, loss: str) -> sqlite3.Connection:
    """Open a file in WAL mode, made where it does not exist; several processes may share it.

    A new file can be read by its user alone, and so can those that SQLite makes beside it. A file
    that SQLite cannot read is set aside as `NAME.damaged-TIME`, with a message on standard
    error that says what the file is ("the cache") and what losing it means; a new one is begun.
    The `schema` is a statement that makes its table where there is none.

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
        aside = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
        path.rename(aside)
        for leftover in (f"{path.name}-wal", f"{path.name}-shm"):
            path.with_name(leftover).unlink(missing_ok=True)
        print(
            f"contested: {name} {path} is damaged ({error}); it was set aside as {aside.name} "
            f"and a new one begun, so {loss}",
            file=sys.stderr,
        )
        return _open(path, schema)


def open_for_a_thread(path: Path) -> sqlite3.Connection:
    """Another connection to a file that `open_database` has opened, for a thread to write."""
    database = sqlite3.connect(path, timeout=60, check_same_thread=False)
    database.execute("PRAGMA synchronous = NORMAL")
    return database


def _open(path: Path, schema: str) -> sqlite3.Connection:
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    # In WAL mode with NORMAL a commit survives the death of the process; only a power cut can take
    # back the last few.
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
