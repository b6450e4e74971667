"""An index as arrays that are searched: built from a store once per version, and read from disk from then on.

A store keeps an index safe; searching all of it needs the vectors in one block and the postings by token. A snapshot is
made of what a store holds at one version, in a folder of its own, and can be made again at any time.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from qchunker.errors import StoreCorruptError, StoreError
from qchunker.indexing.bm25 import BM25
from qchunker.indexing.entry import Stored
from qchunker.indexing.records import BODY, ROLES
from qchunker.models.embedder import Vectors

_FORMAT = 1
_ARRAYS = {
    "vectors": np.float32, "vector_records": np.int32, "vector_roles": np.int8, "pages": np.int32, "starts": np.int64,
    "documents": np.int32, "paths": np.int32, "payloads": np.uint8, "payload_starts": np.int64,
}  # fmt: skip
_SETTINGS = "snapshot.json"
_LONGEST_VECTOR = 1.01


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """N records with V vectors, in the order of documents and of their places in them.

    Attributes:
        version: of the store.
        ids: of the records, N.
        sources: of the documents, D; ``doc_ids`` and ``metadata`` likewise.
        heading_paths: different ones, H.
        vectors: (V, d) float32, unit rows.
        vector_records: (V,) int32, the record of each vector, rising.
        vector_roles: (V,) int8, places in ``ROLES``.
        pages: (N,) int32, -1 where there are none.
        starts: (N,) int64, where the record stands in its document.
        documents: (N,) int32, the document of each record.
        paths: (N,) int32, the heading path of each record.
        payloads: (bytes,) uint8, the records as JSON lines.
        payload_starts: (N + 1,) int64, where each of them starts.
        bm25: over the tokens of the records.
    """

    version: str
    ids: list[str]
    doc_ids: list[str]
    sources: list[str]
    metadata: list[dict[str, str]]
    heading_paths: list[tuple[str, ...]]
    vectors: Vectors
    vector_records: npt.NDArray[np.int32]
    vector_roles: npt.NDArray[np.int8]
    pages: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    documents: npt.NDArray[np.int32]
    paths: npt.NDArray[np.int32]
    payloads: npt.NDArray[np.uint8]
    payload_starts: npt.NDArray[np.int64]
    bm25: BM25

    def __len__(self) -> int:
        return len(self.ids)

    def payload(self, record: int) -> dict[str, Any]:
        """The record as it was stored.

        Raises:
            StoreCorruptError: if the file is damaged.
        """
        start, end = (int(place) for place in self.payload_starts[record : record + 2])
        try:
            found = json.loads(self.payloads[start:end].tobytes())
        except ValueError as error:
            raise StoreCorruptError(self.version, f"a record of the snapshot cannot be read: {error}") from error
        if not isinstance(found, dict):
            raise StoreCorruptError(self.version, "a record of the snapshot is no object")
        return found

    def body_vectors(self, records: npt.NDArray[np.int64]) -> Vectors:
        """The vector of the text of some records; (n, d)."""
        bodies = np.flatnonzero(self.vector_roles == ROLES.index(BODY))
        return np.asarray(self.vectors[bodies[records]])


def snapshot_of(read: Any, version: str, folder: Path, *, anew: bool = False) -> Snapshot:
    """The snapshot of a version: the one in ``folder/<version>``, or one made ``anew`` from what ``read()`` gives.

    Others that make it at the same time do no harm: each writes a folder of its own, and the first one counts.

    Raises:
        StoreError: if it cannot be written.
    """
    place = folder / version
    if anew:
        shutil.rmtree(place, ignore_errors=True)
    if os.path.isfile(place / _SETTINGS):
        try:
            return _load(place, version)
        except StoreCorruptError:
            shutil.rmtree(place, ignore_errors=True)
    stored: Stored = read()
    place = folder / stored.version
    try:
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=".part-", dir=folder))
        try:
            os.chmod(unfinished, 0o777 & ~_umask())  # temporary folders are for their owner alone
            _write(stored, unfinished)
            if not place.exists():
                os.replace(unfinished, place)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    except OSError as error:
        raise StoreError(
            str(folder), f"a snapshot cannot be written: {error}", hint="check space and rights"
        ) from error
    _forget_others(folder, stored.version)
    return _load(place, stored.version)


def _write(stored: Stored, folder: Path) -> None:
    lengths = np.linalg.norm(stored.vectors.astype(np.float64), axis=1)
    if not np.isfinite(lengths).all() or (lengths > _LONGEST_VECTOR).any():
        raise StoreCorruptError(stored.version, "a stored vector is not of length 1")
    bodies = [at for at, role in enumerate(stored.roles) if role == BODY]
    payloads = [json.loads(stored.payloads[at]) for at in bodies]
    owners = list(zip(stored.doc_ids, stored.record_ids, strict=True))
    record_of = {owners[at]: number for number, at in enumerate(bodies)}
    documents = {doc_id: number for number, doc_id in enumerate(dict.fromkeys(stored.doc_ids[at] for at in bodies))}
    first = {stored.doc_ids[at]: payload for at, payload in zip(reversed(bodies), reversed(payloads), strict=True)}
    paths = {path: number for number, path in enumerate(dict.fromkeys(map(_path, payloads)))}
    lines = [stored.payloads[at].encode() + b"\n" for at in bodies]
    arrays: dict[str, npt.NDArray[Any]] = {
        "vectors": stored.vectors,
        "vector_records": np.array([record_of[owner] for owner in owners], dtype=np.int32),
        "vector_roles": np.array([ROLES.index(role) for role in stored.roles], dtype=np.int8),
        "pages": np.array([payload.get("page") or -1 for payload in payloads], dtype=np.int32),
        "starts": np.array([payload.get("start") or 0 for payload in payloads], dtype=np.int64),
        "documents": np.array([documents[stored.doc_ids[at]] for at in bodies], dtype=np.int32),
        "paths": np.array([paths[_path(payload)] for payload in payloads], dtype=np.int32),
        "payloads": np.frombuffer(b"".join(lines), dtype=np.uint8),
        "payload_starts": np.concatenate([[0], np.cumsum([len(line) for line in lines], dtype=np.int64)]),
    }
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    BM25.build(stored.tokens[at].split() for at in bodies).save(folder / "bm25")
    settings = {
        "format": _FORMAT,
        "version": stored.version,
        "ids": [stored.record_ids[at] for at in bodies],
        "doc_ids": list(documents),
        "sources": [str(first[doc_id].get("source") or doc_id) for doc_id in documents],
        "metadata": [dict(first[doc_id].get("metadata") or {}) for doc_id in documents],
        "heading_paths": list(paths),
    }
    (folder / _SETTINGS).write_text(json.dumps(settings, ensure_ascii=False), encoding="utf-8")


def _path(payload: dict[str, Any]) -> tuple[str, ...]:
    return tuple(payload.get("heading_path") or ())


def _load(folder: Path, version: str) -> Snapshot:
    try:
        settings = json.loads((folder / _SETTINGS).read_text(encoding="utf-8"))
        if settings.pop("format") != _FORMAT or settings.pop("version") != version:
            raise StoreCorruptError(str(folder), "it is of another version")
        arrays: dict[str, Any] = {
            name: np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)) for name in _ARRAYS
        }
        paths = [tuple(path) for path in settings.pop("heading_paths")]
        bm25 = BM25.load(folder / "bm25")
        snapshot = Snapshot(version=version, heading_paths=paths, bm25=bm25, **arrays, **settings)
        if not _fits_together(snapshot):
            raise StoreCorruptError(str(folder), "its files do not fit together")
        return snapshot
    except (OSError, EOFError, ValueError, KeyError, TypeError, StoreError) as error:
        raise StoreCorruptError(str(folder), f"a file is missing or damaged: {error}") from error


def _fits_together(made: Snapshot) -> bool:
    """Whether every place that an array names is there."""
    n, per_record = len(made), (made.pages, made.starts, made.documents, made.paths)
    if any(getattr(made, name).dtype != kind for name, kind in _ARRAYS.items()) or made.vectors.ndim != 2:
        return False
    bodies = made.vector_records[made.vector_roles == ROLES.index(BODY)]
    return (
        all(len(array) == n for array in per_record)
        and len(made.vectors) == len(made.vector_records) == len(made.vector_roles)
        and np.array_equal(bodies, np.arange(n))
        and _are_below(made.vector_records, n)
        and _are_below(made.documents, len(made.doc_ids))
        and len(made.doc_ids) == len(made.sources) == len(made.metadata)
        and _are_below(made.paths, len(made.heading_paths))
        and len(made.payload_starts) == n + 1
        and int(made.payload_starts[-1]) == len(made.payloads)
        and made.bm25.n_documents == n
    )


def _are_below(places: npt.NDArray[np.int32], n: int) -> bool:
    return not len(places) or (int(places.min()) >= 0 and int(places.max()) < n)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _forget_others(folder: Path, version: str) -> None:
    """Snapshots of earlier versions; one that somebody reads stays readable while it is open."""
    for other in folder.iterdir():
        if other.name != version and not other.name.startswith("."):
            shutil.rmtree(other, ignore_errors=True)
