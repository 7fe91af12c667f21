"""Judgements, stored once per (claim, document, judge) and shared by all experiments.

One SQLite file in WAL mode, JSON values, one commit per call of a judge. Several processes may
share the file. A user may open it: `sqlite3 judgements.sqlite 'SELECT judge, COUNT(*) ...'`.
"""

import hashlib
import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ValidationError

from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.judge.judgement import Judgement, Judgements, Relation, Truncation
from pipelines.judge.model import ModelJudge
from pipelines.judge.protocol import ClaimAndDocument, Judge, label_pairs
from serving.cache import open_database
from serving.home import default_home

SCHEMA = """
CREATE TABLE IF NOT EXISTS judgements (
    key      TEXT PRIMARY KEY,
    judge TEXT NOT NULL,
    value    TEXT NOT NULL,
    created  REAL NOT NULL
) WITHOUT ROWID
"""


def default_store(cache: Path | None = None) -> Path:
    """Path of the judgements: `judgements.sqlite` in the home of this program.

    If the user named a completion store (`cache`), judgements are beside it, so that another
    cache starts empty.
    """
    if cache is None:
        return default_home() / "judgements.sqlite"
    return cache.with_name(f"{cache.stem}-judgements.sqlite")


def judgement_key(claim: str, text: str, identity: str) -> str:
    """SHA-256 over what decides a judgement: claim, document as read, judge's identity.

    The document's id is not part of it.
    """
    parts = json.dumps([claim, text, identity], ensure_ascii=False)
    return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()


class StoredJudgement(BaseModel, frozen=True):
    """A stored pair: its judgement, and how its document was cut."""

    judgement: Judgement
    truncation: Truncation | None = None


class JudgementStore:
    """Judgements by key, in a database file that is created if missing.

    A file that SQLite cannot read is set aside as `NAME.damaged-TIME`, with a message on standard
    error.

    Raises:
        InputError: The folder or file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        name, loss = "the store of judgements", "pairs will be judged again"
        try:
            self._database = open_database(path, SCHEMA, name=name, loss=loss)
        except (OSError, sqlite3.OperationalError) as error:
            raise InputError(
                f"the store of judgements {path} cannot be opened for writing ({error}); set "
                "CONTESTED_HOME to a folder that can be written, or name a file with --cache"
            ) from error

    def get(self, key: str) -> StoredJudgement | None:
        """The stored pair of a key, or None.

        A row that cannot be read is deleted, so that the judgement made in its place is stored.
        """
        try:
            row = self._database.execute(
                "SELECT value FROM judgements WHERE key = ?", (key,)
            ).fetchone()
            if row is None:
                return None
            try:
                return StoredJudgement.model_validate_json(row[0])
            except ValidationError:
                with self._database:
                    self._database.execute(
                        "DELETE FROM judgements WHERE key = ? AND value = ?", (key, row[0])
                    )
                return None
        except sqlite3.Error as error:
            raise InputError(
                f"the store of judgements {self.path} cannot be read "
                f"({str(error).splitlines()[0]}); move it away, and a new one is made"
            ) from error

    def put(self, judge: str, kept: Mapping[str, StoredJudgement]) -> None:
        """Store judgements under their keys, all or none. The first judgement of a key stays.

        The judge's identity is stored with them, so that a user can list or delete a judge's
        judgements.
        """
        rows = [
            (key, judge, judgement.model_dump_json(exclude_none=True), time.time())
            for key, judgement in kept.items()
        ]
        try:
            with self._database:
                self._database.executemany(
                    "INSERT OR IGNORE INTO judgements VALUES (?, ?, ?, ?)", rows
                )
        except sqlite3.Error as error:
            raise InputError(
                f"the store of judgements {self.path} cannot be written ({error}); free some "
                "space, then start again: nothing stored is lost"
            ) from error

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class StoredJudge:
    """A judge that is asked only for pairs that are not in the store; see `stored`.

    It counts hits and pairs asked for; pairs of equal text count once.
    """

    def __init__(self, judge: Judge, store: JudgementStore) -> None:
        self._judge = judge
        self._store = store
        self.found = 0
        self.asked = 0

    @property
    def identity(self) -> str:
        """The inner judge's identity: the store changes no judgement."""
        return self._judge.identity

    async def __call__(self, claims: Sequence[str], documents: Sequence[Document]) -> Judgements:
        """One judgement per (claim, document), ordered by claim, then document.

        Pairs of equal text (a document given twice, a claim repeated) are judged once.
        """
        wanted = [(claim, document) for document in documents for claim in claims]
        keys = {
            (claim, document.id): judgement_key(claim, document.as_read(), self.identity)
            for claim, document in wanted
        }
        known = {
            key: judgement for key in set(keys.values()) if (judgement := self._store.get(key))
        }
        missing: dict[str, ClaimAndDocument] = {}
        for claim, document in wanted:
            if (key := keys[claim, document.id]) not in known:
                missing.setdefault(key, (claim, document))
        kept = known | await self._ask(missing)
        self.asked += len(missing)
        self.found += len(known)
        judgements = tuple(
            kept[keys[claim, document.id]].judgement.model_copy(
                update={"claim": claim, "document": document.id}
            )
            for claim in claims
            for document in documents
        )
        truncations = []
        for document in documents:
            of_document = (kept[keys[claim, document.id]].truncation for claim in claims)
            if cuts := [cut for cut in of_document if cut]:
                # Calls at different times may have left different room; the shortest cut counts.
                least = min(cuts, key=lambda cut: cut.kept)
                truncations.append(least.model_copy(update={"text": f"document {document.id}"}))
        return Judgements(judgements, tuple(truncations))

    async def _ask(self, missing: Mapping[str, ClaimAndDocument]) -> dict[str, StoredJudgement]:
        """The judge's answers for pairs, by key; stored for the next time."""
        judged, cut = await label_pairs(self._judge, list(missing.values()))
        fresh = {
            key: StoredJudgement(
                judgement=judged[claim, document.id], truncation=cut.get(document.id)
            )
            for key, (claim, document) in missing.items()
        }
        # An unreadable reply is not a judgement: a later version may be able to read it. The cache
        # of completions keeps it, so the same model is never asked for it again.
        readable = {
            key: answer
            for key, answer in fresh.items()
            if answer.judgement.relation is not Relation.INVALID
        }
        self._store.put(self.identity, readable)
        return fresh


def stored(judge: Judge, store: JudgementStore | None) -> Judge:
    """The judge, asked only for what the store lacks.

    A judge that reads all documents together is returned unchanged: what it says of one document
    depends on the others. Its replies are still in the cache of completions. Without a store
    nothing is kept.
    """
    joint = isinstance(judge, ModelJudge) and judge.mode == "together"
    return judge if store is None or joint else StoredJudge(judge, store)
