"""Is what is relevant near the top of a ranking? With any number of relevant items, each of which is relevant or not.

A metric takes the ranks of the relevant items. Their number is that of the data, so an item that an index has lost
counts as not found; it does not leave the denominator.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Sequence

from qchunker.errors import ConfigError, ScoringError

Ranks = Sequence[int | None]


def ranks_of(ranked: Iterable[Hashable], relevant: Collection[Hashable]) -> tuple[int | None, ...]:
    """Rank, from 1, of each relevant item; None for one that is not in the ranking.

    An item that comes again is counted at its first place. It keeps the other places, so that a ranking which repeats
    itself has less room; rank ``dict.fromkeys(ranked)`` where repetition is meant, such as documents of ranked chunks.
    """
    places: dict[Hashable, int] = {}
    for rank, item in enumerate(ranked, 1):
        places.setdefault(item, rank)
    return tuple(places.get(item) for item in dict.fromkeys(relevant))


def recall_at_k(ranks: Ranks, k: int) -> float:
    """Share of the relevant items that are among the first k.

    Raises:
        ScoringError: if nothing is relevant.
        ConfigError: if k is below 1.
    """
    return len(_within(ranks, k)) / len(ranks)


def hit_at_k(ranks: Ranks, k: int) -> float:
    """1 where any relevant item is among the first k, else 0. Raises as ``recall_at_k``."""
    return float(bool(_within(ranks, k)))


def reciprocal_rank(ranks: Ranks, k: int | None = None) -> float:
    """One over the rank of the first relevant item, 0 where none is among the first k; their mean is MRR.

    Raises: as ``recall_at_k``.
    """
    return 1 / min(_within(ranks, k), default=math.inf)


def ndcg_at_k(ranks: Ranks, k: int) -> float:
    """Normalised discounted cumulative gain with gains of 0 and 1.

    Sum of 1 / log2(rank + 1) over the relevant items among the first k, over the same sum for a ranking that begins
    with all of them (Jarvelin and Kekalainen, 2002, in the form of Burges et al., 2005, which for such gains is the
    same). Of relevant items at the same rank, such as two stretches of evidence in one chunk, each but the first counts
    at the next rank that is free, so that the value stays within 0 to 1.

    Raises: as ``recall_at_k``.
    """
    gain, free = 0.0, 1
    for rank in sorted(_within(ranks, k)):
        place = max(rank, free)
        gain += _discount(place) if place <= k else 0.0
        free = place + 1
    return gain / math.fsum(_discount(rank) for rank in range(1, min(k, len(ranks)) + 1))


def _discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def _within(ranks: Ranks, k: int | None) -> list[int]:
    if not ranks:
        raise ScoringError("nothing is relevant, so nothing can be ranked well", hint="leave the question out")
    if k is not None and k < 1:
        raise ConfigError("k", f"must be 1 or above, got {k}", hint="look at the first item at least")
    return [rank for rank in ranks if rank is not None and (k is None or rank <= k)]
