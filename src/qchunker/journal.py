"""The journal of a run: every completion that was paid for, and what each stage of each document came to.

One SQLite file in the folder of the run. A completion is written before it is used, and a stage before the next one
begins, so that the same command goes on where a killed one stopped, pays for nothing twice, and ends with the same
bytes. One process works on a run at a time.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from qchunker.debate.workflow import RunStage
from qchunker.errors import OutputError, RunBusyError
from qchunker.types import Document

Result = TypeVar("Result")
FILE = "journal.sqlite"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS calls (
    key BLOB PRIMARY KEY, checksum BLOB NOT NULL, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS stages (
    document TEXT NOT NULL, stage TEXT NOT NULL, finished TEXT NOT NULL, seconds REAL NOT NULL, counts TEXT NOT NULL,
    PRIMARY KEY (document, stage));
"""
_VERSION = 2
_FITS = (
    "SELECT key, checksum, value FROM calls LIMIT 0",
    "SELECT document, stage, finished, seconds, counts FROM stages LIMIT 0",
)
_QUESTION_MARKS = 500
_ANEW = "delete it to begin anew, or give another --run-dir"


class Stage(NamedTuple):
    """A stage that is finished.

    Args:
        document: its id.
        stage: ``outline``, ``segment``, ``review``, ``complete``, or one of a later round.
        seconds: that it took.
        counts: what happened in it.
    """

    document: str
    stage: str
    seconds: float
    counts: Mapping[str, int]


class Journal:
    """What a run has done; a context manager.

    Args:
        folder: of the run, made if missing.

    Raises:
        RunBusyError: if another process works on the run.
        OutputError: if the folder or its journal cannot be used.
    """

    def __init__(self, folder: str | Path) -> None:
        folder = Path(folder)
        self.path = folder / FILE
        self._lock = threading.Lock()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path, timeout=0.2, check_same_thread=False, isolation_level=None)
            # Held until the process ends, however it ends.
            self._connection.execute("PRAGMA locking_mode=EXCLUSIVE")
            self._connection.execute("PRAGMA synchronous=FULL")
            self._connection.execute("BEGIN EXCLUSIVE")
            if self._connection.execute("PRAGMA user_version").fetchone()[0] not in (0, _VERSION):
                raise OutputError(f"{self.path}: written by another version", hint="give another --run-dir")
            for statement in _SCHEMA.split(";"):
                self._connection.execute(statement)
            for query in _FITS:
                self._connection.execute(query)
            self._connection.execute(f"PRAGMA user_version={_VERSION}")
            self._connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                hint = "wait for it, or give another --run-dir"
                raise RunBusyError(f"{folder}: another process works on this run", hint=hint) from error
            if "no such column" in str(error) or "no such table" in str(error):
                raise OutputError(f"{self.path}: is no journal: {error}", hint=_ANEW) from error
            raise OutputError(f"{self.path}: cannot be written: {error}") from error
        except sqlite3.DatabaseError as error:
            raise OutputError(f"{self.path}: is no journal, or damaged: {error}", hint=_ANEW) from error
        except OSError as error:
            raise OutputError(f"{folder}: cannot be used: {error.strerror or error}") from error

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The completions that are there and whole."""
        found: dict[bytes, bytes] = {}
        with self._lock, self._failing():
            for start in range(0, len(keys), _QUESTION_MARKS):
                part = keys[start : start + _QUESTION_MARKS]
                marks = ",".join("?" * len(part))
                statement = f"SELECT key, checksum, value FROM calls WHERE key IN ({marks})"  # noqa: S608
                rows = self._connection.execute(statement, part)
                found.update(
                    (key, value)
                    for key, checksum, value in rows
                    if isinstance(value, bytes) and checksum == _checksum(key, value)
                )
        return found

    def put_many(self, values: Mapping[bytes, bytes]) -> None:
        """Keep completions; they are on disk when this returns."""
        with self._lock, self._failing():
            self._connection.execute("BEGIN")
            rows = [(key, _checksum(key, value), value) for key, value in values.items()]
            self._connection.executemany("INSERT OR REPLACE INTO calls VALUES (?, ?, ?)", rows)
            self._connection.execute("COMMIT")

    def finish(self, stage: Stage) -> None:
        """Write down that a stage of a document is finished."""
        row = (stage.document, stage.stage, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), stage.seconds,
               json.dumps(stage.counts, sort_keys=True))  # fmt: skip
        with self._lock, self._failing():
            self._connection.execute("INSERT OR REPLACE INTO stages VALUES (?, ?, ?, ?, ?)", row)

    def stages(self) -> Iterator[Stage]:
        """Everything that is finished, by document."""
        with self._lock, self._failing():
            rows = self._connection.execute("SELECT document, stage, seconds, counts FROM stages ORDER BY rowid")
            found = [Stage(document, stage, seconds, json.loads(counts)) for document, stage, seconds, counts in rows]
        yield from found

    def close(self) -> None:
        """Let others work on the run."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _failing(self) -> _Failing:
        return _Failing(self.path)


def _checksum(key: bytes, value: bytes) -> bytes:
    return hashlib.sha256(key + value).digest()[:8]


class _Failing:
    """Errors of the file as ours."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: Any, error: BaseException | None, _trace: Any) -> None:
        if isinstance(error, sqlite3.DatabaseError) and "malformed" in str(error):
            raise OutputError(f"{self._path}: is damaged: {error}", hint=_ANEW) from error
        if isinstance(error, sqlite3.Error):
            raise OutputError(f"{self._path}: cannot be written: {error}", hint="check the disk") from error


def journalled(journal: Journal, counts: Callable[[], Mapping[str, int]]) -> RunStage:
    """What runs stages and writes each down before the next begins.

    Args:
        journal: of the run.
        counts: what happened in the run so far.
    """

    def run(stage: str, make: Callable[[], Result], document: Document, /) -> Result:
        before, start = dict(counts()), time.monotonic()
        result = make()
        changed = {name: number - before.get(name, 0) for name, number in counts().items()}
        seconds = round(time.monotonic() - start, 3)
        journal.finish(Stage(document.id, stage, seconds, {name: number for name, number in changed.items() if number}))
        return result

    return run
