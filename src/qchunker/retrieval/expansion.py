"""What comes with a hit: the exception to its rule, its neighbours, the rest of its section."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from qchunker.config import SearchConfig
from qchunker.indexing.snapshot import Snapshot
from qchunker.retrieval.hits import Related


def related(snapshot: Snapshot, record: int, config: SearchConfig) -> tuple[Related, ...]:
    """Records that come with one, each once, while the characters allowed last; linked ones first.

    Args:
        snapshot: of the index.
        record: its place.
        config: ``with_links``, ``with_neighbours`` and ``with_section`` say what comes, ``related_chars`` how much.
    """
    found: list[Related] = []
    seen, room = {record}, config.related_chars
    for kind, at in _candidates(snapshot, record, config):
        if at in seen:
            continue
        seen.add(at)
        row = snapshot.payload(at)
        length = len(str(row.get("completed_text") or row.get("text") or ""))
        if length > room:
            continue
        room -= length
        found.append(Related(kind, row))
    return tuple(found)


def _candidates(snapshot: Snapshot, record: int, config: SearchConfig) -> Iterator[tuple[str, int]]:
    if config.with_links:
        for link in snapshot.payload(record).get("links") or ():
            at = place_of(snapshot, str(link["target"]), record)
            if at is not None:
                yield str(link["kind"]), at
    if config.with_neighbours:
        for step in range(1, min(config.with_neighbours, len(snapshot)) + 1):
            for kind, at in (("before", record - step), ("behind", record + step)):
                if 0 <= at < len(snapshot) and snapshot.documents[at] == snapshot.documents[record]:
                    yield kind, at
    if config.with_section:
        same = (snapshot.documents == snapshot.documents[record]) & (snapshot.paths == snapshot.paths[record])
        yield from (("section", int(at)) for at in np.flatnonzero(same))


def place_of(snapshot: Snapshot, record_id: str, near: int) -> int | None:
    """The place of a record of the same document."""
    document = np.flatnonzero(snapshot.documents == snapshot.documents[near])
    return next((int(at) for at in document if snapshot.ids[int(at)] == record_id), None)
