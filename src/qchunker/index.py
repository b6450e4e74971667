"""An index of documents: kept in step with folders, searched, asked.

Index.open(place) -> sync(folder) -> search(question) -> hits
-> ask(question)    -> answer with citations
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from qchunker.answering.answer import Answer
from qchunker.answering.extract import extracted
from qchunker.answering.write import written
from qchunker.batch import Failure
from qchunker.config import ChunkingConfig, DebateConfig, SearchConfig
from qchunker.errors import ConfigError, InputError, ModelOutputError, StoreCorruptError, StoreError
from qchunker.index_files import KnownFile, differs, file_rows, fingerprint, full_path, is_empty, with_own_id
from qchunker.indexing.records import chunk_entries, qa_entries
from qchunker.indexing.snapshot import Snapshot, snapshot_of
from qchunker.indexing.store import SCHEMA, Change, Entry, Store, StoreMeta, open_store
from qchunker.inputs import expand_paths
from qchunker.models.cache import ResultCache
from qchunker.models.embedder import Embedder
from qchunker.models.llm import LLM
from qchunker.models.load import default_cache, default_embedder
from qchunker.models.paths import cache_folder
from qchunker.pipeline import DEBATE
from qchunker.retrieval.filters import Filter
from qchunker.retrieval.hits import Hit
from qchunker.retrieval.search import Reranker, checked_question, search
from qchunker.version import __version__

_ROUNDING = 0.01
Tell = Callable[[str, int, int], None]
_CHUNKS, _QA = "chunks", "question-answer pairs"
_QA_PREFIX = "qa\x1f"  # of the documents that pairs are kept as, so that they come and go beside the chunks


@dataclass(frozen=True, slots=True)
class Sync:
    """What keeping an index in step with some folders has done, in documents."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    n_chunks: int = 0
    """Of the added and changed ones."""

    failures: tuple[Failure, ...] = ()
    skipped: tuple[str, ...] = field(default=())
    """Files in folders that no parser reads, and empty ones."""


class Index:
    """Documents that can be searched. Readers go on while one process writes.

    Args:
        store: that keeps the entries.
        embedder: that it was made with.
        snapshots: folder for what is searched.
        cache: remembers chunks of documents that were not indexed yet when a run died; None forgets.
    """

    def __init__(self, store: Store, embedder: Embedder, snapshots: Path, cache: ResultCache | None = None) -> None:
        self._store, self._embedder = store, embedder
        self._snapshots, self._cache = snapshots, cache
        self._snapshot: Snapshot | None = None
        self._is_closed = False

    @classmethod
    def open(cls, where: str | Path, *, embedder: Embedder | None = None, create: bool = True) -> Index:
        """The index at a place, which is made if there is none.

        Args:
            where: a folder (LanceDB), a path ending in ``.db`` (Milvus Lite), or the address of a Milvus server.
            embedder: for documents and questions; an index can be opened with the one it was made with only. By default
                the encoder that is part of this package.
            create: make it if there is none.

        Raises:
            StoreError: if it cannot be opened; StoreMismatchError: if it was made with another embedder.
            MissingExtraError: if the package of the store is not installed.
        """
        if not isinstance(where, str | os.PathLike):
            raise ConfigError("where", f"must be a path or an address, got {where!r}")
        embedder = embedder or default_embedder()
        if not (isinstance(getattr(embedder, "id", None), str) and callable(getattr(embedder, "encode", None))):
            raise ConfigError("embedder", f"must have an id and encode texts, got {embedder!r}")
        dimension = _dimension(embedder)
        name = os.fspath(where)
        store = open_store(name, StoreMeta(SCHEMA, embedder.id, dimension), create=create)
        return cls(store, embedder, _snapshot_folder(name), default_cache())

    def sync(
        self,
        *paths: str | Path,
        method: str = DEBATE,
        config: ChunkingConfig | None = None,
        debate_config: DebateConfig | None = None,
        sentences: bool = False,
        jobs: int = 1,
        tell: Tell | None = None,
    ) -> Sync:
        """Make the index hold what some files and folders hold now: only what is new or changed is chunked.

        All of it becomes visible at once. A file that cannot be read any more keeps what the index had of it, and is
        reported. Documents of other folders stay.

        Args:
            paths: files and folders.
            method: as for ``chunk``.
            config: as for ``chunk``.
            debate_config: as for ``chunk``.
            sentences: whether every sentence gets a vector too.
            jobs: processes at work.
            tell: is told the name of each document, how many are done, and of how many.

        Raises:
            InputError: if a path does not exist. StoreBusyError: if another process is writing.
        """
        if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
            raise ConfigError("jobs", f"must be a whole number of at least 1, got {jobs!r}")
        for path in paths:
            if not str(path).strip() or not _is_path(path):
                raise InputError(f"{path!r} is no path", hint="name a file or a folder, such as .")
        config, debate_config = config or ChunkingConfig(), debate_config or DebateConfig()
        settings = f"{__version__} {method} {config!r} {debate_config!r} {sentences} {self._embedder.id}"
        known = self._known()
        under = [full_path(path) for path in paths]
        # A folder that is gone is no mistake where the index holds documents of it.
        there = [str(path) for path in paths if os.path.exists(path) or not _knows(known, full_path(path))]
        found, skipped = expand_paths(there) if there else ([], [])
        files = [item for item in found if not is_empty(item.path)]
        skipped += [item.name for item in found if is_empty(item.path)]
        prints = {full_path(item.path): fingerprint(item.path, settings) for item in files}
        gone = [at for at in known if at not in prints and any(_is_under(at, root) for root in under)]
        new = [item for item in files if differs(known.get(full_path(item.path)), item, prints)]
        put: dict[str, tuple[str, Sequence[Entry]]] = {}
        failures: list[Failure] = []
        counts = {"added": 0, "changed": 0}
        made = file_rows(new, prints, settings, (method, config, debate_config), jobs, self._cache)
        for done, (item, result) in enumerate(made, 1):
            if tell is not None:
                tell(item.name, done, len(new))
            if isinstance(result, Failure):
                failures.append(result)
                continue
            at = full_path(item.path)
            taken = {one.doc_id for place, one in known.items() if place != at} | put.keys()
            result = with_own_id(result, at) if result[0]["doc_id"] in taken else result
            doc_id = result[0]["doc_id"]
            state = {"what": _CHUNKS, "source": item.name, "path": at, "fingerprint": prints[at]}
            put[doc_id] = (
                json.dumps(state, ensure_ascii=False),
                chunk_entries(result, self._embedder, sentences=sentences),
            )
            counts["changed" if at in known else "added"] += 1
        written = {json.loads(state)["path"] for state, _ in put.values()}
        self._change(put, self._outdated(written.union(gone), put.keys()))
        n_chunks = sum(entry.role == "body" for _, entries in put.values() for entry in entries)
        unchanged = len(files) - len(new)
        return Sync(counts["added"], counts["changed"], len(gone), unchanged, n_chunks, tuple(failures), tuple(skipped))

    def add_chunks(self, rows: Iterable[dict[str, Any]], *, sentences: bool = False) -> int:
        """Index chunk rows, of this or another tool; a document's chunks take the place of those it had.

        Raises:
            InputError: if a row lacks doc_id, start, end or its text.
        """
        of_document: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            of_document.setdefault(_owner(row), []).append(row)
        put = {
            doc_id: (json.dumps({"what": _CHUNKS}), chunk_entries(same, self._embedder, sentences=sentences))
            for doc_id, same in of_document.items()
        }
        self._change(put, ())
        return sum(map(len, of_document.values()))

    def add_qa(self, rows: Iterable[dict[str, Any]]) -> int:
        """Index question-answer pairs: ``{qa_id, doc_id, question, answer}``, ``summary`` and ``variants`` optional.

        The pairs of a document take the place of those it had; its chunks stay.

        Raises:
            InputError: if a field is missing or blank.
        """
        of_document: dict[str, list[dict[str, Any]]] = {}
        sources = {doc_id: json.loads(state).get("source") for doc_id, state in self._store.documents().items()}
        for row in rows:
            named = {"source": sources[_owner(row)]} if sources.get(_owner(row)) else {}
            of_document.setdefault(_QA_PREFIX + _owner(row), []).append(named | row)
        put = {}
        for key, same in of_document.items():
            entries = [entry._replace(doc_id=key) for entry in qa_entries(same, self._embedder)]
            put[key] = (json.dumps({"what": _QA}), entries)
        self._change(put, ())
        return sum(map(len, of_document.values()))

    def remove(self, *doc_ids: str) -> None:
        """Forget documents, their chunks and their question-answer pairs.

        Raises:
            InputError: if an id is no text.
        """
        if not all(isinstance(doc_id, str) for doc_id in doc_ids):
            raise InputError("an id of a document is no text", hint="give each id by itself")
        self._change({}, _with_pairs(doc_ids))

    def search(
        self,
        question: str,
        k: int = 6,
        *,
        config: SearchConfig | None = None,
        wanted: Filter | None = None,
        reranker: Reranker | None = None,
    ) -> list[Hit]:
        """The records that fit a question best, the best first; see ``retrieval.search``."""
        find = partial(search, question=question, embedder=self._embedder, k=k, config=config, wanted=wanted,
                       reranker=reranker)  # fmt: skip
        try:
            return find(self.snapshot())
        except StoreCorruptError:  # the store itself may be whole
            return find(self.snapshot(anew=True))

    def ask(
        self,
        question: str,
        k: int = 6,
        *,
        llm: LLM | None = None,
        config: SearchConfig | None = None,
        wanted: Filter | None = None,
    ) -> Answer:
        """An answer from the documents, every sentence with its source, or the plain statement that there is none.

        Args:
            question: in any words.
            k: hits that the answer is made from.
            llm: writes the answer; without one it is made of sentences of the documents.
            config: as for ``search``.
            wanted: as for ``search``.
        """
        question = checked_question(question)
        hits = self.search(question, k, config=config, wanted=wanted)
        snapshot = self.snapshot()
        if llm is None:
            return extracted(question, hits, self._embedder, snapshot.bm25)
        return written(question, hits, llm, self._embedder, snapshot.bm25)

    def snapshot(self, *, anew: bool = False) -> Snapshot:
        """What is searched now: the newest version of the index, on request made anew from the store."""
        if self._is_closed:
            raise StoreError(self._store.name, "the index was closed", hint="open it again")
        version = self._store.version()
        if anew or self._snapshot is None or self._snapshot.version != version:
            self._snapshot = snapshot_of(self._store.read, version, self._snapshots, anew=anew)
        return self._snapshot

    def close(self) -> None:
        """Let go of the files."""
        self._snapshot, self._is_closed = None, True
        self._store.close()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _change(self, put: Change, remove: Iterable[str]) -> None:
        if self._is_closed:
            raise StoreError(self._store.name, "the index was closed", hint="open it again")
        removed = set(remove)
        if put or removed:
            self._store.change(put, removed)

    def _outdated(self, places: Collection[str], kept: Collection[str]) -> set[str]:
        """What the index holds now of some files, whoever put it there meanwhile, but for the documents kept.

        Pairs of a text that is not there any more go with it: nothing grounds them.
        """
        states = {doc_id: json.loads(state).get("path") for doc_id, state in self._store.documents().items()}
        return _with_pairs(doc_id for doc_id, place in states.items() if place in places and doc_id not in kept)

    def _known(self) -> dict[str, KnownFile]:
        """Documents that came from files, by the file's real path."""
        known: dict[str, KnownFile] = {}
        for doc_id, state in self._store.documents().items():
            found = json.loads(state)
            if "path" in found:
                known[found["path"]] = KnownFile(doc_id, found["fingerprint"])
        return known


def _is_path(path: str | Path) -> bool:
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def _dimension(embedder: Embedder) -> int:
    vectors = np.asarray(embedder.encode(["dimension"]))
    if vectors.ndim != 2 or len(vectors) != 1 or not abs(float(np.linalg.norm(vectors)) - 1) < _ROUNDING:
        raise ModelOutputError(embedder.id, "gives no vectors of length 1", hint="divide each by its length")
    return int(vectors.shape[1])


def _knows(known: Mapping[str, KnownFile], root: str) -> bool:
    return any(_is_under(at, root) for at in known)


def _with_pairs(doc_ids: Iterable[str]) -> set[str]:
    return {key for doc_id in doc_ids for key in (doc_id, _QA_PREFIX + doc_id)}


def _owner(row: object) -> str:
    doc_id = row.get("doc_id") if isinstance(row, Mapping) else None
    if not isinstance(doc_id, str) or not doc_id:
        raise InputError(f"doc_id must be text, got {doc_id!r}", hint="rows are {doc_id, start, end, text}")
    return doc_id


def _is_under(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _snapshot_folder(where: str) -> Path:
    if "://" in where:
        return cache_folder() / "snapshots" / hashlib.sha256(where.encode()).hexdigest()[:16]
    place = Path(os.path.abspath(where))
    return place.with_name(f"{place.name}.snapshots")


__all__ = ["Index", "Sync"]
