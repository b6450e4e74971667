"""Choice of diverse hits, and the guard against near-duplicates."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from qchunker.errors import ConfigError
from qchunker.retrieval.diversity import Vectors, maximal_marginal_relevance, without_near_duplicates

UNSAID: dict[str, Any] = {}


def unit(rows: Any) -> Vectors:
    array = np.asarray(rows, dtype=np.float64)
    lengths = np.linalg.norm(array, axis=1, keepdims=True)
    unit_rows: Vectors = (array / np.maximum(lengths, 1e-12)).astype(np.float32)
    return unit_rows


def cosine(one: Vectors, other: Vectors) -> float:
    return math.fsum(a * b for a, b in zip(one.tolist(), other.tolist(), strict=True))


def drawn(seed: int) -> tuple[npt.NDArray[np.float64], Vectors, list[str]]:
    """Candidates, some with equal vectors, relevance or both, so that ties occur."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 25)), int(rng.integers(1, 8))
    vectors = unit(rng.normal(size=(n, d)))[rng.integers(0, n, n)]
    relevance = rng.choice([rng.normal(size=n) * 30, rng.integers(0, 3, n).astype(np.float64)])
    return relevance, vectors, [f"氨{number}" for number in rng.permutation(n)]


def naive(relevance: npt.NDArray[np.float64], vectors: Vectors, ids: list[str], top_k: int, weight: float) -> list[int]:
    low, high = min(relevance), max(relevance)
    scaled = [(float(value) - low) / (high - low) if high > low else 0.0 for value in relevance]
    chosen: list[int] = []
    while len(chosen) < min(top_k, len(ids)):
        marginal = {}
        for place in range(len(ids)):
            if place not in chosen:
                cosines = [cosine(vectors[place], vectors[other]) for other in chosen]
                marginal[place] = weight * scaled[place] - (1 - weight) * max(cosines) if chosen else scaled[place]
        best = max(marginal.values())
        equals = [place for place, value in marginal.items() if value >= best - 1e-9]
        chosen.append(min(equals, key=lambda place: (-scaled[place], ids[place])))
    return chosen


@pytest.mark.parametrize("seed", range(250))
def test_the_choice_equals_the_naive_one(seed: int) -> None:
    relevance, vectors, ids = drawn(seed)
    for top_k, weight in [(1, 0.7), (5, 0.7), (40, 0.7), (40, 0.0), (40, 0.3), (40, 1.0)]:
        found = maximal_marginal_relevance(relevance, vectors, ids=ids, top_k=top_k, relevance_weight=weight)
        assert found == naive(relevance, vectors, ids, top_k, weight)
        assert len(set(found)) == len(found) == min(top_k, len(ids))


@pytest.mark.parametrize("seed", range(20))
def test_a_weight_of_1_is_the_order_of_relevance_and_scale_does_not_matter(seed: int) -> None:
    relevance, vectors, ids = drawn(seed)
    pure = maximal_marginal_relevance(relevance, vectors, ids=ids, top_k=99, relevance_weight=1)
    assert pure == sorted(range(len(ids)), key=lambda place: (-relevance[place], ids[place]))
    mixed = maximal_marginal_relevance(relevance, vectors, ids=ids, top_k=99)
    assert maximal_marginal_relevance(relevance * 1024 - 512, vectors, ids=ids, top_k=99) == mixed


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        (1.0, ["d1", "d1copy", "d2", "d3"]),
        (0.5, ["d1", "d1copy", "d2", "d3"]),  # relevance equals the cosine with d1: three equals
        (0.4, ["d1", "d3", "d2", "d1copy"]),
        (0.0, ["d1", "d3", "d2", "d1copy"]),
    ],
)
def test_copies_go_last_where_diversity_counts(weight: float, expected: list[str]) -> None:
    ids, rows = ["d1", "d1copy", "d2", "d3"], unit([[1, 0], [1, 0], [0.8, 0.6], [0, 1]])
    relevance = rows @ np.array([1.0, 0.0])
    chosen = maximal_marginal_relevance(relevance, rows, ids=ids, top_k=10, relevance_weight=weight)
    assert [ids[place] for place in chosen] == expected


def test_equals_go_by_id_and_missing_vectors_repel_nothing() -> None:
    rows = np.zeros((4, 3), dtype=np.float32)
    assert maximal_marginal_relevance(np.ones(4), rows, ids=["é", "b", "氨", "a"], top_k=4) == [3, 1, 0, 2]
    assert maximal_marginal_relevance(np.empty(0), rows[:0], ids=[], top_k=4) == []


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"top_k": 0}, "top_k"),
        ({"relevance_weight": 1.1}, "relevance_weight"),
        ({"relevance_weight": math.nan}, "relevance_weight"),
        ({"relevance": np.array([1.0, math.nan])}, "relevance"),
        ({"relevance": np.ones((2, 1))}, "relevance"),
        ({"relevance": np.ones(3)}, "vectors"),
        ({"ids": ["a"]}, "vectors"),
        ({"vectors": np.ones((2, 3), dtype=np.float32)}, "vectors"),
        ({"vectors": np.full((2, 3), np.nan, dtype=np.float32)}, "vectors"),
        ({"vectors": np.ones(2, dtype=np.float32)}, "vectors"),
    ],
)
def test_impossible_choices_are_refused(changed: dict[str, Any], field: str) -> None:
    given: dict[str, Any] = {
        "relevance": np.ones(2),
        "vectors": unit(np.eye(2)),
        "ids": ["a", "b"],
        "top_k": 2,
    } | changed
    with pytest.raises(ConfigError) as raised:
        maximal_marginal_relevance(**given)
    assert raised.value.field == field
    assert raised.value.hint


def test_misspelt_and_positional_options_are_refused() -> None:
    rows: Any = unit(np.eye(2))
    choose: Any = maximal_marginal_relevance
    guard: Any = without_near_duplicates
    with pytest.raises(TypeError):
        choose(np.ones(2), rows, ids=["a", "b"], top_k=2, lambda_=0.5)
    with pytest.raises(TypeError):
        choose(np.ones(2), rows, ["a", "b"], 2)
    with pytest.raises(TypeError):
        guard(rows, [0, 1], treshold=0.9)
    with pytest.raises(TypeError):
        guard(rows, [0, 1], 0.9)


@pytest.mark.parametrize("seed", range(100))
def test_the_guard_equals_a_naive_one(seed: int) -> None:
    _, vectors, _ = drawn(1000 + seed)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(vectors))[: max(1, len(vectors) - 2)].tolist()
    for threshold in (0.0, 0.5, 0.92, 1.0):
        kept: list[int] = []
        dropped: dict[int, int] = {}
        for place in order:
            cosines = {other: cosine(vectors[place], vectors[other]) for other in kept}
            nearest = max(cosines, key=lambda other: round(min(1, cosines[other]), 9), default=-1)
            if kept and min(1, cosines[nearest]) > threshold + 1e-6:
                dropped[place] = nearest
            else:
                kept.append(place)
        assert without_near_duplicates(vectors, order, threshold=threshold) == (kept, dropped)


@pytest.mark.parametrize(
    ("order", "options", "kept", "dropped"),
    [
        ([0, 1, 2, 3], UNSAID, [0, 2, 3], {1: 0}),
        ([1, 0, 3], UNSAID, [1, 3], {0: 1}),
        ([2, 0, 1], {"threshold": 0.7}, [2], {0: 2, 1: 2}),
        ([2, 0, 1], {"threshold": 0.8}, [2, 0], {1: 0}),
        ([0, 3, 2], {"threshold": 0.5}, [0, 3], {2: 0}),
        ([0, 1, 2], {"threshold": 1.0}, [0, 1, 2], {}),
        ([], UNSAID, [], {}),
        ([4, 5], {"threshold": 0.0}, [4, 5], {}),
    ],
)
def test_near_duplicates_by_hand(
    order: list[int], options: dict[str, float], kept: list[int], dropped: dict[int, int]
) -> None:
    rows = unit([[1, 0], [1, 0], [0.8, 0.6], [0, 1], [0, 0], [0, 0]])
    assert without_near_duplicates(rows, order, **options) == (kept, dropped)


def test_a_threshold_of_1_drops_nothing_although_rows_are_rounded() -> None:
    rows = unit([[1, 2], [1, 2]]) * np.float32(1.005)
    assert without_near_duplicates(rows, [0, 1], threshold=1) == ([0, 1], {})
    assert without_near_duplicates(rows, [0, 1]) == ([0], {1: 0})


@pytest.mark.parametrize(
    ("order", "threshold", "field"),
    [
        ([0, 0], 0.9, "order"),
        ([-1], 0.9, "order"),
        ([2], 0.9, "order"),
        ([0], 1.1, "threshold"),
        ([0], math.nan, "threshold"),
    ],
)
def test_impossible_walks_are_refused(order: list[int], threshold: float, field: str) -> None:
    with pytest.raises(ConfigError) as raised:
        without_near_duplicates(unit(np.eye(2)), order, threshold=threshold)
    assert raised.value.field == field
    assert raised.value.hint
