"""What the store in Milvus asks of the library, with errors of ours."""

from __future__ import annotations

import logging
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from qchunker.errors import MissingExtraError, StoreBusyError, StoreCorruptError, StoreError
from qchunker.indexing.entry import REBUILD
from qchunker.models.identity import without_secrets

_MAX_ROWS = 16_384
_TIMEOUT_S = 10.0
_LITE_PART = "collections"

_lite_lock = threading.Lock()
_lite_open: Counter[str] = Counter()
"""How many stores of this process use a file: the library serves a file once per process, and never lets go of it."""


class Connection:
    """Collections of a server, which may be one that the library runs in this process.

    Args:
        client: of the library.
        name: of the store, for messages.
        secret: what no message may say; may be empty.
        flushes: whether what is acknowledged is safe only after a flush. On a server it is safe at once, and flushes
            are rationed to one in ten seconds.
        release: what to do when the connection is closed.
    """

    def __init__(self, client: Any, name: str, secret: str, *, flushes: bool, release: Callable[[], None]) -> None:
        self.name = name
        self._client = client
        self._secret = secret
        self._flushes = flushes
        self._release = release

    def columns(self, collection: str) -> list[str] | None:
        """The names of its columns; None if there is no such collection."""
        with _failing(self.name, self._secret):
            if not self._client.has_collection(collection):
                return None
            return [str(field["name"]) for field in self._client.describe_collection(collection)["fields"]]

    def create(self, collection: str, numbers: Sequence[str], texts: Mapping[str, int], dimension: int) -> None:
        """Make a collection of the given columns and ``vector``, in this order; the first number is the key.

        Args:
            collection: its name.
            numbers: names of columns.
            texts: names of columns, and the most bytes of each.
            dimension: of the vector.
        """
        from pymilvus import DataType

        with _failing(self.name, self._secret):
            schema = self._client.create_schema(auto_id=False, enable_dynamic_field=False)
            for column in numbers:
                schema.add_field(column, DataType.INT64, is_primary=column == numbers[0])
            for column, max_bytes in texts.items():
                schema.add_field(column, DataType.VARCHAR, max_length=max_bytes)
            schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimension)
            index = self._client.prepare_index_params()
            index.add_index("vector", index_type="FLAT", metric_type="IP")
            self._client.create_collection(collection, schema=schema, consistency_level="Strong")
            # Waiting for the index of an empty collection takes the library half a second.
            self._client.create_index(collection, index, sync=False)
            self._client.load_collection(collection)

    def drop(self, collection: str) -> None:
        with _failing(self.name, self._secret):
            self._client.drop_collection(collection)

    def load(self, collection: str) -> None:
        """Make a collection ready to be read; it stays so."""
        with _failing(self.name, self._secret):
            self._client.load_collection(collection)

    def query(self, collection: str, condition: str, columns: list[str]) -> list[dict[str, Any]]:
        """All rows that a condition is true of, which may be no more than the library gives at once."""
        with _failing(self.name, self._secret):
            found = self._client.query(collection, filter=condition, output_fields=columns, limit=_MAX_ROWS)
            return [dict(row) for row in found]

    def insert(self, collection: str, rows: list[dict[str, Any]]) -> None:
        if rows:
            with _failing(self.name, self._secret):
                self._client.insert(collection, rows)

    def delete(self, collection: str, condition: str) -> None:
        with _failing(self.name, self._secret):
            self._client.delete(collection, filter=condition)

    def flush(self, collection: str) -> None:
        """Make everything safe from a crash."""
        if self._flushes:
            with _failing(self.name, self._secret):
                self._client.flush(collection)

    def close(self) -> None:
        release, self._release = self._release, _nothing
        release()


def connect_server(address: str, where: str, token: str) -> Connection:
    """A connection to a server.

    Raises:
        StoreError: if it does not answer.
        MissingExtraError: if pymilvus is not installed.
    """
    pymilvus = _library()
    name = without_secrets(where, token)
    with _failing(name, token):
        client = pymilvus.MilvusClient(address, token=token, timeout=_TIMEOUT_S)
    return Connection(client, name, token, flushes=False, release=client.close)


def connect_lite(path: Path) -> Connection:
    """A connection to a file of this machine, made if it is missing.

    Raises:
        StoreBusyError: if another process has it open.
        StoreError: if something else is there.
        MissingExtraError: if pymilvus or milvus-lite is not installed.
    """
    pymilvus = _library()
    try:
        import milvus_lite
    except ImportError as error:
        raise MissingExtraError("qchunker[milvus]", "an index in a .db file") from error
    name = str(path)
    if path.exists() and not _is_lite(path):
        raise StoreError(name, "it holds something else than an index", hint="give another path")
    key = os.path.abspath(path)  # as the library does
    with _lite_lock:
        with _failing(name, ""):
            path.parent.mkdir(parents=True, exist_ok=True)
        with _refusals() as refusals:
            try:
                client = pymilvus.MilvusClient(key)
            except pymilvus.MilvusException as error:
                if any(isinstance(refusal, milvus_lite.exceptions.DataDirLockedError) for refusal in refusals):
                    hint = "close the program that has it open; only one at a time can"
                    raise StoreBusyError(name, "another process has it open", hint=hint) from error
                reason = "; ".join(map(str, refusals)) or str(error)
                raise StoreCorruptError(name, f"it cannot be opened: {reason}", hint=REBUILD) from error
        if not _lite_open[key]:
            _remove_unfinished_indexes(path)
        _lite_open[key] += 1

    def release() -> None:
        from milvus_lite.server_manager import server_manager_instance

        with _lite_lock:
            client.close()
            _lite_open[key] -= 1
            if not _lite_open[key]:
                server_manager_instance.release_server(key)

    return Connection(client, name, "", flushes=True, release=release)


def _is_lite(path: Path) -> bool:
    if not path.is_dir():
        return False
    found = {part.name for part in path.iterdir()}
    return not found or _LITE_PART in found


def _remove_unfinished_indexes(path: Path) -> None:
    """Remove files that a kill has cut short and that the library makes anew where they are missing."""
    for file in path.rglob("*.idx"):
        try:
            np.load(file, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError):
            file.unlink(missing_ok=True)


def _library() -> Any:
    try:
        import pymilvus
    except ImportError as error:
        raise MissingExtraError("qchunker[milvus]", "an index in Milvus") from error
    # It prints every error that it also raises, traceback included.
    known = [name for name in logging.root.manager.loggerDict if name.startswith(("pymilvus.", "milvus_lite."))]
    for name in ("pymilvus", "milvus_lite", "grpc._server", *known):
        logger = logging.getLogger(name)
        logger.handlers = [logging.NullHandler()]
        logger.propagate = False
    return pymilvus


class _Refusals(logging.Handler):
    """Keeps the errors that a library logs where it should raise them."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.errors: list[BaseException] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[1]:
            self.errors.append(record.exc_info[1])


@contextmanager
def _refusals() -> Iterator[list[BaseException]]:
    handler = _Refusals()
    logger = logging.getLogger("milvus_lite.server_manager")
    logger.addHandler(handler)
    try:
        yield handler.errors
    finally:
        logger.removeHandler(handler)


@contextmanager
def _failing(name: str, secret: str) -> Iterator[None]:
    try:
        yield
    except (StoreError, MemoryError):
        raise
    except Exception as error:  # the library raises many kinds, those of gRPC among them
        reason = without_secrets(str(getattr(error, "message", "") or error), secret).strip()
        reason = reason.splitlines()[0][:300] if reason else type(error).__name__
        raise StoreError(name, f"Milvus failed: {reason}", hint="check that it runs, and its log") from error


def _nothing() -> None:
    """A connection is closed only once."""
