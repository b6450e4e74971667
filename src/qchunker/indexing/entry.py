"""What an index holds, and what every store checks before it writes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from qchunker.errors import StoreError
from qchunker.models.embedder import Vectors

DOCUMENT_ROLE = "document"
"""Kept for the rows in which a store notes its documents; no entry has it."""

REBUILD = "delete it and run `qchunker index` again"


class Entry(NamedTuple):
    """One vector of an index.

    Shapes: vector (d,) float32.
    """

    id: str
    """The record's id for the role ``body``, else ``record_id#role-number``; unique."""

    record_id: str
    """The chunk or question-answer pair."""

    doc_id: str
    role: str
    """``body``, ``question``, ``sentence``, ``answer`` or ``variant``."""

    vector: Vectors
    tokens: str
    """Lexical tokens joined by blanks; empty for roles other than ``body``."""

    payload: str
    """JSON of the record; empty for roles other than ``body``."""


class Stored(NamedTuple):
    """Everything in a store at one version, as columns sorted by document and, within one, as they were put.

    Shapes: vectors (n, d) float32, C-contiguous; every list has n items.
    """

    ids: list[str]
    record_ids: list[str]
    doc_ids: list[str]
    roles: list[str]
    vectors: Vectors
    tokens: list[str]
    payloads: list[str]
    version: str
    """The version all of it belongs to."""


class StoreMeta(NamedTuple):
    """What an index is made with; it cannot be opened with anything else."""

    schema: int
    embedder: str
    dimension: int


Change = Mapping[str, tuple[str, Sequence[Entry]]]
"""The new state and all entries of some documents, by the document's id."""


def check_change(name: str, put: Change, remove: Collection[str], dimension: int) -> list[Entry]:
    """All entries of a change, in the order of its documents.

    Raises:
        StoreError: naming the store, if an entry or a document cannot be stored.
    """
    both = sorted(put.keys() & set(remove))
    if both:
        raise StoreError(name, f"the document {both[0]!r} is both put and removed")
    for doc_id in (*put, *remove):
        _check_text(name, doc_id, "an id")
    entries: list[Entry] = []
    seen: set[str] = set()
    for doc_id, (state, of_document) in put.items():
        _check_text(name, state, f"the state of {doc_id!r}")
        for entry in of_document:
            if entry.doc_id != doc_id:
                raise StoreError(name, f"the entry {entry.id!r} belongs to {entry.doc_id!r}, not to {doc_id!r}")
            if entry.id in seen:
                raise StoreError(name, f"two entries have the id {entry.id!r}")
            _check_entry(name, entry, dimension)
            seen.add(entry.id)
            entries.append(entry)
    return entries


def stacked(entries: Sequence[Entry], dimension: int) -> Vectors:
    """The vectors of entries, one row each; (0, d) for none."""
    if not entries:
        return np.empty((0, dimension), dtype=np.float32)
    return np.stack([entry.vector for entry in entries])


def _check_entry(name: str, entry: Entry, dimension: int) -> None:
    if entry.role in ("", DOCUMENT_ROLE):
        raise StoreError(name, f"the entry {entry.id!r} has the role {entry.role!r}")
    if entry.vector.shape != (dimension,) or entry.vector.dtype != np.float32:
        found = f"{entry.vector.shape} of {entry.vector.dtype}"
        raise StoreError(name, f"the vector of {entry.id!r} is {found}, not ({dimension},) of float32")
    if not np.isfinite(entry.vector).all():
        raise StoreError(name, f"the vector of {entry.id!r} has a value that is not finite")
    for text in (entry.id, entry.record_id, entry.role, entry.tokens, entry.payload):
        _check_text(name, text, f"the entry {entry.id!r}")


def _check_text(name: str, text: str, what: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise StoreError(name, f"{what} has a lone surrogate: {text[:80]!r}") from error
