"""The best partition by dynamic programming: exact, and linear in the text.

Source: docs/equations.md#seg-1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

_BAND = 24
"""Chunks that an exact number of chunks may run ahead of or behind the even pace."""


@dataclass(frozen=True, slots=True)
class Programme:
    """What the best partition is searched among.

    Args:
        sizes: of the units, each with the white space before it.
        extras: what must be repeated when a chunk starts at a unit, such as a table header.
        rooms: the most that a chunk which starts at a unit may hold; one unit alone may be longer.
        target: length that chunks should have.
        length_weight: of ``((length - target) / target) ** 2``, which every chunk pays.
        leaves: for each unit the first one behind it outside the section that a chunk starting there is a part of.
        torn_weight: what a chunk pays that reaches it: the end of one section and the start of the next.
    """

    sizes: Sequence[int]
    extras: Sequence[int]
    rooms: Sequence[int]
    target: float
    length_weight: float
    leaves: Sequence[int]
    torn_weight: float


def best_cuts(programme: Programme, evidence: Sequence[float]) -> list[int]:
    """First units of the chunks of the partition with the highest sum of evidence less length penalties.

    Args:
        programme: sizes and limits of n units, n at least 1.
        evidence: for a cut before each unit, n values; the first is not used.

    Shapes: gives the first units of the chunks, in order; the first is 0.
    Of equals the one with the longer last chunk is taken, then of the one before, and so on.
    """
    n = len(programme.sizes)
    sums, most = np.array(_sums(programme.sizes)), max(programme.rooms)
    extras, rooms, leaves = np.array(programme.extras), np.array(programme.rooms), np.array(programme.leaves)
    gains = np.array([0.0, *evidence[1:]])
    best = np.zeros(n + 1)
    back = [0] * (n + 1)
    low = 0
    for stop in range(1, n + 1):
        while low < stop - 1 and sums[stop] - sums[low] > most:
            low += 1
        # All chunks that end here at once; in text of many tiny units there are hundreds.
        lengths = sums[stop] - sums[low:stop] + extras[low:stop]
        off = (lengths - programme.target) / programme.target
        scores = gains[low:stop] - programme.length_weight * off * off
        scores -= programme.torn_weight * (leaves[low:stop] < stop)
        scores += best[low:stop]
        scores[:-1][lengths[:-1] > rooms[low : stop - 1]] = -inf
        at = int(scores.argmax())
        best[stop], back[stop] = scores[at], low + at
    return _path(back, n)


def best_cuts_into(programme: Programme, evidence: Sequence[float], n_chunks: int) -> list[int] | None:
    """Like ``best_cuts`` among the partitions into ``n_chunks`` chunks; None if there is none.

    Exact for texts of up to 24 chunks; in longer ones chunk k is looked for within 24 chunks of the even pace.
    """
    n = len(programme.sizes)
    if not 0 < n_chunks <= n:
        return None
    sums, most = _sums(programme.sizes), max(programme.rooms)
    pace = sums[n] / n_chunks
    best: list[dict[int, float]] = [{0: 0.0}] + [{} for _ in range(n)]
    back: list[dict[int, int]] = [{} for _ in range(n + 1)]
    for stop in range(1, n + 1):
        middle = sums[stop] / pace
        low, high = max(1, int(middle) - _BAND), min(n_chunks, int(middle) + _BAND)
        for start, length in _chunks_up_to(programme, sums, most, stop):
            gained = _chunk_score(programme, evidence, start, stop, length)
            for k, value in best[start].items():
                if low <= k + 1 <= high and value + gained >= best[stop].get(k + 1, -inf):
                    best[stop][k + 1], back[stop][k + 1] = value + gained, start
    if n_chunks not in best[n]:
        return None
    cuts, stop = [], n
    for k in range(n_chunks, 0, -1):
        stop = back[stop][k]
        cuts.append(stop)
    return cuts[::-1]


def partition_score(programme: Programme, evidence: Sequence[float], cuts: Sequence[int]) -> float:
    """What ``best_cuts`` maximises, for any partition given by the first units of its chunks."""
    sums = _sums(programme.sizes)
    total = 0.0
    for start, stop in zip(cuts, [*cuts[1:], len(programme.sizes)], strict=True):
        length = sums[stop] - sums[start] + programme.extras[start]
        total += _chunk_score(programme, evidence, start, stop, length)
    return total


def _chunks_up_to(programme: Programme, sums: Sequence[int], most: int, stop: int) -> Iterator[tuple[int, int]]:
    """First units and lengths of the chunks that may end before ``stop``, the shortest first."""
    for start in range(stop - 1, -1, -1):
        length = sums[stop] - sums[start] + programme.extras[start]
        if length <= programme.rooms[start] or start == stop - 1:
            yield start, length
        elif sums[stop] - sums[start] > most:
            return


def _chunk_score(programme: Programme, evidence: Sequence[float], start: int, stop: int, length: int) -> float:
    off = (length - programme.target) / programme.target
    score = (evidence[start] if start else 0.0) - programme.length_weight * off * off
    return score - programme.torn_weight if programme.leaves[start] < stop else score


def _sums(sizes: Sequence[int]) -> list[int]:
    sums = [0]
    for size in sizes:
        sums.append(sums[-1] + size)
    return sums


def _path(back: Sequence[int], n: int) -> list[int]:
    cuts = []
    while n > 0:
        n = back[n]
        cuts.append(n)
    return cuts[::-1]
