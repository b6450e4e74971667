"""Every store keeps the contract of ``Store``; the same tests for all."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qchunker import errors
from qchunker.indexing.milvus_manifest import Place, ranges_of, without
from qchunker.indexing.store import Entry, Store, Stored, StoreMeta, open_store

DIMENSION = 8
META = StoreMeta(1, "fake-1", DIMENSION)
LANCE = pytest.param("index", id="lancedb")
MILVUS = pytest.param("index.db", id="milvus", marks=pytest.mark.server)
ODD = [
    "plain", "o'clock", '"quoted"', "back\\slash\\", "\\' OR 1=1 --", "第一条", "🙂👩‍👩‍👧", "a b\n\tc", "%_", "é", "e\u0301",
    "‮abc", "{x}", "#1", "\U0010ffff", "", "null",
]  # fmt: skip
BAD_FILES = ["trunc", "noise", "gone"]

Open = Callable[..., Store]


def entry(doc_id: str, n: int, **more: Any) -> Entry:
    vector = np.random.default_rng([n, *doc_id.encode()]).standard_normal(DIMENSION).astype(np.float32)
    record = f"{doc_id}:{n}"
    return Entry(record, record, doc_id, "body", vector, f"tokens of {n}", json.dumps({"id": record}))._replace(**more)


def entries(doc_id: str, n: int) -> list[Entry]:
    return [entry(doc_id, k) for k in range(n)]


def as_entries(stored: Stored) -> list[tuple[Any, ...]]:
    columns = (
        stored.ids, stored.record_ids, stored.doc_ids, stored.roles, [row.tobytes() for row in stored.vectors],
        stored.tokens, stored.payloads,
    )  # fmt: skip
    return list(zip(*columns, strict=True))


def expected(content: Mapping[str, Sequence[Entry]]) -> list[tuple[Any, ...]]:
    rows = [row for doc_id in sorted(content) for row in content[doc_id]]
    return [(r.id, r.record_id, r.doc_id, r.role, r.vector.tobytes(), r.tokens, r.payload) for r in rows]


@pytest.fixture(params=[LANCE, MILVUS])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / request.param)


@pytest.fixture
def opened(where: str) -> Iterator[Open]:
    stores = []

    def again(meta: StoreMeta = META, *, create: bool = False, lock_timeout_s: float = 10.0) -> Store:
        stores.append(open_store(where, meta, create=create, lock_timeout_s=lock_timeout_s))
        return stores[-1]

    yield again
    for store in stores:
        store.close()


@pytest.fixture
def store(opened: Open) -> Store:
    return opened(create=True)


def test_a_new_store_is_empty(store: Store, where: str) -> None:
    stored = store.read()
    assert (store.name, store.meta) == (where, META)
    assert store.documents() == {}
    assert as_entries(stored) == []
    assert stored.vectors.shape == (0, DIMENSION)
    assert stored.vectors.dtype == np.float32
    assert stored.version == store.version()


def test_what_is_put_comes_back_to_the_bit(store: Store) -> None:
    content = {doc_id: entries(doc_id, n % 4) for n, doc_id in enumerate(ODD)}
    hard = np.array([-0.0, 1e-45, 3.4e38, 1 / 3, np.pi, -1e-38, 1, 0], dtype=np.float32)
    content["plain"] = [
        entry("plain", 0, vector=hard),
        entry("plain", 0, id="plain:0#question-1", role="question", tokens="", payload=""),
    ]
    states = {doc_id: f"state of {doc_id}" for doc_id in ODD}
    version = store.change({doc_id: (states[doc_id], content[doc_id]) for doc_id in ODD}, [])
    stored = store.read()
    assert store.documents() == states
    assert list(store.documents()) == sorted(ODD)
    assert as_entries(stored) == expected(content)
    assert stored.vectors.flags.c_contiguous
    assert stored.vectors.dtype == np.float32
    assert stored.version == version == store.version()


def test_odd_ids_can_be_replaced_and_removed_one_by_one(store: Store) -> None:
    store.change({doc_id: ("1", entries(doc_id, 2)) for doc_id in ODD}, [])
    content = {doc_id: entries(doc_id, 2) for doc_id in ODD}
    for n, doc_id in enumerate(ODD):
        if n % 2:
            store.change({}, [doc_id])
            del content[doc_id]
        else:
            store.change({doc_id: ("2", entries(doc_id, 1))}, [])
            content[doc_id] = entries(doc_id, 1)
        assert as_entries(store.read()) == expected(content), doc_id
    assert store.documents() == dict.fromkeys(content, "2")


def test_a_document_without_entries_has_a_state(store: Store) -> None:
    store.change({"a": ("empty", []), "b": ("", entries("b", 1))}, [])
    assert store.documents() == {"a": "empty", "b": ""}
    store.change({"b": ("gone", [])}, [])
    assert store.documents() == {"a": "empty", "b": "gone"}
    assert as_entries(store.read()) == []


def test_entries_of_a_replaced_document_go(store: Store) -> None:
    store.change({"a": ("1", entries("a", 9)), "b": ("1", entries("b", 3))}, [])
    store.change({"a": ("2", [entry("a", 20), entry("a", 0, payload="new")])}, [])
    assert as_entries(store.read()) == expected(
        {"a": [entry("a", 20), entry("a", 0, payload="new")], "b": entries("b", 3)}
    )
    assert store.documents() == {"a": "2", "b": "1"}


def test_remove(store: Store) -> None:
    store.change({d: ("1", entries(d, 3)) for d in "abc"}, [])
    store.change({"d": ("1", entries("d", 2))}, ["a", "c", "never seen"])
    assert as_entries(store.read()) == expected({"b": entries("b", 3), "d": entries("d", 2)})
    store.change({}, ["b", "d", "b"])
    assert store.documents() == {}
    assert as_entries(store.read()) == []


def test_a_change_of_nothing_is_none(store: Store) -> None:
    version = store.change({"a": ("1", entries("a", 1))}, [])
    assert store.change({}, []) == version == store.version()


def test_equal_texts_of_several_documents_are_kept(store: Store) -> None:
    same = {"id": "one-id", "record_id": "one-id", "vector": np.ones(DIMENSION, np.float32), "payload": "{}"}
    with pytest.raises(errors.StoreError, match="two entries have the id"):
        store.change({d: ("1", [entry(d, 0, **same)]) for d in "abc"}, [])
    same |= {"tokens": "same"}
    content = {d: [entry(d, 0, **same | {"id": f"{d}:0"})] for d in "abc"}
    store.change({d: ("1", content[d]) for d in "abc"}, [])
    assert as_entries(store.read()) == expected(content)


def test_an_entry_can_move_to_another_document(store: Store) -> None:
    store.change({"a": ("1", [entry("a", 0, id="x")])}, [])
    store.change({"b": ("1", [entry("b", 0, id="x")])}, ["a"])
    assert as_entries(store.read()) == expected({"b": [entry("b", 0, id="x")]})


def test_the_same_change_twice_changes_only_the_version(store: Store) -> None:
    put = {d: ("1", entries(d, 3)) for d in "ba"}
    first = store.change(put, [])
    before = as_entries(store.read())
    second = store.change(put, [])
    assert first != second == store.version()
    assert as_entries(store.read()) == before
    assert store.documents() == {"a": "1", "b": "1"}


def test_everything(store: Store) -> None:
    store.change({d: ("1", entries(d, 3)) for d in "abc"}, [])
    store.change({"c": ("2", entries("c", 1)), "d": ("2", [])}, [], everything=True)
    assert store.documents() == {"c": "2", "d": "2"}
    assert as_entries(store.read()) == expected({"c": entries("c", 1)})
    store.change({"a": ("3", entries("a", 1))}, ["c"])
    assert as_entries(store.read()) == expected({"a": entries("a", 1)})
    store.change({}, [], everything=True)
    assert store.documents() == {}
    assert store.read().vectors.shape == (0, DIMENSION)


def test_reopened(store: Store, opened: Open) -> None:
    version = store.change({"a": ("1", entries("a", 3))}, [])
    store.close()
    for create in (False, True):
        again = opened(create=create)
        assert again.version() == version
        assert as_entries(again.read()) == expected({"a": entries("a", 3)})
        again.close()
        again.close()


def test_versions_differ_from_those_of_an_earlier_store_there(store: Store, opened: Open, where: str) -> None:
    before = store.change({"a": ("1", entries("a", 3))}, [])
    store.close()
    shutil.rmtree(where)
    assert opened(create=True).change({"a": ("1", entries("a", 2))}, []) != before


@pytest.mark.parametrize(
    ("meta", "field"),
    [
        (META._replace(schema=2), "schema"),
        (META._replace(embedder="x"), "embedder"),
        (META._replace(dimension=9), "dimension"),
    ],
)
def test_mismatches(store: Store, opened: Open, meta: StoreMeta, field: str) -> None:
    for create in (False, True):
        with pytest.raises(errors.StoreMismatchError) as caught:
            opened(meta, create=create)
        assert (caught.value.field, caught.value.found, caught.value.expected) == (
            field, getattr(META, field), getattr(meta, field),
        )  # fmt: skip


def test_a_missing_store_is_not_made_by_a_reader(opened: Open, where: str) -> None:
    with pytest.raises(errors.StoreError, match="qchunker index"):
        opened()
    assert list(Path(where).parent.iterdir()) == []


def test_what_is_something_else_is_left_alone(opened: Open, where: str) -> None:
    Path(where).write_text("mine")
    for create in (False, True):
        with pytest.raises(errors.StoreError):
            opened(create=create)
    assert Path(where).read_text() == "mine"
    Path(where).unlink()
    Path(where).mkdir()
    (Path(where) / "notes.txt").write_text("mine")
    for create in (False, True):
        with pytest.raises(errors.StoreError):
            opened(create=create)
    assert [path.name for path in Path(where).iterdir()] == ["notes.txt"]


def test_an_empty_folder_becomes_a_store(opened: Open, where: str) -> None:
    Path(where).mkdir()
    assert opened(create=True).documents() == {}


@pytest.mark.parametrize(
    ("put", "remove", "match"),
    [
        ({"a": ("1", [entry("a", 0, vector=np.ones(3, np.float32))])}, [], r"\(3,\)"),
        ({"a": ("1", [entry("a", 0, vector=np.ones(DIMENSION))])}, [], "float64"),
        ({"a": ("1", [entry("a", 0, vector=np.full(DIMENSION, np.nan, np.float32))])}, [], "not finite"),
        ({"a": ("1", [entry("b", 0)])}, [], "belongs to 'b'"),
        ({"a": ("1", [entry("a", 0, role="document")])}, [], "role"),
        ({"a": ("1", [entry("a", 0, payload="\ud800")])}, [], "surrogate"),
        ({"a": ("1", [])}, ["a"], "both put and removed"),
    ],
)
def test_what_cannot_be_stored_changes_nothing(store: Store, put: Any, remove: list[str], match: str) -> None:
    version = store.change({"z": ("1", entries("z", 2))}, [])
    with pytest.raises(errors.StoreError, match=match):
        store.change({"z": ("2", [])} | put, remove)
    assert store.version() == version
    assert as_entries(store.read()) == expected({"z": entries("z", 2)})


HOLD = """
import sys, time
from filelock import FileLock
with FileLock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_writer_is_refused_and_readers_are_not(store: Store, opened: Open, where: str) -> None:
    store.change({"a": ("1", entries("a", 2))}, [])
    lock_file = f"{where}.lock" if where.endswith(".db") else f"{where}/write.lock"
    hasty = opened(lock_timeout_s=0.2)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, lock_file], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(errors.StoreBusyError) as caught:
            hasty.change({"a": ("2", [])}, [])
        assert caught.value.retryable
        assert as_entries(opened(create=True).read()) == expected({"a": entries("a", 2)})
        other.kill()
    assert hasty.change({"a": ("2", [])}, []) == store.version()


def test_writers_of_one_process_take_turns(store: Store, opened: Open) -> None:
    failures: list[Exception] = []

    def write(own: Store, doc_id: str) -> None:
        try:
            for n in range(5):
                own.change({doc_id: (str(n), entries(doc_id, n))}, [])
        except errors.StoreError as error:
            failures.append(error)

    threads = [
        threading.Thread(target=write, args=(own, d)) for own, d in [(store, "a"), (store, "b"), (opened(), "c")]
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert as_entries(store.read()) == expected({d: entries(d, 4) for d in "abc"})


def test_readers_see_one_state_while_others_write(store: Store, opened: Open) -> None:
    def state(n: int) -> dict[str, tuple[str, list[Entry]]]:
        return {d: (str(n), [entry(d, k, payload=str(n)) for k in range(20 + n)]) for d in "abcd"}

    store.change(state(0), [])
    reader, finished, seen = opened(), threading.Event(), set()

    def write() -> None:
        try:
            for n in range(1, 15):
                store.change(state(n), [], everything=n % 5 == 0)
        finally:
            finished.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not finished.is_set():
        stored = reader.read()
        payloads = set(stored.payloads)
        assert len(payloads) == 1
        n = int(payloads.pop())
        seen.add(n)
        assert len(stored.ids) == 4 * (20 + n)
    writer.join()
    assert reader.version() == store.version()
    assert set(reader.documents().values()) == {"14"}
    assert len(seen) > 1


def test_large_texts(store: Store) -> None:
    big = [
        entry("a", 0, payload="x" * 300_000),
        entry("a", 1, payload="中🙂é" * 40_000, tokens="词 " * 50_000),
        entry("a", 2, tokens="t" * 70_000, payload=""),
        entry("a", 3, payload="🙂" * 7_500 + "y"),
    ]
    store.change({"a": ("1", big), "b": ("1", entries("b", 2))}, [])
    assert as_entries(store.read()) == expected({"a": big, "b": entries("b", 2)})
    store.change({"a": ("2", big[3:])}, [])
    assert as_entries(store.read()) == expected({"a": big[3:], "b": entries("b", 2)})


def test_20_000_entries(store: Store) -> None:
    content = {f"d{n:03}": entries(f"d{n:03}", 100) for n in range(200)}
    store.change({d: ("1", content[d]) for d in content}, [])
    assert as_entries(store.read()) == expected(content)
    changed = sorted(content)[::7]
    for d in changed:
        content[d] = content[d][:50]
    removed = sorted(content)[1::9]
    store.change({d: ("2", content[d]) for d in changed if d not in removed}, removed)
    assert as_entries(store.read()) == expected({d: rows for d, rows in content.items() if d not in removed})


def test_5_000_documents_in_one_change(store: Store) -> None:
    ids = [f"it's {n}" for n in range(5_000)]
    store.change({d: ("1", [entry(d, 0)]) for d in ids}, [])
    store.change({d: ("2", [entry(d, 1)]) for d in ids}, [])
    assert store.documents() == dict.fromkeys(ids, "2")
    assert as_entries(store.read()) == expected({d: [entry(d, 1)] for d in ids})
    store.change({}, ids[1:])
    assert as_entries(store.read()) == expected({ids[0]: [entry(ids[0], 1)]})


def test_many_changes_leave_few_files(store: Store, where: str) -> None:
    for n in range(40):
        store.change({"a": (str(n), entries("a", 3)), f"b{n % 5}": (str(n), entries(f"b{n % 5}", 2))}, [])
    assert as_entries(store.read()) == expected(
        {"a": entries("a", 3)} | {f"b{n}": entries(f"b{n}", 2) for n in range(5)}
    )
    assert sum(1 for path in Path(where).rglob("*") if path.is_file()) < 400


@pytest.mark.parametrize("damage", BAD_FILES)
def test_damaged_files_are_reported(
    store: Store, opened: Open, where: str, damage: str, capfd: pytest.CaptureFixture[str]
) -> None:
    store.change({d: ("1", entries(d, 30)) for d in "abc"}, [])
    store.close()
    for path in sorted(Path(where).rglob("*")):
        if path.is_file() and path.suffix in (".lance", ".manifest", ".parquet", ".json", ".arrow"):
            if damage == "gone":
                path.unlink()
            elif damage == "trunc":
                path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
            else:
                path.write_bytes(np.random.default_rng(0).bytes(path.stat().st_size))
    with pytest.raises(errors.StoreError) as caught:
        opened().read()
    assert "Traceback" not in str(caught.value)
    assert "Traceback" not in capfd.readouterr().err


OPEN = """
import sys
from qchunker.indexing.store import StoreMeta, open_store
store = open_store(sys.argv[1], StoreMeta(1, "fake-1", 8), create=True)
print("open", flush=True)
sys.stdin.read()
"""


@pytest.mark.server
def test_a_lite_file_that_another_process_has_open_is_busy(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    where = str(tmp_path / "index.db")
    with subprocess.Popen([sys.executable, "-c", OPEN, where], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        with pytest.raises(errors.StoreBusyError, match="only one at a time"):
            open_store(where, META, create=False)
        other.kill()
    assert "Traceback" not in capfd.readouterr().err
    open_store(where, META, create=True).close()


@pytest.mark.server
def test_index_files_that_a_kill_cut_short_are_made_again(tmp_path: Path) -> None:
    where = str(tmp_path / "index.db")
    for n in range(2):
        store = open_store(where, META, create=True)
        if not n:
            store.change({d: ("1", entries(d, 30)) for d in "abc"}, [])
        assert len(store.read().record_ids) == 90
        store.close()
        cut = list(Path(where).rglob("*.idx"))
        assert cut
        for file in cut:
            file.write_bytes(file.read_bytes()[:130])
    open_store(where, META, create=False).close()


@pytest.mark.server
@pytest.mark.parametrize("size", [70_000, 59_950])
def test_ids_too_long_for_milvus_are_refused(tmp_path: Path, size: int) -> None:
    store = open_store(str(tmp_path / "index.db"), META, create=True)
    with pytest.raises(errors.StoreError, match="too long for Milvus"):
        store.change({"x" * size: ("1", [])}, [])
    store.close()


@pytest.mark.server
def test_a_server_that_does_not_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("qchunker.indexing.milvus_connection._TIMEOUT_S", 1.0)
    monkeypatch.setenv("QCHUNKER_CACHE", str(tmp_path))
    monkeypatch.setenv("QCHUNKER_MILVUS_TOKEN", "root:very-secret")
    with pytest.raises(errors.StoreError) as caught:
        open_store("http://me:very-secret@127.0.0.1:9/#notes", META, create=False)
    assert "very-secret" not in str(caught.value)
    assert "very-secret" not in caught.value.store


@pytest.mark.parametrize(
    "where", ["", "s3://bucket/index", "a\0b", "x" * 300, "x" * 300 + ".db", "http://127.0.0.1:9/#no-name"]
)
def test_places_where_no_index_is_kept(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QCHUNKER_CACHE", str(tmp_path))
    with pytest.raises(errors.StoreError):
        open_store(where, META, create=True)


@pytest.mark.parametrize("name", ["lancedb", "filelock", "pymilvus", "milvus_lite"])
def test_missing_packages_are_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    where = tmp_path / ("index.db" if "milvus" in name else "index")
    with pytest.raises(errors.MissingExtraError, match=r"qchunker\[|filelock"):
        open_store(str(where), META, create=True)


def test_ranges() -> None:
    manifest = {"a": Place("", 10, 5), "b": Place("", 15, 5), "c": Place("", 30, 2), "d": Place("", 40, 0)}
    assert ranges_of(manifest) == [(10, 20), (30, 32)]
    assert without([(0, 10), (20, 30)], [(2, 4), (8, 22), (29, 40)]) == [(0, 2), (4, 8), (22, 29)]
    assert without([(0, 10)], []) == [(0, 10)]
    assert without([(5, 9), (9, 12)], [(0, 20)]) == []
