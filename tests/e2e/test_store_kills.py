"""A writer that is killed at any instant leaves the index as it was before or as it is after, and writable."""

from __future__ import annotations

import time
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forked import Forked, Wait
from qchunker.indexing.milvus_store import MilvusStore
from qchunker.indexing.store import Change, Entry, Store, StoreMeta, open_store

META = StoreMeta(1, "fake-1", 64)
N_DOCUMENTS = 60
LANCE = pytest.param("index", 21, id="lancedb")
MILVUS = pytest.param("index.db", 12, id="milvus", marks=pytest.mark.server)


@cache
def entries(doc_id: str, state: int) -> list[Entry]:
    """As many as the state says, which all of them name."""
    vectors = np.random.default_rng([state, *doc_id.encode()]).standard_normal((10 + state % 7, 64)).astype(np.float32)
    return [
        Entry(f"{doc_id}:{n}", f"{doc_id}:{n}", doc_id, "body", vector, f"tokens {state}", f'{{"state": {state}}}' * 50)
        for n, vector in enumerate(vectors)
    ]


def content_of(state: int) -> dict[str, list[Entry]]:
    """All documents change with every state but the last ones; which of these there are does, too."""
    here = [f"d{n:02}" for n in range(N_DOCUMENTS)] + [f"only-{state}"]
    return {doc_id: entries(doc_id, state) for doc_id in here} | {"kept": entries("kept", 0)}


def change_to(state: int) -> tuple[Change, list[str], bool]:
    """What leads there from the state before, of one kind or the other."""
    everything = state % 3 == 0
    content = {doc_id: rows for doc_id, rows in content_of(state).items() if doc_id != "kept" or everything}
    return {doc_id: (str(state), rows) for doc_id, rows in content.items()}, [f"only-{state - 1}"], everything


def change(store: Store, state: int) -> None:
    put, remove, everything = change_to(state)
    store.change(put, remove, everything=everything)


def prepare(store: Store) -> None:
    store.change({doc_id: ("0", rows) for doc_id, rows in content_of(0).items()}, [])


def found_state(store: Store) -> int:
    """The state the store is in, wholly."""
    stored, documents = store.read(), store.documents()
    (state,) = {int(doc_id.removeprefix("only-")) for doc_id in documents if doc_id.startswith("only-")}
    content = content_of(state)
    rows = [row for doc_id in sorted(content) for row in content[doc_id]]
    assert {s for doc_id, s in documents.items() if doc_id != "kept"} == {str(state)}
    assert documents.keys() == content.keys()
    assert stored.ids == [row.id for row in rows]
    assert stored.payloads == [row.payload for row in rows]
    assert stored.tokens == [row.tokens for row in rows]
    assert stored.vectors.tobytes() == np.stack([row.vector for row in rows]).tobytes()
    return state


def write(wait: Wait, act: str, where: str, state: int) -> None:
    """What is killed: it opens or makes a store, and changes it."""
    for library in ["pymilvus", "milvus_lite.server_manager"] if where.endswith(".db") else ["lancedb"]:
        import_module(library)  # so that this is not what is interrupted
    store = open_store(where, META, create=False) if act == "change" else None
    put, remove, everything = change_to(state)
    wait()
    if store is None:
        open_store(where, META, create=True)
    else:
        store.change(put, remove, everything=everything)


def duration_s(act: str, where: str, state: int = 0) -> float:
    """How long it takes when nobody interrupts it."""
    process = Forked(write, act, where, state)
    process.go()
    start = time.perf_counter()
    process.done()
    whole_s = time.perf_counter() - start
    process.kill()
    return whole_s


@pytest.mark.parametrize(("file", "n_kills"), [LANCE, MILVUS])
def test_killed_while_it_changes(file: str, n_kills: int, tmp_path: Path) -> None:
    where = str(tmp_path / file)
    store = open_store(where, META, create=True)
    prepare(store)
    store.close()
    whole_s = max(duration_s("change", where, state) for state in (1, 2, 3))
    state, kept = 3, set()
    for n in range(n_kills):
        process = Forked(write, "change", where, state + 1)
        if n:
            process.go()
            time.sleep(whole_s * 1.2 * n / n_kills)
        if n == n_kills - 1:
            process.done()
        process.kill()
        store = open_store(where, META, create=False)
        after = found_state(store)
        assert after in (state, state + 1)
        kept.add(after - state)
        state = after + 1
        change(store, state)
        assert found_state(store) == state
        no_leftovers(store)
        store.close()
    assert kept == {0, 1}


@pytest.mark.parametrize(("file", "n_kills"), [LANCE, MILVUS])
def test_killed_while_it_is_made(file: str, n_kills: int, tmp_path: Path) -> None:
    whole_s = duration_s("create", str(tmp_path / f"whole-{file}"))
    for n in range(n_kills // 4):
        where = str(tmp_path / f"{n}-{file}")
        process = Forked(write, "create", where, 0)
        process.go()
        time.sleep(whole_s * n / (n_kills // 4))
        process.kill()
        store = open_store(where, META, create=True)
        assert store.documents() == {}
        prepare(store)
        assert found_state(store) == 0
        store.close()


def no_leftovers(store: Store) -> None:
    if isinstance(store, MilvusStore):
        rows: list[Any] = store._connection.query(store._entries, "key >= 0", ["key"])
        assert len(rows) == len(store.read().ids)
