"""What comes with a hit: the chunk of a pair, the exception to its rule, its neighbours, the rest of its section."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from qchunker.config import SearchConfig
from qchunker.indexing.records import CHUNK, QA
from qchunker.indexing.snapshot import Snapshot
from qchunker.retrieval.hits import Related

_NEAREST = 32  # records in front of the end of a pair that are looked at for its chunk


def related(snapshot: Snapshot, record: int, config: SearchConfig) -> tuple[Related, ...]:
    """Records that come with one, each once, while the characters allowed last; linked ones first.

    The chunk that a question-answer pair was made from comes in any case.

    Args:
        snapshot: of the index.
        record: its place.
        config: ``with_links``, ``with_neighbours`` and ``with_section`` say what comes, ``related_chars`` how much.
    """
    found: list[Related] = []
    seen, room = {record}, config.related_chars
    chunk = chunk_of(snapshot, record) if config.with_chunk else None
    if chunk is not None:
        seen.add(chunk)
        found.append(Related("chunk", snapshot.payload(chunk)))
    # What limits the chunk limits the pair that was made from it.
    for kind, at in _candidates(snapshot, record if chunk is None else chunk, config):
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


def chunk_of(snapshot: Snapshot, record: int) -> int | None:
    """The chunk that holds most of the place of a question-answer pair; None of other records, and where there is none.

    The chunks may be of another run or tool: what counts is where they stand in the document of the pair.
    """
    row = snapshot.payload(record)
    doc_id, start, end = row.get("doc_id"), row.get("start"), row.get("end")
    if row.get("record") != QA or doc_id not in snapshot.doc_ids or not isinstance(start, int):
        return None
    end = end if isinstance(end, int) and end > start else start + 1
    document = np.flatnonzero(snapshot.documents == snapshot.doc_ids.index(doc_id))
    before = document[snapshot.starts[document] < end]
    best, most = None, 0
    for at in map(int, before[np.argsort(-snapshot.starts[before], kind="stable")][:_NEAREST]):
        chunk = snapshot.payload(at)
        stop = chunk.get("end")
        if chunk.get("record") != CHUNK or not isinstance(stop, int):
            continue
        shared = min(end, stop) - max(start, int(snapshot.starts[at]))
        if shared > most:
            best, most = at, shared
    return best


def place_of(snapshot: Snapshot, record_id: str, near: int) -> int | None:
    """The place of a record of the same document."""
    document = np.flatnonzero(snapshot.documents == snapshot.documents[near])
    return next((int(at) for at in document if snapshot.ids[int(at)] == record_id), None)
