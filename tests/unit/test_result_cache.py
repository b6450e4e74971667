"""Results on disk: the same to the last bit, checked, bounded, shared, and never in the way."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import qchunker.models.cache
from qchunker.models.cache import ResultCache, cache_key
from qchunker.models.cached import CachedCausalLM, CachedEmbedder
from qchunker.models.causal_lm import Logprobs
from qchunker.models.embedder import Vectors
from qchunker.models.fake import HashingEmbedder, UnigramLM

TEXTS = ["The valve opens at nine bar.", "阀门在九巴时开启。", "Oil it weekly.", "x", "\ud800 lone", "a\x00b"]


class CountingEmbedder(HashingEmbedder):
    def __init__(self) -> None:
        self.texts: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return super().encode(texts)


class CountingLM(UnigramLM):
    def __init__(self) -> None:
        super().__init__()
        self.requests: list[tuple[str | None, str]] = []

    def token_logprobs(self, texts: Sequence[str], contexts: Sequence[str | None]) -> list[Logprobs]:
        self.requests += zip(contexts, texts, strict=True)
        return super().token_logprobs(texts, contexts)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "results.sqlite"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Seconds that pass only when a test says so."""
    now = [1000]
    monkeypatch.setattr(qchunker.models.cache, "_now", lambda: now[0])
    return now


def values_of(names: Sequence[str], size: int = 100) -> dict[bytes, bytes]:
    return {cache_key(name): name.encode().ljust(size, b".") for name in names}


def test_what_is_kept_is_found_by_this_and_the_next_cache(path: Path) -> None:
    values = values_of([str(i) for i in range(1200)]) | {cache_key("empty"): b"", cache_key("zero"): b"\x00\xff" * 9}
    cache = ResultCache(path)
    assert cache.get_many(list(values)) == {}
    cache.put_many(values)
    assert cache.get_many([*values, cache_key("never")]) == values
    cache.close()
    again = ResultCache(path)
    assert again.get_many(list(values)) == values
    assert again.problem is None


def test_equal_keys_are_overwritten(path: Path) -> None:
    cache = ResultCache(path)
    cache.put_many({b"k": b"old"})
    cache.put_many({b"k": b"new"})
    assert cache.get_many([b"k"]) == {b"k": b"new"}


def test_nothing_asked_and_nothing_kept_is_fine(path: Path) -> None:
    cache = ResultCache(path)
    cache.put_many({})
    assert cache.get_many([]) == {}
    assert cache.problem is None


def test_a_closed_cache_finds_and_keeps_nothing(path: Path) -> None:
    cache = ResultCache(path)
    cache.put_many({b"k": b"v"})
    cache.close()
    cache.close()
    cache.put_many({b"l": b"w"})
    assert cache.get_many([b"k", b"l"]) == {}


def test_vectors_from_the_cache_are_the_same_to_the_last_bit(path: Path) -> None:
    plain = HashingEmbedder().encode(TEXTS)
    first = CachedEmbedder(CountingEmbedder(), ResultCache(path)).encode(TEXTS)
    model = CountingEmbedder()
    second = CachedEmbedder(model, ResultCache(path)).encode(TEXTS)
    assert model.texts == []
    for vectors in (first, second):
        assert vectors.dtype == np.float32
        assert vectors.tobytes() == plain.tobytes()


def test_log_probabilities_from_the_cache_are_the_same_to_the_last_bit(path: Path) -> None:
    texts, contexts = TEXTS[:4] * 2, [None] * 4 + ["The valve.", "阀", "", "x"]
    plain = UnigramLM().token_logprobs(texts, contexts)
    first = CachedCausalLM(CountingLM(), ResultCache(path)).token_logprobs(texts, contexts)
    model = CountingLM()
    second = CachedCausalLM(model, ResultCache(path)).token_logprobs(texts, contexts)
    assert model.requests == []
    for found in (first, second):
        assert [values.tobytes() for values in found] == [values.tobytes() for values in plain]
        assert all(values.dtype == np.float64 for values in found)


def test_what_is_in_the_cache_costs_nothing(path: Path) -> None:
    lm = CachedCausalLM(UnigramLM(), ResultCache(path))
    lm.token_logprobs(["a b", "c"], [None, "a b"])
    assert lm.token_cost(["a b", "c"], [None, "a b"]) == 0


def test_only_what_is_missing_is_computed_and_each_text_once(path: Path) -> None:
    embedder, lm = CountingEmbedder(), CountingLM()
    cached = CachedEmbedder(embedder, ResultCache(path))
    cached.encode(["a", "b"])
    vectors = cached.encode(["c", "a", "c", "b"])
    assert embedder.texts == ["a", "b", "c"]
    assert vectors.tobytes() == HashingEmbedder().encode(["c", "a", "c", "b"]).tobytes()
    reader = CachedCausalLM(lm, ResultCache(path))
    reader.token_logprobs(["a b", "a b"], [None, "c"])
    assert reader.token_cost(["a b", "a b", "d"], ["c", None, None]) == UnigramLM().token_cost(["d"], [None])
    reader.token_logprobs(["a b", "a b", "d", "d"], ["c", None, None, None])
    assert lm.requests == [(None, "a b"), ("c", "a b"), (None, "d")]


def test_no_text_is_no_work(path: Path) -> None:
    assert CachedEmbedder(HashingEmbedder(), ResultCache(path)).encode([]).shape == (0, 64)
    assert CachedCausalLM(UnigramLM(), ResultCache(path)).token_logprobs([], []) == []


def test_models_do_not_share_results(path: Path) -> None:
    other = CountingEmbedder()
    other.id = "other"
    CachedEmbedder(HashingEmbedder(), ResultCache(path)).encode(["a"])
    CachedEmbedder(other, ResultCache(path)).encode(["a"])
    assert other.texts == ["a"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE results SET value = zeroblob(length(value))",
        "UPDATE results SET value = substr(value, 1, length(value) - 4)",
        "UPDATE results SET value = CAST(value || x'00' AS BLOB)",
        "UPDATE results SET value = x''",
        "UPDATE results SET checksum = x'0000000000000000'",
    ],
)
def test_a_changed_entry_is_noticed_and_computed_anew(path: Path, statement: str) -> None:
    embedder = CountingEmbedder()
    CachedEmbedder(embedder, ResultCache(path)).encode(TEXTS)
    with sqlite3.connect(path) as connection:
        assert connection.execute(statement).rowcount == len(TEXTS)
    connection.close()
    cached = CachedEmbedder(embedder, ResultCache(path))
    for _ in range(2):
        assert cached.encode(TEXTS).tobytes() == HashingEmbedder().encode(TEXTS).tobytes()
    assert embedder.texts == TEXTS * 2


def test_one_changed_entry_does_not_cost_the_others(path: Path) -> None:
    values = values_of("abc")
    ResultCache(path).put_many(values)
    key = cache_key("b")
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE results SET value = x'01' WHERE key = ?", (key,))
    connection.close()
    cache = ResultCache(path)
    assert cache.get_many(list(values)) == {k: v for k, v in values.items() if k != key}
    assert connection_count(path) == 2


def connection_count(path: Path) -> int:
    connection = sqlite3.connect(path)
    count: int = connection.execute("SELECT count(*) FROM results").fetchone()[0]
    connection.close()
    return count


@pytest.mark.parametrize("garbage", [b"garbage " * 1000, b"SQLite format 3\x00" + b"\xff" * 5000, b"\x00" * 4096])
def test_a_garbled_file_is_replaced(path: Path, garbage: bytes) -> None:
    cache = ResultCache(path)
    cache.put_many(values_of("abc"))
    cache.close()
    path.write_bytes(garbage)
    for _ in range(2):
        cache = ResultCache(path)
        assert cache.problem is None
        cache.put_many(values_of("de"))
        assert cache.get_many(list(values_of("abcde"))) == values_of("de")
        cache.close()


def test_a_file_garbled_while_in_use_is_replaced(path: Path) -> None:
    embedder = CountingEmbedder()
    cache = ResultCache(path)
    cached = CachedEmbedder(embedder, cache)
    cached.encode([f"text {i}" for i in range(400)])
    for suffix in ("", "-wal"):
        file = path.with_name(path.name + suffix)
        file.write_bytes(b"garbage " * (file.stat().st_size // 8))
    wanted = HashingEmbedder().encode(TEXTS).tobytes()
    assert cached.encode(TEXTS).tobytes() == wanted
    assert cached.encode(TEXTS).tobytes() == wanted
    cache.close()
    again = ResultCache(path)
    assert CachedEmbedder(embedder, again).encode(TEXTS).tobytes() == wanted
    assert again.problem is None


def test_a_file_cut_short_is_replaced(path: Path) -> None:
    cache = ResultCache(path)
    cache.put_many(values_of([str(i) for i in range(500)]))
    cache.close()
    whole = path.read_bytes()
    for length in (0, 10, 99, 100, 4096, 5000, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        cache = ResultCache(path)
        found = cache.get_many(list(values_of([str(i) for i in range(500)])))
        assert found.items() <= values_of([str(i) for i in range(500)]).items()
        cache.put_many(values_of("abc"))
        assert cache.get_many(list(values_of("abc"))) == values_of("abc")
        assert cache.problem is None
        cache.close()


def test_flipped_bytes_never_give_a_wrong_value(path: Path) -> None:
    """Of the pages with results; what a flip in the first page can do has a test of its own."""
    values = values_of([str(i) for i in range(120)])
    cache = ResultCache(path)
    cache.put_many(values)
    cache.close()
    whole, rng = path.read_bytes(), random.Random(0)
    n_lost = 0
    for i in range(60):
        changed = bytearray(whole)
        for _ in range(20):
            changed[rng.randrange(4096, len(whole))] ^= 1 << rng.randrange(8)
        file = path.with_name(f"{i}.sqlite")
        file.write_bytes(changed)
        cache = ResultCache(file)
        found = cache.get_many(list(values))
        assert all(found[key] == value for key, value in values.items() if key in found)
        n_lost += len(values) - len(found.keys() & values.keys())
        cache.close()
    assert n_lost > 60  # the flips did hit something


def test_a_file_of_another_version_is_replaced(path: Path) -> None:
    cache = ResultCache(path)
    cache.put_many(values_of("abc"))
    cache.close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=99")
    connection.close()
    cache = ResultCache(path)
    assert cache.get_many(list(values_of("abc"))) == {}
    cache.put_many(values_of("d"))
    assert cache.get_many(list(values_of("d"))) == values_of("d")


def test_the_size_is_bounded(path: Path, clock: list[int]) -> None:
    cache = ResultCache(path, max_bytes=20_000)
    for i in range(300):
        clock[0] += 1
        batch = values_of([f"{i}-{j}" for j in range(5)], 200)
        cache.put_many(batch)
        assert cache.get_many(list(batch)) == batch
        connection = sqlite3.connect(path)
        size = connection.execute("SELECT sum(length(value)) FROM results").fetchone()[0]
        connection.close()
        # What is written between two looks at the size: an eighth, and one batch of 1,000 bytes.
        assert size <= 20_000 + 2_500 + 1_000
    assert size >= 0.8 * 20_000 - 1_000
    cache.close()
    assert path.stat().st_size < 100_000


def test_the_oldest_goes_first_and_what_is_used_stays(path: Path, clock: list[int]) -> None:
    cache = ResultCache(path, max_bytes=1000)
    names = [f"old {i}" for i in range(9)]
    for name in names:
        clock[0] += 1
        cache.put_many(values_of([name]))
    clock[0] += 1
    used = values_of(["old 0", "old 2"])
    assert cache.get_many(list(used)) == used
    for i in range(4):
        clock[0] += 1
        cache.put_many(values_of([f"new {i}"]))
    kept = cache.get_many(list(values_of([*names, *[f"new {i}" for i in range(4)]])))
    assert used.items() <= kept.items()
    assert values_of([f"new {i}" for i in range(4)]).items() <= kept.items()
    rest = [name for name in names if name not in ("old 0", "old 2") and cache_key(name) in kept]
    assert len(kept) < 13
    assert rest == [name for name in names if name not in ("old 0", "old 2")][-len(rest) :]  # the youngest of them


def test_a_batch_larger_than_the_cache_does_no_harm(path: Path) -> None:
    cache = ResultCache(path, max_bytes=1000)
    cache.put_many(values_of([str(i) for i in range(100)]))
    assert len(cache.get_many(list(values_of([str(i) for i in range(100)])))) <= 10
    cache.put_many({b"large": b"x" * 5000})
    assert cache.problem is None


_WORKER = """
import sys, time
from pathlib import Path
from qchunker.models.cache import ResultCache, cache_key
path, me, max_bytes, start = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
time.sleep(max(0.0, start - time.time()))
cache = ResultCache(path, max_bytes)
for i in range(40):
    cache.put_many({cache_key(str(me), str(i), str(j)): f"{me} {i} {j} ".encode() * 20 for j in range(5)})
    wanted = {
        cache_key(str(other), str(i - back), str(j)): f"{other} {i - back} {j} ".encode() * 20
        for other in range(4) for back in (0, 1) for j in range(5)
    }
    found = cache.get_many(list(wanted))
    assert all(wanted[key] == value for key, value in found.items())
assert cache.problem is None or sys.argv[5] == "may fail", cache.problem
"""


def run_four(path: Path, max_bytes: int, trouble: str = "") -> None:
    start = time.time() + 0.7  # so that all open the file at once
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", _WORKER, str(path), str(me), str(max_bytes), str(start), trouble],
            stderr=subprocess.PIPE,
        )
        for me in range(4)
    ]
    for worker in workers:
        _, errors = worker.communicate(timeout=60)
        assert worker.returncode == 0, errors.decode()


def all_of_four() -> dict[bytes, bytes]:
    return {
        cache_key(str(me), str(i), str(j)): f"{me} {i} {j} ".encode() * 20
        for me in range(4)
        for i in range(40)
        for j in range(5)
    }


def test_four_processes_at_once_lose_nothing(path: Path) -> None:
    run_four(path, 2**30)
    cache = ResultCache(path)
    assert cache.get_many(list(all_of_four())) == all_of_four()
    assert cache.problem is None


def test_four_processes_that_replace_a_garbled_file_at_once_do_not_fail(path: Path) -> None:
    """What one of them kept may go with the file that another one replaces; it is computed anew."""
    path.parent.mkdir()
    path.write_bytes(b"garbage " * 500)
    run_four(path, 2**30, trouble="may fail")
    cache = ResultCache(path)
    found = cache.get_many(list(all_of_four()))
    assert found.items() <= all_of_four().items()
    assert cache.problem is None


def test_four_processes_at_once_keep_a_small_cache_small(path: Path) -> None:
    run_four(path, 20_000)
    found = ResultCache(path).get_many(list(all_of_four()))
    assert found.items() <= all_of_four().items()
    # Each process looks only after what it wrote itself: four times an eighth, and one batch each.
    assert 10_000 < sum(map(len, found.values())) < 20_000 + 4 * (2_500 + 1_000)


def test_a_folder_that_cannot_be_made_is_a_problem_and_results_still_come(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    check_unusable(ResultCache(tmp_path / "file" / "results.sqlite"))


def test_a_folder_in_place_of_the_file_is_a_problem_and_results_still_come(tmp_path: Path) -> None:
    (tmp_path / "results.sqlite").mkdir()
    check_unusable(ResultCache(tmp_path / "results.sqlite"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_a_problem_and_results_still_come(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        check_unusable(ResultCache(tmp_path / "results.sqlite"))
    finally:
        tmp_path.chmod(0o700)


def test_a_full_disk_is_a_problem_and_results_still_come(path: Path) -> None:
    cache = ResultCache(path)
    assert cache._connection is not None
    cache._connection.execute("PRAGMA max_page_count=4")
    embedder = CountingEmbedder()
    texts = [f"text {i}" for i in range(600)]
    vectors = CachedEmbedder(embedder, cache).encode(texts)
    assert vectors.tobytes() == HashingEmbedder().encode(texts).tobytes()
    assert cache.problem is not None
    assert str(path) in cache.problem
    assert "full" in cache.problem


def check_unusable(cache: ResultCache) -> None:
    assert cache.problem is not None
    assert str(cache.path) in cache.problem
    embedder, lm = CountingEmbedder(), CountingLM()
    for n in (1, 2):
        vectors = CachedEmbedder(embedder, cache).encode(TEXTS)
        assert vectors.tobytes() == HashingEmbedder().encode(TEXTS).tobytes()
        assert len(embedder.texts) == n * len(TEXTS)
        assert len(CachedCausalLM(lm, cache).token_logprobs(["a b"], ["c"])[0]) == 3
        assert len(lm.requests) == n
    cache.close()


def test_keys_of_different_parts_differ() -> None:
    lists: list[tuple[str | None, ...]] = [
        *[(), ("",), (None,), ("", ""), ("", None), (None, ""), (None, None)],
        *[("a", "bc"), ("ab", "c"), ("abc",), ("a", "b", "c"), ("abc", ""), ("", "abc")],
        *[("-",), ("--",), ("1:a",), ("1:a", "1:b"), ("0:",), ("a1:b",), ("a", "b"), ("1:a1:b",)],
        *[("é",), ("e\u0301",), ("\ud800",), ("\ufffd",), ("?",), ("A",), ("a",), ("a ",), ("a\x00",)],
    ]
    assert len({cache_key(*parts) for parts in lists}) == len(lists)
    assert all(len(cache_key(*parts)) == 32 for parts in lists)
    # The same in every version, so that caches stay of use.
    assert cache_key("embedding", None, "阀").hex()[:16] == "2c1b66e5b9647ea1"


def test_a_garbled_schema_is_replaced_too(path: Path) -> None:
    cache = ResultCache(path)
    cache.put_many(values_of("abc"))
    cache.close()
    data = path.read_bytes()
    at = data.index(b"checksum BLOB")
    path.write_bytes(data[:at] + b"'\xb9" + data[at + 2 :])
    assert ResultCache(path).problem is None


@pytest.mark.parametrize("value", ["'text'", "CAST(x'ff' AS TEXT)", "7"])
def test_an_entry_that_changed_its_type_is_computed_anew(path: Path, value: str) -> None:
    embedder = CountingEmbedder()
    CachedEmbedder(embedder, ResultCache(path)).encode(TEXTS)
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE results SET value = {value}")
    connection.close()
    cache = ResultCache(path)
    assert CachedEmbedder(embedder, cache).encode(TEXTS).tobytes() == HashingEmbedder().encode(TEXTS).tobytes()
    assert cache.problem is None
