"""Where the entries of every document are: the table of contents of an index in Milvus."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

PAGE_BYTES = 60_000
_FILTER_ROWS = 2_000
_FILTER_RANGES = 50

Ranges = list[tuple[int, int]]
"""Half-open ranges of keys, sorted and apart."""


class Place(NamedTuple):
    """A document's state and where its rows are."""

    state: str
    first: int
    n_rows: int


Manifest = dict[str, Place]


def pages(manifest: Manifest) -> list[bytes]:
    """JSON lists of documents, each short enough for a row."""
    whole: list[bytes] = []
    rows: list[bytes] = []
    n_bytes = 0
    for doc_id, place in manifest.items():
        row = compact_json([doc_id, *place])
        if rows and n_bytes + len(row) > PAGE_BYTES:
            whole.append(b"[%s]" % b",".join(rows))
            rows, n_bytes = [], 0
        rows.append(row)
        n_bytes += len(row) + 1
    return [*whole, b"[%s]" % b",".join(rows)] if rows else whole


def compact_json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def ranges_of(manifest: Manifest) -> Ranges:
    """The keys of all documents, neighbours joined."""
    joined: Ranges = []
    for first, n_rows in sorted((place.first, place.n_rows) for place in manifest.values() if place.n_rows):
        if joined and joined[-1][1] == first:
            joined[-1] = (joined[-1][0], first + n_rows)
        else:
            joined.append((first, first + n_rows))
    return joined


def without(ranges: Ranges, others: Ranges) -> Ranges:
    """What of some ranges is in none of the others."""
    left: Ranges = []
    n = 0
    for start, end in ranges:
        while n < len(others) and others[n][1] <= start:
            n += 1
        inside = n
        while start < end and inside < len(others) and others[inside][0] < end:
            if start < others[inside][0]:
                left.append((start, others[inside][0]))
            start = max(start, others[inside][1])
            inside += 1
        if start < end:
            left.append((start, end))
    return left


def conditions(ranges: Ranges) -> Iterator[str]:
    """Filters that are true of the keys in some ranges; no filter is long or true of many keys."""
    terms: list[str] = []
    room = _FILTER_ROWS
    for start, end in ranges:
        while start < end:
            until = min(end, start + room)
            terms.append(f"(key >= {start} and key < {until})")
            room -= until - start
            start = until
            if not room or len(terms) == _FILTER_RANGES:
                yield " or ".join(terms)
                terms, room = [], _FILTER_ROWS
    if terms:
        yield " or ".join(terms)
