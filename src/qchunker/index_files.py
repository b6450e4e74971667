"""Files beside an index: which are new or changed, and what their chunks are."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from qchunker.batch import Failure, chunk_all
from qchunker.config import ChunkingConfig, DebateConfig
from qchunker.inputs import FileInput, Input
from qchunker.models.cache import ResultCache, cache_key
from qchunker.rows import chunk_rows


class KnownFile(NamedTuple):
    """A document that the index has."""

    doc_id: str
    fingerprint: str


def fingerprint(path: Path, settings: str) -> str:
    """Changes with the content of a file, and with how it is chunked."""
    digest = hashlib.sha256(settings.encode())
    try:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError as error:
        digest.update(repr(error).encode())  # it is reported when its turn comes
    return digest.hexdigest()


def differs(known: KnownFile | None, item: FileInput, prints: dict[str, str]) -> bool:
    """Whether a file is not known as it is now."""
    return known is None or known.fingerprint != prints.get(full_path(item.path))


def full_path(path: str | Path) -> str:
    """The path of a file or folder from the root, as text that can be stored. Links may change; none is followed."""
    return os.fsencode(os.path.abspath(path)).decode("utf-8", "backslashreplace")


def is_empty(path: Path) -> bool:
    """Whether a file holds nothing any more, so that nothing of it is kept."""
    try:
        return path.stat().st_size == 0
    except OSError:
        return False


def with_own_id(rows: list[dict[str, Any]], place: str) -> list[dict[str, Any]]:
    """Rows with another id of their document: a file of the same name and text in another folder has the first one."""
    old = rows[0]["doc_id"]
    new = f"{old}-{hashlib.sha256(place.encode()).hexdigest()[:8]}"
    made = []
    for row in rows:
        links = [link | {"target": link["target"].replace(old, new, 1)} for link in row["links"]]
        made.append(row | {"doc_id": new, "chunk_id": row["chunk_id"].replace(old, new, 1), "links": links})
    return made


def file_rows(
    files: Sequence[FileInput],
    prints: dict[str, str],
    settings: str,
    how: tuple[str, ChunkingConfig, DebateConfig],
    jobs: int,
    cache: ResultCache | None,
) -> Iterator[tuple[FileInput, list[dict[str, Any]] | Failure]]:
    """The chunk rows of each file; those that an earlier run finished come from the cache.

    A file that changes while it is read gets no fingerprint in ``prints``, so that the next run reads it again.
    """
    keys = {item.name: cache_key("chunks", item.name, prints.get(full_path(item.path), "")) for item in files}
    found = {} if cache is None else cache.get_many(list(keys.values()))
    missing: list[Input] = [item for item in files if keys[item.name] not in found]
    made = chunk_all(missing, *how, jobs=jobs)
    for item in files:
        key = keys[item.name]
        if key in found:
            yield item, json.loads(zlib.decompress(found[key]))
            continue
        result = next(made)
        if isinstance(result, Failure):
            yield item, result
            continue
        metadata = {name: str(value) for name, value in result.document.metadata.items()}
        rows = [row | {"metadata": metadata} for row in chunk_rows(result)]
        if fingerprint(item.path, settings) != prints.get(full_path(item.path)):
            prints[full_path(item.path)] = ""
        elif cache is not None:
            cache.put_many({key: zlib.compress(json.dumps(rows, ensure_ascii=False).encode())})
        yield item, rows
