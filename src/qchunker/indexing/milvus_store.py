"""An index in Milvus, in a Lite file of this machine or on a server.

Milvus has no transactions, so visibility goes by generation. A change writes its entries under the numbers of a new
generation, then the manifest pages, which say where the entries of every document are, and last one row that points to
them; only this row makes the change visible. What is no longer visible is deleted after that, and what an
interrupted change left, by the next one. A long text continues in rows of its own.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Collection, Iterator, Sequence
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple
from urllib.parse import urldefrag

import numpy as np

from qchunker.errors import StoreBusyError, StoreCorruptError, StoreError, StoreMismatchError
from qchunker.indexing.entry import REBUILD, Change, Entry, Stored, StoreMeta, check_change
from qchunker.indexing.milvus_connection import Connection, connect_lite, connect_server
from qchunker.indexing.milvus_manifest import (
    PAGE_BYTES,
    Manifest,
    Place,
    Ranges,
    compact_json,
    conditions,
    pages,
    ranges_of,
    without,
)
from qchunker.indexing.write_lock import write_lock
from qchunker.models.identity import without_secrets
from qchunker.models.paths import cache_folder

_NAME = "qchunker"
_TEXTS = ("doc_id", "role", "id", "record_id", "tokens", "payload")
_ENTRY_COLUMNS = ["key", "part", *_TEXTS, "vector"]
_MANIFEST_COLUMNS = ["key", "generation", "page", "body", "vector"]
_POINTER = -1
_GENERATION = 2**32
"""Entries of generation g have the keys from g times this number on, in the order that they were put."""

_TEXT_BYTES = 30_000
_ID_BYTES = 65_535
_INSERT_ROWS = 1_000
_INSERT_BYTES = 8 * 2**20
_INSERT_PAGES = 100
_ATTEMPTS = 20


class _Head(NamedTuple):
    generation: int
    n_pages: int
    store: str
    meta: StoreMeta

    @property
    def version(self) -> str:
        return f"{self.store}-{self.generation}"


class MilvusStore:
    """Two collections that exist; ``open_milvus_lite`` and ``open_milvus_server`` make them."""

    def __init__(
        self, connection: Connection, collection: str, meta: StoreMeta, lock_file: Path, lock_timeout_s: float
    ) -> None:
        self.name = connection.name
        self.meta = meta
        self._connection = connection
        self._entries, self._manifest = f"{collection}_entries", f"{collection}_manifest"
        self._lock_file = lock_file
        self._lock_timeout_s = lock_timeout_s

    def open(self, *, create: bool) -> None:
        """Check what is there, or make it.

        Raises:
            StoreError: if nothing is there and ``create`` is false, or something else.
            StoreMismatchError: if it is made with something else.
        """
        if not self._is_written() and create:
            with write_lock(self._lock_file, self.name, self._lock_timeout_s):
                if not self._is_written():
                    self.create()
        if not self._is_written():
            raise StoreError(self.name, "there is no index", hint="make one with `qchunker index`")
        self._connection.load(self._entries)
        found = self._head().meta
        for field, expected in self.meta._asdict().items():
            if getattr(found, field) != expected:
                raise StoreMismatchError(self.name, field, getattr(found, field), expected)

    def version(self) -> str:
        return self._head().version

    def documents(self) -> dict[str, str]:
        _, manifest = self._snapshot()
        return {doc_id: manifest[doc_id].state for doc_id in sorted(manifest)}

    def read(self) -> Stored:
        for _ in range(_ATTEMPTS):
            head, manifest = self._snapshot()
            rows: list[dict[str, Any]] = []
            for condition in conditions(ranges_of(manifest)):
                for row in self._connection.query(self._entries, condition, ["*"]):
                    # At once: as lists, the vectors of all would take eight times the memory.
                    rows.append(row | {"vector": np.array(row["vector"], dtype=np.float32)})
            if len(rows) == sum(place.n_rows for place in manifest.values()):
                return self._stored(rows, head)
            if self._head() == head:
                raise StoreCorruptError(self.name, "entries are missing", hint=REBUILD)
        raise StoreBusyError(self.name, "it changes faster than it can be read", hint="try again later")

    def change(self, put: Change, remove: Collection[str], *, everything: bool = False) -> str:
        entries = check_change(self.name, put, remove, self.meta.dimension)
        self._check_lengths(put, entries)
        if not (put or remove or everything):
            return self.version()
        with write_lock(self._lock_file, self.name, self._lock_timeout_s):
            head, before = self._snapshot()
            self._clean(head, before)
            generation = head.generation + 1
            gone = before.keys() if everything else set(remove)
            after: Manifest = {doc_id: place for doc_id, place in before.items() if doc_id not in gone}
            first = key = generation * _GENERATION
            rows: list[dict[str, Any]] = []
            for doc_id, (state, of_document) in put.items():
                numbered = [row for entry in of_document for row in _entry_rows(entry)]
                after[doc_id] = Place(state, key, len(numbered))
                rows += numbered
                key += len(numbered)
            self._insert_entries(rows, first)
            if self._head() != head:
                raise StoreBusyError(self.name, "another machine is writing to it", hint="let only one machine write")
            self._publish(head._replace(generation=generation), after)
            self._delete_entries(without(ranges_of(before), ranges_of(after)))
            self._connection.delete(self._manifest, f"generation < {generation}")
            return head._replace(generation=generation).version

    def close(self) -> None:
        self._connection.close()

    def _is_written(self) -> bool:
        found = [self._connection.columns(name) for name in (self._entries, self._manifest)]
        if found[0] not in (None, _ENTRY_COLUMNS) or found[1] not in (None, _MANIFEST_COLUMNS):
            raise StoreError(self.name, "its collection is of another program", hint="add #name for another name")
        if None in found:
            return False
        self._connection.load(self._manifest)
        return bool(self._heads())

    def create(self) -> None:
        """Make both collections; while the lock is held."""
        for name in (self._entries, self._manifest):
            if self._connection.columns(name) is not None:
                self._connection.drop(name)  # a creation that was interrupted: there is no pointer yet
        texts = dict.fromkeys(_TEXTS, _ID_BYTES)
        self._connection.create(self._entries, ["key", "part"], texts, self.meta.dimension)
        self._connection.create(self._manifest, ["key", "generation", "page"], {"body": _ID_BYTES}, 2)
        # The number tells this index from a later one at the same place, whose generations start anew.
        self._publish(_Head(0, 0, secrets.token_hex(4), self.meta), {})

    def _heads(self) -> list[_Head]:
        """Of all generations that were published and are not cleaned away, the newest last."""
        heads = []
        for row in self._connection.query(self._manifest, f"page == {_POINTER}", ["generation", "body"]):
            body = json.loads(row["body"])
            heads.append(_Head(row["generation"], body["pages"], body["store"], StoreMeta(**body["meta"])))
        return sorted(heads)

    def _head(self) -> _Head:
        heads = self._heads()
        if not heads:
            raise StoreCorruptError(self.name, "its pointer is missing", hint=REBUILD)
        return heads[-1]

    def _snapshot(self) -> tuple[_Head, Manifest]:
        for _ in range(_ATTEMPTS):
            head = self._head()
            manifest = self._read_manifest(head)
            if manifest is not None:
                return head, manifest
            if self._head() == head:
                raise StoreCorruptError(self.name, "pages of its manifest are missing", hint=REBUILD)
        raise StoreBusyError(self.name, "it changes faster than it can be read", hint="try again later")

    def _read_manifest(self, head: _Head) -> Manifest | None:
        """None if pages are missing, because they were cleaned away."""
        condition = f"generation == {head.generation} and page >= 0"
        rows = self._connection.query(self._manifest, condition, ["body"])
        if len(rows) != head.n_pages:
            return None
        return {doc_id: Place(*place) for row in rows for doc_id, *place in json.loads(row["body"])}

    def _stored(self, rows: list[dict[str, Any]], head: _Head) -> Stored:
        rows.sort(key=lambda row: (row["doc_id"], row["key"]))
        whole = [row for row in rows if row["part"] == 0]
        texts: dict[str, list[str]] = {column: [] for column in ("tokens", "payload")}
        for row in rows:
            for column, values in texts.items():
                if row["part"] == 0:
                    values.append(row[column])
                else:
                    values[-1] += row[column]
        vectors = np.empty((len(whole), self.meta.dimension), dtype=np.float32)
        for n, row in enumerate(whole):
            vectors[n] = row["vector"]
        ids, record_ids, doc_ids, roles = (
            [row[column] for row in whole] for column in ("id", "record_id", "doc_id", "role")
        )
        return Stored(ids, record_ids, doc_ids, roles, vectors, texts["tokens"], texts["payload"], head.version)

    def _check_lengths(self, put: Change, entries: Sequence[Entry]) -> None:
        for entry in entries:
            for text in (entry.id, entry.record_id, entry.doc_id, entry.role):
                if len(text.encode()) > _ID_BYTES:
                    raise StoreError(self.name, f"longer than {_ID_BYTES} bytes, too long for Milvus: {text[:80]!r}")
        for doc_id, (state, _) in put.items():
            if len(compact_json([doc_id, state])) > PAGE_BYTES - 100:
                raise StoreError(self.name, f"the id or the state is too long for Milvus: {doc_id[:80]!r}")

    def _insert_entries(self, rows: list[dict[str, Any]], first: int) -> None:
        batch: list[dict[str, Any]] = []
        n_bytes = 0
        for key, row in enumerate(rows, first):
            batch.append(row | {"key": key})
            n_bytes += 4 * self.meta.dimension + 4 * (len(row["tokens"]) + len(row["payload"]))
            if len(batch) == _INSERT_ROWS or n_bytes > _INSERT_BYTES:
                self._connection.insert(self._entries, batch)
                batch, n_bytes = [], 0
        self._connection.insert(self._entries, batch)
        self._connection.flush(self._entries)

    def _publish(self, head: _Head, manifest: Manifest) -> None:
        bodies = pages(manifest)
        pointer = compact_json({"pages": len(bodies), "store": head.store, "meta": head.meta._asdict()})
        rows = [
            {
                "key": head.generation * _GENERATION + page + 1,
                "generation": head.generation,
                "page": page,
                "body": body.decode(),
                "vector": [0.0, 0.0],  # Milvus knows no rows without one
            }
            for page, body in enumerate([pointer, *bodies], _POINTER)
        ]
        for start in range(1, len(rows), _INSERT_PAGES):
            self._connection.insert(self._manifest, rows[start : start + _INSERT_PAGES])
        self._connection.flush(self._manifest)
        self._connection.insert(self._manifest, rows[:1])
        self._connection.flush(self._manifest)

    def _clean(self, head: _Head, manifest: Manifest) -> None:
        """Delete what interrupted changes left: rows that were never visible, and rows that no longer are."""
        unfinished = f"key >= {(head.generation + 1) * _GENERATION}"
        self._connection.delete(self._entries, unfinished)
        self._connection.delete(self._manifest, unfinished)
        visible = ranges_of(manifest)
        for older in self._heads()[:-1]:
            self._delete_entries(without(ranges_of(self._read_manifest(older) or {}), visible))
        self._connection.delete(self._manifest, f"generation < {head.generation}")

    def _delete_entries(self, ranges: Ranges) -> None:
        for condition in conditions(ranges):
            self._connection.delete(self._entries, condition)
        self._connection.flush(self._entries)


def open_milvus_lite(where: str, meta: StoreMeta, *, create: bool, lock_timeout_s: float) -> MilvusStore:
    """The store in a file of this machine; see ``open_store``."""
    path = Path(where)
    is_new = not path.exists() or (path.is_dir() and not any(path.iterdir()))
    if is_new and not create:
        raise StoreError(where, "there is no index", hint="make one with `qchunker index`")
    lock_file = path.with_name(path.name + ".lock")
    if is_new:
        _make_lite(path, meta, lock_file, lock_timeout_s)
    return _opened(connect_lite(path), _NAME, meta, lock_file, lock_timeout_s, create=create)


def _make_lite(path: Path, meta: StoreMeta, lock_file: Path, lock_timeout_s: float) -> None:
    """Make it beside its place: the library cannot open what it was interrupted in making."""
    made = path.with_name(f".{path.stem}.new.db")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_lock(lock_file, str(path), lock_timeout_s):
            if path.exists() and any(path.iterdir()):
                return  # another process was faster
            if made.exists():
                rmtree(made)
            store = MilvusStore(connect_lite(made), _NAME, meta, lock_file, lock_timeout_s)
            try:
                store.create()
            finally:
                store.close()
            if path.exists():
                path.rmdir()
            made.rename(path)
    except OSError as error:
        raise StoreError(str(path), f"it cannot be made: {error}", hint="check the rights of its folder") from error


def open_milvus_server(where: str, meta: StoreMeta, *, create: bool, lock_timeout_s: float) -> MilvusStore:
    """The store on a server; see ``open_store``. Writers on several machines must not write at once."""
    address, collection = urldefrag(where)
    collection = collection or _NAME
    if not collection.isidentifier() or not collection.isascii():
        raise StoreError(
            without_secrets(where), f"the name {collection!r} is none for Milvus", hint="use letters and _"
        )
    folder = cache_folder() / "locks"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(str(folder), f"it cannot be made: {error}", hint="set QCHUNKER_CACHE") from error
    lock_file = folder / f"{sha256(f'{address}#{collection}'.encode()).hexdigest()[:16]}.lock"
    connection = connect_server(address, where, os.environ.get("QCHUNKER_MILVUS_TOKEN", ""))
    return _opened(connection, collection, meta, lock_file, lock_timeout_s, create=create)


def _opened(
    connection: Connection, collection: str, meta: StoreMeta, lock_file: Path, lock_timeout_s: float, *, create: bool
) -> MilvusStore:
    store = MilvusStore(connection, collection, meta, lock_file, lock_timeout_s)
    try:
        store.open(create=create)
    except BaseException:
        store.close()
        raise
    return store


def _entry_rows(entry: Entry) -> Iterator[dict[str, Any]]:
    """The row of an entry, and more for what is too long for it."""
    texts = {"doc_id": entry.doc_id, "role": entry.role, "id": entry.id, "record_id": entry.record_id}
    vector = entry.vector
    for part, (tokens, payload) in enumerate(zip_longest(_slices(entry.tokens), _slices(entry.payload), fillvalue="")):
        yield texts | {"part": part, "tokens": tokens, "payload": payload, "vector": vector}
        vector = np.zeros_like(vector)


def _slices(text: str) -> Iterator[str]:
    """At least one piece, each short enough for a row."""
    data = text.encode()
    start = 0
    while True:
        end = min(start + _TEXT_BYTES, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        yield data[start:end].decode()
        if end == len(data):
            return
        start = end
