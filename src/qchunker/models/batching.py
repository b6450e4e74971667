"""Batches bounded by their total size, so that memory is, whatever the lengths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def batches_by_length(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Indices in groups of similar length; longest times number stays within the budget, padding included.

    An item over the budget is a group of its own. The order of the groups is by length, then index.
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda i: (lengths[i], i)):
        if batch and (len(batch) + 1) * lengths[index] > budget:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
