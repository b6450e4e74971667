"""Results of models on disk, under the hash of what they were computed from.

One SQLite file; any number of processes may use it at once. Every entry carries a checksum: a damaged one is computed
anew. A damaged file is replaced. The size is bounded: what was not used for the longest time goes first.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

_SCHEMA = """
CREATE TABLE IF NOT EXISTS results (
    key BLOB PRIMARY KEY, checksum BLOB NOT NULL, used INTEGER NOT NULL, value BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS results_used ON results (used);
"""
_VERSION = 1
_WAIT_S = 30.0
_KEPT_RATIO = 0.8
_CHECK_EVERY_BYTES = 16 * 2**20
_QUESTION_MARKS = 500
_DAMAGED = ("no such", "Could not decode")
"""Beginnings of operational errors that a new file mends; others, such as a full disk, it would not."""


def cache_key(*parts: str | None) -> bytes:
    """The hash of some texts; no two different lists of parts share one."""
    digest = hashlib.sha256()
    for part in parts:
        data = b"" if part is None else part.encode("utf-8", "surrogatepass")
        digest.update(b"-" if part is None else b"%d:" % len(data))
        digest.update(data)
    return digest.digest()


class ResultCache:
    """Bytes by key, kept across runs.

    A cache that cannot be used (a full disk, a folder that cannot be written) costs time, not results: ``problem``
    says what is wrong, and nothing is found or kept.

    Args:
        path: of the file; made if missing.
        max_bytes: the values together take no more than this, give or take 16 MiB or an eighth per process.
    """

    def __init__(self, path: Path, max_bytes: int = 2 * 2**30) -> None:
        self.path = path
        self.max_bytes = max_bytes
        self.problem: str | None = None
        self._lock = threading.Lock()
        self._unchecked = _CHECK_EVERY_BYTES
        self._connection: sqlite3.Connection | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._open()
        except sqlite3.OperationalError as error:
            self._give_up(error)
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            self._replace()
        except OSError as error:
            self._give_up(error)

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values that are there and whole."""
        found: dict[bytes, bytes] = {}
        damaged: list[bytes] = []
        with self._lock:
            try:
                for key, checksum, value in self._select(keys):
                    if isinstance(value, bytes) and hashlib.sha256(value).digest()[:8] == checksum:
                        found[key] = value
                    else:
                        damaged.append(key)
                self._run("DELETE FROM results WHERE key = ?", [(key,) for key in damaged])
                self._run("UPDATE results SET used = ? WHERE key = ?", [(_now(), key) for key in found])
            except sqlite3.Error as error:
                self._recover(error)
        return found

    def put_many(self, values: Mapping[bytes, bytes]) -> None:
        """Keep values; equal keys are overwritten."""
        rows = [(key, hashlib.sha256(value).digest()[:8], _now(), value) for key, value in values.items()]
        with self._lock:
            try:
                self._run("INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)", rows)
                self._unchecked += sum(map(len, values.values()))
                if self._unchecked >= min(_CHECK_EVERY_BYTES, self.max_bytes / 8):
                    self._unchecked = 0
                    self._shrink()
            except sqlite3.Error as error:
                self._recover(error)

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _open(self) -> None:
        self._connection = sqlite3.connect(self.path, timeout=_WAIT_S, check_same_thread=False, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        if self._connection.execute("PRAGMA user_version").fetchone()[0] not in (0, _VERSION):
            raise sqlite3.DatabaseError("another version")
        self._connection.executescript(_SCHEMA)
        self._connection.execute(f"PRAGMA user_version={_VERSION}")

    def _select(self, keys: Sequence[bytes]) -> Iterable[tuple[bytes, bytes, bytes]]:
        if self._connection is None:
            return
        for start in range(0, len(keys), _QUESTION_MARKS):
            part = keys[start : start + _QUESTION_MARKS]
            marks = ",".join("?" * len(part))
            statement = f"SELECT key, checksum, value FROM results WHERE key IN ({marks})"  # noqa: S608
            yield from self._connection.execute(statement, part)

    def _run(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        if self._connection is None or not rows:
            return
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            self._connection.executemany(statement, rows)
            self._connection.execute("COMMIT")
        except sqlite3.Error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def _shrink(self) -> None:
        if self._connection is None:
            return
        size = self._connection.execute("SELECT coalesce(sum(length(value)), 0) FROM results").fetchone()[0]
        if size <= self.max_bytes:
            return
        surplus = size - int(self.max_bytes * _KEPT_RATIO)
        old: list[tuple[object, ...]] = []
        for key, length in self._connection.execute("SELECT key, length(value) FROM results ORDER BY used, key"):
            if surplus <= 0:
                break
            old.append((key,))
            surplus -= length
        self._run("DELETE FROM results WHERE key = ?", old)

    def _recover(self, error: sqlite3.Error) -> None:
        if isinstance(error, sqlite3.OperationalError) and not str(error).startswith(_DAMAGED):
            self._give_up(error)
        else:
            self._replace()

    def _replace(self) -> None:
        """Start anew in place of a file that is no database; everything in it can be computed again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        try:
            for suffix in ("", "-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
            self._open()
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        self.problem = f"results are not kept: {self.path}: {error}"
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _now() -> int:
    return int(time.time())
