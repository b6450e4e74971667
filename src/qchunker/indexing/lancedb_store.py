"""An index in a folder, as one LanceDB table.

Every change is one version of the table, so it happens wholly or not at all, and a reader keeps to the version that it
opened. Documents are rows too, with the role ``document`` and their state as payload: one change covers both.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

from qchunker.errors import MissingExtraError, StoreCorruptError, StoreError, StoreMismatchError
from qchunker.indexing.entry import DOCUMENT_ROLE, REBUILD, Change, Entry, Stored, StoreMeta, check_change, stacked
from qchunker.indexing.write_lock import write_lock
from qchunker.models.embedder import Vectors

_TABLE = "entries"
_LOCK_FILE = "write.lock"
_META = b"qchunker"
_TEXTS = ("doc_id", "role", "id", "record_id", "tokens", "payload")
_KEY = ["doc_id", "role", "id"]
_KEPT = timedelta(hours=1)
_MANY = 16
"""Versions or pieces of the table beyond which it is tidied."""

_RUST_PLACE = re.compile(r",? \S*\.rs:\d+:\d+.*", re.DOTALL)
_ATTEMPTS = 5


class LanceStore:
    """The table in an existing folder; ``open_lancedb`` makes it."""

    def __init__(self, folder: Path, meta: StoreMeta, lock_timeout_s: float) -> None:
        self.name = str(folder)
        self.meta = meta
        self._folder = folder
        self._lock_timeout_s = lock_timeout_s
        self._lancedb = _library()
        with _reading(self.name):
            self._database = self._lancedb.connect(self.name)
        self._check_meta()

    def version(self) -> str:
        with _reading(self.name):
            return _version(self._database.open_table(_TABLE))

    def documents(self) -> dict[str, str]:
        rows, _ = self._read_columns(["doc_id", "payload"], f"role = '{DOCUMENT_ROLE}'")
        return dict(sorted(zip(rows["doc_id"].to_pylist(), rows["payload"].to_pylist(), strict=True)))

    def read(self) -> Stored:
        rows, version = self._read_columns([*_TEXTS, "position", "vector"], f"role != '{DOCUMENT_ROLE}'")
        with _reading(self.name):
            rows = rows.sort_by([("doc_id", "ascending"), ("position", "ascending")]) if rows.num_rows else rows
            texts = {column: rows[column].to_pylist() for column in _TEXTS}
            vectors = _vectors(rows["vector"], self.meta.dimension)
        return Stored(
            texts["id"], texts["record_id"], texts["doc_id"], texts["role"], vectors, texts["tokens"], texts["payload"],
            version,
        )  # fmt: skip

    def change(self, put: Change, remove: Collection[str], *, everything: bool = False) -> str:
        entries = check_change(self.name, put, remove, self.meta.dimension)
        if not (put or remove or everything):
            return self.version()
        with write_lock(self._folder / _LOCK_FILE, self.name, self._lock_timeout_s):
            self._check_meta()
            with _reading(self.name):
                table = self._database.open_table(_TABLE)
            with _writing(self.name):
                rows = _arrow_rows(put, entries, table.schema, self.meta.dimension)
                # Before the change and not after it, so that its version stays the newest.
                self._tidy(table, at_once=everything)
                if everything:
                    table.add(rows, mode="overwrite")
                else:
                    _merge(table, rows, [*put, *remove])
                return _version(table)

    def close(self) -> None:
        """Nothing is held between two calls."""

    def _read_columns(self, columns: list[str], condition: str) -> tuple[Any, str]:
        """The rows that a condition is true of, and the version they are of."""
        before = ""
        for _ in range(_ATTEMPTS):
            with _reading(self.name):
                table = self._database.open_table(_TABLE)
            try:
                with _reading(self.name):
                    return table.search().where(condition).limit(None).select(columns).to_arrow(), _version(table)
            except StoreCorruptError:
                # Who reads for more than an hour may find the version tidied away.
                if _version(table) == before:
                    raise
                before = _version(table)
        raise StoreCorruptError(self.name, "it cannot be read", hint=REBUILD)

    def _check_meta(self) -> None:
        with _reading(self.name):
            written = (self._database.open_table(_TABLE).schema.metadata or {}).get(_META)
        if written is None:
            raise StoreError(self.name, "it is a LanceDB table of another program", hint="give another folder")
        found = json.loads(written)
        for field, expected in self.meta._asdict().items():
            if found.get(field) != expected:
                raise StoreMismatchError(self.name, field, found.get(field), expected)

    def _tidy(self, table: Any, *, at_once: bool) -> None:
        """Join small pieces and drop what no version of the last hour needs."""
        n_versions = sum(1 for _ in (self._folder / f"{_TABLE}.lance" / "_versions").iterdir())
        n_pieces = table.stats()["fragment_stats"]["num_fragments"]
        if at_once or max(n_versions, n_pieces) > _MANY:
            # Files that belong to no version are leftovers: nobody else writes while the lock is held.
            table.optimize(cleanup_older_than=_KEPT, delete_unverified=True)


def open_lancedb(where: str, meta: StoreMeta, *, create: bool, lock_timeout_s: float) -> LanceStore:
    """The store in a folder; see ``open_store``."""
    folder = Path(where)
    if folder.exists() and not folder.is_dir():
        raise StoreError(
            where, "it is a file, not the folder of an index", hint="give a folder, or a path ending in .db"
        )
    if not _is_written(folder):
        table = folder / f"{_TABLE}.lance"
        others = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
        others = [name for name in others if name not in (_LOCK_FILE, table.name)]
        if not create:
            if table.exists():
                raise StoreCorruptError(where, "it has no whole version", hint=REBUILD)
            raise StoreError(where, "there is no index", hint="make one with `qchunker index`")
        if others:
            raise StoreError(where, f"the folder holds something else: {others[0]}", hint="give a new or empty folder")
        _create(folder, meta, lock_timeout_s)
    return LanceStore(folder, meta, lock_timeout_s)


def _create(folder: Path, meta: StoreMeta, lock_timeout_s: float) -> None:
    lancedb = _library()
    import pyarrow as pa

    with _writing(str(folder)):
        folder.mkdir(parents=True, exist_ok=True)
    with write_lock(folder / _LOCK_FILE, str(folder), lock_timeout_s):
        if _is_written(folder):
            return
        # The number tells this table from a later one at the same place, whose versions start anew.
        written = json.dumps(meta._asdict() | {"table": secrets.token_hex(4)})
        columns = [pa.field(name, pa.large_string(), nullable=False) for name in _TEXTS]
        columns.append(pa.field("position", pa.int64(), nullable=False))
        columns.append(pa.field("vector", pa.list_(pa.float32(), meta.dimension)))
        with _writing(str(folder)):
            schema = pa.schema(columns, metadata={_META: written.encode()})
            lancedb.connect(str(folder)).create_table(_TABLE, schema=schema, mode="overwrite")


def _is_written(folder: Path) -> bool:
    versions = folder / f"{_TABLE}.lance" / "_versions"
    return versions.is_dir() and any(path.suffix == ".manifest" for path in versions.iterdir())


def _library() -> Any:
    # Read once, when the library is loaded; it would print a warning whenever a table is made.
    os.environ.setdefault("LANCEDB_LOG", "error")
    try:
        import lancedb
    except ImportError as error:
        raise MissingExtraError("qchunker[index]", "an index in a folder") from error
    return lancedb


def _version(table: Any) -> str:
    written = json.loads((table.schema.metadata or {}).get(_META, b"{}"))
    # A store that was put back from a copy counts its versions on from there: the time tells them apart.
    number = table.version
    made = next((one["timestamp"] for one in table.list_versions() if one["version"] == number), None)
    stamp = "" if made is None else f"-{hashlib.sha256(str(made).encode()).hexdigest()[:8]}"
    return f"{written.get('table')}-{number}{stamp}"


def _arrow_rows(put: Change, entries: list[Entry], schema: Any, dimension: int) -> Any:
    import pyarrow as pa

    nothing = np.zeros(dimension, dtype=np.float32)
    documents = [Entry("", "", doc_id, DOCUMENT_ROLE, nothing, "", state) for doc_id, (state, _) in put.items()]
    rows = documents + entries
    columns = {name: pa.array([getattr(row, name) for row in rows], pa.large_string()) for name in _TEXTS}
    columns["position"] = pa.array(range(len(rows)), pa.int64())
    numbers = pa.array(stacked(rows, dimension).reshape(-1))
    columns["vector"] = pa.FixedSizeListArray.from_arrays(numbers, dimension)
    return pa.table(columns, schema=schema)


def _merge(table: Any, rows: Any, doc_ids: list[str]) -> None:
    literals = ",".join("'" + doc_id.replace("'", "''") + "'" for doc_id in doc_ids)
    merge = table.merge_insert(_KEY).when_matched_update_all().when_not_matched_insert_all()
    merge.when_not_matched_by_source_delete(f"doc_id IN ({literals})").execute(rows)


def _vectors(column: Any, dimension: int) -> Vectors:
    if not len(column):
        return np.empty((0, dimension), dtype=np.float32)
    parts = [chunk.flatten().to_numpy() for chunk in column.chunks]
    return np.ascontiguousarray(np.concatenate(parts).reshape(len(column), dimension), dtype=np.float32)


@contextmanager
def _reading(name: str) -> Iterator[None]:
    try:
        yield
    except (StoreError, MemoryError):
        raise
    except Exception as error:  # the library raises many kinds, a panic that cannot be imported among them
        reason = _RUST_PLACE.sub("", str(error))
        if "ermission denied" in reason:
            raise StoreError(name, f"it cannot be read: {reason}", hint="check the rights of its files") from error
        raise StoreCorruptError(name, f"it cannot be read: {reason}", hint=REBUILD) from error


@contextmanager
def _writing(name: str) -> Iterator[None]:
    try:
        yield
    except (StoreError, MemoryError):
        raise
    except Exception as error:  # as above
        reason = _RUST_PLACE.sub("", str(error))
        raise StoreError(
            name, f"nothing was changed: {reason}", hint="check the space and the rights of its folder, and try again"
        ) from error
