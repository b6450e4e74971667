"""The dynamic programme finds the best partition there is: compared with all partitions of small texts."""

from __future__ import annotations

import dataclasses
import random
from itertools import combinations, pairwise

import pytest

from qchunker.debate.offline.programme import Programme, best_cuts, best_cuts_into, partition_score


def allowed(programme: Programme, cuts: tuple[int, ...]) -> bool:
    """A chunk fits into its room, or is one unit."""
    n = len(programme.sizes)
    return all(
        stop == start + 1 or sum(programme.sizes[start:stop]) + programme.extras[start] <= programme.rooms[start]
        for start, stop in zip(cuts, [*cuts[1:], n], strict=True)
    )


def all_partitions(n: int) -> list[tuple[int, ...]]:
    return [(0, *inner) for k in range(n) for inner in combinations(range(1, n), k)]


def drawn(seed: int) -> tuple[Programme, list[float]]:
    rng = random.Random(seed)
    n = rng.randint(1, 11)
    programme = Programme(
        [rng.randint(1, 60) for _ in range(n)],
        [rng.choice([0, 0, 0, 15]) for _ in range(n)],
        [rng.choice([50, 90, 120]) for _ in range(n)],
        rng.choice([30.0, 50.0, 80.0]),
        rng.choice([0.0, 1.0, 4.0, 16.0]),
        [rng.randint(unit + 1, n) for unit in range(n)],
        rng.choice([0.0, 3.0]),
    )
    return programme, [rng.choice([-50.0, rng.gauss(0, 2), rng.gauss(0, 2), 0.0]) for _ in range(n)]


@pytest.mark.parametrize("seed", range(400))
def test_the_best_partition_equals_the_best_of_all(seed: int) -> None:
    programme, evidence = drawn(seed)
    partitions = [cuts for cuts in all_partitions(len(programme.sizes)) if allowed(programme, cuts)]
    best = max(partition_score(programme, evidence, cuts) for cuts in partitions)
    found = best_cuts(programme, evidence)
    assert allowed(programme, tuple(found))
    assert partition_score(programme, evidence, found) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("seed", range(300))
def test_the_best_partition_of_every_number_of_chunks_equals_the_best_of_all(seed: int) -> None:
    programme, evidence = drawn(1000 + seed)
    n = len(programme.sizes)
    for k in range(n + 2):
        partitions = [cuts for cuts in all_partitions(n) if len(cuts) == k and allowed(programme, cuts)]
        found = best_cuts_into(programme, evidence, k)
        if not partitions:
            assert found is None
            continue
        assert found is not None
        assert len(found) == k
        best = max(partition_score(programme, evidence, cuts) for cuts in partitions)
        assert partition_score(programme, evidence, found) == pytest.approx(best, abs=1e-9)


def test_of_equals_the_longer_last_chunk_is_taken() -> None:
    programme = Programme([10] * 3, [0] * 3, [30] * 3, 15.0, 1.0, [3] * 3, 0.0)
    assert best_cuts(programme, [0.0] * 3) == [0, 1]


def test_a_unit_longer_than_its_room_stands_alone() -> None:
    programme = Programme([10, 500, 10], [0] * 3, [100] * 3, 50.0, 1.0, [3] * 3, 0.0)
    assert best_cuts(programme, [0.0, -50.0, -50.0]) == [0, 1, 2]


def test_a_room_that_is_larger_further_back_is_seen() -> None:
    """A chunk may start before a unit whose own room would be too small."""
    programme = Programme([40, 40, 40], [0, 0, 0], [200, 50, 50], 120.0, 1.0, [3] * 3, 0.0)
    assert best_cuts(programme, [0.0] * 3) == [0]


def test_many_chunks_keep_an_exact_number() -> None:
    programme = Programme([10] * 2000, [0] * 2000, [100] * 2000, 40.0, 4.0, [2000] * 2000, 0.0)
    found = best_cuts_into(programme, [0.0] * 2000, 500)
    assert found is not None
    assert len(found) == 500
    assert {b - a for a, b in pairwise(found)} == {4}


def test_a_chunk_that_starts_inside_a_section_ends_with_it() -> None:
    leaves = [4, 3, 3, 4]  # a heading stands before the last unit
    free = Programme([40, 30, 10, 50], [0] * 4, [200] * 4, 60.0, 4.0, leaves, 0.0)
    evidence = [0.0, 0.0, 0.5, 0.4]
    assert best_cuts(free, evidence) == [0, 2]
    assert best_cuts(dataclasses.replace(free, torn_weight=3.0), evidence) == [0, 3]
