"""BM25 equals a naive implementation, on disk as in memory."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from qchunker.errors import ConfigError, InputError, StoreCorruptError, StoreError, StoreMismatchError
from qchunker.indexing.bm25 import BM25
from qchunker.indexing.lexical_tokens import lexical_tokens

ODD = [
    "",
    " ",
    "\n",
    "氨气",
    "é",
    "e\u0301",
    "\ud800",
    "\uffff",
    "\U0001f9ea",
    "a\x00b",
    "zz",
    "Z",
    "\U00020000",
    "\ue000",
]


def naive(documents: Sequence[Sequence[str]], query: Sequence[str], k1: float = 1.2, b: float = 0.75) -> list[float]:
    n_documents = len(documents)
    mean = sum(map(len, documents)) / n_documents if n_documents else 0.0
    counts = [Counter(document) for document in documents]
    scores = []
    for document, count in zip(documents, counts, strict=True):
        score = 0.0
        for token in query:
            n = sum(token in other for other in counts)
            if tf := count[token]:
                idf = math.log(1 + (n_documents - n + 0.5) / (n + 0.5))
                score += idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(document) / mean))
        scores.append(score)
    return scores


def drawn(seed: int) -> tuple[list[list[str]], list[str]]:
    rng = random.Random(seed)
    letters = "氨气泄漏储存应在" if seed % 2 else "abcdefgh 1.-"
    vocabulary = [token for _ in range(30) for token in lexical_tokens("".join(rng.choices(letters, k=5)))] + ODD
    documents = [rng.choices(vocabulary, k=rng.choice([0, 1, 5, 40])) for _ in range(rng.randint(1, 40))]
    return documents, [*rng.choices(vocabulary, k=rng.randint(1, 12)), "unknown"]


@pytest.mark.parametrize("seed", range(100))
def test_scores_equal_the_naive_ones(seed: int) -> None:
    documents, query = drawn(seed)
    for k1, b in [(1.2, 0.75), (0.0, 0.5), (2.0, 0.0), (0.9, 1.0)]:
        scores = BM25.build(iter(documents), k1=k1, b=b).scores(query)
        assert scores.dtype == np.float64
        np.testing.assert_allclose(scores, naive(documents, query, k1, b), rtol=1e-6, atol=0)


def test_a_hand_computed_score() -> None:
    scores = BM25.build([["a", "a", "b"], ["c"]]).scores(["a"])
    assert scores == pytest.approx([math.log(2) * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2)), 0.0], rel=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_what_was_saved_scores_the_same(seed: int, tmp_path: Path) -> None:
    documents, query = drawn(500 + seed)
    built = BM25.build(documents)
    built.save(tmp_path / "new" / "index")
    loaded = BM25.load(tmp_path / "new" / "index")
    assert isinstance(loaded.weights.base, np.memmap)
    assert (loaded.n_documents, loaded.k1, loaded.b) == (len(documents), 1.2, 0.75)
    for tokens in (query, ODD):
        assert loaded.scores(tokens).tolist() == built.scores(tokens).tolist()


def test_every_odd_token_is_found_alone(tmp_path: Path) -> None:
    BM25.build([[token] for token in ODD]).save(tmp_path)
    loaded = BM25.load(tmp_path)
    for place, token in enumerate(ODD):
        assert np.flatnonzero(loaded.scores([token])).tolist() == [place]


@pytest.mark.parametrize("documents", [[], [[]], [[], [], []]])
def test_an_index_without_tokens(documents: list[list[str]], tmp_path: Path) -> None:
    BM25.build(documents).save(tmp_path)
    for index in (BM25.build(documents), BM25.load(tmp_path)):
        assert index.scores(["a", ""]).tolist() == [0.0] * len(documents)
        assert index.scores([]).shape == (len(documents),)


def test_documents_without_tokens_score_0() -> None:
    assert (BM25.build([[], ["a"], ["b"], []]).scores(["a", "x"]) > 0).tolist() == [False, True, False, False]


def test_equal_documents_score_equally_and_above_0() -> None:
    scores = BM25.build([["氨", "a", "a"]] * 50).scores(["a", "氨", "a"])
    assert len(set(scores.tolist())) == 1
    assert scores[0] == pytest.approx(naive([["氨", "a", "a"]] * 50, ["a", "氨", "a"])[0], rel=1e-6)
    assert scores[0] > 0


def test_repeated_tokens_count_and_scores_are_new_on_each_call() -> None:
    documents, query = drawn(7)
    index = BM25.build(documents)
    first = index.scores(query)
    assert index.scores(query * 3) == pytest.approx(3 * first, rel=1e-12)
    first += 1
    assert (index.scores(query) == first - 1).all()


def test_the_order_of_the_query_does_not_change_the_last_bit() -> None:
    documents = [["c", "d", "e"]] * 3000 + [["c", *["d"] * 3, *["e"] * 5, *["r"] * 100_000]]
    index = BM25.build(documents, k1=1e6)
    assert index.scores(list("rcde")).tolist() == index.scores(list("edcr")).tolist()


@pytest.mark.parametrize(("query", "expected"), [("泄漏", 0), ("氯气储存", 1), ("7664-41-7", 2), ("cas", 2)])
def test_the_right_document_comes_first(query: str, expected: int) -> None:
    texts = ["氨气泄漏时应逆风撤离", "氯气应储存在阴凉处", "灌装前检查 CAS 7664-41-7"]
    scores = BM25.build(map(lexical_tokens, texts)).scores(lexical_tokens(query))
    assert scores.argmax() == expected
    assert (scores == scores.max()).sum() == 1


@pytest.mark.parametrize(
    ("k1", "b"), [(-0.1, 0.5), (math.nan, 0.5), (math.inf, 0.5), (1.2, -0.1), (1.2, 1.1), (1.2, math.nan)]
)
def test_impossible_settings_are_refused(k1: float, b: float) -> None:
    with pytest.raises(ConfigError) as raised:
        BM25.build([["a"]], k1=k1, b=b)
    assert raised.value.field == ("b" if 0 <= k1 <= 9 else "k1")
    assert raised.value.hint


def test_a_text_is_no_sequence_of_tokens() -> None:
    with pytest.raises(InputError, match="documents"):
        BM25.build(["a text"])
    with pytest.raises(InputError, match="query"):
        BM25.build([["a"]]).scores("a")


def test_saving_does_not_change_an_index_that_is_open(tmp_path: Path) -> None:
    BM25.build([["a"], ["b"]]).save(tmp_path)
    opened = BM25.load(tmp_path)
    before = opened.scores(["a", "b"]).tolist()
    BM25.build([["c"] * 9]).save(tmp_path)
    assert opened.scores(["a", "b"]).tolist() == before
    assert BM25.load(tmp_path).scores(["c"]).shape == (1,)
    assert not list(tmp_path.glob("*.part"))


def test_damaged_files_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no BM25 index"):
        BM25.load(tmp_path)
    BM25.build([["a"], ["b", "a"]]).save(tmp_path)
    settings = tmp_path / "bm25.json"
    good = settings.read_text()
    for bad in ("", "[]", "{}", good.replace('"n_documents": 2', '"n_documents": -1')):
        settings.write_text(bad)
        with pytest.raises(StoreCorruptError):
            BM25.load(tmp_path)
    settings.write_text(json.dumps(json.loads(good) | {"format": 99}))
    with pytest.raises(StoreMismatchError, match="99"):
        BM25.load(tmp_path)
    settings.write_text(good.replace('"n_documents": 2', '"n_documents": 1'))
    with pytest.raises(StoreCorruptError):
        BM25.load(tmp_path).scores(["b"])
    settings.write_text(good)
    for name in ("token_bytes", "token_starts", "posting_starts", "documents", "weights"):
        file = tmp_path / f"{name}.npy"
        intact = file.read_bytes()
        for damaged in (b"", intact[:-1], intact[: len(intact) // 2]):
            file.write_bytes(damaged)
            with pytest.raises(StoreCorruptError):
                BM25.load(tmp_path)
        np.save(file, np.zeros((2, 2)))
        with pytest.raises(StoreCorruptError):
            BM25.load(tmp_path)
        file.unlink()
        with pytest.raises(StoreCorruptError):
            BM25.load(tmp_path)
        file.write_bytes(intact)
    assert BM25.load(tmp_path).scores(["b"]).tolist()[0] == 0


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        BM25.build([["a"]]).save(tmp_path / "file")
