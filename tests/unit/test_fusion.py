"""Fusion of scores and of rankings."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

from qchunker.errors import ConfigError
from qchunker.retrieval.fusion import reciprocal_rank_fusion, standardised_fusion, unit_scale

NAN = math.nan


def naive_fusion(scores: list[list[float]], weights: list[float]) -> list[float]:
    fused = [0.0] * len(scores[0])
    for given, weight in zip(scores, weights, strict=True):
        found = [score for score in given if not math.isnan(score)]
        mean = sum(found) / len(found) if found else 0.0
        spread = math.sqrt(sum((score - mean) ** 2 for score in found) / len(found)) if found else 0.0
        for place, score in enumerate(given):
            if len(set(found)) > 1:
                z = ((min(found) if math.isnan(score) else score) - mean) / spread
                fused[place] += weight * z / sum(weights)
    return fused


@pytest.mark.parametrize("seed", range(100))
def test_fusion_equals_the_naive_one(seed: int) -> None:
    rng = random.Random(seed)
    n, retrievers = rng.randint(1, 30), rng.randint(1, 4)
    scores = [[NAN if rng.random() < 0.3 else rng.gauss(3, 20) for _ in range(n)] for _ in range(retrievers)]
    weights = [rng.choice([0.0, 1.0, 2.0]) for _ in scores[1:]] + [1.5]
    fused = standardised_fusion([np.array(given) for given in scores], weights)
    assert fused == pytest.approx(naive_fusion(scores, weights), abs=1e-12)


@pytest.mark.parametrize(
    ("scores", "weights", "expected"),
    [
        ([[1, 3], [5, 5]], [1, 1], [-0.5, 0.5]),
        ([[1, 3], [5, 5]], [0, 1], [0, 0]),
        ([[1, 3, NAN]], [7], [-1, 1, -1]),
        ([[NAN, NAN], [2, 0]], [1, 3], [0.75, -0.75]),
        ([[4, NAN], [2, 0]], [1, 1], [0.5, -0.5]),
        ([[0.1, 0.1, 0.1, NAN]], [1], [0, 0, 0, 0]),
        ([[0.1 + 0.2, 0.3]], [1], [0, 0]),
        ([[-5e-324, 5e-324], [1e308, -1e308]], [1, 1], [0, 0]),
        ([[]], [1], []),
        ([[9]], [1], [0]),
    ],
)
def test_fusion_by_hand(scores: list[list[float]], weights: list[float], expected: list[float]) -> None:
    arrays = [np.array(given, dtype=np.float64) for given in scores]
    before = [given.copy() for given in arrays]
    assert standardised_fusion(arrays, weights).tolist() == pytest.approx(expected, abs=1e-12)
    for given, old in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(given, old)


@pytest.mark.parametrize("seed", range(50))
def test_a_missing_score_is_never_rewarded(seed: int) -> None:
    rng = random.Random(seed)
    dense = np.array([rng.uniform(-5, 5) for _ in range(10)])
    sparse = np.array([rng.uniform(-5, 5) for _ in range(9)] + [NAN])
    place = rng.randrange(9)
    dense[9] = dense[place]
    fused = standardised_fusion([dense, sparse], [1, 2])
    assert fused[9] <= fused[place]


@pytest.mark.parametrize(
    ("scores", "weights", "field"),
    [
        ([], [], "scores"),
        ([[1.0], [1.0, 2.0]], [1, 1], "scores"),
        ([[[1.0]]], [1], "scores"),
        ([[math.inf, 1.0]], [1], "scores"),
        ([[1.0]], [1, 1], "weights"),
        ([[1.0]], [-1], "weights"),
        ([[1.0]], [NAN], "weights"),
        ([[1.0], [1.0]], [0, 0], "weights"),
    ],
)
def test_impossible_fusions_are_refused(scores: list[Any], weights: list[float], field: str) -> None:
    with pytest.raises(ConfigError) as raised:
        standardised_fusion([np.array(given) for given in scores], weights)
    assert raised.value.field == field
    assert raised.value.hint


@pytest.mark.parametrize(
    ("rankings", "k", "weights", "expected"),
    [
        ([["m1", "m2", "hit"], ["n1", "n2", "hit"]], 60, None,
         [("hit", 2 / 63), ("m1", 1 / 61), ("n1", 1 / 61), ("m2", 1 / 62), ("n2", 1 / 62)]),
        ([["c7", "c7", "c8"], []], 60, None, [("c7", 1 / 61), ("c8", 1 / 63)]),
        ([["c8", "c7", "c8"]], 60, None, [("c8", 1 / 61), ("c7", 1 / 62)]),
        ([["a"], ["b"]], 1, [1, 3], [("b", 1.5), ("a", 0.5)]),
        ([["a"], ["b"]], 1, [0, 1], [("b", 0.5), ("a", 0.0)]),
        ([["气", "氨"], ["氨", "气"]], 60, None, [("气", 1 / 61 + 1 / 62), ("氨", 1 / 61 + 1 / 62)]),
        ([[], []], 60, None, []),
        ([["a"]] * 5, 60, None, [("a", 5 / 61)]),
    ],
)  # fmt: skip
def test_reciprocal_ranks_by_hand(
    rankings: list[list[str]], k: int, weights: list[float] | None, expected: list[tuple[str, float]]
) -> None:
    before = [list(ranking) for ranking in rankings]
    fused = reciprocal_rank_fusion(rankings, k, weights)
    expected = sorted(expected, key=lambda item: (-item[1], item[0]))
    assert list(fused) == [id_ for id_, _ in expected]
    assert list(fused.values()) == pytest.approx([score for _, score in expected], rel=1e-12)
    assert rankings == before


@pytest.mark.parametrize("seed", range(60))
def test_reciprocal_ranks_equal_the_naive_ones(seed: int) -> None:
    rng = random.Random(seed)
    ids = [f"é{number}氨" for number in range(12)]
    rankings = [rng.choices(ids, k=rng.choice([0, 1, 6, 20])) for _ in range(rng.randint(1, 5))]
    weights = [rng.choice([0.0, 0.5, 2.0]) for _ in rankings[1:]] + [1.0]
    k = rng.choice([1, 10, 60])
    expected = {
        id_: sum(w / (k + r.index(id_) + 1) for r, w in zip(rankings, weights, strict=True) if id_ in r)
        for id_ in ids
        if any(id_ in ranking for ranking in rankings)
    }
    fused = reciprocal_rank_fusion(rankings, k, weights)
    assert fused == pytest.approx(expected, rel=1e-12)
    assert list(fused) == sorted(fused, key=lambda id_: (-fused[id_], id_))
    assert max(fused.values(), default=0) <= sum(weights) / (k + 1) + 1e-12


def test_equal_scores_go_by_id_whatever_the_order_of_the_rankings() -> None:
    """Summed in order, 1/61 + 1/62 + 1/67 differs in the last bit from 1/67 + 1/61 + 1/62."""
    orders = ["a c k l m n b", "b a o p q r c", "c b s t u v a"]
    fused = reciprocal_rank_fusion([order.split() for order in orders])
    assert list(fused)[:3] == ["a", "b", "c"]
    assert fused["a"] == fused["b"] == fused["c"]


@pytest.mark.parametrize(
    ("rankings", "k", "weights", "field"),
    [
        ([["a"]], 0, None, "k"),
        ([["a"]], -1, None, "k"),
        ([], 60, None, "rankings"),
        ([["a"]], 60, [1, 1], "weights"),
        ([["a"]], 60, [-1], "weights"),
        ([["a"]], 60, [math.inf], "weights"),
        ([["a"], ["b"]], 60, [0, 0], "weights"),
    ],
)
def test_impossible_ranks_are_refused(
    rankings: list[list[str]], k: int, weights: list[float] | None, field: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        reciprocal_rank_fusion(rankings, k, weights)
    assert raised.value.field == field
    assert raised.value.hint


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ({}, {}),
        ({"a": -3.0}, {"a": 1.0}),
        ({"b": 0.0, "a": 0.0}, {"b": 1.0, "a": 1.0}),
        ({"b": 3.0, "a": 2.0, "氨": 1.0}, {"b": 1.0, "a": 0.5, "氨": 0.0}),
        ({"a": -1.0, "b": -2.0, "c": 0.0}, {"a": 0.5, "b": 0.0, "c": 1.0}),
    ],
)
def test_unit_scale(scores: dict[str, float], expected: dict[str, float]) -> None:
    assert list(unit_scale(scores).items()) == list(expected.items())


@pytest.mark.parametrize("bad", [NAN, math.inf, -math.inf, -1.7e308])
def test_scores_that_have_no_scale_are_refused(bad: float) -> None:
    with pytest.raises(ConfigError, match="scores"):
        unit_scale({"a": 1.7e308, "b": bad})
