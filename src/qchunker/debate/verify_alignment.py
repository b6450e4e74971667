"""Where a completed text keeps the tokens of its original, and where it departs from them.

Runs of equal tokens are followed as far as they go; where they end, the nearest place is sought at which four tokens
agree again. Every token is visited a bounded number of times, so time is linear.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

_GRAM = 4  # tokens that must agree where two texts come together again
_MAX_LOST = 24  # tokens of the original that are skipped at once in search of such a place


class Hunk(NamedTuple):
    """Tokens ``[lost, lost_end)`` of the original, in whose place ``[added, added_end)`` of the completion stand."""

    lost: int
    lost_end: int
    added: int
    added_end: int


def _grams(keys: Sequence[str]) -> list[tuple[str, ...]]:
    # Ends differ from every token and from each other, so that the last words align at the end.
    padded = [*keys, *(f"\0{n}" for n in range(_GRAM))]
    return list(zip(*(padded[n:] for n in range(_GRAM)), strict=False))


def _refined(original: Sequence[str], completed: Sequence[str], hunk: Hunk) -> list[Hunk]:
    """The hunk cut at what its two sides share."""
    if not hunk.lost < hunk.lost_end <= hunk.lost + _MAX_LOST or hunk.added == hunk.added_end:
        return [hunk]
    lost, added = original[hunk.lost : hunk.lost_end], completed[hunk.added : hunk.added_end]
    found, at, to = [], hunk.lost, hunk.added
    for block in SequenceMatcher(None, added, lost, autojunk=False).get_matching_blocks():
        piece = Hunk(at, hunk.lost + block.b, to, hunk.added + block.a)
        if piece.lost < piece.lost_end or piece.added < piece.added_end:
            found.append(piece)
        at, to = hunk.lost + block.b + block.size, hunk.added + block.a + block.size
    return found


def align(original: Sequence[str], completed: Sequence[str], loss_weight: int) -> list[Hunk]:
    """Every departure of ``completed`` from ``original``, in order.

    Args:
        original: tokens that should be kept.
        completed: tokens that should keep them.
        loss_weight: how many added tokens are better than one lost.
    """
    places: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, gram in enumerate(_grams(completed)):
        places[gram].append(place)
    wanted = _grams(original)
    hunks: list[Hunk] = []
    i = j = 0
    n, m = len(original), len(completed)
    while i < n or j < m:
        if i < n and j < m and original[i] == completed[j]:
            i, j = i + 1, j + 1
            continue
        lost = i
        best = None
        while best is None and i <= n:
            for skip in range(min(_MAX_LOST, n - i) + 1):
                found = places.get(wanted[i + skip], [])
                at = bisect_left(found, j)
                if at < len(found):
                    cost = skip * loss_weight + found[at] - j
                    best = min(best, (cost, i + skip, found[at])) if best else (cost, i + skip, found[at])
            i += _MAX_LOST + 1
        _, i, to = best or (0, n, m)
        hunks.extend(_refined(original, completed, Hunk(lost, i, j, to)))
        j = to
    return _merged(completed, hunks)


def _merged(completed: Sequence[str], hunks: Sequence[Hunk]) -> list[Hunk]:
    """Join additions that are one addition, seen as two because it begins like the words around it."""
    found: list[Hunk] = []
    for hunk in hunks:
        if found and hunk.lost == hunk.lost_end and found[-1].lost == found[-1].lost_end:
            before = found[-1]
            kept = hunk.added - before.added_end
            added = hunk.added_end - hunk.added
            if (
                kept <= added
                and completed[before.added_end : hunk.added] == completed[hunk.added_end - kept : hunk.added_end]
            ):
                found[-1] = Hunk(before.lost, before.lost, before.added, hunk.added_end - kept)
                continue
        found.append(hunk)
    return found


def slides(completed: Sequence[str], hunk: Hunk, low: int, high: int) -> list[Hunk]:
    """The same addition at every place where it could as well stand, ``low`` and ``high`` being its limits.

    ``a [b a] b`` and ``a b [a b]`` read the same.
    """
    if hunk.lost < hunk.lost_end:
        return [hunk]
    found = [hunk]
    left = right = hunk
    while left.added > low and completed[left.added - 1] == completed[left.added_end - 1]:
        left = Hunk(left.lost - 1, left.lost - 1, left.added - 1, left.added_end - 1)
        found.append(left)
    while right.added_end < high and completed[right.added] == completed[right.added_end]:
        right = Hunk(right.lost + 1, right.lost + 1, right.added + 1, right.added_end + 1)
        found.append(right)
    return found


def kept_places(original: Sequence[str], hunks: Sequence[Hunk]) -> list[int]:
    """For every token of the original its place in the completion, or -1 if it is lost."""
    places: list[int] = []
    to = 0
    for hunk in hunks:
        places.extend(range(to, to + hunk.lost - len(places)))
        places.extend([-1] * (hunk.lost_end - hunk.lost))
        to = hunk.added_end
    places.extend(range(to, to + len(original) - len(places)))
    return places
