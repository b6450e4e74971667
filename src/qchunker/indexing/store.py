"""Where an index is kept: one protocol, and the stores that keep it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from qchunker.errors import StoreError
from qchunker.indexing.entry import Change, Entry, Stored, StoreMeta
from qchunker.indexing.lancedb_store import open_lancedb
from qchunker.indexing.milvus_store import open_milvus_lite, open_milvus_server

__all__ = ["SCHEMA", "Change", "Entry", "Store", "StoreMeta", "Stored", "open_store"]

SCHEMA = 1
"""The version of what is stored; a store of another one cannot be opened."""

LOCK_TIMEOUT_S = 10.0


class Store(Protocol):
    """Entries with their vectors, document by document, changed atomically.

    Every method raises StoreError if the store fails, and StoreCorruptError if its files are damaged.
    """

    @property
    def name(self) -> str:
        """The folder, file or address, for messages; never a secret."""

    @property
    def meta(self) -> StoreMeta:
        """What the index is made with."""

    def version(self) -> str:
        """Another text after every change, whoever made it; cheap."""

    def documents(self) -> dict[str, str]:
        """The state of every document, as ``change`` was given it, in the order of the ids."""

    def read(self) -> Stored:
        """Everything, of one version, whatever others write meanwhile."""

    def change(self, put: Change, remove: Collection[str], *, everything: bool = False) -> str:
        """Store some documents anew and forget others, all at once; gives the new version.

        Readers see what was there before or what is there after, never a mixture, and so does whoever opens the store
        after a crash. A change of nothing is no change.

        Args:
            put: the new state and exactly the entries that each document has from now on, which may be none.
            remove: documents to forget, with their entries; unknown ones are no error.
            everything: forget all documents that are not put.

        Raises:
            StoreBusyError: if another process writes for longer than the store waits.
            StoreError: if a vector does not fit, an id is given twice, or a document is both put and removed.
        """

    def close(self) -> None:
        """Let go of the files or the connection; the store cannot be used any more."""


def open_store(where: str, meta: StoreMeta, *, create: bool, lock_timeout_s: float = LOCK_TIMEOUT_S) -> Store:
    """The store at a place.

    Args:
        where: a folder (LanceDB), a path that ends in ``.db`` (Milvus Lite), or the ``http://``, ``https://`` or
            ``tcp://`` address of a Milvus server, with ``#name`` for an index of that name. A server's token is taken
            from the environment variable ``QCHUNKER_MILVUS_TOKEN``.
        meta: what the index is made with.
        create: make it if there is none.
        lock_timeout_s: how long a change waits for another writer.

    Raises:
        StoreError: if there is none and ``create`` is false, or there is something else at that place.
        StoreMismatchError: if it is made with something else.
        StoreBusyError: if another process holds it: only one at a time can open a Milvus Lite file.
        StoreCorruptError: if it is damaged.
        MissingExtraError: if the package of the store is not installed.
    """
    if where.startswith(("http://", "https://", "tcp://")):
        return open_milvus_server(where, meta, create=create, lock_timeout_s=lock_timeout_s)
    if "://" in where or "\0" in where or not where:
        hint = "give a folder, a .db file, or an http(s):// or tcp:// address"
        raise StoreError(where, "an index is not kept there", hint=hint)
    open_path = open_milvus_lite if where.endswith(".db") else open_lancedb
    try:
        return open_path(where, meta, create=create, lock_timeout_s=lock_timeout_s)
    except OSError as error:
        raise StoreError(where, f"it cannot be opened: {error}", hint="check the path and its rights") from error
