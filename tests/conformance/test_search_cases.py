"""Faults that search and stores are known to have."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qchunker import Index, SearchConfig
from qchunker.retrieval.diversity import maximal_marginal_relevance
from qchunker.retrieval.fusion import reciprocal_rank_fusion, standardised_fusion, unit_scale

CASES = Path(__file__).parent.parent / "cases"
ALL = SearchConfig(duplicate_cosine=1)
STORES = ["index", "index.db"]


def case(name: str) -> Any:
    return json.loads((CASES / name).read_text(encoding="utf-8"))


def rows_of(texts: dict[str, str]) -> list[dict[str, Any]]:
    return [{"doc_id": doc_id, "start": 0, "end": len(text), "text": text} for doc_id, text in texts.items()]


def vectors() -> tuple[list[str], np.ndarray, np.ndarray]:
    found = case("mmr_vectors.json")
    ids = list(found["docs"])
    made = np.array([found["docs"][id_] for id_ in ids], dtype=np.float32)
    return ids, made, (made @ np.array(found["query"], dtype=np.float32)).astype(np.float64)


def test_a_misspelt_option_is_refused_and_the_weight_matters() -> None:
    ids, made, relevance = vectors()
    with pytest.raises(TypeError, match="lambda_mult"):
        maximal_marginal_relevance(relevance, made, ids=ids, top_k=4, lambda_mult=0.5)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="relevance"):
        SearchConfig(relevance=0.5)  # type: ignore[call-arg]
    orders = [
        maximal_marginal_relevance(relevance, made, ids=ids, top_k=4, relevance_weight=weight) for weight in (0.1, 0.9)
    ]
    assert orders[0] != orders[1]


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_nothing_is_chosen_twice_and_no_more_than_there_is(weight: float) -> None:
    ids, made, relevance = vectors()
    chosen = maximal_marginal_relevance(
        relevance, made, ids=ids, top_k=case("mmr_vectors.json")["k"], relevance_weight=weight
    )
    assert sorted(chosen) == list(range(len(ids)))


def test_what_both_lists_hold_is_first_and_a_repeated_id_counts_once() -> None:
    lists = case("rrf_lists.json")
    fused = reciprocal_rank_fusion([lists["dense"], lists["sparse"]], lists["k"])
    assert next(iter(fused)) == lists["expected_first"]
    assert list(reciprocal_rank_fusion([lists["dense"], lists["empty_sparse"]])) == lists["dense"]
    once = reciprocal_rank_fusion([lists["dup_list"]])
    assert once["c7"] == 1 / 61
    assert once["c8"] == 1 / 63


def test_fused_ranks_can_be_shown_between_0_and_1() -> None:
    fused = reciprocal_rank_fusion([case("rrf_lists.json")["dense"]])
    scaled = unit_scale(fused)
    assert (list(scaled), max(scaled.values()), min(scaled.values())) == (list(fused), 1.0, 0.0)


def test_a_missing_score_is_the_lowest() -> None:
    fused = standardised_fusion([np.array([0.9, 0.1]), np.array([3.0, np.nan])], [1, 1])
    assert fused[0] > fused[1]
    fused = standardised_fusion([np.array([0.9, 0.1, 0.5]), np.array([np.nan, 3.0, 2.0])], [0, 1])
    assert fused[1] > fused[2] >= fused[0]


@pytest.mark.parametrize("store", STORES)
def test_a_chunk_that_both_searches_find_is_one_hit(store: str, tmp_path: Path) -> None:
    texts = {"a": "Pumps lift water.", "b": "Valves close pipes.", "c": "Water is wet."}
    with Index.open(tmp_path / store) as index:
        index.add_chunks(rows_of(texts))
        for config in (ALL, SearchConfig(fusion="rrf", duplicate_cosine=1)):
            found = [hit.id for hit in index.search("pumps lift water", 10, config=config)]
            assert sorted(found) == ["a:0-17", "b:0-19", "c:0-13"]
            assert found[0] == "a:0-17"


@pytest.mark.parametrize("store", STORES)
def test_indexing_twice_doubles_nothing(store: str, tmp_path: Path) -> None:
    texts = {"a": "Pumps lift water.", "b": "氯气应储存在阴凉处。"}
    with Index.open(tmp_path / store) as index:
        index.add_chunks(rows_of(texts))
        first = [(hit.id, hit.score) for hit in index.search("water 氯气", 10, config=ALL)]
        index.add_chunks(rows_of(texts))
        assert [(hit.id, hit.score) for hit in index.search("water 氯气", 10, config=ALL)] == first


@pytest.mark.parametrize("store", STORES)
def test_the_right_chinese_document_is_first_in_every_store(store: str, tmp_path: Path) -> None:
    found = case("bm25_zh.json")
    with Index.open(tmp_path / store) as index:
        index.add_chunks(rows_of({str(number): text for number, text in enumerate(found["docs"])}))
        for config in (ALL, SearchConfig(dense_weight=0), SearchConfig(fusion="rrf")):
            for question, expected in found["queries"].items():
                assert index.search(question, 1, config=config)[0].row["doc_id"] == str(expected), question


@pytest.mark.parametrize("store", STORES)
def test_equal_texts_stay_and_go_one_by_one(store: str, tmp_path: Path) -> None:
    texts = {f"{place}": row["text"] for place, row in enumerate(case("same_text_docs.json"))}
    with Index.open(tmp_path / store) as index:
        index.add_chunks(rows_of(texts))
        assert len(index.search("gloves", 10, config=ALL)) == 3
        index.remove("1")
        assert [hit.row["doc_id"] for hit in index.search("gloves", 10, config=ALL)] == ["0", "2"]


@pytest.mark.parametrize("store", STORES)
def test_what_was_written_before_a_power_cut_is_there(store: str, tmp_path: Path) -> None:
    place = str(tmp_path / store)
    script = (
        "import os, signal, sys; from qchunker import Index; index = Index.open(sys.argv[1]); "
        "index.add_chunks([{'doc_id': str(n), 'start': 0, 'end': 9, 'text': f'Valve {n:03d}'} for n in range(50)]); "
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", script, place], env=os.environ, check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    with Index.open(place) as index:
        assert len(index.snapshot()) == 50
