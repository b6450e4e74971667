"""Which records a search looks at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import translate

import numpy as np
import numpy.typing as npt

from qchunker.errors import ConfigError
from qchunker.indexing.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions that all must hold; those not given hold always.

    Args:
        source: pattern with ``*`` and ``?`` of the document's name, such as ``manuals/*.pdf``; without ``/`` also
            of the name without its folders.
        heading: words that a heading above the record contains, whatever their case.
        pages: first and last page.
        metadata: values that the document's metadata has.
        doc_ids: documents.
    """

    source: str | None = None
    heading: str | None = None
    pages: tuple[int, int] | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    doc_ids: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name in ("source", "heading"):
            if not isinstance(getattr(self, name), str | None):
                raise ConfigError(name, f"must be text, got {getattr(self, name)!r}")
        if not isinstance(self.metadata, Mapping):
            raise ConfigError("metadata", f"must be names and values, got {self.metadata!r}")
        ids = self.doc_ids
        if ids is not None and (isinstance(ids, str) or not all(isinstance(one, str) for one in _each(ids))):
            raise ConfigError("doc_ids", f"must be several ids, got {ids!r:.60}")
        if self.pages is not None and not _is_range(self.pages):
            raise ConfigError("pages", f"must be the first and the last page, got {self.pages}")


def _each(ids: object) -> Iterable[object]:
    return ids if isinstance(ids, Iterable) else [ids]


def _is_range(pages: object) -> bool:
    whole = isinstance(pages, tuple | list) and [type(page) for page in pages] == [int, int]
    return whole and 1 <= pages[0] <= pages[1]  # type: ignore[index]


def allowed(snapshot: Snapshot, wanted: Filter | None) -> npt.NDArray[np.bool_]:
    """Which records a filter lets through; (N,)."""
    mask = np.ones(len(snapshot), dtype=np.bool_)
    if wanted is None:
        return mask
    if wanted.source is not None or wanted.metadata or wanted.doc_ids is not None:
        mask &= _documents(snapshot, wanted)[snapshot.documents]
    if wanted.heading is not None:
        words = wanted.heading.casefold()
        has_words = [any(words in title.casefold() for title in path) for path in snapshot.heading_paths]
        mask &= np.array(has_words, dtype=np.bool_)[snapshot.paths]
    if wanted.pages is not None:
        mask &= (snapshot.pages >= wanted.pages[0]) & (snapshot.pages <= wanted.pages[1])
    return mask


def _documents(snapshot: Snapshot, wanted: Filter) -> npt.NDArray[np.bool_]:
    pattern = None if wanted.source is None else re.compile(translate(wanted.source))
    in_any_folder = "/" not in (wanted.source or "/")
    ids = None if wanted.doc_ids is None else set(wanted.doc_ids)
    kept = [
        (pattern is None or any(map(pattern.match, [source] + [source.rpartition("/")[2]] * in_any_folder)))
        and (ids is None or doc_id in ids)
        and all(metadata.get(key) == value for key, value in wanted.metadata.items())
        for doc_id, source, metadata in zip(snapshot.doc_ids, snapshot.sources, snapshot.metadata, strict=True)
    ]
    return np.array(kept, dtype=np.bool_)
